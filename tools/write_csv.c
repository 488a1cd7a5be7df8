/* steno: comma-separated values as whisper.cpp lays them out, times in milliseconds. SPDX-License-Identifier: MIT
 *
 * Where somebody asked who speaks there is a column for it. */
#include "write.h"
#include <inttypes.h>

void write_csv(FILE *f, const struct transcript *t)
{
    fputs(t->speakers ? "start,end,speaker,text\n" : "start,end,text\n", f);
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        fprintf(f, "%" PRId64 ",%" PRId64 ",", s->t0_ms, s->t1_ms);
        write_speaker_column(f, t, i, ',');
        fputc('"', f);
        for (const char *p = s->text; *p; p++) {
            if (*p == '"') fputc('"', f);
            fputc(*p, f);
        }
        fputs("\"\n", f);
    }
}

/* steno: lyrics with a time tag per line, as whisper.cpp lays them out. SPDX-License-Identifier: MIT
 *
 * The first line is part of that layout. Minutes go on counting beyond an hour; hundredths are cut, not rounded. */
#include "write.h"
#include <inttypes.h>

/* "(speaker 0) text", whether the text begins with a space or not. */
static void put_text(FILE *f, const struct transcript *t, int i)
{
    const char *text = t->segs[i].text;
    write_speaker(f, write_speaker_of(t, i));
    fputs(t->speakers && text[0] == ' ' ? text + 1 : text, f);
}

void write_lrc(FILE *f, const struct transcript *t)
{
    fputs("[by:whisper.cpp]\n", f);
    for (int i = 0; i < t->n; i++) {
        const int64_t ms = t->segs[i].t0_ms > 0 ? t->segs[i].t0_ms : 0;
        fprintf(f, "[%02" PRId64 ":%02d.%02d]", ms / 60000, (int)(ms / 1000 % 60), (int)(ms % 1000 / 10));
        put_text(f, t, i);
        fputc('\n', f);
    }
}

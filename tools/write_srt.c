/* steno: SubRip subtitles. SPDX-License-Identifier: MIT */
#include "write.h"

void write_srt(FILE *f, const struct transcript *t)
{
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        fprintf(f, "%d\n", t->index_offset + i + 1);
        write_time(f, s->t0_ms, 1, ',');
        fputs(" --> ", f);
        write_time(f, s->t1_ms, 1, ',');
        fputc('\n', f);
        write_cue_text(f, s->text);
        fputs("\n\n", f);
    }
}

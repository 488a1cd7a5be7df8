/* steno: WebVTT subtitles. SPDX-License-Identifier: MIT */
#include "write.h"

void write_vtt(FILE *f, const struct transcript *t)
{
    fputs("WEBVTT\n\n", f);
    for (int i = 0; i < t->n; i++) {
        const steno_segment *s = &t->segs[i];
        write_time(f, s->t0_ms, 0, '.');
        fputs(" --> ", f);
        write_time(f, s->t1_ms, 0, '.');
        fputc('\n', f);
        write_cue_text(f, s->text);
        fputs("\n\n", f);
    }
}

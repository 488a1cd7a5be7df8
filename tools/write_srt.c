/* steno: SubRip subtitles. SPDX-License-Identifier: MIT */
#include "write_cues.h"

static void put(FILE *f, const struct cue *c)
{
    fprintf(f, "%d\n", c->t->index_offset + c->index + 1);
    write_time(f, c->t0_ms, 1, ',');
    fputs(" --> ", f);
    write_time(f, c->t1_ms, 1, ',');
    fputc('\n', f);
    write_speaker(f, write_speaker_of(c->t, c->seg));
    write_cue(f, c);
    fputs("\n\n", f);
}

void write_srt(FILE *f, const struct transcript *t)
{
    write_cues(f, t, put);
}

/* steno: SubRip subtitles. SPDX-License-Identifier: MIT */
#include "write_cues.h"

static void put(struct sink *f, const struct cue *c)
{
    sink_format(f, "%d\n", c->t->index_offset + c->index + 1);
    write_time(f, c->t0_ms, 1, ',');
    sink_text(f, " --> ");
    write_time(f, c->t1_ms, 1, ',');
    sink_char(f, '\n');
    char label[WRITE_LABEL_SZ] = "";
    if (!c->atom) write_speaker_label(label, sizeof label, c->t, c->seg);
    write_cue(f, TEXT_SRT, c, label);
    sink_text(f, "\n\n");
}

void write_srt(struct sink *f, const struct transcript *t)
{
    write_cues(f, t, put, 1);
}

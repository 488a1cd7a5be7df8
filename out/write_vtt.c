/* steno: WebVTT subtitles. SPDX-License-Identifier: MIT */
#include "write_cues.h"
#include <inttypes.h>

static void put(struct sink *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    write_time(f, c->t0_ms, 0, '.');
    sink_text(f, " --> ");
    write_time(f, c->t1_ms, 0, '.');
    sink_char(f, '\n');
    if (speaker && *speaker >= 0) sink_format(f, "<v Speaker%" PRId32 ">", *speaker);
    else if (speaker) sink_text(f, "<v Speaker?>");
    write_cue(f, c);
    sink_text(f, "\n\n");
}

void write_vtt(struct sink *f, const struct transcript *t)
{
    sink_text(f, "WEBVTT\n\n");
    write_cues(f, t, put);
}

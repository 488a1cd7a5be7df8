/* steno: WebVTT subtitles. SPDX-License-Identifier: MIT */
#include "write_cues.h"
#include <inttypes.h>

static void put(FILE *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    write_time(f, c->t0_ms, 0, '.');
    fputs(" --> ", f);
    write_time(f, c->t1_ms, 0, '.');
    fputc('\n', f);
    if (speaker && *speaker >= 0) fprintf(f, "<v Speaker%" PRId32 ">", *speaker);
    else if (speaker) fputs("<v Speaker?>", f);
    write_cue(f, c);
    fputs("\n\n", f);
}

void write_vtt(FILE *f, const struct transcript *t)
{
    fputs("WEBVTT\n\n", f);
    write_cues(f, t, put);
}

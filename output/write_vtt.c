/* steno: WebVTT subtitles. SPDX-License-Identifier: MIT */
#include "write_cues.h"
#include <inttypes.h>

/* Writes the name of a speaker, without mark-up. "--" at its end and the tag's '>' would look like the arrow between times. */
static void put_name(struct sink *f, const struct transcript *t, int32_t speaker)
{
    size_t n;
    const char *name = write_speaker_name(&n, t, speaker);
    while (name && n > 1 && name[n - 1] == '-' && name[n - 2] == '-') n--;
    if (name) text_put(f, TEXT_VTT_NAME, name, n);
    else if (speaker >= 0) sink_format(f, "Speaker%" PRId32, speaker);
    else sink_text(f, "Speaker?");
}

static void put(struct sink *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    write_time(f, c->t0_ms, 0, '.');
    sink_text(f, " --> ");
    write_time(f, c->t1_ms, 0, '.');
    if (speaker && *speaker >= 0 && c->t->layout && c->t->layout->vtt_regions) sink_format(f, " region:speaker%" PRId32, *speaker);
    sink_char(f, '\n');
    if (speaker) {
        sink_text(f, "<v ");
        put_name(f, c->t, *speaker);
        sink_char(f, '>');
    }
    write_cue(f, TEXT_VTT, c, "");
    sink_text(f, "\n\n");
}

/* Writes the selector for the text of a speaker. */
static void put_voice(struct sink *f, const struct transcript *t, int32_t speaker)
{
    size_t n;
    const char *name = write_speaker_name(&n, t, speaker);
    sink_text(f, "::cue(v[voice=\"");
    if (name) text_put(f, TEXT_CSS, name, n);
    else sink_format(f, "Speaker%" PRId32, speaker);
    sink_text(f, "\"])");
}

/* Writes the colours that television uses for speakers. */
static void put_styles(struct sink *f, const struct transcript *t, int32_t speakers)
{
    static const char *const colors[] = { "white", "yellow", "cyan", "lime" };
    enum { N = sizeof colors / sizeof *colors };
    if (!speakers) return;
    sink_text(f, "STYLE\n");
    for (int32_t i = 0; i < speakers; i++) {
        put_voice(f, t, i);
        sink_format(f, " { color: %s; }\n", colors[i % N]);
    }
    sink_char(f, '\n');
}

/* Writes regions for speakers, side by side at the bottom of the picture. */
static void put_regions(struct sink *f, int32_t speakers)
{
    enum { WHOLE = 90, EDGE = 5, LINES = 3 };
    for (int32_t i = 0; i < speakers; i++)
        sink_format(f, "REGION\nid:speaker%" PRId32 "\nwidth:%d%%\nlines:%d\nregionanchor:0%%,100%%\nviewportanchor:%d%%,95%%\n\n", i,
                    (int)(WHOLE / speakers), LINES, (int)(EDGE + WHOLE * (int64_t)i / speakers));
}

void write_vtt(struct sink *f, const struct transcript *t)
{
    const int32_t speakers = t->layout ? write_speaker_count(t) : 0;
    sink_text(f, "WEBVTT\n\n");
    if (speakers && t->layout->vtt_regions) put_regions(f, speakers);
    if (speakers && t->layout->speaker_colors) put_styles(f, t, speakers);
    write_cues(f, t, put, 0);
}

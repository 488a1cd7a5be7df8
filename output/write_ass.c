/* steno: karaoke subtitles that highlight each word when it is spoken (Advanced SubStation Alpha). SPDX-License-Identifier: MIT
 *
 * A word is a syllable: {\k} has its duration in hundredths of a second, and a syllable without text is a pause. Hundredths are differences
 * of rounded times, so rounding errors do not add up. Cues without words are plain lines. In text, a brace would begin a command, and a
 * backslash might. So braces are escaped, and an invisible word joiner (U+2060) follows each backslash. */
#include "write_cues.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes a style: name and colour (alpha, blue, green, red) of text that has been reached. */
static void style(struct sink *f, const char *name, const char *font, const char *colour)
{
    sink_format(f, "Style: %s,", name);
    if (font[0]) text_put(f, TEXT_ASS_NAME, font, strlen(font));
    else sink_text(f, "sans-serif");
    sink_format(f, ",48,%s,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,40,40,40,1\n", colour);
}

/* Writes the styles of speakers 0, 1, ..., in the colours of write_vtt.c. */
static void speaker_styles(struct sink *f, const char *font, int32_t speakers)
{
    static const char *const colours[] = { "&H00FFFFFF", "&H0000FFFF", "&H00FFFF00", "&H0000FF00" };
    enum { N = sizeof colours / sizeof *colours };
    for (int32_t i = 0; i < speakers; i++) {
        char name[32];
        snprintf(name, sizeof name, "Speaker%" PRId32, i);
        style(f, name, font, colours[i % N]);
    }
}

static void head(struct sink *f, const char *font, int32_t speakers)
{
    sink_text(f, "[Script Info]\nScriptType: v4.00+\nPlayResX: 1280\nPlayResY: 720\nWrapStyle: 0\nScaledBorderAndShadow: yes\n\n"
                 "[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, "
                 "Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, "
                 "MarginV, Encoding\n");
    style(f, "Line", font, "&H00FFFFFF");
    style(f, "Karaoke", font, "&H0090EE90");
    speaker_styles(f, font, speakers);
    sink_text(f, "\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n");
}

static int64_t hundredths(int64_t ms)
{
    return ms < 0 ? 0 : (ms + 5) / 10;
}

static void put_time(struct sink *f, int64_t ms)
{
    const int64_t cs = hundredths(ms);
    sink_format(f, "%" PRId64 ":%02d:%02d.%02d,", cs / 360000, (int)(cs / 6000 % 60), (int)(cs / 100 % 60), (int)(cs % 100));
}

struct line {
    struct sink *f;
    int64_t at; /* hundredths: end of the syllables so far */
    int timed;  /* words have their own times */
};

static void put_part(void *user, const struct cue_part *p)
{
    struct line *l = user;
    if (p->new_line) sink_text(l->f, "\\N");
    if (l->timed && p->t0_ms >= 0 && p->t1_ms >= 0) {
        const int64_t t0 = hundredths(p->t0_ms), t1 = hundredths(p->t1_ms);
        if (t0 > l->at) {
            sink_format(l->f, "{\\k%" PRId64 "}", t0 - l->at);
            l->at = t0;
        }
        sink_format(l->f, "{\\k%" PRId64 "}", t1 > l->at ? t1 - l->at : 0);
        if (t1 > l->at) l->at = t1;
    }
    text_put(l->f, TEXT_ASS, p->text, p->n);
    if (p->turn) sink_text(l->f, WRITE_SPEAKER_TURN);
}

static void put_name(struct sink *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    size_t n;
    const char *name = speaker ? write_speaker_name(&n, c->t, *speaker) : NULL;
    if (name) text_put(f, TEXT_ASS_NAME, name, n);
    else if (speaker && *speaker >= 0) sink_format(f, "Speaker%" PRId32, *speaker);
}

static void put_style(struct sink *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    if (speaker && *speaker >= 0 && c->t->layout->speaker_colors) sink_format(f, "Speaker%" PRId32 ",", *speaker);
    else sink_format(f, "%s,", c->n || (c->atom && c->t->word_times) ? "Karaoke" : "Line");
}

static void put(struct sink *f, const struct cue *c)
{
    struct line l = { f, hundredths(c->t0_ms), c->t->word_times };
    sink_text(f, "Dialogue: 0,");
    put_time(f, c->t0_ms);
    put_time(f, c->t1_ms);
    put_style(f, c);
    put_name(f, c);
    sink_text(f, ",0,0,0,,");
    if (!c->atom) {
        char label[WRITE_LABEL_SZ];
        write_speaker_label(label, sizeof label, c->t, c->seg);
        text_put(f, TEXT_ASS, label, strlen(label));
    }
    cue_parts(c, put_part, &l);
    sink_char(f, '\n');
}

void write_ass(struct sink *f, const struct transcript *t)
{
    struct write_layout layout = { 0 };
    struct transcript plain = *t;
    if (t->layout) layout = *t->layout;
    layout.highlight_words = 0; /* the syllables replace it */
    plain.layout = &layout;
    head(f, layout.font, layout.speaker_colors ? write_speaker_count(t) : 0);
    write_cues(f, &plain, put, 1);
}

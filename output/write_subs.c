/* steno: subtitles: srt, vtt, ass, and a script that burns them into a video. SPDX-License-Identifier: MIT */
#include "write.h"
#include "write_cues.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- srt (SubRip) ------------------------------------------------------------------------------------------------------------ */

static void put_srt(struct sink *f, const struct cue *c)
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
    write_cues(f, t, put_srt, 1);
}

/* ---- vtt (WebVTT) ------------------------------------------------------------------------------------------------------------ */

/* Writes the name of a speaker, without mark-up. "--" at its end and the tag's '>' would look like the arrow between times. */
static void put_voice_name(struct sink *f, const struct transcript *t, int32_t speaker)
{
    size_t n;
    const char *name = write_speaker_name(&n, t, speaker);
    while (name && n > 1 && name[n - 1] == '-' && name[n - 2] == '-') n--;
    if (name) text_put(f, TEXT_VTT_NAME, name, n);
    else if (speaker >= 0) sink_format(f, "Speaker%" PRId32, speaker);
    else sink_text(f, "Speaker?");
}

static void put_vtt(struct sink *f, const struct cue *c)
{
    const int32_t *speaker = write_speaker_of(c->t, c->seg);
    write_time(f, c->t0_ms, 0, '.');
    sink_text(f, " --> ");
    write_time(f, c->t1_ms, 0, '.');
    if (speaker && *speaker >= 0 && c->t->layout && c->t->layout->vtt_regions) sink_format(f, " region:speaker%" PRId32, *speaker);
    sink_char(f, '\n');
    if (speaker) {
        sink_text(f, "<v ");
        put_voice_name(f, c->t, *speaker);
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
    write_cues(f, t, put_vtt, 0);
}

/* ---- ass (Advanced SubStation Alpha) ----------------------------------------------------------------------------------------- */

/* Karaoke subtitles that highlight each word when it is spoken. A word is a syllable: {\k} has its duration in hundredths of a second, and
 * a syllable without text is a pause. Hundredths are differences of rounded times, so rounding errors do not add up. Cues without words are
 * plain lines. In text, a brace would begin a command, and a backslash might. So braces are escaped, and an invisible word joiner (U+2060)
 * follows each backslash. */

/* Writes a style: name and colour (alpha, blue, green, red) of text that has been reached. */
static void write_style(struct sink *f, const char *name, const char *font, const char *colour)
{
    sink_format(f, "Style: %s,", name);
    if (font[0]) text_put(f, TEXT_ASS_NAME, font, strlen(font));
    else sink_text(f, "sans-serif");
    sink_format(f, ",48,%s,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,40,40,40,1\n", colour);
}

/* Writes the styles of speakers 0, 1, ..., in the colours of write_vtt. */
static void speaker_styles(struct sink *f, const char *font, int32_t speakers)
{
    static const char *const colours[] = { "&H00FFFFFF", "&H0000FFFF", "&H00FFFF00", "&H0000FF00" };
    enum { N = sizeof colours / sizeof *colours };
    for (int32_t i = 0; i < speakers; i++) {
        char name[32];
        snprintf(name, sizeof name, "Speaker%" PRId32, i);
        write_style(f, name, font, colours[i % N]);
    }
}

static void head(struct sink *f, const char *font, int32_t speakers)
{
    sink_text(f, "[Script Info]\nScriptType: v4.00+\nPlayResX: 1280\nPlayResY: 720\nWrapStyle: 0\nScaledBorderAndShadow: yes\n\n"
                 "[V4+ Styles]\nFormat: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, "
                 "Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, "
                 "MarginV, Encoding\n");
    write_style(f, "Line", font, "&H00FFFFFF");
    write_style(f, "Karaoke", font, "&H0090EE90");
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

static void put_ass_name(struct sink *f, const struct cue *c)
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

static void put_ass(struct sink *f, const struct cue *c)
{
    struct line l = { f, hundredths(c->t0_ms), c->t->word_times };
    sink_text(f, "Dialogue: 0,");
    put_time(f, c->t0_ms);
    put_time(f, c->t1_ms);
    put_style(f, c);
    put_ass_name(f, c);
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
    write_cues(f, &plain, put_ass, 1);
}

/* ---- wts, a script with ass -------------------------------------------------------------------------------------------------- */

/* A shell script that burns words into the video of its input while they are spoken. It contains the subtitles of write_ass and runs FFmpeg
 * to draw them. Names are quoted for the shell. Relative names refer to the folder in which the script runs, and become absolute, so that a
 * dash or colon in them has no special meaning. */

static void put_absolute(struct sink *f, const char *name)
{
    sink_format(f, "case $%s in /*) ;; *) %s=$PWD/$%s ;; esac\n", name, name, name);
}

static void put_names(struct sink *f, const struct transcript *t)
{
    const char *input = t->source && strcmp(t->source->input, "-") != 0 ? t->source->input : NULL;
    if (input) {
        sink_text(f, "input=");
        text_put_shell(f, input);
        sink_text(f, "\n[ $# -eq 0 ] || input=$1\n");
    } else {
        sink_text(f, "input=${1:?\"the sound came from standard input: name its file\"}\n");
    }
    sink_text(f, "output=$input.mp4\n[ $# -lt 2 ] || output=$2\n");
    put_absolute(f, "input");
    put_absolute(f, "output");
    if (!t->layout || !t->layout->font_file) return;
    sink_text(f, "font=");
    text_put_shell(f, t->layout->font_file);
    sink_char(f, '\n');
    put_absolute(f, "font");
}

void write_wts(struct sink *f, const struct transcript *t)
{
    const int has_file = t->layout && t->layout->font_file;
    sink_text(f, "#!/bin/sh\n"
                 "# Burns the words below into the picture of INPUT, each lit up when it is spoken; sound without a picture gets "
                 "a black one.\n"
                 "# Usage: sh SCRIPT [INPUT [OUTPUT]]; OUTPUT is INPUT.mp4 unless it is given. Needs ffmpeg and ffprobe, with libass.\n"
                 "set -eu\n");
    put_names(f, t);
    sink_text(f, "folder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\ntrap 'exit 1' HUP INT TERM\n"
                 "cat >\"$folder/words.ass\" <<'END_OF_SUBTITLES'\n");
    write_ass(f, t); /* each of its lines begins with a keyword */
    sink_text(f, "END_OF_SUBTITLES\n");
    if (has_file) sink_text(f, "mkdir \"$folder/fonts\"\ncp \"$font\" \"$folder/fonts\"\n");
    sink_text(f, "cd \"$folder\"\n"
                 "if ffprobe -v error -select_streams V:0 -show_entries stream=codec_type -of csv=p=0 \"$input\" | grep -q video; then\n"
                 "    set -- -map 0:V:0 -map '0:a?'\n"
                 "else\n"
                 "    set -- -f lavfi -i color=c=black:s=1280x720:r=25 -map 1:v -map 0:a -shortest\n"
                 "fi\n");
    sink_format(f, "ffmpeg -nostdin -i \"$input\" \"$@\" -vf subtitles=words.ass%s -pix_fmt yuv420p \"$output\"\n",
                has_file ? ":fontsdir=fonts" : "");
}

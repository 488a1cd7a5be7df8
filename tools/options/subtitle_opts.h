/* steno: options for words, their times and the layout of subtitles. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SUBTITLE_OPTS_H
#define STENO_TOOLS_SUBTITLE_OPTS_H
#include "cli/args.h"
#include "cue_rules.h"
#include "path_guard.h"
#include "transcript.h"
#include <stdint.h>

/* ---- rules of published subtitles -------------------------------------------------------------------------------------------- */

struct cue_opts {
    int style;
    int64_t min_ms, max_ms, gap_ms, close_ms;
    double cps, frame_rate;
};

#define CUE_ROWS(T, field) \
    { .name = "style", .kind = ARG_WORD, .at = offsetof(T, field.style), .value = CUE_STYLE_NAMES, .dflt = "plain", \
      .help = "make cues by a published guideline (doc/subtitles.md); the other options override its limits" }, \
    { .name = "min-cue-ms", .kind = ARG_MS, .at = offsetof(T, field.min_ms), .value = "MS", .hi = 1e6, \
      .help = "minimum duration of a cue, in ms" }, \
    { .name = "max-cue-ms", .kind = ARG_MS, .at = offsetof(T, field.max_ms), .value = "MS", .hi = 1e6, \
      .help = "maximum duration of a cue, in ms; 0: no limit" }, \
    { .name = "max-cps", .kind = ARG_NUM, .at = offsetof(T, field.cps), .value = "N", .hi = 1e6, \
      .help = "maximum reading speed in characters per second; 0: no limit" }, \
    { .name = "min-gap-ms", .kind = ARG_MS, .at = offsetof(T, field.gap_ms), .value = "MS", .hi = 1e6, \
      .help = "minimum gap between cues, in ms" }, \
    { .name = "close-gap-ms", .kind = ARG_MS, .at = offsetof(T, field.close_ms), .value = "MS", .hi = 1e6, \
      .help = "gaps smaller than this are closed to the minimum gap, in ms" }, \
    { .name = "frame-rate", .kind = ARG_NUM, .at = offsetof(T, field.frame_rate), .value = "N", .dflt = "24", .lo = 1, .hi = 1000, \
      .help = "frames per second of the film, for a style that counts gaps in frames" }

/* Fill the rules from the options; `on` is set if one was given. line_width, lines: values of those options if given, else CUE_UNSET.
 * @return EXIT_OK or EXIT_USAGE, after a message */
int cue_opts_choice(struct cue_choice *c, const struct cue_opts *o, const struct args_given *g, int64_t line_width, int64_t lines);

/* ---- words, times and layout ------------------------------------------------------------------------------------------------- */

struct subtitle_opts {
    int highlight_words, split_on_word, log_scores;
    int64_t max_line_width, max_line_count, max_words_per_line, max_len;
    struct cue_opts cues;
    const char *speaker_names;
    int speaker_colors, vtt_regions;
    const struct args_given *given;
    int ruled; /* 1: cues are built by rules; set by subtitle_opts_layout */
    const char *font;
    struct path_guard *path_guard; /* registers the font file */
};

#define SUBTITLE_ROWS(T) \
    ARG_HEADING("Subtitles"), \
    { .name = "max-line-width", .kind = ARG_INT, .at = offsetof(T, subtitles.max_line_width), .value = "N", .dflt = "0", .hi = 1e6, \
      .help = "maximum number of characters per line (srt, vtt, ass, wts); 0: no limit. Without word times lines break at spaces, " \
              "and the cues of a segment divide its time by their lengths" }, \
    { .name = "max-line-count", .kind = ARG_INT, .at = offsetof(T, subtitles.max_line_count), .value = "N", .dflt = "0", .hi = 1e6, \
      .help = "maximum number of lines per cue; 0: a cue is a segment. With word times cues continue across segments" }, \
    { .name = "max-words-per-line", .kind = ARG_INT, .at = offsetof(T, subtitles.max_words_per_line), .value = "N", .dflt = "0", \
      .hi = 1e6, .help = "maximum number of words per cue; 0: no limit" }, \
    { .name = "highlight-words", .kind = ARG_PAIR, .at = offsetof(T, subtitles.highlight_words), .dflt = "off", \
      .help = "underline each word while it is spoken (srt, vtt)" }, \
    { .name = "max-len", .kind = ARG_INT, .at = offsetof(T, subtitles.max_len), .value = "N", .dflt = "0", .hi = 1e6, \
      .help = "split segments, in every format, into pieces of at most N characters; 0: do not split. A piece begins with a " \
              "token, with word times with a word (SenseVoice and Paraformer: always a word)" }, \
    { .name = "split-on-word", .kind = ARG_PAIR, .at = offsetof(T, subtitles.split_on_word), .dflt = "off", \
      .help = "with --max-len: split only at spaces" }, \
    CUE_ROWS(T, subtitles.cues), \
    { .name = "speaker-names", .kind = ARG_TEXT, .at = offsetof(T, subtitles.speaker_names), .value = "A,B", \
      .help = "names in srt, vtt and ass for the speakers of --diarize or the channels of --channels" }, \
    { .name = "speaker-colors", .kind = ARG_FLAG, .at = offsetof(T, subtitles.speaker_colors), \
      .help = "a colour for each speaker (vtt, ass): white, yellow, cyan, green" }, \
    { .name = "vtt-regions", .kind = ARG_FLAG, .at = offsetof(T, subtitles.vtt_regions), \
      .help = "a vtt region for each speaker, from left to right" }, \
    { .name = "font", .kind = ARG_TEXT, .at = offsetof(T, subtitles.font), .value = "NAME|FILE", \
      .help = "font of ass and wts: an installed one, or a .ttf or .otf file; without it sans-serif" }, \
    { .name = "log-scores", .kind = ARG_FLAG, .at = offsetof(T, subtitles.log_scores), \
      .help = "same as adding score to --output-format" }

/* Check the options, fill the layout and add the formats that options require. @return EXIT_OK or EXIT_USAGE, after a message */
int subtitle_opts_layout(struct write_layout *l, unsigned *formats, struct subtitle_opts *o);

/* Request the times that options and formats need. Segments are cut at words if the model has no token times; model NULL means any. */
void subtitle_opts_params(steno_transcribe_params *p, const struct subtitle_opts *o, unsigned formats, const steno_model *m);

/* If speakers have names or colours, set the speaker of the transcript of channel `channel` (below 0: all channels). *speakers: freed by
 * the caller. @return EXIT_OK or EXIT_MEMORY, after a message */
int subtitle_opts_channel(int32_t **speakers, struct transcript *t, const struct subtitle_opts *o, int channel);

/* Are segments cut, so that they cannot be shown on arrival? */
int subtitle_opts_cut(const struct subtitle_opts *o);
#endif

/* steno: options for the rules of published subtitles. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_CUE_OPTS_H
#define STENO_TOOLS_CUE_OPTS_H
#include "cli/args.h"
#include "cue_rules.h"

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
#endif

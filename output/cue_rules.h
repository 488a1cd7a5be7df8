/* steno: rules of subtitles. SPDX-License-Identifier: MIT
 *
 * A style is a named set of limits; doc/subtitles.md has the source of each figure. Widths and speeds are counted in cells (text_shape.h).
 * In styles that count full-width characters, each of these is two cells, and a narrow character is one cell. */
#ifndef STENO_OUT_CUE_RULES_H
#define STENO_OUT_CUE_RULES_H
#include <stddef.h>
#include <stdint.h>

struct text_size;

struct cue_rules {
    int64_t line_cells, lines;   /* maximum of a line, of a cue; 0: no limit */
    int64_t min_ms, max_ms;      /* duration of a cue; 0: no limit */
    int64_t gap_ms;              /* minimum between two cues */
    int64_t close_ms;            /* shorter gaps are reduced to gap_ms */
    double cells_per_s;          /* maximum reading speed; 0: no limit */
    double ms_per_word;          /* the same by words; 0: no limit */
    int32_t cells_per_character; /* 2: the style counts full-width characters */
};

/* Requested rules. */
enum cue_style { CUE_STYLE_PLAIN, CUE_STYLE_NETFLIX, CUE_STYLE_BBC, CUE_STYLE_BROADCAST, N_CUE_STYLES };
#define CUE_STYLE_NAMES "plain|netflix|bbc|broadcast"

enum { CUE_UNSET = -1 }; /* selects the style's value */
struct cue_choice {
    int on;              /* 0: cues follow the reference */
    int style;           /* enum cue_style */
    int64_t line_width, lines, min_ms, max_ms, gap_ms, close_ms; /* CUE_UNSET, or replaces the style's value; 0: no limit */
    double cps;          /* as above, in characters per second */
    double frame_rate;   /* for limits that a style gives in frames */
};

/* No style and no limits. */
#define CUE_CHOICE_UNSET \
    { .line_width = CUE_UNSET, .lines = CUE_UNSET, .min_ms = CUE_UNSET, .max_ms = CUE_UNSET, .gap_ms = CUE_UNSET, .close_ms = CUE_UNSET, \
      .cps = CUE_UNSET, .frame_rate = 24 }

/* The rules for text in a language (a code; NULL: not known). */
void cue_rules_of(struct cue_rules *r, const struct cue_choice *c, const char *language);

/* Why a choice is contradictory in any language; NULL: it is valid. */
const char *cue_choice_fault(const struct cue_choice *c);

/* How long a text must be shown to be read, at most max_ms. Times are multiples of CUE_GRID_MS. */
enum { CUE_GRID_MS = 10 };
int64_t cue_rules_need_ms(const struct cue_rules *r, const struct text_size *t);

/* Language of a text by its script: "ja", "ko", "zh", or "". */
const char *cue_language_of(const char *s, size_t n);
#endif

/* steno: what subtitles have to keep to. SPDX-License-Identifier: MIT
 *
 * A style is a set of limits with a name; doc/subtitles.md says where each figure comes from. Widths and speeds are counted in cells
 * (text_shape.h): in styles that count full-width characters, one of them is two cells, and a narrow one half of it. */
#ifndef STENO_OUT_CUE_RULES_H
#define STENO_OUT_CUE_RULES_H
#include <stddef.h>
#include <stdint.h>

struct text_size;

struct cue_rules {
    int64_t line_cells, lines;   /* most of a line, of a cue; 0: any */
    int64_t min_ms, max_ms;      /* how long a cue is shown; 0: any */
    int64_t gap_ms;              /* least between two cues */
    int64_t close_ms;            /* gaps below that are closed down to gap_ms */
    double cells_per_s;          /* fastest reading; 0: any */
    double ms_per_word;          /* the same by words; 0: any */
    int32_t cells_per_character; /* 2: characters that are counted are full-width ones */
};

/* Which rules somebody wants. */
enum cue_style { CUE_STYLE_PLAIN, CUE_STYLE_NETFLIX, CUE_STYLE_BBC, CUE_STYLE_BROADCAST, N_CUE_STYLES };
#define CUE_STYLE_NAMES "plain|netflix|bbc|broadcast"

enum { CUE_UNSET = -1 }; /* the style's */
struct cue_choice {
    int on;              /* 0: cues are those of the reference */
    int style;           /* enum cue_style */
    int64_t line_width, lines, min_ms, max_ms, gap_ms, close_ms; /* CUE_UNSET, or in place of the style's; 0: no limit */
    double cps;          /* the same, in characters per second */
    double frame_rate;   /* for what a style counts in frames */
};

/* No style and no limit of one's own. */
#define CUE_CHOICE_UNSET \
    { .line_width = CUE_UNSET, .lines = CUE_UNSET, .min_ms = CUE_UNSET, .max_ms = CUE_UNSET, .gap_ms = CUE_UNSET, .close_ms = CUE_UNSET, \
      .cps = CUE_UNSET, .frame_rate = 24 }

/* The rules for text in a language (a code, NULL: not known). */
void cue_rules_of(struct cue_rules *r, const struct cue_choice *c, const char *language);

/* Why a choice makes no sense whatever the language, NULL: it does. */
const char *cue_choice_fault(const struct cue_choice *c);

/* How long text has to be shown to be read, at most max_ms; times are multiples of CUE_GRID_MS. */
enum { CUE_GRID_MS = 10 };
int64_t cue_rules_need_ms(const struct cue_rules *r, const struct text_size *t);

/* The language of text, as far as its writing tells: "ja", "ko", "zh", or "". */
const char *cue_language_of(const char *s, size_t n);
#endif

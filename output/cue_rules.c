/* steno: rules of subtitles. SPDX-License-Identifier: MIT
 *
 * Figures that a guideline does not give are those of the plain style. */
#include "cue_rules.h"
#include "text_shape.h"
#include "utf8.h"
#include <math.h>
#include <string.h>

static const struct style {
    struct cue_rules rules;
    double gap_frames; /* replaces gap_ms */
} styles[N_CUE_STYLES] = {
    [CUE_STYLE_PLAIN] = { { .line_cells = 42, .lines = 2, .min_ms = 833, .max_ms = 7000, .gap_ms = 80, .close_ms = 500, .cells_per_s = 20,
                            .cells_per_character = 1 }, 0 },
    [CUE_STYLE_NETFLIX] = { { .line_cells = 42, .lines = 2, .min_ms = 833, .max_ms = 7000, .close_ms = 500, .cells_per_s = 17,
                              .cells_per_character = 1 }, 2 },
    [CUE_STYLE_BBC] = { { .line_cells = 37, .lines = 2, .min_ms = 833, .max_ms = 7000, .close_ms = 1000, .ms_per_word = 300,
                          .cells_per_character = 1 }, 0 },
    [CUE_STYLE_BROADCAST] = { { .line_cells = 32, .lines = 2, .min_ms = 1333, .max_ms = 6000, .gap_ms = 80, .close_ms = 500,
                                .ms_per_word = 60000.0 / 225, .cells_per_character = 1 }, 0 },
};

/* Figures of a style for single languages, in characters as the style counts them. */
static const struct {
    int style;
    const char *language;
    int32_t cells_per_character, line, cps;
} of_language[] = {
    { CUE_STYLE_NETFLIX, "en", 1, 42, 20 }, { CUE_STYLE_NETFLIX, "zh", 2, 16, 9 },  { CUE_STYLE_NETFLIX, "yue", 2, 16, 9 },
    { CUE_STYLE_NETFLIX, "ja", 2, 13, 4 },  { CUE_STYLE_NETFLIX, "ko", 2, 16, 12 },
};

static int64_t choose(int64_t given, int64_t style)
{
    return given == CUE_UNSET ? style : given;
}

void cue_rules_of(struct cue_rules *r, const struct cue_choice *c, const char *language)
{
    const struct style *s = &styles[c->style];
    if (!language || !*language) language = "en"; /* an unknown language has the rules of English */
    *r = s->rules;
    if (s->gap_frames > 0) r->gap_ms = (int64_t)(s->gap_frames * 1000 / c->frame_rate); /* rounded up when cues are built */
    for (size_t i = 0; i < sizeof of_language / sizeof *of_language; i++) {
        if (of_language[i].style != c->style || !language || strcmp(of_language[i].language, language) != 0) continue;
        r->cells_per_character = of_language[i].cells_per_character;
        r->line_cells = (int64_t)of_language[i].line * r->cells_per_character;
        r->cells_per_s = of_language[i].cps * r->cells_per_character;
    }
    if (c->line_width != CUE_UNSET) r->line_cells = c->line_width * r->cells_per_character;
    if (c->cps >= 0) {
        r->cells_per_s = c->cps * r->cells_per_character;
        r->ms_per_word = 0;
    }
    r->lines = choose(c->lines, r->lines);
    r->min_ms = choose(c->min_ms, r->min_ms);
    r->max_ms = choose(c->max_ms, r->max_ms);
    r->gap_ms = choose(c->gap_ms, r->gap_ms);
    r->close_ms = choose(c->close_ms, r->close_ms);
    if (c->max_ms == CUE_UNSET && r->max_ms && r->max_ms < r->min_ms) r->max_ms = r->min_ms; /* the explicit option takes precedence */
    if (c->min_ms == CUE_UNSET && r->max_ms && r->min_ms > r->max_ms) r->min_ms = r->max_ms;
    if (r->close_ms < r->gap_ms) r->close_ms = r->gap_ms;
}

const char *cue_choice_fault(const struct cue_choice *c)
{
    enum { LEAST_MS = 100 };
    if (c->max_ms > 0 && c->max_ms < LEAST_MS) return "--max-cue-ms is less than 100: no cue can be read in that time";
    if (c->max_ms > 0 && c->min_ms > c->max_ms) return "--min-cue-ms is more than --max-cue-ms";
    if (c->close_ms > 0 && c->gap_ms > c->close_ms) return "--min-gap-ms is more than --close-gap-ms";
    return NULL;
}

int64_t cue_rules_need_ms(const struct cue_rules *r, const struct text_size *t)
{
    double ms = (double)r->min_ms;
    if (r->cells_per_s > 0) ms = fmax(ms, (double)t->cells * 1000 / r->cells_per_s);
    ms = fmax(ms, (double)t->half_words * r->ms_per_word / 2);
    int64_t need = ms < 1e12 ? (int64_t)ceil(ms / CUE_GRID_MS - 1e-9) * CUE_GRID_MS : INT64_C(1000000000000);
    if (r->max_ms && need > r->max_ms) need = r->max_ms / CUE_GRID_MS * CUE_GRID_MS;
    return need;
}

const char *cue_language_of(const char *s, size_t n)
{
    int64_t kana = 0, hangul = 0, han = 0, other = 0;
    size_t used;
    for (size_t at = 0; at < n; at += used) {
        const int32_t c = utf8_decode(s + at, n - at, &used);
        if (c >= 0x3041 && c <= 0x30FF) kana++;
        else if ((c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x1100 && c <= 0x11FF)) hangul++;
        else if ((c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x3FFFF)) han++;
        else if (c > 0x20) other++;
    }
    if (kana + hangul + han <= other) return "";
    return kana * 10 > han ? "ja" : hangul > han ? "ko" : "zh";
}

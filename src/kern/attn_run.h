/* steno: attention over the keys of a run, in integers. SPDX-License-Identifier: MIT
 *
 * Both products use the register tile of lowp.h: keys and values are panels of weights. The rows of a tile walk all keys at once. Their
 * scores are adjacent in the cache, and weights overwrite the scores. The parts of each type are in attn_i8.h and attn_i16.h; int16
 * over tiles is in x86/attn_i16_tiles.h. */
#ifndef STENO_KERN_ATTN_RUN_H
#define STENO_KERN_ATTN_RUN_H
#include "kern/attn_run_row.h"
#include "kern/lowp.h"

enum { RUN_ROW_FLOATS = 16 /* a whole line, so that no vector of scores lies in two */ };

struct attn_run_scratch {
    float unit[RUN_ROW_FLOATS], share[RUN_ROW_FLOATS]; /* per row: the factor from score to exponent of 2; 1 / the sum of its weights */
    float top[RUN_KEYS_MAX / RUN_GROUP];     /* for a row of int16: the highest score of each group of keys */
    float acc[TILE_ROWS * PANEL];
    int32_t ints[TILE_ROWS * PANEL];         /* for int8: sums of a tile */
    uint32_t q[TILE_ROWS * RUN_Q_LD];
    uint32_t score[];                        /* rows of run_score_ld words: run_head words, then the scores */
};

/* Compute scores in steps of the query, for rows whose q are in scratch. */
INLINE void run_scores(struct attn_run_scratch *s, const struct attn_run *a, enum packed_type t, size_t rows, size_t ld)
{
    const size_t words = lowp_words(t, a->d_head);
    int32_t *to = (int32_t *)s->score + run_head(t, a->n_keys);
    for (size_t p = 0; p * PANEL < a->n_keys; p++) {
        const char *panel = run_keys_at(a, t, p);
        const int32_t *start = t == PK_I8_QUAD ? (const int32_t *)(const void *)panel + PANEL : NULL;
        const uint32_t *w = (const uint32_t *)(const void *)(panel + lowp_head_sz(t));
        panel_sums(to + p * PANEL, ld, t, s->q, RUN_Q_LD, start, w, words, rows,
                   &(struct weight_words){ .ahead = (const char *)(w + words * PANEL), .scale = (const float *)(const void *)panel });
    }
}

/* The functions of a type. */
struct run_body {
    float (*query)(uint32_t *to, const float *q, size_t d_head); /* returns its scale */
    /* Turn scores into weights. Returns 1 / their sum. */
    float (*weights)(struct attn_run_scratch *s, uint32_t *row, const struct attn_run *a, float unit);
    void (*outputs)(struct attn_run_scratch *s, const struct attn_run *a, size_t r0, size_t rows, size_t ld);
};

INLINE void attn_run_any(const struct attn_run *a, struct attn_run_scratch *s, enum packed_type t, const struct run_body *body)
{
    const size_t ld = run_score_ld(t, a->n_keys), tiles = (a->rows + TILE_ROWS - 1) / TILE_ROWS;
    const size_t height = a->rows ? (a->rows + tiles - 1) / tiles : 0;
    const int are_numbers = run_keys_are_numbers(a, t);
    for (size_t r0 = 0; r0 < a->rows; r0 += height) {
        const size_t rows = size_min(height, a->rows - r0);
        for (size_t r = 0; r < rows; r++)
            s->unit[r] = body->query(s->q + r * RUN_Q_LD, a->q + (r0 + r) * a->ld_q, a->d_head) * (a->scale * RUN_LOG2_E);
        run_scores(s, a, t, rows, ld);
        for (size_t r = 0; r < rows; r++) s->share[r] = body->weights(s, s->score + r * ld, a, are_numbers ? s->unit[r] : NAN);
        body->outputs(s, a, r0, rows, ld);
    }
}
#endif

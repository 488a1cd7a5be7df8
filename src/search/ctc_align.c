/* steno: alignment of labels to the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * State 2 i + 1 is label i, even states are blanks. For each row and state, the number of states to the predecessor on the best path is
 * kept; of equal paths the shorter step is taken. Scores are sums in f32, as in the reference. */
#include "search/ctc_align.h"
#include <math.h>
#include <string.h>

/* The lattice: the states of one row, and the steps to the states of all rows. */
struct lattice {
    const int32_t *label;
    int32_t n_states;
    float *score;   /* [n_states] */
    uint8_t *back;  /* [rows, n_states] */
};

/* Whether a path may pass from label to label without the blank between them. */
static int may_skip(const struct lattice *l, int32_t state)
{
    return state % 2 && state > 1 && l->label[state / 2] != l->label[state / 2 - 1];
}

/* Advance by a row, from the last state down, because each state reads those before it. */
static void row_step(struct lattice *l, const float *logp, uint8_t *back)
{
    for (int32_t s = l->n_states - 1; s >= 0; s--) {
        float best = l->score[s];
        back[s] = 0;
        for (int32_t k = 1; k <= 2 && k <= s; k++) {
            if ((k == 2 && !may_skip(l, s)) || !(l->score[s - k] > best)) continue;
            best = l->score[s - k];
            back[s] = (uint8_t)k;
        }
        l->score[s] = best + logp[s % 2 ? 1 + s / 2 : 0];
    }
}

static void spans_fill(struct ctc_span *out, const struct lattice *l, int32_t rows, int32_t state)
{
    for (int32_t t = rows - 1; t >= 0; t--) {
        if (state % 2) {
            struct ctc_span *x = &out[state / 2];
            x->begin = t;
            if (x->end < 0) x->end = t + 1;
        }
        state -= l->back[(size_t)t * (size_t)l->n_states + (size_t)state];
    }
}

int ctc_align(struct ctc_span *out, const int32_t *label, int32_t n, const float *logp, int32_t rows, struct buf *back)
{
    struct lattice l = { .label = label, .n_states = 2 * n + 1 };
    const size_t states = (size_t)l.n_states, steps = states * (size_t)rows;
    for (int32_t i = 0; i < n; i++) out[i] = (struct ctc_span){ -1, -1 };
    if (n < 1 || rows < 1) return STENO_OK;
    buf_clear(back);
    for (size_t i = 0; i < states; i++) buf_add(back, &(float){ -INFINITY }, sizeof(float));
    for (size_t left = steps; left && !back->err;) {
        static const uint8_t zeros[4096];
        const size_t k = left < sizeof zeros ? left : sizeof zeros;
        buf_add(back, zeros, k);
        left -= k;
    }
    if (back->err) return STENO_ENOMEM;
    l.score = (float *)(void *)back->p;
    l.back = (uint8_t *)(l.score + states);
    l.score[0] = logp[0];
    l.score[1] = logp[1];
    for (int32_t t = 1; t < rows; t++) row_step(&l, logp + (size_t)t * ((size_t)n + 1), l.back + (size_t)t * states);
    const int32_t last = l.n_states - 1, end = l.score[last] > l.score[last - 1] ? last : last - 1;
    if (l.score[end] > -INFINITY) spans_fill(out, &l, rows, end);
    return STENO_OK;
}

/* steno: logits in two stages. SPDX-License-Identifier: MIT
 *
 * Logits read the largest matrix of a decoder, and all of it, for the sake of one token, or a few. Where the most probable ids are wanted
 * and nothing else, all logits are first computed from a copy of the matrix in int8 by blocks, half the bytes, and each panel's distance
 * from the stored weights bounds how far off they can be. Then those panels whose best id could be among the best are computed from the
 * stored weights, and so are all timestamps, whose probabilities are compared with the best text. So the ids and their logits are exactly
 * those that the stored weights give; only the sum of exponentials behind log-probabilities is that of approximate logits.
 *
 * With w' and x' for what int8 makes of w and x:  |w x - w' x'| <= |w - w'| |x| + |w'| |x - x'|  (Cauchy and Schwarz), and rounding of
 * sums. */
#ifndef STENO_PLAN_LOGITS_APPROX_H
#define STENO_PLAN_LOGITS_APPROX_H
#include "plan/run.h"

enum {
    SLICE_PANELS = SLICE_IDS / PANEL, /* panels of a slice */
    APPROX_TOPK = RUN_BEAMS + 1      /* most ids that are wanted */
};
/* What the copy is packed as: x keeps 8 bits where the level multiplies those faster than 16. Both types take as many bytes. */
enum packed_type approx_type(const struct kern *kern);
/* Floats of a row of bounds: of all panels, then of each slice APPROX_TOPK numbers that as many of its logits are at least. */
static inline uint32_t approx_bounds_width(uint32_t n_vocab)
{
    return (uint32_t)pack_panels(n_vocab) + (n_vocab + SLICE_IDS - 1) / SLICE_IDS * APPROX_TOPK;
}

/* Of the outputs of a panel, the largest: error |w - w'|, rounding of sums included, and norm |w'|. */
struct approx_panel { float error, norm; };
struct approx_panel approx_panel_of(const struct q8_loss *loss, size_t k); /* loss: of packing the panel */

/* Of a row of x, [k], that meets a copy of type t: |x| and at least |x - x'|. */
struct approx_x { float norm, error; };
struct approx_x approx_x_of(enum packed_type t, const float *x, size_t k);

/* How far a row's approximate logits may be from those that the stored weights give, packed as t, where t itself rounds: of a panel so many
 * times its error, and so many times its norm. */
struct approx_reach { float of_error, of_norm; };
struct approx_reach approx_reach_of(struct approx_x x, enum packed_type t, size_t k);
static inline float approx_distance(struct approx_reach r, struct approx_panel p) { return r.of_error * p.error + r.of_norm * p.norm; }

/* A row of logits on its way through both stages. */
struct approx_row {
    int n;                   /* how many of the most probable ids are wanted; 0: all logits are */
    struct approx_x x;
    _Atomic uint32_t slices; /* that have bounds; 0 between runs */
    float lower;             /* bound of the n-th largest text logit */
};

/* Approximate logits of a row. */
struct approx_logits {
    const float *y;                   /* [n_vocab] */
    const struct approx_panel *panel; /* [panels] of the copy of the matrix */
    struct approx_x x;
    const struct logit_range *range;  /* ids that may be chosen */
    int n;                            /* of the most probable are wanted, at most APPROX_TOPK */
};

/* Panels [p0, p1): max[p] = the largest that an allowed text id of panel p can be; INFINITY for a panel with allowed timestamps, -INFINITY
 * for one with no allowed id. lower, [l->n], falling: the i-th largest of these panels' allowed text logits is at least lower[i];
 * -INFINITY: perhaps there are not so many. */
void approx_bounds(float *max, float *lower, const struct approx_logits *l, size_t p0, size_t p1, const struct kern *kern);
/* A lower bound of the n-th largest of all text logits: of `slices` times APPROX_TOPK numbers, the first n as approx_bounds left them. */
float approx_lower_bound(const float *lower, uint32_t slices, int n);
/* Could a panel whose bound is `max` hold one of the n best ids, when the n-th is at least `lower`? What is no number could. */
static inline int approx_may_hold(float max, float lower) { return max != -__builtin_inff() && !(max < lower); }
#endif

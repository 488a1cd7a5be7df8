/* steno: logits in two stages. SPDX-License-Identifier: MIT
 *
 * Computing logits reads the largest matrix of a decoder as a whole, for one token or a few. If only the most probable ids are needed, all
 * logits are first computed from a copy of the matrix in int8 by blocks, which has half the bytes. The distance of each panel from the
 * stored weights bounds the error. Then the panels that can hold one of the best ids are computed from the stored weights. So are all
 * timestamps, because their probabilities are compared with the best text. The ids and their logits are therefore exactly those of the
 * stored weights. Only the sum of exponentials in log-probabilities uses approximate logits.
 *
 * With w' and x' for the int8 forms of w and x:  |w x - w' x'| <= |w - w'| |x| + |w'| |x - x'|  (Cauchy and Schwarz), plus the rounding of
 * sums. */
#ifndef STENO_PLAN_LOGITS_APPROX_H
#define STENO_PLAN_LOGITS_APPROX_H
#include "plan/run.h"

enum {
    SLICE_PANELS = SLICE_IDS / PANEL, /* panels of a slice */
    APPROX_TOPK = RUN_BEAMS + 1      /* limit of requested ids */
};
/* The packed type of the copy: x keeps 8 bits on levels that multiply those faster than 16. Both types have the same size. */
enum packed_type approx_type(const struct kern *kern);
/* Floats of a row of bounds: one per panel, then APPROX_TOPK per slice, which are lower bounds of its largest logits. */
static inline uint32_t approx_bounds_width(uint32_t n_vocab)
{
    return (uint32_t)pack_panels(n_vocab) + (n_vocab + SLICE_IDS - 1) / SLICE_IDS * APPROX_TOPK;
}

/* The maximum over the outputs of a panel: error |w - w'|, including rounding of sums, and norm |w'|. */
struct approx_panel { float error, norm; };
struct approx_panel approx_panel_of(const struct q8_loss *loss, size_t k); /* loss: of packing the panel */

/* For a row x [k] and a copy of type t: |x|, and an upper bound of |x - x'|. */
struct approx_x { float norm, error; };
struct approx_x approx_x_of(enum packed_type t, const float *x, size_t k);

/* The distance of a row's approximate logits from the exact ones, including the rounding of the exact type t: of_error times the error of a
 * panel plus of_norm times its norm. */
struct approx_reach { float of_error, of_norm; };
struct approx_reach approx_reach_of(struct approx_x x, enum packed_type t, size_t k);
static inline float approx_distance(struct approx_reach r, struct approx_panel p) { return r.of_error * p.error + r.of_norm * p.norm; }

/* A row of logits in both stages. */
struct approx_row {
    int n;                   /* number of most probable ids requested; 0: all logits are needed */
    struct approx_x x;
    _Atomic uint32_t slices; /* slices that have bounds; 0 between runs */
    float lower;             /* lower bound of the n-th largest text logit */
};

/* Approximate logits of a row. */
struct approx_logits {
    const float *y;                   /* [n_vocab] */
    const struct approx_panel *panel; /* [panels] of the copy of the matrix */
    struct approx_x x;
    const struct logit_range *range;  /* ids that may be chosen */
    int n;                            /* number of most probable ids requested, at most APPROX_TOPK */
};

/* Panels [p0, p1). max[p]: upper bound of the allowed text logits of panel p; INFINITY for a panel with allowed timestamps, -INFINITY for
 * one without allowed ids. lower [l->n], in descending order: the i-th largest allowed text logit of these panels is at least lower[i];
 * -INFINITY: there may be fewer. */
void approx_bounds(float *max, float *lower, const struct approx_logits *l, size_t p0, size_t p1, const struct kern *kern);
/* A lower bound of the n-th largest text logit, from `slices` times APPROX_TOPK numbers, of which approx_bounds set the first n. */
float approx_lower_bound(const float *lower, uint32_t slices, int n);
/* Can a panel with bound `max` hold one of the n best ids, when the n-th is at least `lower`? A NaN counts as yes. */
static inline int approx_may_hold(float max, float lower) { return max != -__builtin_inff() && !(max < lower); }
#endif

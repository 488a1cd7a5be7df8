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
#ifndef STENO_PLAN_SCREEN_H
#define STENO_PLAN_SCREEN_H
#include "plan/run.h"

enum {
    SCREEN_PANELS = SCAN_IDS / PANEL, /* panels of a slice */
    SCREEN_TOP = RUN_BEAMS + 1        /* most ids that are wanted */
};
/* What the copy is packed as: x keeps 8 bits where the level multiplies those faster than 16. Both types take as many bytes. */
enum packed_type screen_type(const struct kern *kern);
/* Floats of a row of bounds: of all panels, then of each slice SCREEN_TOP numbers that as many of its logits are at least. */
static inline uint32_t screen_width(uint32_t n_vocab)
{
    return (uint32_t)pack_panels(n_vocab) + (n_vocab + SCAN_IDS - 1) / SCAN_IDS * SCREEN_TOP;
}

/* Of the outputs of a panel, the largest: error |w - w'|, rounding of sums included, and norm |w'|. */
struct screen_panel { float error, norm; };
struct screen_panel screen_panel_of(const struct q8_loss *loss, size_t k); /* loss: of packing the panel */

/* Of a row of x, [k], that meets a copy of type t: |x| and at least |x - x'|. */
struct screen_row { float norm, error; };
struct screen_row screen_row_of(enum packed_type t, const float *x, size_t k);

/* A row of logits on its way through both stages. */
struct screened {
    int n;                   /* how many of the most probable ids are wanted; 0: all logits are */
    struct screen_row x;
    _Atomic uint32_t slices; /* that have bounds; 0 between runs */
    float least;             /* what the n-th largest text logit is at least */
};

/* Panels [p0, p1) of approximate logits y, [n_vocab]: most[p] = the largest that an allowed text id of panel p can be; INFINITY for a panel
 * with allowed timestamps, -INFINITY for one with no allowed id. least, [n], falling: the i-th largest of these panels' allowed text logits
 * is at least least[i]; -INFINITY: perhaps there are not so many. n <= SCREEN_TOP */
void screen_bounds(float *most, float *least, int n, const float *y, const struct screen_panel *panel, struct screen_row x,
                   const struct logit_range *g, size_t p0, size_t p1, const struct kern *kern);
/* What the n-th largest of all text logits is at least: of `slices` times SCREEN_TOP numbers, the first n as screen_bounds left them. */
float screen_least(const float *least, uint32_t slices, int n);
/* Could a panel whose bound is `most` hold one of the n best ids, when the n-th is at least `least`? What is no number could. */
static inline int screen_wants(float most, float least) { return most != -__builtin_inff() && !(most < least); }
#endif

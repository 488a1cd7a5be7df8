/* steno: sub-layers of a Conformer as ops. SPDX-License-Identifier: MIT
 *
 * Gulati et al. 2020, with the strided stem of Rekesh et al. 2023 (Fast Conformer). Names of weights are those of NeMo. */
#ifndef STENO_PLAN_CONFORMER_H
#define STENO_PLAN_CONFORMER_H
#include "plan/build.h"

struct conformer {
    uint32_t d, heads, d_ff, taps, layers;
    uint32_t n_mels, channels, stack;   /* of the stem: columns of its image, channels, rows of the image in a row of the input */
    uint32_t behind, ahead;             /* keys that a row sees before and after itself; SIGHT_ALL: all. A stream: limits of its chunks */
    int is_causal;                      /* the stem and the filters of the layers depend on no later row */
    int has_layer_norm;                 /* after these filters, instead of a batch norm */
    /* A stream: 1 + the states of the last row of the input, of the last inputs of the filters, and of keys and values. 0: whole clips */
    uint16_t image, filter_rows, keys;
    int has_biases;                     /* of the layers' matrices and filters */
    size_t kept_most;                   /* whole clips: most bytes of products of distances that are kept from run to run */
    float input_scale;                  /* of the rows before the layers; 0: none */
    float eps;
};

uint32_t conformer_columns(const struct conformer *c); /* columns of the image after the stem */

/* Builds the layers over rows of plan.input, which it makes. PREFIX.pre_encode, PREFIX.layers.I. @return the slot of the rows */
uint16_t conformer_build(struct build *b, const struct conformer *c, const char *prefix);
#endif

/* steno: recurrent layers as ops. SPDX-License-Identifier: MIT
 *
 * An LSTM (Hochreiter and Schmidhuber 1997) is an op that proceeds from row to row (OP_LSTM). The input part of the gates is computed for
 * many rows together, but never for all, because it is several times as wide as the rows. Weights have PyTorch's names. */
#ifndef STENO_PLAN_LSTM_H
#define STENO_PLAN_LSTM_H
#include "plan/build.h"

/* A layer: NAME.weight_ih_lLAYER [4 n, k], .weight_hh_lLAYER [4 n, n], .bias_ih_lLAYER and .bias_hh_lLAYER [4 n]; with both_ways also the
 * same names with _reverse. Gates are in the order input, forget, cell, output. n: a multiple of 8. */
struct lstm_layer {
    const char *name;
    uint32_t layer, n, k;
    int both_ways;
    int is_cell;    /* a single PyTorch cell, whose names have no _lLAYER */
    uint16_t state; /* 1 + the shift state of a stream, [1, 2 n], whose layer `layer` is continued and updated; 0: none. One direction
                     * only */
};

/* out[r] (n numbers, or 2 n with both directions, forward first) from in[r] (k numbers); `rows`: number of rows. */
void sub_lstm(struct build *b, const struct lstm_layer *l, uint16_t out, uint16_t in, enum op_rows rows);

/* A transposed convolution whose stride equals its filter width: each row of in, k numbers, becomes `times` consecutive rows of out, n
 * numbers each. Weight [k, n, times], bias [n]. out: build_slot_padded(b, times * max_rows, n). */
void sub_upsample(struct build *b, const char *name, uint16_t out, uint16_t in, uint32_t n, uint32_t k, uint32_t times);
#endif

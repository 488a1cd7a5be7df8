/* steno: recurrent layers as ops. SPDX-License-Identifier: MIT
 *
 * An LSTM (Hochreiter and Schmidhuber 1997) is an op that goes from row to row (OP_LSTM). What gates get from the input is made of many
 * rows together, but never of all: it is several times as wide as they are. Weights are named as PyTorch names them. */
#ifndef STENO_PLAN_LSTM_H
#define STENO_PLAN_LSTM_H
#include "plan/build.h"

/* A layer: NAME.weight_ih_lLAYER [4 n, k], .weight_hh_lLAYER [4 n, n], .bias_ih_lLAYER and .bias_hh_lLAYER [4 n], and where both_ways the
 * same with _reverse behind; gates in the order input, forget, cell, output. n: a multiple of 8. */
struct lstm_layer {
    const char *name;
    uint32_t layer, n, k;
    int both_ways;
    int is_cell;    /* a cell of PyTorch's by itself, whose names have no _lLAYER */
    uint16_t state; /* 1 + the shift state of a stream, [1, 2 n], whose layer `layer` it goes on from and leaves; 0: none. One way */
};

/* out[r], n numbers, or 2 n where it goes both ways, the way forth first, of in[r], k numbers; `rows`: how many there are. */
void sub_lstm(struct build *b, const struct lstm_layer *l, uint16_t out, uint16_t in, enum op_rows rows);

/* A transposed convolution whose steps are as wide as its filter: each row of in, k numbers, becomes `times` rows of out, n each, one
 * behind the other. Weight [k, n, times], bias [n]. out: build_slot_padded(b, times * max_rows, n). */
void sub_upsample(struct build *b, const char *name, uint16_t out, uint16_t in, uint32_t n, uint32_t k, uint32_t times);
#endif

/* steno: filters whose taps lie in another order. SPDX-License-Identifier: MIT */
#ifndef STENO_LOAD_TURNED_H
#define STENO_LOAD_TURNED_H
#include "load/weights.h"

/* A filter that is stored tap by tap, [n, taps, channels] of f32, f16 or bf16, is read channel by channel from now on, [n, channels, taps].
 * Its numbers are read when they are asked for. Memory is the weights'. */
int tensor_turn(struct tensor *t, struct weights *w, steno_error *e);
#endif

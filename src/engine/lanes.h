/* steno: positions that lanes hold of their texts. SPDX-License-Identifier: MIT
 *
 * The keys and values of a text are in all states that grow with it: those of full-attention layers and those of sliding-window layers. */
#ifndef STENO_ENGINE_LANES_H
#define STENO_ENGINE_LANES_H
#include "engine/batch.h"

/* Largest number of positions, up to len, after which the lane's text can continue. It is smaller if sliding windows before it are lost. */
int32_t lane_reach(const struct steno_batch *b, uint32_t lane, int32_t len);
/* The position to which a text can always return; 0: there is none, or no layer has a sliding window. */
int32_t lane_marked(const struct steno_batch *b, uint32_t lane);
void lane_mark(struct steno_batch *b, uint32_t lane, int32_t len);
void lane_cut(struct steno_batch *b, uint32_t lane, int32_t len);      /* keeps the first len positions, at most what lane_reach returns */
void lane_fork(struct steno_batch *b, uint32_t to, uint32_t from);     /* `to` shares all that `from` holds */
int lane_prepare(struct steno_batch *b, uint32_t lane, int32_t from, int32_t to); /* as state_prepare */
#endif

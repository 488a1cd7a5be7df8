/* steno: what lanes hold of their texts. SPDX-License-Identifier: MIT
 *
 * A text's keys and values are in all states that grow with it: of layers that see all of it, and of those that look back a window. */
#ifndef STENO_TASK_LANES_H
#define STENO_TASK_LANES_H
#include "task/engine.h"

/* The most positions, up to len, behind which the lane's text can go on: fewer where the windows before that are gone. */
int32_t lane_reach(const struct steno_batch *b, uint32_t lane, int32_t len);
/* The place to which a text can go back however far it is by then; 0: there is none, or no layer looks back a window. */
int32_t lane_marked(const struct steno_batch *b, uint32_t lane);
void lane_mark(struct steno_batch *b, uint32_t lane, int32_t len);
void lane_cut(struct steno_batch *b, uint32_t lane, int32_t len);      /* it holds no more than these, so many as lane_reach says */
void lane_fork(struct steno_batch *b, uint32_t to, uint32_t from);     /* shares all that the other one holds */
int lane_prepare(struct steno_batch *b, uint32_t lane, int32_t from, int32_t to); /* as state_prepare */
#endif

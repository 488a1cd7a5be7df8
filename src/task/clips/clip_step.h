/* steno: clips of several requests pass through the encoder together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_STEP_H
#define STENO_TASK_CLIPS_CLIP_STEP_H
#include "task/clips/clip_session.h"

/* Runs the next clips of the waiting requests, as many as fit. @return 1: progress was made, 0: no request can continue */
int clip_step(struct steno_batch *b);
/* Rows that a clip of s may have in the current run. A shared run is as long as the longest clip, or longer if the decoder allows it. */
uint32_t clip_room(const struct steno_batch *b, const steno_session *s);
uint32_t clip_room_of_windows(const struct steno_batch *b); /* the same of a model with windows of attention, for any session */
#endif

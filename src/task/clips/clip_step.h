/* steno: clips of several requests pass through the encoder together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_STEP_H
#define STENO_TASK_CLIPS_CLIP_STEP_H
#include "task/clips/clip_session.h"

/* Runs the next clips of the waiting requests, as many as fit. @return 1: progress was made, 0: no request can continue */
int clip_step(struct steno_batch *b);
#endif

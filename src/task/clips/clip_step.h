/* steno: clips of several requests through the encoder together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_STEP_H
#define STENO_TASK_CLIPS_CLIP_STEP_H
#include "task/clips/clip_request.h"

/* The next clips of those who wait, in one run, as many as there is room for. 1: something went on, 0: nobody can go on. */
int clip_step(struct steno_batch *b);
#endif

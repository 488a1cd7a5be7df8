/* steno: the scheduling loop: windows that decode together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SCHEDULE_H
#define STENO_TASK_AR_SCHEDULE_H
#include "engine/batch.h"

void schedule_begin(struct steno_batch *b); /* call before the first step of a run */
/* Does the work due between two chains of replays, then runs a chain. @return 1: progress was made, 0: no request can continue */
int schedule_step(struct steno_batch *b);
#endif

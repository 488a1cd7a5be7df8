/* steno: which windows decode together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SCHEDULE_H
#define STENO_TASK_AR_SCHEDULE_H
#include "task/engine.h"

void schedule_begin(struct steno_batch *b); /* before the first step of a run */
/* What is to be done between two chains of replays, and a chain. 1: something went on, 0: nobody can go on. */
int schedule_step(struct steno_batch *b);
#endif

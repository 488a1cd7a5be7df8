/* steno: which windows decode together. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_SCHEDULE_H
#define STENO_TASK_AR_SCHEDULE_H
#include "task/engine.h"

/* Carry out the queued requests. */
void batch_carry_out(struct steno_batch *b, enum steno_run_mode mode);
#endif

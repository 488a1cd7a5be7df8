/* steno: one replay after the other. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_REPLAY_H
#define STENO_TASK_AR_REPLAY_H
#include "task/engine.h"

/* Run the searches of the window decoders that have slots until one of them has ended. */
int batch_decode(struct steno_batch *b);
#endif

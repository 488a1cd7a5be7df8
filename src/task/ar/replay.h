/* steno: replays of the decoder's plan for all searches. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_REPLAY_H
#define STENO_TASK_AR_REPLAY_H
#include "engine/batch.h"

/* Runs the searches of all window decoders that have a decode slot, until one of them ends. */
int batch_decode(struct steno_batch *b);
#endif

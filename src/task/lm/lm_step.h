/* steno: one step of text generation for several requests. SPDX-License-Identifier: MIT
 *
 * A free lane goes to the next request in the queue. Each replay has one row, plus draft tokens, for every lane that samples, and some
 * prompt rows. While lanes sample, there are few prompt rows, so that no text stalls. The weights are read once for all rows. A chain of
 * replays ends when a text ends, when a request is cancelled, or when a request arrives and a lane is free. A row attends to its own lane
 * only, so the grouping does not change any text. */
#ifndef STENO_TASK_LM_LM_STEP_H
#define STENO_TASK_LM_LM_STEP_H
#include "engine/batch.h"
#include "engine/task.h"

/* Implement struct task. */
int lm_request_take(steno_session *s, const struct request_given *g);
int lm_request_end(steno_session *s, int status);

int lm_step(struct steno_batch *b); /* as task.batch_step */
#endif

/* steno: texts of several requests that are made beside each other. SPDX-License-Identifier: MIT
 *
 * A free lane goes to the request that is next in the queue. Each replay has a row, or guesses behind it, for every lane that chooses, and
 * some rows of prompts beside them: few while somebody chooses, so that no text stands still for long. The weights are read once for all
 * of them. A chain of replays ends when a text ends, when somebody wants to stop, or when a request comes and a lane is free. A row sees
 * its own lane alone, so none of this shows in any text. */
#ifndef STENO_TASK_LM_STEP_H
#define STENO_TASK_LM_STEP_H
#include "task/engine.h"

int lm_step(struct steno_batch *b); /* as task.batch_step */
#endif

/* steno: text requests: queueing, start and end. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_REQUEST_H
#define STENO_TASK_LM_REQUEST_H
#include "engine/task.h"

/* Implement struct task. */
int lm_request_take(steno_session *s, const struct request_given *g);
int lm_request_end(steno_session *s, int status);

/* Call when a lane is free and the request is next. */
void lm_request_begin(steno_session *s);
/* Looks for a shared prefix. The request then waits for it, or begins to read its prompt. Returns a status if it cannot begin. */
int lm_request_start(steno_session *s);
#endif

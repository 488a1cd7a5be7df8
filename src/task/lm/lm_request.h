/* steno: texts that wait for a batch, and end. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_REQUEST_H
#define STENO_TASK_LM_REQUEST_H
#include "task/task.h"

/* As struct task has them. */
int lm_request_take(steno_session *s, const struct request_given *g);
int lm_request_end(steno_session *s, int status);

/* Its turn has come, and there is a free lane. */
void lm_request_begin(steno_session *s);
/* What it begins with has been looked for: it waits on, or its prompt is read from here on. A status: it cannot. */
int lm_request_start(steno_session *s);
#endif

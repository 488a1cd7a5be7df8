/* steno: requests of a batch, from being submitted to their end. SPDX-License-Identifier: MIT
 *
 * What requests have in common, whatever the task: they wait in the queue, somebody carries the batch out step by step until nobody can go
 * on, and those that want to stop end. What a request asks for, what it keeps and what a step is, the task knows (task.h). A call that
 * transcribes or finds speech is a request, too, which its caller waits for. */
#ifndef STENO_TASK_BATCH_LOOP_H
#define STENO_TASK_BATCH_LOOP_H
#include "task/task.h"

/* Into the queue of the session's batch; STENO_EARG, with a reason, where it is refused. From any thread. */
int request_submit(steno_session *s, const struct request_given *g, int priority);
/* Carry it out now, with all that waits; it is for the caller to enter before. @return how it ended */
int request_call(steno_session *s, const struct request_given *g);

/* Carry out the queued requests. */
void batch_carry_out(struct steno_batch *b, enum steno_run_mode mode);

/* By the steps of tasks. */
int requests_sweep(struct steno_batch *b);             /* end a request that wants to stop. 1: there was one, the queue is another now */
void request_finish(steno_session *s, int status);     /* the request is over: out of the queue, and told. The session may be gone then */
int request_canceled(steno_session *s);                /* @return STENO_ECANCELED, with its reason */
int request_ran(steno_session *s, int rc);             /* what a run that returned rc is for one of those it was for: a status */
void request_drop(steno_session *s);                   /* the session closes: its request is over, and nobody is told */
#endif

/* steno: requests of a batch, from submission to end. SPDX-License-Identifier: MIT
 *
 * This is what all tasks share: requests wait in the queue, one thread runs the batch step by step until no request can continue, and
 * cancelled requests end. The task knows the parameters of a request, its state, and what a step is (task.h). A call that transcribes or
 * detects speech is also a request, and its caller waits for it. */
#ifndef STENO_ENGINE_BATCH_LOOP_H
#define STENO_ENGINE_BATCH_LOOP_H
#include "engine/task.h"

/* Adds a request to the queue of the session's batch. Any thread may call it. STENO_EARG, with the reason, if it is refused. */
int request_submit(steno_session *s, const struct request_given *g, int priority);
/* Runs the request now, together with all queued requests. The caller must have entered the batch. @return final status of the request */
int request_call(steno_session *s, const struct request_given *g);

/* Runs the queued requests. */
void batch_carry_out(struct steno_batch *b, enum steno_run_mode mode);

/* Called from the steps of tasks. */
int requests_sweep(struct steno_batch *b);             /* ends a cancelled request. 1: there was one, and the queue has changed */
int requests_should_stop(const struct steno_batch *b); /* is there a cancelled request, running or waiting? */
void request_finish(steno_session *s, int status);     /* the request is over: removes it from the queue and calls on_done, which may close
                                                        * the session */
int request_canceled(steno_session *s);                /* @return STENO_ECANCELED, with its reason */
int request_ran(steno_session *s, int rc);             /* status for each request of a run that returned rc */
void request_drop(steno_session *s);                   /* the session closes: ends its request without calling on_done */
#endif

/* steno: requests of a batch, from submission to end. SPDX-License-Identifier: MIT */
#include "engine/batch_loop.h"

static int take(steno_session *s, const struct request_given *g, int priority, int direct)
{
    s->place.direct = direct;
    const int rc = s->model->task->request_take(s, g);
    if (rc) {
        s->params = NULL;
        s->should_abort = NULL;
        return rc;
    }
    s->request_state = REQUEST_WAITING;
    queue_push(s, priority);
    return STENO_OK;
}

int request_submit(steno_session *s, const struct request_given *g, int priority)
{
    return take(s, g, priority, 0);
}

int request_call(steno_session *s, const struct request_given *g)
{
    const int rc = take(s, g, STENO_PRIORITY_AUTO, 1);
    if (rc) return rc;
    batch_carry_out(s->batch, STENO_RUN_POLL); /* the call itself never sleeps */
    return s->place.status;
}

int request_canceled(steno_session *s)
{
    return err_set(&s->error, STENO_ECANCELED, "canceled");
}

int request_ran(steno_session *s, int rc)
{
    if (rc && rc != STENO_ECANCELED) return session_ran(s, s->batch->exec, rc);
    return rc || session_should_stop(s) ? request_canceled(s) : STENO_OK;
}

/* Releases what the request holds and completes its results. */
static void end(steno_session *s, int status)
{
    s->place.status = s->model->task->request_end(s, status);
    queue_end(s);
    s->params = NULL;
    s->should_abort = NULL;
    s->request_state = REQUEST_NONE;
    atomic_store(&s->place.is_queued, 0);
}

void request_finish(steno_session *s, int status)
{
    struct steno_batch *b = s->batch;
    const int direct = s->place.direct;
    queue_remove(s);
    end(s, status);
    if (!b->params.on_done || direct) return;
    b->in_on_done = 1;
    b->params.on_done(b->params.user, s, s->place.status);
    b->in_on_done = 0;
}

void request_drop(steno_session *s)
{
    if (!atomic_load(&s->place.is_queued)) return;
    queue_take(s->batch);
    queue_remove(s);
    end(s, STENO_ECANCELED);
}

int requests_should_stop(const struct steno_batch *b)
{
    for (steno_session *s = b->first; s; s = s->next)
        if (session_should_stop(s)) return 1;
    return 0;
}

int requests_sweep(struct steno_batch *b)
{
    for (steno_session *s = b->first; s; s = s->next) {
        if (!session_should_stop(s)) continue;
        request_finish(s, request_canceled(s));
        return 1;
    }
    return 0;
}

/* Called when no request can continue. @return 1: the situation has changed, 0: the caller must act */
static int wait_for_more(struct steno_batch *b, enum steno_run_mode mode)
{
    const int serving = mode == STENO_RUN_SERVE && !atomic_load(&b->queue.stop);
    if (queue_is_woken(b)) return 1;
    if (b->first ? mode == STENO_RUN_POLL : !serving) return 0;
    queue_sleep(b);
    return 1;
}

void batch_carry_out(struct steno_batch *b, enum steno_run_mode mode)
{
    const struct task *task = b->model->task;
    b->solo = NULL;
    b->queue.passed = 0;
    if (task->batch_begin) task->batch_begin(b);
    do {
        while (task->batch_step && task->batch_step(b)) {}
    } while (wait_for_more(b, mode));
    if (mode == STENO_RUN_SERVE) atomic_store(&b->queue.stop, 0);
}

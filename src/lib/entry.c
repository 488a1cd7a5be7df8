/* steno: which calls are allowed at which time. SPDX-License-Identifier: MIT
 *
 * Callbacks run during a call, on its thread, and may call the library. Two marks show when that would change data in use. The mark on the
 * batch shows that a call is computing. The mark on the session shows that its caller is inside a call. Every public call that changes a
 * session or a batch checks these marks first. Calls that only read results find them complete at any time. */
#include "lib/entry.h"

/* While on_done runs, the queue may change: a step that goes on looks again for the sessions of its run. */
static int at_work(const struct steno_batch *b)
{
    return b->at_work && !b->in_on_done;
}

int call_enter(steno_session *s)
{
    if (!s) return STENO_EARG;
    struct steno_batch *b = s->batch;
    if (b->at_work)
        return err_set(&s->error, STENO_EARG,
                       "a call is at work on the session or its batch: its callbacks may cancel it and read results, no more");
    if (atomic_load(&s->place.is_queued)) return err_set(&s->error, STENO_EARG, "the session waits in a batch for steno_batch_run");
    if (atomic_exchange(&b->at_work, 1)) return err_set(&s->error, STENO_EARG, "another thread has called the session or its batch");
    s->entered = 1;
    session_ready(s);
    return STENO_OK;
}

int call_leave(steno_session *s, int rc)
{
    struct steno_batch *b = s->batch;
    b->at_work = s->entered = 0;
    b->solo = NULL;
    s->params = NULL;
    s->should_abort = NULL;
    return rc;
}

int batch_enter(struct steno_batch *b)
{
    return !b || atomic_exchange(&b->at_work, 1) ? STENO_EARG : STENO_OK;
}

void batch_leave(struct steno_batch *b)
{
    b->at_work = 0;
}

int queue_may_take(steno_session *s)
{
    if (s->entered) return err_set(&s->error, STENO_EARG, "a call is at work on the session: a request can be added when it has ended");
    if (atomic_load(&s->place.is_queued)) return err_set(&s->error, STENO_EARG, "the session has a queued request already");
    return STENO_OK;
}

/* A run of its batch leaves a session without a request alone, so that another thread may use its results. */
int session_may_change(const steno_session *s)
{
    return !s->entered && (!atomic_load(&s->place.is_queued) || !at_work(s->batch));
}

int batch_may_close(const struct steno_batch *b)
{
    return !b->at_work;
}

int source_check(steno_session *s, const steno_source *src)
{
    return src && src->read ? STENO_OK : err_set(&s->error, STENO_EARG, "the audio source has no read function");
}

int pcm_check(steno_session *s, const float *pcm, int64_t n)
{
    if (n < 0) return err_set(&s->error, STENO_EARG, "n is %lld, want 0 or more samples", (long long)n);
    return pcm || !n ? STENO_OK : err_set(&s->error, STENO_EARG, "pcm is NULL but n is %lld", (long long)n);
}

/* steno: which windows decode together. SPDX-License-Identifier: MIT
 *
 * A free decode slot goes to the request that is next in the queue (request_queue.c); it encodes its window and begins its search. Then the
 * rows of all searches run as one, replay after replay, until one of them has ended: it is judged, decodes again or gives its decode slot
 * to the next. While windows are being decoded the encoder runs at most once in a number of steps, so that text goes on to come; whoever
 * comes while a slot is free ends the chain of steps. A row's result depends on its own lane alone, so none of this shows in any text. */
#include "task/ar/schedule.h"
#include "task/ar/waiting.h"
#include "task/ar/logits_processors.h"
#include "task/ar/replay.h"

/* The same, with the clip begun. *rc: what went wrong with it */
static struct window_decoder *decoder_wanting(struct steno_batch *b, steno_session *s, int *rc)
{
    struct window_decoder *idle, *w = decoder_find(b, s, &idle);
    if (w || !idle) return w;
    *rc = decoder_begin(idle, s, request_of(s)->p.task, request_of(s)->next_clip++);
    return idle;
}

/* The request is over: out of the queue, and told. */
static void finish(struct steno_batch *b, steno_session *s, int status)
{
    const int direct = request_of(s)->direct;
    queue_remove(s);
    request_end(s, status);
    atomic_store(&s->place.is_queued, 0);
    if (!b->params.on_done || direct) return;
    b->telling = 1;
    b->params.on_done(b->params.user, s, request_of(s)->status);
    b->telling = 0;
}

static int canceled(steno_session *s)
{
    return err_set(&s->error, STENO_ECANCELED, "canceled");
}

/* End a request that wants to stop. @return 1: there was one, the queue is another now */
static int sweep(struct steno_batch *b)
{
    for (steno_session *s = b->first; s; s = s->next) {
        if (!session_should_stop(s)) continue;
        finish(b, s, canceled(s));
        return 1;
    }
    return 0;
}

static int is_busy(const struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (ar_batch_of(b)->decode_slot[i].user) return 1;
    return 0;
}

/* What a request has gone on to. rc: how */
static void went_on(struct steno_batch *b, steno_session *s, int rc)
{
    if (rc == STREAM_WAITS) s->place.waits = 1;
    else if (rc || (s->request_state == REQUEST_LIVE && request_ended(s))) finish(b, s, rc);
}

/* The request's next window in decode slot `at`, or in the one where it is encoded already. */
static int window_give(struct steno_batch *b, steno_session *s, uint32_t at)
{
    struct ar_batch *a = ar_batch_of(b);
    int rc = STENO_OK;
    const int before = request_passes(b, s);
    struct window_decoder *w = decoder_wanting(b, s, &rc);
    if (rc || !w) return rc;
    const uint32_t to = slot_for(b, w, at);
    const struct decode_slot *slot = &a->decode_slot[to];
    if (is_busy(b) && !may_encode(b) && !(slot->audio == s && slot->from == w->seek)) return STENO_OK; /* its turn comes */
    rc = decoder_window(w, to);
    if (rc) return rc;
    a->passed = before ? a->passed + 1 : 0;
    if (w->state == DECODER_DECODE) a->decode_slot[to].user = w;
    return STENO_OK;
}

/* Give the next request a free decode slot. @return 1: something went on, 0: nobody wants it, or none is free */
static int slot_give(struct steno_batch *b)
{
    const int at = slot_free(b);
    steno_session *s = at >= 0 ? request_next(b, wants_slot) : NULL;
    if (!s) return 0;
    b->solo = s; /* whoever it is for may stop the encoder */
    int rc = s->request_state == REQUEST_HEARD ? request_begin(s, (uint32_t)at) : STENO_OK;
    if (!rc && s->request_state == REQUEST_LIVE) rc = window_give(b, s, (uint32_t)at);
    b->solo = NULL;
    went_on(b, s, rc);
    return 1;
}

/* A slice of the audio of the next who has not heard all of it. @return 1: something went on */
static int listen_give(struct steno_batch *b)
{
    steno_session *s = request_next(b, wants_to_listen);
    if (!s) return 0;
    ar_batch_of(b)->n_steps_heard = 0;
    went_on(b, s, request_listen(s));
    return 1;
}

/* All that is to be done between two chains. @return 1 when a window is being decoded */
static int fill(struct steno_batch *b)
{
    queue_look(b);
    for (int more = 1; more;) {
        while (sweep(b)) {}
        queue_take(b);
        more = ((!is_busy(b) || may_encode(b)) && slot_give(b)) || ((!is_busy(b) || may_listen(b)) && listen_give(b));
    }
    look_around(b);
    return is_busy(b);
}

/* What the chain has left behind. rc: of the run */
static void settle(struct steno_batch *b, int rc)
{
    struct ar_batch *a = ar_batch_of(b);
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = a->decode_slot[i].user;
        if (!w) continue;
        steno_session *s = w->s;
        int status = rc && rc != STENO_ECANCELED ? session_ran(s, b->exec, rc) : rc || session_should_stop(s) ? canceled(s) : STENO_OK;
        if (!status && w->failed)
            status = processors_failed(s);
        if (!status && !w->ar.done) continue;
        if (!status) status = decoder_settle(w);
        if (!status && w->state == DECODER_DECODE) continue;
        a->decode_slot[i].user = NULL;
        if (status || request_ended(s)) finish(b, s, status);
    }
}

/* Nobody decodes, and nobody can go on. @return 1: that has changed, 0: it is for the caller to do something */
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
    struct ar_batch *a = ar_batch_of(b);
    b->solo = NULL;
    a->heard = NULL;
    a->n_steps = a->n_steps_heard = INT32_MAX;
    a->passed = 0;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].sampler.done = 1; /* until a search puts one to use */
    do {
        while (fill(b)) {
            const int rc = batch_decode(b);
            settle(b, rc);
        }
    } while (wait_for_more(b, mode));
    if (mode == STENO_RUN_SERVE) atomic_store(&b->queue.stop, 0);
}

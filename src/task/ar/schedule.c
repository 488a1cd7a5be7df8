/* steno: the scheduling loop: windows that decode together. SPDX-License-Identifier: MIT
 *
 * A free decode slot goes to the next request in the queue (request_queue.c), which encodes its window and begins a search. Then the rows
 * of all searches run together, replay after replay, until a search ends. That attempt is checked: the window is decoded again, or its slot
 * goes to the next request. While windows decode, the encoder runs at most once per steps_between_encodes steps, so that running texts make
 * progress. A request that arrives while a slot is free ends the chain of steps. A row's result depends on its own lane only, so the
 * schedule does not change any text. */
#include "task/ar/schedule.h"
#include "engine/batch_loop.h"
#include "task/ar/logits_processors.h"
#include "task/ar/replay.h"

/* As decoder_find, but begins the next clip if necessary. *rc: status of that */
static struct window_decoder *decoder_wanting(struct steno_batch *b, steno_session *s, int *rc)
{
    struct window_decoder *idle, *w = decoder_find(b, s, &idle);
    if (w || !idle) return w;
    *rc = decoder_begin(idle, s, request_of(s)->p.task, request_of(s)->next_clip++);
    return idle;
}

static int is_busy(const struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (ar_batch_of(b)->decode_slot[i].user) return 1;
    return 0;
}

/* Records the result of a step of a request. rc: its status */
static void went_on(steno_session *s, int rc)
{
    if (rc == STREAM_WAITS) s->place.waits = 1;
    else if (rc || (s->request_state == REQUEST_LIVE && request_ended(s))) request_finish(s, rc);
}

/* Gives the request's next window decode slot `at`, or the slot in which the window is already encoded. */
static int window_give(struct steno_batch *b, steno_session *s, uint32_t at)
{
    struct ar_batch *a = ar_batch_of(b);
    int rc = STENO_OK;
    const int passes = queue_passes(b, s, needs_any);
    struct window_decoder *w = decoder_wanting(b, s, &rc);
    if (rc || !w) return rc;
    const uint32_t to = slot_for(b, w, at);
    const struct decode_slot *slot = &a->decode_slot[to];
    const int is_encoded = slot->audio == s && slot->from == w->position.seek;
    if (is_busy(b) && !may_encode(b) && !is_encoded) return STENO_OK; /* the encoder may not run yet */
    rc = decoder_window(w, to);
    if (rc) return rc;
    queue_given(b, passes);
    if (w->state == DECODER_DECODE) a->decode_slot[to].user = w;
    return STENO_OK;
}

/* Gives a free decode slot to the next request. @return 1: a request made progress, 0: no request is waiting, or no slot is free */
static int slot_give(struct steno_batch *b)
{
    const int at = slot_free(b);
    steno_session *s = at >= 0 ? queue_next(b, needs_slot) : NULL;
    if (!s) return 0;
    b->solo = s; /* cancelling this request stops the encoder */
    int rc = s->request_state == REQUEST_READ ? request_begin(s, (uint32_t)at) : STENO_OK;
    if (!rc && s->request_state == REQUEST_LIVE) rc = window_give(b, s, (uint32_t)at);
    b->solo = NULL;
    went_on(s, rc);
    return 1;
}

/* Reads a slice of audio for the next request in its first pass. @return 1: a request made progress */
static int listen_give(struct steno_batch *b)
{
    steno_session *s = queue_next(b, needs_first_pass);
    if (!s) return 0;
    ar_batch_of(b)->n_steps_read = 0;
    went_on(s, request_listen(s));
    return 1;
}

/* Does all work that is due between two chains. @return 1 if a window is decoding */
static int fill(struct steno_batch *b)
{
    queue_look(b);
    for (int more = 1; more;) {
        while (requests_sweep(b)) {}
        queue_take(b);
        more = ((!is_busy(b) || may_encode(b)) && slot_give(b)) || ((!is_busy(b) || may_listen(b)) && listen_give(b));
    }
    look_around(b);
    return is_busy(b);
}

/* Handles the searches that ended in the chain. rc: status of the run */
static void settle(struct steno_batch *b, int rc)
{
    struct ar_batch *a = ar_batch_of(b);
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = a->decode_slot[i].user;
        if (!w) continue;
        steno_session *s = w->s;
        int status = request_ran(s, rc);
        if (!status && w->attempts.failed)
            status = processors_failed(s);
        if (!status && !w->attempts.ar.done) continue;
        if (!status) status = decoder_settle(w);
        if (!status && w->state == DECODER_DECODE) continue;
        a->decode_slot[i].user = NULL;
        if (status || request_ended(s)) request_finish(s, status);
    }
}

void schedule_begin(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    a->encoded = NULL;
    a->n_steps = a->n_steps_read = INT32_MAX;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].sampler.done = 1; /* until a search uses it */
}

int schedule_step(struct steno_batch *b)
{
    if (!fill(b)) return 0;
    settle(b, batch_decode(b));
    return 1;
}

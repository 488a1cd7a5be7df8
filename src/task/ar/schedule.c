/* steno: which windows decode together. SPDX-License-Identifier: MIT
 *
 * A free decode slot goes to the request that is next in line (request_queue.c); it encodes its window and begins its search. Then the
 * rows of all searches run as one, replay after replay, until one of them has ended: it is judged, decodes again or gives its decode slot
 * to the next. While windows are being decoded the encoder runs at most once in a number of steps, so that text goes on to come; whoever
 * comes while a slot is free ends the chain of steps. A row's result depends on its own lane alone, so none of this shows in any text. */
#include "task/ar/schedule.h"
#include "task/ar/line.h"
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

/* The request is over: out of the line, and told. */
static void finish(struct steno_batch *b, steno_session *s, int status)
{
    const int direct = request_of(s)->direct;
    queue_remove(s);
    request_end(s, status);
    atomic_store(&s->place.in_line, 0);
    if (!b->params.on_done || direct) return;
    b->telling = 1;
    b->params.on_done(b->params.user, s, request_of(s)->status);
    b->telling = 0;
}

static int canceled(steno_session *s)
{
    return err_set(&s->error, STENO_ECANCELED, "canceled");
}

/* End a request that wants to stop. @return 1: there was one, the line is another now */
static int sweep(struct steno_batch *b)
{
    for (steno_session *s = b->first; s; s = s->next) {
        if (!session_should_stop(s)) continue;
        finish(b, s, canceled(s));
        return 1;
    }
    return 0;
}

/* Give the next request a free decode slot. @return 1: something went on, 0: nobody wants it, or none is free */
static int slot_give(struct steno_batch *b)
{
    const int free = slot_free(b);
    steno_session *s = free >= 0 ? request_next(b) : NULL;
    if (!s) return 0;
    const uint32_t at = (uint32_t)free;
    count_passed(b, s);
    int rc = s->request_state == REQUEST_WAITING ? request_begin(s, at) : STENO_OK;
    struct window_decoder *w = rc ? NULL : decoder_wanting(b, s, &rc);
    const uint32_t to = rc || !w ? at : slot_for(b, w, at);
    if (!rc && w) rc = decoder_window(w, to);
    if (!rc && w && w->state == DECODER_DECODE) b->decode_slot[to].user = w;
    if (rc || request_ended(s)) finish(b, s, rc);
    return 1;
}

static int is_busy(const struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (b->decode_slot[i].user) return 1;
    return 0;
}

/* All that is to be done between two chains. @return 1 when a window is being decoded */
static int fill(struct steno_batch *b)
{
    do {
        queue_take(b);
        while (sweep(b)) {}
    } while ((!is_busy(b) || may_encode(b)) && slot_give(b));
    b->is_wanted = slot_free(b) >= 0 && request_next(b);
    return is_busy(b);
}

/* What the chain has left behind. rc: of the run */
static void settle(struct steno_batch *b, int rc)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = b->decode_slot[i].user;
        if (!w) continue;
        steno_session *s = w->s;
        int status = rc && rc != STENO_ECANCELED ? session_ran(s, b->exec, rc) : rc || session_should_stop(s) ? canceled(s) : STENO_OK;
        if (!status && w->failed)
            status = processors_failed(s);
        if (!status && !w->ar.done) continue;
        if (!status) status = decoder_settle(w);
        if (!status && w->state == DECODER_DECODE) continue;
        b->decode_slot[i].user = NULL;
        if (status || request_ended(s)) finish(b, s, status);
    }
}

void batch_carry_out(struct steno_batch *b)
{
    b->solo = NULL;
    b->heard = NULL;
    b->n_steps = INT32_MAX;
    b->passed = 0;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].done = 1; /* until a search puts one to use */
    while (fill(b)) {
        const int rc = batch_decode(b);
        settle(b, rc);
    }
}

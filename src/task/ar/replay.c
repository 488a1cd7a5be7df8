/* steno: replays of the decoder's plan for all searches, and the window that comes next. SPDX-License-Identifier: MIT
 *
 * The rows of all searches run together, replay after replay, until a search ends or other work is due. A row's result depends on its own
 * lane only. */
#include "task/ar/replay.h"
#include <string.h>
#include "base/os.h"
#include "engine/batch_loop.h"
#include "task/ar/draft_text.h"
#include "task/ar/draft_windows.h"
#include "task/ar/logits_processors.h"

/* ---- the window that gets the next free decode slot --------------------------------------------------------------------------- */

int slot_free(const struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    int at = -1;
    for (int i = (int)b->n_windows - 1; i >= 0; i--)
        if (!a->decode_slot[i].user && (at < 0 || !a->decode_slot[i].audio)) at = i;
    return at;
}

uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at)
{
    struct ar_batch *a = ar_batch_of(b);
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!a->decode_slot[i].user && a->decode_slot[i].audio == w->s && a->decode_slot[i].from == w->position.seek) return i;
    return at;
}

/* Of two window decoders of the same audio, the one that is behind goes first. The other one waits for it to encode a shared window. */
static int may_go(const steno_session *s, const struct window_decoder *w)
{
    const struct window_decoder *other = &ar_of(s)->decoder[w == &ar_of(s)->decoder[0]];
    if (other->s != s || other->state == DECODER_IDLE) return 1;
    const int64_t own = w->position.seek, its = other->position.seek;
    return other->state == DECODER_DECODE ? its > own : own < its || (own == its && w < other);
}

struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle)
{
    struct ar_batch *a = ar_batch_of(b);
    const struct request *c = request_of(s);
    const int waits = s->place.waits && !c->stopped;
    *idle = NULL;
    for (int i = 0; i < 2 && !waits; i++) {
        struct window_decoder *w = &ar_of(s)->decoder[i];
        if (w->s == s && w->state == DECODER_WINDOW && may_go(s, w)) return w;
    }
    for (uint32_t i = 0; a->decoder && i < b->n_windows; i++) {
        struct window_decoder *w = &a->decoder[i];
        if (w->state == DECODER_WINDOW && w->s == s && (w->position.is_read || !waits)) return w;
        if (w->state == DECODER_IDLE && c->parallel && c->next_clip < c->n_clips && !waits) *idle = w;
    }
    return NULL;
}

int needs_slot(const struct steno_batch *b, const steno_session *s)
{
    struct window_decoder *idle;
    if (s->request_state == REQUEST_LIVE) return decoder_find(b, s, &idle) || idle;
    return s->request_state == REQUEST_READ && !s->place.waits;
}

int needs_first_pass(const struct steno_batch *b, const steno_session *s)
{
    (void)b;
    return (s->request_state == REQUEST_WAITING || s->request_state == REQUEST_LISTENING) && !s->place.waits;
}

int needs_any(const struct steno_batch *b, const steno_session *s)
{
    return needs_slot(b, s) || needs_first_pass(b, s);
}

int may_encode(const struct steno_batch *b)
{
    return ar_batch_of(b)->n_steps >= b->params.steps_between_encodes;
}

int may_listen(const struct steno_batch *b)
{
    return ar_batch_of(b)->n_steps_read >= b->params.steps_between_encodes;
}

void look_around(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    a->is_wanted = slot_free(b) >= 0 && queue_next(b, needs_slot);
    a->in_first_pass = queue_next(b, needs_first_pass) != NULL;
}

/* ---- replays ------------------------------------------------------------------------------------------------------------------ */

/* Requests the rows of the next replay. Single steps of all searches always fit; prompts use the remaining rows, so a long prompt does not
 * delay running searches. Another prompt goes first each time, so every prompt is completed even if new ones keep coming. */
static uint32_t rows_collect(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    const struct room max = exec_room(b->exec, &b->model->plan[PLAN_DECODER]);
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < 2 * b->n_windows; i++) {
        const int prompts = i >= b->n_windows;
        struct window_decoder *w = a->decode_slot[(prompts ? i + a->turn : i) % b->n_windows].user;
        if (w && ar_prompts(&w->attempts.ar) == prompts) ar_add_rows(&w->attempts.ar, &b->run, &b->state[STATE_SELF], max);
    }
    a->turn = (a->turn + 1) % b->n_windows;
    return b->run.n_rows;
}

/* The session of decode slot `at`, if this is the session's first slot. @return NULL: the slot is free, or not the first of its session */
static steno_session *session_first(const struct steno_batch *b, uint32_t at)
{
    struct ar_batch *a = ar_batch_of(b);
    steno_session *s = a->decode_slot[at].user ? a->decode_slot[at].user->s : NULL;
    for (uint32_t i = 0; s && i < at; i++)
        if (a->decode_slot[i].user && a->decode_slot[i].user->s == s) return NULL;
    return s;
}

/* Adds the rows and the time of a replay to the timings of their sessions. Prompts and steps are counted separately. */
static void count_rows(struct steno_batch *b, int64_t ns)
{
    struct ar_batch *a = ar_batch_of(b);
    uint32_t rows[MAX_WINDOWS] = { 0 }, prompt[MAX_WINDOWS] = { 0 };
    if (b->model->is_exact) return; /* verify_us covers the exact model */
    for (uint32_t i = 0; i < b->run.n_rows; i++) {
        const uint32_t at = b->run.row[i].lane / b->n_lanes;
        rows[at]++;
        prompt[at] += !(b->run.row[i].flags & (ROW_SAMPLE | ROW_TOPK | ROW_DRAFT));
    }
    a->chain_rows += b->run.n_rows;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        uint32_t n = 0, n_prompt = 0;
        for (uint32_t k = i; s && k < b->n_windows; k++)
            if (a->decode_slot[k].user && a->decode_slot[k].user->s == s) n += rows[k], n_prompt += prompt[k];
        if (!n) continue;
        steno_timings *t = &s->timings;
        const int64_t us = (ns * n / b->run.n_rows + 500) / 1000;
        s->chain_rows += n;
        if (n_prompt) t->n_prompt_tokens += n;
        *(n_prompt ? &t->n_prompts : &t->n_steps) += 1;
        *(n_prompt ? &t->prompt_us : &t->decode_us) += us;
    }
}

/* Called before a chain of replays. @return the table for times of operations, or NULL if no session is profiled */
static struct op_time *chain_begin(struct steno_batch *b)
{
    int profiling = 0;
    ar_batch_of(b)->chain_rows = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        if (!s) continue;
        s->chain_rows = 0;
        s->timings.n_wakes++;
        profiling |= s->profiling;
    }
    if (b->model->is_exact) return NULL; /* only the fast model is profiled */
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    return profiling ? b->time : NULL;
}

/* Gives each profiled session its share of the chain's times. */
static void chain_share(struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        if (s && s->chain_rows) session_share_time(s, PLAN_DECODER, s->chain_rows, ar_batch_of(b)->chain_rows);
    }
}

/* Is other work than decoding due? */
static int is_due(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    if (queue_is_woken(b)) {
        queue_look(b);
        look_around(b);
    }
    return requests_should_stop(b) || (a->is_wanted && may_encode(b)) || (a->in_first_pass && may_listen(b));
}

/* Called between replays. A search that ended or was cancelled ends the chain. */
static int chain_next(void *user)
{
    struct steno_batch *b = user;
    struct ar_batch *a = ar_batch_of(b);
    const int64_t now = os_now_ns();
    const uint32_t rows = run_costs_rows(&b->run);
    count_rows(b, now - a->chain_ns);
    a->chain_ns = now;
    int ended = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = a->decode_slot[i].user;
        if (!w) continue;
        draft_windows_check(b, w);
        ar_give(&w->attempts.ar, &b->run, &b->state[STATE_SELF]);
        ended |= w->attempts.ar.done || w->attempts.failed || session_should_stop(w->s);
    }
    run_costs_end(&b->costs, rows);
    a->n_steps++;
    a->n_steps_read++;
    if (ended || is_due(b)) return 0;
    a->goes_on = draft_windows_needed(b);
    if (a->goes_on) return 0;
    draft_texts_choose(b);
    return rows_collect(b) > 0;
}

/* Runs replays until other work is due, including work of the draft model. */
static int chain_run(struct steno_batch *b)
{
    struct ar_batch *a = ar_batch_of(b);
    int ran, adjusted = 0;
    struct run_time spent;
    a->goes_on = 0;
    draft_texts_choose(b);
    if (!rows_collect(b)) return STENO_OK;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        const struct window_decoder *w = a->decode_slot[i].user;
        adjusted |= w && processors_needed(w->request);
    }
    const struct chain_calls calls = { chain_next, adjusted ? batch_filter : NULL, b };
    a->chain_ns = os_now_ns();
    run_costs_begin(&b->costs);
    struct op_time *time = chain_begin(b);
    const int rc = exec_chain(b->exec, &b->model->plan[PLAN_DECODER], &b->run, INT32_MAX, &calls, &ran, time, &spent);
    if (time) chain_share(b);
    return rc;
}

int batch_decode(struct steno_batch *b)
{
    int rc;
    do {
        rc = draft_windows_make(b);
        if (!rc) rc = chain_run(b);
    } while (!rc && ar_batch_of(b)->goes_on);
    return rc;
}

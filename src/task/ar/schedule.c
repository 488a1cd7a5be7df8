/* steno: which windows decode together. SPDX-License-Identifier: MIT
 *
 * Seats are given to window decoders that want a window, oldest call first; each encodes its window and begins its search. Then the rows
 * of all
 * searches run as one, replay after replay, until one of them has ended: it is judged, decodes again or gives its decode slot to the
 * next. A
 * row's result depends on its own lane alone, so none of this shows in any text. */
#include <string.h>
#include "base/os.h"
#include "task/ar/ar_task.h"

/* ---- one replay after the other ---- */

/* Steps of all searches, for which there is room, then prompts as far as there is more: a long one does not hold up what goes on beside
 * it. Each time another prompt has the first rows, so every one of them comes to its end, whatever takes the decode slots before it. */
static uint32_t rows_want(struct steno_batch *b)
{
    const struct room most = exec_room(&b->exec, &b->model->plan[PLAN_DECODER]);
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < 2 * b->n_windows; i++) {
        const int prompts = i >= b->n_windows;
        struct window_decoder *w = b->decode_slot[(prompts ? i + b->turn : i) % b->n_windows].user;
        if (w && ar_prompts(&w->ar) == prompts) ar_want(&w->ar, &b->run, &b->state[STATE_SELF], most);
    }
    b->turn = (b->turn + 1) % b->n_windows;
    return b->run.n_rows;
}

/* Of several windows of one session the first stands for it. @return the session, NULL: decode slot `at` is free, or none's first */
static steno_session *session_first(const struct steno_batch *b, uint32_t at)
{
    steno_session *s = b->decode_slot[at].user ? b->decode_slot[at].user->s : NULL;
    for (uint32_t i = 0; s && i < at; i++)
        if (b->decode_slot[i].user && b->decode_slot[i].user->s == s) return NULL;
    return s;
}

/* The rows of a replay, and its time, to the sessions that they are of: prompts and steps apart. */
static void count_rows(struct steno_batch *b, int64_t ns)
{
    uint32_t rows[MAX_WINDOWS] = { 0 }, prompt[MAX_WINDOWS] = { 0 };
    if (b->model->is_exact) return; /* verify_us counts all of that */
    for (uint32_t i = 0; i < b->run.n_rows; i++) {
        const uint32_t at = b->run.row[i].lane / b->n_lanes;
        rows[at]++;
        prompt[at] += !(b->run.row[i].flags & (ROW_SAMPLE | ROW_TOPK));
    }
    b->chain_rows += b->run.n_rows;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        uint32_t n = 0, n_prompt = 0;
        for (uint32_t k = i; s && k < b->n_windows; k++)
            if (b->decode_slot[k].user && b->decode_slot[k].user->s == s) n += rows[k], n_prompt += prompt[k];
        if (!n) continue;
        steno_timings *t = &s->timings;
        const int64_t us = (ns * n / b->run.n_rows + 500) / 1000;
        s->chain_rows += n;
        if (n_prompt) t->n_prompt_tokens += n;
        *(n_prompt ? &t->n_prompts : &t->n_steps) += 1;
        *(n_prompt ? &t->prompt_us : &t->decode_us) += us;
    }
}

/* Before a chain of replays. @return where its operations are to be timed, NULL: nobody asks */
static struct op_time *chain_begin(struct steno_batch *b)
{
    int profiling = 0;
    b->chain_rows = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        if (!s) continue;
        s->chain_rows = 0;
        s->timings.n_wakes++;
        profiling |= s->profiling;
    }
    if (b->model->is_exact) return NULL; /* what is profiled is the fast one */
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    return profiling ? b->time : NULL;
}

/* Each session that asks gets its part of what the chain took. */
static void chain_share(struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = session_first(b, i);
        if (!s || !s->profiling || !s->chain_rows) continue;
        struct op_time *to = session_time(s, PLAN_DECODER);
        for (int k = 0; k < b->model->plan[PLAN_DECODER].n_ops; k++) {
            to[k].ns += (int64_t)((double)b->time[k].ns * (double)s->chain_rows / (double)b->chain_rows);
            to[k].calls += b->time[k].calls;
        }
    }
}

/* Called between replays: whoever wants to stop, and whoever has come to an end, ends the chain. */
static int chain_next(void *user)
{
    struct steno_batch *b = user;
    const int64_t now = os_now_ns();
    count_rows(b, now - b->chain_ns);
    b->chain_ns = now;
    int ended = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = b->decode_slot[i].user;
        if (!w) continue;
        ar_give(&w->ar, &b->run, &b->state[STATE_SELF]);
        ended |= w->ar.done || w->failed || session_should_stop(w->s);
    }
    return !ended && rows_want(b) > 0;
}

void batch_filter(void *user, uint16_t lane, float *logits)
{
    struct steno_batch *b = user;
    struct window_decoder *w = b->decode_slot[lane / b->n_lanes].user;
    if (w) process_logits(w, &b->run.lane[lane], logits);
}

int batch_decode(struct steno_batch *b)
{
    int ran, adjusted = 0;
    struct run_time spent;
    if (!rows_want(b)) return STENO_OK;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        const struct window_decoder *w = b->decode_slot[i].user;
        adjusted |= w && processors_wanted(&w->s->request);
    }
    b->exec.filter = adjusted ? batch_filter : NULL;
    b->exec.next = chain_next;
    b->chain_ns = os_now_ns();
    struct op_time *time = chain_begin(b);
    const int rc = exec_chain(&b->exec, &b->model->plan[PLAN_DECODER], &b->run, INT32_MAX, &ran, time, &spent);
    b->exec.filter = NULL;
    b->exec.next = NULL;
    if (time) chain_share(b);
    return rc;
}

/* ---- calls and decode slots ---- */

/* The call is over: out of the line, and told. */
static void finish(struct steno_batch *b, steno_session *s, int status)
{
    steno_session **at = &b->first;
    while (*at && *at != s) at = &(*at)->next;
    if (*at) *at = s->next;
    s->next = NULL;
    request_end(s, status);
    if (!b->params.on_done || s->request.direct) return;
    b->telling = 1;
    b->params.on_done(b->params.user, s, s->request.status);
    b->telling = 0;
}

static int canceled(steno_session *s)
{
    return err_set(&s->error, STENO_ECANCELED, "canceled");
}

/* Of two window decoders of one audio the one that is behind goes first, and one that will find its window encoded waits for it. */
static int may_go(const steno_session *s, const struct window_decoder *w)
{
    const struct window_decoder *other = &s->decoder[w == &s->decoder[0]];
    if (other->s != s || other->state == DECODER_IDLE) return 1;
    return other->state == DECODER_DECODE ? other->seek > w->seek : w->seek < other->seek || (w->seek == other->seek && w < other);
}

/* A window decoder of the call that wants a window, NULL: none now. A clip that nobody has begun goes to a window decoder of the batch.
 * *rc: what went
 * wrong with it */
static struct window_decoder *decoder_wanting(struct steno_batch *b, steno_session *s, int *rc)
{
    struct request *c = &s->request;
    for (int i = 0; i < 2; i++) {
        struct window_decoder *w = &s->decoder[i];
        if (w->s == s && w->state == DECODER_WINDOW && may_go(s, w)) return w;
    }
    struct window_decoder *idle = NULL;
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++) {
        struct window_decoder *w = &b->decoder[i];
        if (w->state == DECODER_WINDOW && w->s == s) return w;
        if (w->state == DECODER_IDLE) idle = w;
    }
    if (!idle || !c->beside || c->next_clip >= c->n_clips) return NULL;
    *rc = decoder_begin(idle, s, c->p.task, c->next_clip++);
    return idle;
}

/* The free decode slot where the window decoder's window is encoded already, else `at`. */
static uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!b->decode_slot[i].user && b->decode_slot[i].audio == w->s && b->decode_slot[i].from == w->seek) return i;
    return at;
}

/* Serve one free decode slot. @return 1: something went on, 0: nobody wants it */
static int slot_give(struct steno_batch *b, uint32_t at)
{
    for (steno_session *s = b->first, *next; s; s = next) {
        next = s->next;
        int rc = session_should_stop(s) ? canceled(s) : STENO_OK;
        if (!rc && s->request.state == REQUEST_WAITING) rc = request_begin(s, at);
        struct window_decoder *w = rc ? NULL : decoder_wanting(b, s, &rc);
        const uint32_t to = rc || !w ? at : slot_for(b, w, at);
        if (!rc && w) rc = decoder_window(w, to);
        if (!rc && w && w->state == DECODER_DECODE) b->decode_slot[to].user = w;
        if (rc || request_ended(s)) {
            atomic_store(&b->exec.stop, 0); /* it may have ended inside the encoder; the next one is not meant */
            finish(b, s, rc);
            return 1;
        }
        if (w) return 1;
    }
    return 0;
}

/* @return 1 when a window is being decoded */
static int fill(struct steno_batch *b)
{
    int busy = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        while (!b->decode_slot[i].user && slot_give(b, i)) {}
        busy |= b->decode_slot[i].user != NULL;
    }
    for (uint32_t i = 0; i < b->n_windows && !busy; i++) busy |= b->decode_slot[i].user != NULL;
    return busy;
}

/* What the chain has left behind. rc: of the run */
static void settle(struct steno_batch *b, int rc)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        struct window_decoder *w = b->decode_slot[i].user;
        if (!w) continue;
        steno_session *s = w->s;
        int status = rc && rc != STENO_ECANCELED ? session_ran(s, rc) : rc || session_should_stop(s) ? canceled(s) : STENO_OK;
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
    atomic_store(&b->exec.stop, 0);
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].done = 1; /* until a search puts one to use */
    while (fill(b)) {
        const int rc = batch_decode(b);
        atomic_store(&b->exec.stop, 0);
        settle(b, rc);
    }
}

int steno_batch_run(steno_batch *b)
{
    const int rc = line_enter(b);
    if (rc) return rc;
    batch_carry_out(b);
    line_leave(b);
    return STENO_OK;
}

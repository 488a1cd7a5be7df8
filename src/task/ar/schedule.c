/* steno: which windows decode together. SPDX-License-Identifier: MIT
 *
 * A free decode slot goes to the request that is next in line (request_queue.c); it encodes its window and begins its search. Then the
 * rows of all searches run as one, replay after replay, until one of them has ended: it is judged, decodes again or gives its decode slot
 * to the next. While windows are being decoded the encoder runs at most once in a number of steps, so that text goes on to come; whoever
 * comes while a slot is free ends the chain of steps. A row's result depends on its own lane alone, so none of this shows in any text. */
#include <string.h>
#include "base/os.h"
#include "task/ar/ar_task.h"

/* ---- who is next ---- */

/* A free decode slot, -1: none. One whose window nobody can use again goes first. */
static int slot_free(const struct steno_batch *b)
{
    int at = -1;
    for (int i = (int)b->n_windows - 1; i >= 0; i--)
        if (!b->decode_slot[i].user && (at < 0 || !b->decode_slot[i].audio)) at = i;
    return at;
}

/* The free decode slot where the window decoder's window is encoded already, else `at`. */
static uint32_t slot_for(const struct steno_batch *b, const struct window_decoder *w, uint32_t at)
{
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (!b->decode_slot[i].user && b->decode_slot[i].audio == w->s && b->decode_slot[i].from == w->seek) return i;
    return at;
}

/* Of two window decoders of one audio the one that is behind goes first, and one that will find its window encoded waits for it. */
static int may_go(const steno_session *s, const struct window_decoder *w)
{
    const struct window_decoder *other = &s->decoder[w == &s->decoder[0]];
    if (other->s != s || other->state == DECODER_IDLE) return 1;
    return other->state == DECODER_DECODE ? other->seek > w->seek : w->seek < other->seek || (w->seek == other->seek && w < other);
}

/* A window decoder of the request that wants a window. *idle: one of the batch, for a clip that nobody has begun. NULL: none */
static struct window_decoder *decoder_find(const struct steno_batch *b, const steno_session *s, struct window_decoder **idle)
{
    const struct request *c = &s->request;
    *idle = NULL;
    for (int i = 0; i < 2; i++) {
        struct window_decoder *w = &s->decoder[i];
        if (w->s == s && w->state == DECODER_WINDOW && may_go(s, w)) return w;
    }
    for (uint32_t i = 0; b->decoder && i < b->n_windows; i++) {
        struct window_decoder *w = &b->decoder[i];
        if (w->state == DECODER_WINDOW && w->s == s) return w;
        if (w->state == DECODER_IDLE && c->beside && c->next_clip < c->n_clips) *idle = w;
    }
    return NULL;
}

/* The same, with the clip begun. *rc: what went wrong with it */
static struct window_decoder *decoder_wanting(struct steno_batch *b, steno_session *s, int *rc)
{
    struct window_decoder *idle, *w = decoder_find(b, s, &idle);
    if (w || !idle) return w;
    *rc = decoder_begin(idle, s, s->request.p.task, s->request.next_clip++);
    return idle;
}

static int wants_slot(const struct steno_batch *b, const steno_session *s)
{
    struct window_decoder *idle;
    return s->request.state == REQUEST_WAITING || decoder_find(b, s, &idle) || idle;
}

/* The next in line of those who want a decode slot, of one class or (-1) of all; NULL: nobody. */
static steno_session *request_first(const struct steno_batch *b, int of_class)
{
    steno_session *first = NULL;
    for (steno_session *s = b->first; s; s = s->next)
        if ((of_class < 0 || queue_class(s) == of_class) && wants_slot(b, s) && (!first || queue_is_before(s, first))) first = s;
    return first;
}

enum { LATER_EVERY = 4 }; /* windows, of which the last class has one where it waits */

/* Whoever gets the next free decode slot, NULL: nobody wants one. */
static steno_session *request_next(const struct steno_batch *b)
{
    steno_session *later = b->passed + 1 >= LATER_EVERY ? request_first(b, STENO_PRIORITY_LATER) : NULL;
    return later ? later : request_first(b, -1);
}

/* s gets a window: how long has the last class waited? */
static void count_passed(struct steno_batch *b, const steno_session *s)
{
    const int waits = queue_class(s) != STENO_PRIORITY_LATER && request_first(b, STENO_PRIORITY_LATER);
    b->passed = waits ? b->passed + 1 : 0;
}

/* ---- one replay after the other ---- */

/* Steps of all searches, for which there is room, then prompts as far as there is more: a long one does not hold up what goes on beside
 * it. Each time another prompt has the first rows, so every one of them comes to its end, whatever takes the decode slots before it. */
static uint32_t rows_want(struct steno_batch *b)
{
    const struct room most = exec_room(b->exec, &b->model->plan[PLAN_DECODER]);
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

/* May the encoder run now? */
static int may_encode(const struct steno_batch *b)
{
    return b->n_steps >= b->params.steps_between_encodes;
}

/* Is there something to do that is not decoding? */
static int is_due(struct steno_batch *b)
{
    if (queue_is_woken(b)) {
        queue_take(b);
        b->is_wanted = slot_free(b) >= 0 && request_next(b);
        for (const steno_session *s = b->first; s; s = s->next)
            if (s->request.state == REQUEST_WAITING && atomic_load(&s->cancel)) return 1;
    }
    return b->is_wanted && may_encode(b);
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
    b->n_steps++;
    return !ended && !is_due(b) && rows_want(b) > 0;
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
    const struct chain_calls calls = { chain_next, adjusted ? batch_filter : NULL, b };
    b->chain_ns = os_now_ns();
    struct op_time *time = chain_begin(b);
    const int rc = exec_chain(b->exec, &b->model->plan[PLAN_DECODER], &b->run, INT32_MAX, &calls, &ran, time, &spent);
    if (time) chain_share(b);
    return rc;
}

/* ---- requests ---- */

/* The request is over: out of the line, and told. */
static void finish(struct steno_batch *b, steno_session *s, int status)
{
    const int direct = s->request.direct;
    queue_remove(s);
    request_end(s, status);
    atomic_store(&s->place.in_line, 0);
    if (!b->params.on_done || direct) return;
    b->telling = 1;
    b->params.on_done(b->params.user, s, s->request.status);
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
    int rc = s->request.state == REQUEST_WAITING ? request_begin(s, at) : STENO_OK;
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

int steno_batch_run(steno_batch *b)
{
    const int rc = line_enter(b);
    if (rc) return rc;
    batch_carry_out(b);
    line_leave(b);
    return STENO_OK;
}

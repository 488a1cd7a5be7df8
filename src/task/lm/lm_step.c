/* steno: one step of text generation for several requests. SPDX-License-Identifier: MIT */
#include "task/lm/lm_step.h"
#include <limits.h>
#include <string.h>
#include "engine/batch_loop.h"
#include "task/lm/lm_lanes.h"

/* ---- requests: queueing, start and end ---------------------------------------------------------------------------------------- */

int lm_request_take(steno_session *s, const struct request_given *g)
{
    struct lm_request *r = &lm_of(s)->request;
    *r = (struct lm_request){ .p = *g->generate, .ids = g->ids, .n = g->n_ids };
    generated_clear(s);
    s->should_abort = r->p.should_abort;
    s->abort_user = r->p.user;
    int rc = params_check(s, STENO_CALL_GENERATE, &r->p);
    if (!rc) rc = generation_check(s, r->ids, r->n);
    if (!rc) rc = generator_open(&r->generator, s, PLAN_TEXT, &r->p);
    if (rc) generator_close(&r->generator);
    return rc;
}

/* Call when a lane is free and the request is next. */
static void lm_request_begin(steno_session *s)
{
    struct lm_request *r = &lm_of(s)->request;
    queue_begin(s);
    queue_window(s);
    s->request_state = REQUEST_LIVE;
    lm_lane_begin(s);
    r->has_lane = r->waits = 1;
}

/* Looks for a shared prefix. The request then waits for it, or begins to read its prompt. Returns a status if it cannot begin. */
static int lm_request_start(steno_session *s)
{
    struct lm_request *r = &lm_of(s)->request;
    struct generation *g = &lm_of(s)->generation;
    int32_t known;
    if (lm_lane_share(s, r->ids, r->n)) return STENO_OK;
    r->waits = 0;
    const int rc = generation_begin(s, g, r->ids, r->n, &known);
    if (!rc) generator_start(&r->generator, &s->batch->run.lane[g->lane], s->model->text_ctx + 1 - r->n, 1);
    return rc;
}

int lm_request_end(steno_session *s, int status)
{
    struct lm_request *r = &lm_of(s)->request;
    const int rc = generator_end(&r->generator, status), n = rc ? 0 : r->generator.lane->sampler.n;
    if (r->has_lane && !r->waits) generation_end(s, &lm_of(s)->generation, &r->generator, rc);
    if (r->has_lane) lm_lane_leave(s);
    generator_close(&r->generator);
    r->has_lane = r->waits = 0;
    return rc ? rc : n;
}

enum { SLICE = 64 /* rows of prompts in a replay in which other lanes sample */ };

/* Session that uses lane `at`; NULL if the lane is free. */
static steno_session *user_of(const struct steno_batch *b, uint32_t at)
{
    return lm_batch_of(b)->lane[at].user;
}

static int reads(const struct steno_batch *b, uint32_t at)
{
    const struct lm_request *r = &lm_of(user_of(b, at))->request;
    return r->waits || b->run.lane[at].kv.len < r->n;
}

/* ---- the rows of a replay ---------------------------------------------------------------------------------------------------- */

/* Adds the next row of lane `at` and its draft tokens, leaving room for the rows of `behind` other lanes. */
static void choosing_add(struct steno_batch *b, uint32_t at, uint32_t behind)
{
    const struct room left = run_left(&b->run, exec_room(b->exec, &b->model->plan[PLAN_TEXT]));
    const uint32_t room = left.rows < left.out ? left.rows : left.out;
    generator_rows(&lm_of(user_of(b, at))->request.generator, (int32_t)(room - behind - 1),
                   (int32_t)(b->run.n_rows + behind + 1));
}

/* Adds prompt rows of lane `at`, up to `most` rows in all. */
static void prompt_add(struct steno_batch *b, uint32_t at, uint32_t most)
{
    const steno_session *s = user_of(b, at);
    const int32_t n = lm_of(s)->request.n;
    const struct room max = exec_room(b->exec, &b->model->plan[PLAN_TEXT]);
    for (int32_t i = b->run.lane[at].kv.len; i < n && b->run.n_rows < most; i++) {
        const uint16_t flags = i == n - 1 ? ROW_SAMPLE : 0;
        if (flags && !run_left(&b->run, max).out) return;
        run_add(&b->run, lm_of(s)->request.ids[i], i, (uint16_t)at, flags);
    }
}

static int rows_collect(struct steno_batch *b)
{
    struct lm_batch *l = lm_batch_of(b);
    uint32_t choosing = 0, behind = 0; /* each lane gets its sampled row before any draft tokens */
    b->run.n_rows = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        behind += user_of(b, i) != NULL;
        choosing += user_of(b, i) && !reads(b, i);
    }
    for (uint32_t i = 0; i < b->n_windows; i++)
        if (user_of(b, i) && !reads(b, i)) choosing_add(b, i, --behind);
    const uint32_t max = exec_room(b->exec, &b->model->plan[PLAN_TEXT]).rows, slice = b->run.n_rows + SLICE;
    const uint32_t most = choosing && slice < max ? slice : max;
    for (uint32_t k = 0; k < b->n_windows; k++) {
        const uint32_t i = (k + l->reads_first) % b->n_windows;
        if (user_of(b, i) && reads(b, i) && !lm_of(user_of(b, i))->request.waits) prompt_add(b, i, most);
    }
    l->reads_first = (l->reads_first + 1) % b->n_windows;
    return b->run.n_rows > 0;
}

/* Checks again for requests that wait for a shared prefix. @return 0: one of them cannot begin */
static int waiting_start(struct steno_batch *b)
{
    int whole = 1;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = user_of(b, i);
        if (!s || !lm_of(s)->request.waits) continue;
        const int rc = lm_request_start(s);
        if (!rc) continue;
        lm_of(s)->request.generator.status = rc;
        whole = 0;
    }
    return whole;
}

/* ---- draft tokens of the draft model ----------------------------------------------------------------------------------------- */

static int lane_steps(const struct steno_batch *b, uint32_t at) { return user_of(b, at) && !reads(b, at); }

static struct draft_text lane_text(const struct steno_batch *b, uint32_t at, int32_t texts)
{
    const struct generator *c = &lm_of(user_of(b, at))->request.generator;
    return c->status || c->lane->sampler.done ? (struct draft_text){ 0 } : generator_text(c, texts);
}

/* Collects the texts that need draft tokens. @return their number */
static int drafts_add(const struct steno_batch *b, struct draft_text *text)
{
    return draft_texts_collect(b, &(struct draft_places){ b->n_windows, lane_steps, lane_text }, text);
}

static int drafts_make(struct steno_batch *b)
{
    struct draft_text text[DRAFT_TEXTS_MAX];
    const int n = drafts_add(b, text);
    if (!n) return STENO_OK;
    int64_t us;
    const int rc = draft_model_make(b, PLAN_TEXT, text, n, &us);
    for (int i = 0; i < n && !rc; i++) {
        steno_session *s = user_of(b, text[i].to);
        generator_take_draft(&lm_of(s)->request.generator, &text[i]);
        s->timings.draft_us += us;
    }
    return rc;
}

/* ---- time -------------------------------------------------------------------------------------------------------------------- */

/* Adds the rows and the time of a replay to the timings of their sessions. */
static void count_rows(struct steno_batch *b, int64_t ns)
{
    uint32_t rows[MAX_WINDOWS] = { 0 };
    for (uint32_t i = 0; i < b->run.n_rows; i++) rows[b->run.row[i].lane]++;
    lm_batch_of(b)->chain_rows += b->run.n_rows;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = user_of(b, i);
        if (!s || !rows[i]) continue;
        steno_timings *t = &s->timings;
        const int is_prompt = b->run.lane[i].kv.len <= lm_of(s)->request.n;
        s->chain_rows += rows[i];
        if (is_prompt) t->n_prompt_tokens += rows[i];
        *(is_prompt ? &t->n_prompts : &t->n_steps) += 1;
        *(is_prompt ? &t->prompt_us : &t->decode_us) += (ns * rows[i] / b->run.n_rows + 500) / 1000;
    }
}

/* @return the table for times of operations, or NULL if no session is profiled */
static struct op_time *times_begin(struct steno_batch *b)
{
    int profiling = 0;
    lm_batch_of(b)->chain_rows = 0;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = user_of(b, i);
        if (!s) continue;
        s->chain_rows = 0;
        s->timings.n_wakes++;
        profiling |= s->profiling;
    }
    if (profiling) memset(b->time, 0, model_ops(b->model) * sizeof *b->time);
    return profiling ? b->time : NULL;
}

static void times_share(const struct steno_batch *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        const steno_session *s = user_of(b, i);
        if (s && s->chain_rows) session_share_time(s, PLAN_TEXT, s->chain_rows, lm_batch_of(b)->chain_rows);
    }
}

/* ---- a chain of replays ------------------------------------------------------------------------------------------------------ */

static int needs_lane(const struct steno_batch *b, const steno_session *s)
{
    (void)b;
    return s->request_state == REQUEST_WAITING;
}

/* Is other work than computing due? */
static int is_due(struct steno_batch *b)
{
    if (requests_should_stop(b)) return 1;
    if (!queue_is_woken(b)) return 0;
    queue_look(b);
    for (const steno_session *s = b->first; s; s = s->next)
        if (needs_lane(b, s) && lm_lane_free(b) >= 0) return 1;
    return 0;
}

static int next(void *user)
{
    struct steno_batch *b = user;
    struct lm_batch *l = lm_batch_of(b);
    const int64_t now = os_now_ns();
    int ended = 0;
    const uint32_t rows = run_costs_rows(&b->run);
    count_rows(b, now - l->chain_ns);
    l->chain_ns = now;
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = user_of(b, i);
        if (!s) continue;
        if (reads(b, i)) ended |= session_should_stop(s);
        else ended |= !generator_next(&lm_of(s)->request.generator);
    }
    run_costs_end(&b->costs, rows);
    if (ended || is_due(b) || !waiting_start(b)) return 0;
    struct draft_text text[DRAFT_TEXTS_MAX];
    l->goes_on = drafts_add(b, text) > 0;
    return !l->goes_on && rows_collect(b);
}

static void filter(void *user, uint16_t lane, float *logits)
{
    struct steno_batch *b = user;
    if (user_of(b, lane)) generator_filter(&lm_of(user_of(b, lane))->request.generator, logits);
}

static int chain(struct steno_batch *b)
{
    const struct chain_calls calls = { next, filter, b };
    struct run_time spent;
    int ran;
    lm_batch_of(b)->goes_on = 0;
    if (!waiting_start(b) || !rows_collect(b)) return STENO_OK;
    lm_batch_of(b)->chain_ns = os_now_ns();
    run_costs_begin(&b->costs);
    lm_batch_of(b)->logits_of = 0;
    struct op_time *time = times_begin(b);
    const int rc = exec_chain(b->exec, &b->model->plan[PLAN_TEXT], &b->run, INT_MAX, &calls, &ran, time, &spent);
    if (time) times_share(b);
    return rc;
}

/* ---- requests ---------------------------------------------------------------------------------------------------------------- */

/* Gives a free lane to the next request. @return 1: a request got one */
static int lane_give(struct steno_batch *b)
{
    steno_session *s = lm_lane_free(b) >= 0 ? queue_next(b, needs_lane) : NULL;
    if (!s) return 0;
    queue_given(b, queue_passes(b, s, needs_lane));
    lm_request_begin(s);
    return 1;
}

static int fill(struct steno_batch *b)
{
    int busy = 0;
    queue_look(b);
    do {
        while (requests_sweep(b)) {}
        queue_take(b);
    } while (lane_give(b));
    for (uint32_t i = 0; i < b->n_windows; i++) busy |= user_of(b, i) != NULL;
    return busy;
}

/* Handles the requests that ended in the chain. rc: status of the run */
static void settle(struct steno_batch *b, int rc)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        steno_session *s = user_of(b, i);
        if (!s) continue;
        const struct generator *c = &lm_of(s)->request.generator;
        int status = c->status;
        if (!status) status = request_ran(s, rc);
        if (status || (c->lane && c->lane->sampler.done)) request_finish(s, status);
    }
}

int lm_step(struct steno_batch *b)
{
    if (!fill(b)) return 0;
    int rc;
    do {
        rc = drafts_make(b);
        if (!rc) rc = chain(b);
    } while (!rc && lm_batch_of(b)->goes_on);
    settle(b, rc);
    return 1;
}

/* steno: ids in, ids out. SPDX-License-Identifier: MIT */
#include "task/generation.h"
#include <math.h>
#include "task/chooser.h"
#include "task/params.h"

void lane_reset(steno_session *s, uint16_t lane)
{
    lane_rewind(s->batch, lane, 0);
}

void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len)
{
    struct lane *l = &b->run.lane[lane];
    state_truncate(&b->state[STATE_SELF], lane, (uint32_t)len);
    *l = (struct lane){
        .kv = { .len = len, .enc_len = b->model->audio_ctx, .window = (uint16_t)(lane / b->n_lanes) },
        .sampler = { .out = b->sampled + (size_t)lane * (size_t)b->model->text_ctx, .top = l->sampler.top, .last_ts = -1,
                     .margin = { INFINITY, INFINITY } },
    };
}

/* is_prompt: the rows in the run are. */
static int chain_run(steno_session *s, int plan, int steps, const struct chain_calls *calls, int is_prompt)
{
    struct steno_batch *b = s->batch;
    int ran = 0;
    struct run_time spent;
    const uint32_t rows = b->run.n_rows;
    const int rc = exec_chain(b->exec, &s->model->plan[plan], &b->run, steps, calls, &ran, session_time(s, plan), &spent);
    if (is_prompt) { /* the first replay */
        s->timings.n_prompts++;
        s->timings.n_prompt_tokens += rows;
        s->timings.prompt_us += spent.first_ns / 1000;
        ran--;
    } else {
        spent.rest_ns += spent.first_ns;
    }
    s->timings.n_wakes++;
    s->timings.n_steps += ran > 0 ? ran : 0;
    s->timings.decode_us += spent.rest_ns / 1000;
    return session_ran(s, b->exec, rc);
}

int steps_run(steno_session *s, int plan, int steps)
{
    return chain_run(s, plan, steps, NULL, s->batch->run.n_rows > s->batch->run.n_lanes);
}

static int check_ids(steno_session *s, const int32_t *ids, int n, int min)
{
    if (n < min) return err_set(&s->error, STENO_EARG, "n is %d, want %d or more ids", n, min);
    if (n && !ids) return err_set(&s->error, STENO_EARG, "ids is NULL but n is %d", n);
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= s->model->n_vocab)
            return err_set(&s->error, STENO_EARG, "id %d at place %d is not in a vocabulary of %d", (int)ids[i], i, (int)s->model->n_vocab);
    return STENO_OK;
}

/* The text is over; its keys and values may still serve another. */
static void forget(struct generation *g)
{
    g->len = 0;
    g->last = -1;
    g->has_logits = 0;
}

/* A text begins. @return ids that need not be read: they stand where the last text had the same. One is read in any case, for its logits */
static int32_t begin(steno_session *s, struct generation *g, const int32_t *ids, int n)
{
    const int32_t *held = (const int32_t *)(const void *)s->held.p;
    int32_t same = 0;
    while (same < g->kept && same < n - 1 && held[same] == ids[same]) same++;
    s->held.len = (size_t)same * sizeof *held;
    s->held.err = 0;
    g->len = g->kept = same;
    s->timings.n_reused += same;
    return same;
}

/* The first of n + 1 rows is the id that was chosen last and has not run; a new beginning has none. flag: of the last row. */
static int feed_ids(steno_session *s, const struct generation *g, const int32_t *ids, int n, uint16_t flag, const struct chain_calls *calls)
{
    struct steno_batch *b = s->batch;
    const int32_t pending = g->last >= 0, all = n + pending, max = (int32_t)s->model->plan[g->plan].max_rows;
    int rc = STENO_OK;
    for (int32_t at = 0; at < all && !rc;) {
        const int32_t end = all - at < max ? all : at + max;
        b->run.n_rows = 0;
        for (int32_t i = at; i < end; i++)
            run_add(&b->run, i < pending ? g->last : ids[i - pending], g->len + i, 0, i == all - 1 ? flag : 0);
        rc = chain_run(s, g->plan, end == all && flag == ROW_SAMPLE ? s->model->text_ctx : 1, end == all ? calls : NULL, n > 0);
        at = end;
    }
    return rc;
}

/* Ids that may still come behind n that are read. */
static int32_t room_of(const steno_session *s, const struct generation *g, int n)
{
    return s->model->text_ctx + 1 - g->len - n - (g->last >= 0);
}

/* What is asked of n ids, before any of them runs: a text that goes on, or another one that begins. */
static int check(steno_session *s, struct generation *g, const int32_t *ids, int n, int min, int again)
{
    const int rc = check_ids(s, ids, n, min);
    if (rc) return rc;
    if (!again) forget(g);
    if (room_of(s, g, n) > 0) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "%d ids leave no room in a context of %d", (int)(g->len + n), (int)s->model->text_ctx);
}

/* What the session holds, with n more ids. */
static int hold(steno_session *s, const int32_t *ids, int n)
{
    buf_add(&s->held, ids, (size_t)n * sizeof *ids);
    return s->held.err ? err_nomem(&s->error, s->held.len, "the ids of a text") : STENO_OK;
}

/* Positions of which it is known what they hold: of whole replays alone, a failed one leaves the others as they were. */
static int ran(steno_session *s, struct generation *g, int rc)
{
    const int32_t held = (int32_t)(s->held.len / sizeof(int32_t)), len = s->batch->run.lane[0].kv.len;
    g->kept = len < held ? len : held;
    if (rc) forget(g);
    return rc;
}

static int choose(steno_session *s, struct generation *g, const int32_t *ids, int n, const steno_generate_params *p, int32_t room)
{
    struct chooser c;
    struct lane *l = &s->batch->run.lane[0];
    l->sampler.limit = p->max_tokens && p->max_tokens < room ? p->max_tokens : room;
    int rc = chooser_open(&c, s, g->plan, l, p);
    const struct chain_calls calls = chooser_calls(&c);
    if (!rc) rc = chooser_end(&c, feed_ids(s, g, ids, n, ROW_SAMPLE, &calls));
    if (!rc) {
        g->len = l->kv.len;
        g->last = c.end >= 0 ? c.end : l->sampler.n ? l->sampler.out[l->sampler.n - 1].id : -1;
    }
    chooser_close(&c);
    return rc;
}

int generation_run(steno_session *s, struct generation *g, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    int rc = check(s, g, ids, n, again && g->last >= 0 ? 0 : 1, again);
    if (rc) return rc;
    const int32_t room = room_of(s, g, n), goes_on_from = g->len, known = g->len || g->last >= 0 ? 0 : begin(s, g, ids, n);
    g->has_logits = 0;
    lane_rewind(s->batch, 0, g->len);
    s->batch->run.lane[0].sampler.rng_stream = rng_stream_of(goes_on_from, 0, 0);
    rc = hold(s, ids + known, n - known);
    if (!rc) rc = choose(s, g, ids + known, n - known, p, room);
    rc = ran(s, g, rc);
    return rc ? rc : s->batch->run.lane[0].sampler.n;
}

int generation_read(steno_session *s, struct generation *g, const int32_t *ids, int n, int again)
{
    int rc = check(s, g, ids, n, 1, again);
    if (rc) return rc;
    const int32_t known = g->len || g->last >= 0 ? 0 : begin(s, g, ids, n), new = n - known;
    lane_rewind(s->batch, 0, g->len);
    s->batch->run.lane[0].sampler.done = 1; /* nothing is chosen */
    rc = hold(s, ids + known, new);
    if (!rc) rc = feed_ids(s, g, ids + known, new, ROW_LOGITS, NULL);
    if (!rc) g->len += new + (g->last >= 0);
    rc = ran(s, g, rc);
    if (rc) return rc;
    g->last = -1;
    g->has_logits = 1;
    return STENO_OK;
}

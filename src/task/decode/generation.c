/* steno: reads ids and generates ids in one lane. SPDX-License-Identifier: MIT */
#include "task/decode/generation.h"
#include <math.h>
#include "engine/batch.h"
#include "engine/params.h"
#include "task/decode/generator.h"

void lane_reset(steno_session *s, uint16_t lane)
{
    lane_rewind(s->batch, lane, 0);
}

void lane_rewind(struct steno_batch *b, uint16_t lane, int32_t len)
{
    struct lane *l = &b->run.lane[lane];
    lane_cut(b, lane, len);
    *l = (struct lane){
        .kv = { .len = len, .enc_len = b->model->audio_ctx, .window = (uint16_t)(lane / b->n_lanes) },
        .sampler = { .out = b->sampled + (size_t)lane * (size_t)b->model->text_ctx, .top = l->sampler.top, .last_ts = -1,
                     .margin = { INFINITY, INFINITY } },
    };
}

/* is_prompt: the rows in the run are part of a prompt. */
static int chain_run(steno_session *s, int plan, int steps, const struct chain_calls *calls, int is_prompt)
{
    struct steno_batch *b = s->batch;
    int ran = 0;
    struct run_time spent;
    const uint32_t rows = b->run.n_rows;
    run_costs_begin(&b->costs);
    const int rc = exec_chain(b->exec, &s->model->plan[plan], &b->run, steps, calls, &ran, session_time(s, plan), &spent);
    if (is_prompt) { /* first replay */
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

/* The text has ended. A later text may still reuse its keys and values. */
static void forget(struct generation *g)
{
    g->len = 0;
    g->last = -1;
    g->has_logits = 0;
}

/* Number of ids that a new text shares with the start of the last one. At least one id is read again, for its logits. */
static int32_t same_of(const steno_session *s, const struct generation *g, const int32_t *ids, int n)
{
    const int32_t *held = (const int32_t *)(const void *)s->held.p;
    int32_t same = 0;
    while (same < g->kept && same < n - 1 && held[same] == ids[same]) same++;
    return same;
}

/* Marks a position for sliding-window layers. If they no longer hold the window after a common prefix, the prefix is read again, and its
 * end is marked so that later texts can reuse it. Otherwise the end of the prompt is marked, because a conversation may continue
 * differently from there. */
static void mark_place(struct steno_batch *b, const struct generation *g, int32_t known, int32_t end)
{
    const int32_t mark = lane_marked(b, g->lane);
    if (mark && mark <= known && g->parted - mark < KV_BLOCK) return;
    lane_mark(b, g->lane, g->parted - known < KV_BLOCK ? end : g->parted / KV_BLOCK * KV_BLOCK);
}

static int has_text(const struct generation *g) { return g->len || g->last >= 0; }

static int begin(steno_session *s, struct generation *g, const int32_t *ids, int n, int32_t *known)
{
    const int32_t from = g->len;
    struct steno_batch *draft = g->uses_draft ? s->batch->draft : NULL;
    *known = 0;
    if (has_text(g)) g->parted = g->len;
    else {
        const int32_t same = same_of(s, g, ids, n);
        if (same > g->parted) g->parted = same;
        *known = lane_reach(s->batch, g->lane, same);
        s->held.len = (size_t)*known * sizeof *ids;
        s->held.err = 0;
        g->len = *known;
        s->timings.n_reused += *known;
    }
    g->has_logits = 0;
    const int32_t end = g->len + (g->last >= 0) + n - *known - 1;
    if (draft) draft_model_rewind(draft, g->lane, g->len);
    if (draft) mark_place(draft, g, draft->run.lane[g->lane].kv.len, end);
    lane_rewind(s->batch, g->lane, g->len);
    mark_place(s->batch, g, g->len, end);
    g->parted = 0;
    s->batch->run.lane[g->lane].sampler.rng_stream = rng_stream_of(from, 0, 0);
    buf_add(&s->held, ids + *known, (size_t)(n - *known) * sizeof *ids);
    return s->held.err ? err_nomem(&s->error, s->held.len, "the ids of a text") : STENO_OK;
}

int generation_begin(steno_session *s, struct generation *g, const int32_t *ids, int n, int32_t *known)
{
    forget(g);
    return begin(s, g, ids, n, known);
}

/* Reads n + 1 rows. The first is the last chosen id, which has not run yet; a new text has none. flag: of the last row. */
static int feed_ids(steno_session *s, const struct generation *g, const int32_t *ids, int n, uint16_t flag, const struct chain_calls *calls)
{
    struct steno_batch *b = s->batch;
    const int32_t pending = g->last >= 0, all = n + pending, max = (int32_t)s->model->plan[g->plan].max_rows;
    int rc = STENO_OK;
    for (int32_t at = 0; at < all && !rc;) {
        const int32_t end = all - at < max ? all : at + max;
        b->run.n_rows = 0;
        for (int32_t i = at; i < end; i++)
            run_add(&b->run, i < pending ? g->last : ids[i - pending], g->len + i, g->lane, i == all - 1 ? flag : 0);
        rc = chain_run(s, g->plan, end == all && flag == ROW_SAMPLE ? s->model->text_ctx : 1, end == all ? calls : NULL, n > 0);
        at = end;
    }
    return rc;
}

/* Number of ids that fit after reading n ids. */
static int32_t room_of(const steno_session *s, const struct generation *g, int n)
{
    return s->model->text_ctx + 1 - g->len - n - (g->last >= 0);
}

static int no_room(steno_session *s, int n)
{
    const steno_model *m = s->model;
    if (m->text_ctx < m->lm.ctx_most)
        return err_set(&s->error, STENO_EARG, "%d ids leave no room in a context of %d; text_ctx makes more, up to %d", n, (int)m->text_ctx,
                       (int)m->lm.ctx_most);
    return err_set(&s->error, STENO_EARG, "%d ids leave no room in a context of %d%s", n, (int)m->text_ctx,
                   m->lm.ctx_most ? ", and the model was trained for no more" : "");
}

int generation_check(steno_session *s, const int32_t *ids, int n)
{
    const int rc = check_ids(s, ids, n, 1);
    return rc || n <= s->model->text_ctx ? rc : no_room(s, n);
}

/* Checks n ids before any of them runs. again: the text continues. */
static int check(steno_session *s, struct generation *g, const int32_t *ids, int n, int min, int again)
{
    const int rc = check_ids(s, ids, n, min);
    if (rc) return rc;
    if (!again) forget(g);
    return room_of(s, g, n) > 0 ? STENO_OK : no_room(s, g->len + n);
}

/* Sets the positions whose content is known. Only whole replays count, and a failed one leaves earlier positions unchanged. */
static int ran(const steno_session *s, struct generation *g, int rc)
{
    const int32_t held = (int32_t)(s->held.len / sizeof(int32_t)), len = s->batch->run.lane[g->lane].kv.len;
    g->kept = len < held ? len : held;
    if (rc) forget(g);
    return rc;
}

void generation_end(steno_session *s, struct generation *g, const struct generator *c, int rc)
{
    if (!rc) {
        const struct sampler *l = &c->lane->sampler;
        g->len = c->lane->kv.len;
        g->last = c->end >= 0 ? c->end : l->n ? l->out[l->n - 1].id : -1;
    }
    ran(s, g, rc);
}

int generation_run(steno_session *s, struct generation *g, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    struct generator c;
    int32_t known;
    struct lane *l = &s->batch->run.lane[g->lane];
    int rc = check(s, g, ids, n, again && g->last >= 0 ? 0 : 1, again);
    if (rc) return rc;
    const int32_t room = room_of(s, g, n);
    rc = begin(s, g, ids, n, &known);
    if (rc) return ran(s, g, rc);
    rc = generator_open(&c, s, g->plan, p);
    if (!rc && g->given) generator_give(&c, g->given);
    if (!rc) generator_start(&c, l, room, g->uses_draft);
    const struct chain_calls calls = generator_calls(&c);
    if (!rc) {
        rc = feed_ids(s, g, ids + known, n - known, ROW_SAMPLE, &calls);
        while (!rc && c.goes_on) {
            rc = generator_propose(&c);
            if (!rc) rc = chain_run(s, g->plan, s->model->text_ctx, &calls, 0);
        }
        rc = generator_end(&c, rc);
    }
    generation_end(s, g, &c, rc);
    generator_close(&c);
    return rc ? rc : l->sampler.n;
}

int generation_read(steno_session *s, struct generation *g, const int32_t *ids, int n, int again)
{
    int32_t known;
    int rc = check(s, g, ids, n, 1, again);
    if (rc) return rc;
    rc = begin(s, g, ids, n, &known);
    s->batch->run.lane[g->lane].sampler.done = 1; /* nothing is sampled */
    if (!rc) rc = feed_ids(s, g, ids + known, n - known, ROW_LOGITS, NULL);
    if (!rc) g->len += n - known + (g->last >= 0);
    if (ran(s, g, rc)) return rc;
    g->last = -1;
    g->has_logits = 1;
    return STENO_OK;
}

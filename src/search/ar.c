/* steno: autoregressive decoding of one window as a step machine. SPDX-License-Identifier: MIT */
#include "search/ar.h"
#include <math.h>
#include "search/beam.h"
#include "search/ggml_beam.h"

void ar_begin(struct ar *a, const struct ar_params *p, uint16_t lane0, const int32_t *prompt, int32_t n_prompt, int32_t sot)
{
    struct sampled_token *best = a->beams.best;
    const int32_t n = p->score.draws ? p->n_lanes : 1; /* sequences after the prompt */
    *a = (struct ar){ .p = *p, .prompt = prompt, .n_prompt = n_prompt, .sot = sot, .lane0 = lane0, .result = lane0,
                      .forked = p->n_lanes == 1 || (p->beams && n == 1) };
    a->beams.best = best;
    a->beams.n = n;
    for (int32_t i = 0; i < n; i++) a->beams.lane[i] = (uint16_t)(lane0 + i);
}

/* The purpose of the last row of the prompt, and of every later row. */
static uint16_t choice(const struct ar *a)
{
    return a->p.beams ? ROW_TOPK : ROW_SAMPLE;
}

/* Number of tokens that each beam may continue with. */
static int32_t offers(const struct ar *a)
{
    return a->p.score.draws ? a->p.score.draws : a->p.n_lanes + 1;
}

static void row_add(const struct ar *a, struct run *r, int32_t token, uint16_t lane, uint16_t flags)
{
    struct lane *l = &r->lane[lane];
    if (flags & ROW_TOPK) l->sampler.topk = offers(a);
    run_add(r, token, l->kv.len, lane, flags);
}

/* Let the candidates, or beams, continue from the same keys and values. */
static void lanes_fork(struct ar *a, struct run *r, struct kv_state *state)
{
    const struct lane *first = &r->lane[a->lane0];
    for (int32_t i = 1; i < a->p.n_lanes; i++) {
        struct lane *l = &r->lane[a->lane0 + i];
        const uint64_t stream = l->sampler.rng_stream;
        struct mt19937 *mt19937 = l->sampler.mt19937;
        lane_copy(l, first);
        l->sampler.rng_stream = stream;
        l->sampler.mt19937 = mt19937;
        state_fork(state, (uint32_t)(a->lane0 + i), a->lane0);
    }
    a->forked = 1;
}

static uint16_t lane_at(const struct ar *a, int32_t i)
{
    return a->p.beams ? a->beams.lane[i] : (uint16_t)(a->lane0 + i);
}

/* Whether there is room for a step of all lanes. */
static int fits_all(const struct ar *a, struct room left)
{
    return left.rows >= (uint32_t)a->p.n_lanes && left.out >= (uint32_t)a->p.n_lanes;
}

/* Add the remaining rows of the prompt. Candidates share all of them but the last, which each computes separately. */
static void prompt_want(struct ar *a, struct run *r, struct kv_state *state, struct room max)
{
    const int32_t shared = a->forked ? a->n_prompt : a->n_prompt - 1;
    const uint16_t prob = a->sot == a->n_prompt - 1 ? ROW_PROB : 0;
    struct lane *l = &r->lane[a->lane0];
    for (int32_t i = a->fed; i < shared; i++) {
        const uint16_t last = i == a->n_prompt - 1 ? choice(a) : 0, sot = i == a->sot ? ROW_PROB : 0;
        const struct room left = run_left(r, max);
        if (!left.rows || (!left.out && (last | sot))) return;
        if (last & ROW_TOPK) l->sampler.topk = offers(a);
        run_add(r, a->prompt[i], l->kv.len + i - a->fed, a->lane0, last | sot);
    }
    if (a->fed < shared || !fits_all(a, run_left(r, max))) return;
    lanes_fork(a, r, state);
    for (int32_t i = 0; i < a->p.n_lanes; i++)
        row_add(a, r, a->prompt[a->n_prompt - 1], (uint16_t)(a->lane0 + i), choice(a) | (i ? 0 : prob));
}

/* Add the step of a lane with draft tokens. */
static void drafts_want(struct ar *a, struct run *r, struct room left)
{
    const struct lane *l = &r->lane[a->lane0];
    const int32_t n = l->sampler.n, room = (int32_t)(left.rows < left.out ? left.rows : left.out) - 1;
    if (a->n_guesses > room) a->n_guesses = room;
    for (int32_t i = 0; i <= a->n_guesses; i++)
        run_add(r, l->sampler.out[n - 1 + i].id, l->kv.len + i, a->lane0, a->n_guesses ? ROW_GUESS : ROW_SAMPLE);
}

uint32_t ar_want(struct ar *a, struct run *r, struct kv_state *state, struct room max)
{
    const uint32_t before = r->n_rows;
    if (ar_prompts(a)) prompt_want(a, r, state, max);
    if (a->done || a->fed < a->n_prompt || !fits_all(a, run_left(r, max))) return r->n_rows - before;
    const int32_t n = a->p.beams ? a->beams.n : a->p.n_lanes;
    if (a->n_guesses) {
        drafts_want(a, r, run_left(r, max));
        return r->n_rows - before;
    }
    for (int32_t i = 0; i < n; i++) {
        const struct lane *l = &r->lane[lane_at(a, i)];
        if (!l->sampler.done) row_add(a, r, l->sampler.out[l->sampler.n - 1].id, lane_at(a, i), choice(a));
    }
    return r->n_rows - before;
}

/* All lanes have ended: choose the first of the best that have not failed. */
static void sequences_rank(struct ar *a, const struct run *r)
{
    double best = -INFINITY;
    a->chosen = a->p.score.before < a->p.n_lanes ? a->p.score.before : 0;
    for (int32_t i = 0; i < a->p.n_lanes; i++) {
        const struct sequence_score v = sequence_score_of(&r->lane[lane_at(a, i)], &a->p.score, a->p.length_penalty);
        a->rank[i] = v.failed ? -INFINITY : v.rank;
        if (!(a->rank[i] > best)) continue;
        best = a->rank[i];
        a->chosen = i;
    }
    a->n_ranks = a->p.n_lanes;
    a->result = lane_at(a, a->chosen);
}

/* All lanes have ended: choose the first of the best by rank. A candidate that ended because no id was allowed ranks last, as a beam
 * would. */
static void candidates_rank(struct ar *a, const struct run *r)
{
    for (int32_t i = 0; i < a->p.n_lanes; i++) {
        const struct lane *l = &r->lane[a->lane0 + i];
        a->rank[i] = l->sampler.dead ? -INFINITY : ar_rank(l->sampler.sum_logprob, l->sampler.n, a->p.length_penalty);
        if (a->rank[i] > a->rank[a->chosen]) a->chosen = i;
    }
    a->n_ranks = a->p.n_lanes;
    a->result = (uint16_t)(a->lane0 + a->chosen);
}

void ar_give(struct ar *a, struct run *r, struct kv_state *state)
{
    if (a->done) return;
    const int prompting = a->fed < a->n_prompt;
    const int32_t len = r->lane[a->lane0].kv.len;
    if (prompting) a->fed = len < a->n_prompt ? len : a->n_prompt;
    if (a->fed < a->n_prompt) return;
    if (a->p.score.draws) ggml_beam_step(a, r, state);
    else if (a->p.beams) beams_step(a, r, state);
    if (a->p.beams && !(a->done && a->p.score.draws)) return;
    for (int32_t i = 0; i < a->p.n_lanes; i++)
        if (!r->lane[a->lane0 + i].sampler.done) return;
    a->done = 1;
    if (a->p.score.on) sequences_rank(a, r);
    else candidates_rank(a, r);
}

/* steno: autoregressive decoding of one window as a step machine. SPDX-License-Identifier: MIT
 *
 * In a beam search, every beam offers its best n + 1 continuations. They are processed from best to worst: those that end become finished
 * sequences, the others become beams until there are n. Continuations that rank below the last beam are dropped, even an end of text. A
 * beam that has no allowed continuation ends as in greedy decoding, but ranks last. The step after the prompt has one beam: the reference
 * has n equal ones, which collapse to the same result. Sums are f32 as in the reference, so that near ties are resolved the same way. */
#include "search/ar.h"
#include <math.h>
#include <string.h>
#include "search/ggml_beam.h"

/* ---- ranks of finished sequences --------------------------------------------------------------------------------------------- */

double ar_rank(double sum_logprob, int32_t n, double penalty)
{
    if (isnan(penalty)) return n ? sum_logprob / n : -INFINITY;
    return sum_logprob / pow((5 + n) / 6.0, penalty);
}

double ar_avg_logprob(const struct lane *l)
{
    return l->sampler.sum_logprob / (l->sampler.n + 1);
}

/* ---- one step of a beam search ----------------------------------------------------------------------------------------------- */

struct offer { float sum; int16_t beam, place; };

enum { NOTHING = -1 }; /* place: the beam has no continuation */

/* Insert into the sorted n offers. */
static int32_t offer_add(struct offer *o, int32_t n, struct offer new)
{
    int32_t at = n;
    for (; at && o[at - 1].sum < new.sum; at--) o[at] = o[at - 1];
    o[at] = new;
    return n + 1;
}

/* Sort the continuations of all beams by descending sum; equal ones keep the order of their beams. */
static int32_t offers_sort(struct offer *o, const struct ar *a, const struct run *r)
{
    int32_t n = 0;
    for (int32_t b = 0; b < a->beams.n; b++) {
        const struct lane *l = &r->lane[a->beams.lane[b]];
        for (int32_t i = 0; i < l->sampler.topk; i++)
            n = offer_add(o, n, (struct offer){ (float)l->sampler.sum_logprob + l->sampler.top[i].logprob, (int16_t)b, (int16_t)i });
        if (!l->sampler.topk) n = offer_add(o, n, (struct offer){ -INFINITY, (int16_t)b, NOTHING });
    }
    return n;
}

/* Add a candidate; it is kept as the best if it ranks above all earlier ones. margin: its distance from being dropped. dead: its end was
 * forced. */
static void candidate_add(struct ar *a, const struct lane *l, double sum, float margin, int ended, int dead)
{
    struct beams *b = &a->beams;
    const double rank = dead ? -INFINITY : ar_rank(sum, l->sampler.n, a->p.length_penalty);
    if (a->n_ranks < AR_FINISHED) a->rank[a->n_ranks] = rank;
    if (a->found) {
        const struct ar_candidate c = { sum, rank, l->sampler.n, ended };
        buf_add(a->found, &c, sizeof c);
        buf_add(a->found, l->sampler.out, (size_t)l->sampler.n * sizeof *l->sampler.out);
    }
    if (!a->n_ranks || rank > b->best_rank) {
        memcpy(b->best, l->sampler.out, (size_t)l->sampler.n * sizeof *b->best);
        b->best_n = l->sampler.n;
        b->best_ended = ended;
        b->best_sum = sum;
        b->best_rank = rank;
        b->best_margin = margin;
        a->chosen = a->n_ranks;
    }
    a->n_ranks++;
}

/* The lead of the best candidate over the others, in log-probability of all its tokens. */
static float lead_of(const struct ar *a)
{
    const int32_t n = a->n_ranks < AR_FINISHED ? a->n_ranks : AR_FINISHED;
    double next = -INFINITY;
    for (int32_t i = 0; i < n; i++)
        if (i != a->chosen) next = fmax(next, a->rank[i]);
    const double tokens = a->beams.best_n, unit = isnan(a->p.length_penalty) ? tokens : pow((5 + tokens) / 6, a->p.length_penalty);
    return (float)((a->beams.best_rank - next) * unit);
}

/* End the search. Unfinished beams, best first, fill up the missing candidates. The best candidate goes into the first lane. */
static void beams_end(struct ar *a, struct run *r)
{
    struct beams *b = &a->beams;
    for (int32_t i = 0; i < b->n && b->n_finished < a->p.n_lanes; i++, b->n_finished++) {
        const struct lane *l = &r->lane[b->lane[i]];
        candidate_add(a, l, l->sampler.sum_logprob, l->sampler.margin.text, 0, 0);
    }
    struct lane *l = &r->lane[a->lane0];
    memcpy(l->sampler.out, b->best, (size_t)b->best_n * sizeof *b->best);
    l->sampler.n = b->best_n;
    l->sampler.ended = b->best_ended;
    l->sampler.sum_logprob = b->best_sum;
    l->sampler.margin.text = fminf(b->best_margin, lead_of(a));
    for (int32_t i = 0; i < a->p.n_lanes; i++) r->lane[a->lane0 + i].sampler.done = 1;
    a->result = a->lane0;
    a->done = 1;
}

/* Build the next beams. Each continues in the lane of its parent. If several have the same parent, the later ones get lanes that no beam
 * continues in. */
static void beams_move(struct ar *a, struct run *r, struct kv_state *state, const struct offer *next, int32_t n, float lost)
{
    struct beams *b = &a->beams;
    struct sampled_token chosen[RUN_BEAMS];
    uint16_t from[RUN_BEAMS], lane[RUN_BEAMS];
    int32_t uses[RUN_BEAMS] = { 0 };
    for (int32_t i = 0; i < n; i++) {
        from[i] = b->lane[next[i].beam];
        chosen[i] = r->lane[from[i]].sampler.top[next[i].place];
        uses[from[i] - a->lane0]++;
    }
    uint16_t spare = 0;
    int32_t taken[RUN_BEAMS] = { 0 };
    for (int32_t i = 0; i < n; i++) {
        lane[i] = from[i];
        if (!taken[from[i] - a->lane0]++) continue;
        while (uses[spare]) spare++;
        uses[spare] = 1;
        lane[i] = (uint16_t)(a->lane0 + spare);
        lane_copy(&r->lane[lane[i]], &r->lane[from[i]]);
        state_fork(state, lane[i], from[i]);
    }
    for (int32_t i = 0; i < n; i++) {
        struct lane *l = &r->lane[lane[i]];
        b->lane[i] = lane[i];
        sampler_choose(&l->sampler, &chosen[i]);
        l->sampler.sum_logprob = (double)next[i].sum;
        l->sampler.margin.text = fminf(l->sampler.margin.text, next[i].sum - lost);
    }
    for (int32_t i = 0; i < a->p.n_lanes; i++)
        if (!uses[i]) r->lane[a->lane0 + i].sampler.done = 1;
    b->n = n;
}

/* Neither an end of text nor a beam without continuation. */
static int is_continuation(const struct ar *a, const struct run *r, const struct offer *o)
{
    const struct lane *l = &r->lane[a->beams.lane[o->beam]];
    return o->place != NOTHING && l->sampler.top[o->place].id != l->sampler.rules->eot;
}

/* The lanes of a's beams hold their best continuations (lane.top). Choose among all of them, finish those that end, and let the others
 * continue, each in a lane with the keys and values of its parent. Ends the search when enough are finished, or the limit is reached. */
static void beams_step(struct ar *a, struct run *r, struct kv_state *state)
{
    struct beams *b = &a->beams;
    struct offer offer[RUN_BEAMS * (RUN_BEAMS + 1)], next[RUN_BEAMS];
    const int32_t n = offers_sort(offer, a, r);
    int32_t n_next = 0, end = 0;
    for (int32_t goes_on = 0; end < n && goes_on < a->p.n_lanes; end++) goes_on += is_continuation(a, r, &offer[end]);
    const float lost = end < n ? offer[end].sum : -INFINITY; /* the best of the dropped ones */
    for (int32_t i = 0; i < end; i++) {
        const struct lane *l = &r->lane[b->lane[offer[i].beam]];
        const int dead = offer[i].place == NOTHING;
        if (is_continuation(a, r, &offer[i])) {
            next[n_next++] = offer[i];
        } else if (b->n_finished < a->p.max_finished) {
            candidate_add(a, l, dead ? l->sampler.sum_logprob : (double)offer[i].sum, fminf(l->sampler.margin.text, offer[i].sum - lost), 1,
                          dead);
            b->n_finished++;
        }
    }
    const int enough = b->n_finished >= a->p.max_finished;
    beams_move(a, r, state, next, n_next, lost);
    if (enough || !n_next || r->lane[b->lane[0]].sampler.done) beams_end(a, r);
}

/* ---- the machine ------------------------------------------------------------------------------------------------------------- */

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
static void prompt_add(struct ar *a, struct run *r, struct kv_state *state, struct room max)
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
static void drafts_add(struct ar *a, struct run *r, struct room left)
{
    const struct lane *l = &r->lane[a->lane0];
    const int32_t n = l->sampler.n, room = (int32_t)(left.rows < left.out ? left.rows : left.out) - 1;
    if (a->n_draft > room) a->n_draft = room;
    for (int32_t i = 0; i <= a->n_draft; i++)
        run_add(r, l->sampler.out[n - 1 + i].id, l->kv.len + i, a->lane0, a->n_draft ? ROW_DRAFT : ROW_SAMPLE);
}

uint32_t ar_add_rows(struct ar *a, struct run *r, struct kv_state *state, struct room max)
{
    const uint32_t before = r->n_rows;
    if (ar_prompts(a)) prompt_add(a, r, state, max);
    if (a->done || a->fed < a->n_prompt || !fits_all(a, run_left(r, max))) return r->n_rows - before;
    const int32_t n = a->p.beams ? a->beams.n : a->p.n_lanes;
    if (a->n_draft) {
        drafts_add(a, r, run_left(r, max));
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

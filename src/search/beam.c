/* steno: one step of a beam search. SPDX-License-Identifier: MIT
 *
 * Every beam offers its best n + 1 continuations. They are processed from best to worst: those that end become finished sequences, the
 * others become beams until there are n. Continuations that rank below the last beam are dropped, even an end of text. A beam that has no
 * allowed continuation ends as in greedy decoding, but ranks last. The step after the prompt has one beam: the reference has n equal ones,
 * which collapse to the same result. Sums are f32 as in the reference, so that near ties are resolved the same way.
 * Reference: openai-whisper 20250625, whisper/decoding.py, BeamSearchDecoder. */
#include "search/beam.h"
#include <math.h>
#include <string.h>

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

void beams_step(struct ar *a, struct run *r, struct kv_state *state)
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

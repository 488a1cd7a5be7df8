/* steno: whisper.cpp's rules: scores, and a beam search that samples. SPDX-License-Identifier: MIT
 *
 * A random generator belongs to its beam: a beam that takes over another beam's sequence keeps its own generator. Reference: whisper.cpp
 * 1.9, whisper_full. */
#include "search/ggml_beam.h"
#include <math.h>
#include <string.h>
#include "search/ar.h"

/* ---- the score of a sequence ------------------------------------------------------------------------------------------------- */

enum { LAST = 32 /* number of tokens for the entropy; this few have no high entropy */ };

static int is_time(const struct lane *l, int32_t i)
{
    return l->sampler.out[i].id > l->sampler.rules->ts_begin; /* 0.00 does not count */
}

static int32_t up_to_last_time(const struct lane *l)
{
    int32_t n = l->sampler.n;
    while (n && !is_time(l, n - 1)) n--;
    return n;
}

static double entropy_of(const struct lane *l, int32_t n)
{
    const struct sampled_token *t = l->sampler.out;
    const int32_t from = n > LAST ? n - LAST : 0;
    double sum = 0;
    for (int32_t i = from; i < n; i++) {
        int same = 0;
        for (int32_t k = from; k < n; k++) same += t[k].id == t[i].id;
        sum -= log((double)same / (n - from)) / (n - from);
    }
    return sum;
}

struct sequence_score sequence_score_of(const struct lane *l, const struct sequence_score_rules *v, double length_penalty)
{
    const struct sampler *s = &l->sampler;
    const int times = s->rules->timestamps, at_limit = s->n >= s->limit && !s->ended;
    struct sequence_score r = { .n = times ? up_to_last_time(l) : s->n };
    const int32_t last = times && r.n ? s->out[r.n - 1].id - s->rules->ts_begin : 0;
    const int none = times ? !r.n : !s->ended, whole = times && none && v->is_last && s->ended;
    int32_t len;
    if (whole) r.n = s->n;
    r.failed = at_limit ? none || (times && last < v->half) : none && !whole;
    if (none && !whole) r.n = s->n; /* a failed text is kept as a whole */
    len = r.n + (s->ended && (none || !times)); /* the end of text counts where no timestamp ends the text */
    double sum = 0;
    for (int32_t i = 0; i < r.n; i++) sum += (double)s->out[i].logprob;
    if (len > r.n) sum = s->sum_logprob;
    r.avg_logprob = len ? sum / len : -INFINITY;
    r.rank = isnan(length_penalty) ? r.avg_logprob : sum / pow((5.0 + len) / 6.0, length_penalty);
    if (len > LAST && entropy_of(l, r.n) < v->entropy) r.failed = 1;
    return r;
}

/* ---- one step of a beam search that samples ---------------------------------------------------------------------------------- */

struct drawn { double sum; int16_t beam, place; };

static struct lane *lane_of(const struct ar *a, struct run *r, int32_t beam)
{
    return &r->lane[a->beams.lane[beam]];
}

/* Sort all sampled tokens by descending sum; equal ones stay in the order of their beams. */
static int32_t drawn_sort(struct drawn *d, const struct ar *a, struct run *r)
{
    int32_t n = 0;
    for (int32_t b = 0; b < a->p.n_lanes; b++) {
        const struct sampler *s = &lane_of(a, r, b)->sampler;
        for (int32_t i = 0; !s->done && i < s->topk; i++) {
            const struct drawn new = { s->sum_logprob + (double)s->top[i].logprob, (int16_t)b, (int16_t)i };
            int32_t at = n++;
            for (; at && d[at - 1].sum < new.sum; at--) d[at] = d[at - 1];
            d[at] = new;
        }
    }
    return n;
}

static const struct sampled_token *token_of(const struct ar *a, struct run *r, const struct drawn *d)
{
    return &lane_of(a, r, d->beam)->sampler.top[d->place];
}

static int are_equal(const struct ar *a, struct run *r, const struct drawn *x, const struct drawn *y)
{
    const struct sampler *p = &lane_of(a, r, x->beam)->sampler, *q = &lane_of(a, r, y->beam)->sampler;
    if (token_of(a, r, x)->id != token_of(a, r, y)->id || p->n != q->n) return 0;
    for (int32_t i = p->n; i-- > 0;)
        if (p->out[i].id != q->out[i].id) return 0;
    return 1;
}

/* Assign a continuation to each beam that is not done. */
static void drawn_deal(struct drawn next[RUN_BEAMS], const struct ar *a, struct run *r)
{
    struct drawn d[RUN_BEAMS * RUN_BEAMS];
    const int32_t n = drawn_sort(d, a, r);
    int32_t at = 0;
    for (int32_t b = 0; b < a->p.n_lanes; b++) {
        const struct sampler *s = &lane_of(a, r, b)->sampler;
        if (s->done) continue;
        if (at >= n) at = 0;
        next[b] = d[at++];
        while (at < n && s->n && are_equal(a, r, &d[at], &next[b])) at++;
    }
}

/* Each beam continues in the lane of the sequence that it takes. If several take the same one, the later ones get lanes that no beam
 * continues in. */
static void beams_move(struct ar *a, struct run *r, struct kv_state *state, const struct drawn next[RUN_BEAMS])
{
    struct sampled_token token[RUN_BEAMS];
    uint16_t from[RUN_BEAMS];
    struct mt19937 *mt19937[RUN_BEAMS];
    int32_t uses[RUN_BEAMS] = { 0 }, taken[RUN_BEAMS] = { 0 }, goes_on[RUN_BEAMS], spare = 0;
    for (int32_t b = 0; b < a->p.n_lanes; b++) {
        const struct lane *l = lane_of(a, r, b);
        goes_on[b] = !l->sampler.done;
        mt19937[b] = l->sampler.mt19937;
        from[b] = goes_on[b] ? a->beams.lane[next[b].beam] : a->beams.lane[b];
        if (goes_on[b]) token[b] = *token_of(a, r, &next[b]);
        uses[from[b] - a->lane0]++;
    }
    for (int32_t b = 0; b < a->p.n_lanes; b++) {
        a->beams.lane[b] = from[b];
        if (!taken[from[b] - a->lane0]++) continue;
        while (uses[spare]) spare++;
        uses[spare] = 1;
        a->beams.lane[b] = (uint16_t)(a->lane0 + spare);
        lane_copy(lane_of(a, r, b), &r->lane[from[b]]);
        state_fork(state, a->beams.lane[b], from[b]);
    }
    for (int32_t b = 0; b < a->p.n_lanes; b++) {
        struct sampler *s = &lane_of(a, r, b)->sampler;
        s->mt19937 = mt19937[b];
        if (goes_on[b]) sampler_choose(s, &token[b]);
    }
}

void ggml_beam_step(struct ar *a, struct run *r, struct kv_state *state)
{
    struct drawn next[RUN_BEAMS];
    drawn_deal(next, a, r);
    beams_move(a, r, state, next);
    for (int32_t b = 0; b < a->p.n_lanes; b++)
        if (!lane_of(a, r, b)->sampler.done) return;
    a->done = 1;
}

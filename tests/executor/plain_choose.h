/* steno tests: token choice in the plain executor. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAIN_CHOOSE_H
#define STENO_TESTS_PLAIN_CHOOSE_H
#include "executor/plain_ops.h"

static inline struct logit_partial plain_reduce(const struct plain_op *o, const float *x, const uint32_t *mask, int32_t from, int32_t to)
{
    struct logit_partial all[SLICE_IDS];
    size_t n = 0;
    for (int32_t lo = 0; lo < to; lo += SLICE_IDS) {
        const int32_t a = from > lo ? from : lo, b = to < lo + SLICE_IDS ? to : lo + SLICE_IDS;
        all[n] = (struct logit_partial){ -INFINITY, 0, -1 };
        if (a < b) o->kern->logits_reduce(&all[n], x + a, mask, a, (size_t)(b - a));
        n++;
    }
    return logits_merge(all, n, 1);
}

static inline void plain_choose(const struct plain_op *o, uint32_t out)
{
    struct row *row = &o->run->row[o->run->out_row[out]];
    struct lane *l = &o->run->lane[row->lane];
    struct best *best = o->run->argmax.best ? &o->run->argmax.best[o->run->out_row[out]] : NULL;
    const int32_t n = (int32_t)o->plan->p->slot[o->plan->p->logits].width;
    float *x = plain_row(o, o->plan->p->logits, out);
    if (row->flags & ROW_PROB) {
        const struct logit_partial all = plain_reduce(o, x, NULL, 0, n);
        l->prob.p = all.arg < 0 ? NAN : (float)(exp((double)x[l->prob.id] - all.max) / all.sum);
    }
    if (row->flags & ROW_BEST) {
        const struct logit_partial all = plain_reduce(o, x, l->argmax_mask, 0, n);
        *best = (struct best){ all.arg, all.arg < 0 ? -INFINITY : (float)-log(all.sum), all.max };
    }
    if (row->flags & ROW_GIVEN) {
        const struct logit_partial all = plain_reduce(o, x, NULL, 0, o->run->align.given_end < n ? o->run->align.given_end : n);
        const int counts = all.arg >= 0 && best->id >= 0 && best->id < o->run->align.given_end;
        best->logprob = counts ? (float)((double)x[best->id] - all.max - log(all.sum)) : -INFINITY;
    }
    if (!(row->flags & (ROW_SAMPLE | ROW_TOPK))) return;
    if (o->calls && o->calls->filter && l->processors.enabled) {
        o->calls->filter(o->calls->user, row->lane, x);
        for (int32_t i = 0; i < n; i++) x[i] = x[i] > FLT_MAX ? FLT_MAX : x[i] >= -FLT_MAX ? x[i] : -INFINITY;
    }
    const struct logit_range g = logit_range_of(&l->sampler);
    const struct logit_partial text = plain_reduce(o, x, g.mask, g.text_from, g.text_to);
    const struct logit_partial ts = plain_reduce(o, x, g.mask, g.ts_from, g.ts_to);
    if (row->flags & ROW_SAMPLE) sample_token(&l->sampler, &text, &ts, x, o->kern);
    else sample_topk(&l->sampler, &text, &ts, x, o->kern);
}

/* Computes and reduces all logits of a row at once, so there are no partial results to merge. */
static inline void plain_best(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    float *logits = calloc(pack_panels(c->n) * PANEL, sizeof *logits);
    struct linear l = { .w = plain_at(o, c->w), .bias = plain_at(o, c->bias), .n = c->n, .k = c->k, .n_y = c->n, .y = logits };
    for (uint32_t r = 0; r < o->rows; r++) {
        l.x = plain_row(o, o->op->in, r);
        o->kern->linear[c->type](&l, 0, 1, 0, pack_panels(c->n), o->x->scratch);
        const struct logit_partial all = plain_reduce(o, logits, o->run->lane[o->run->row[r].lane].argmax_mask, 0, (int32_t)c->n);
        o->run->argmax.best[r] = (struct best){ all.arg, all.arg < 0 ? -INFINITY : (float)-log(all.sum), all.max };
    }
    free(logits);
}

static inline void plain_sample(const struct plain_op *o)
{
    for (uint32_t out = 0; out < o->rows && o->op->rows == ROWS_OUT; out++) plain_choose(o, out);
}
#endif

/* steno: from logits to tokens, on the CPU. SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include "plan/mt19937.h"
#include "plan/replay.h"

/* ---- logits in two stages (logits_approx.h). Threads take rows in OP_LOGITS_APPROX and slices in OP_LOGITS_BOUND as items. The thread
 * that finishes the last slice of a row computes the lower bound of its best ids. */

int approx_wanted(const struct replay *rp, size_t out)
{
    const struct row *row = &rp->run->row[rp->run->out_row[out]];
    const struct lane *l = &rp->run->lane[row->lane];
    const int is_one = row->flags == ROW_SAMPLE || row->flags == ROW_GUESS;
    if (l->sampler.mt19937 || l->processors.wanted || (!is_one && row->flags != ROW_TOPK) || l->sampler.rules->temperature != 0) return 0;
    return is_one ? 1 + l->sampler.keeps_margin : l->sampler.topk <= APPROX_TOPK ? l->sampler.topk : 0;
}

static float *bounds_of(const struct replay *rp, size_t out)
{
    return row0(rp, rp->p->bounds) + out * rp->p->slot[rp->p->bounds].ld;
}

void approx_begin(const struct replay *rp, const struct op *op, uint32_t out)
{
    struct approx_row *s = &rp->x->approx[out];
    s->n = approx_wanted(rp, out);
    const struct bind *c = &rp->p->bind[op->bind];
    if (s->n) s->x = approx_x_of(c->type, row0(rp, op->in) + out * (size_t)rp->p->slot[op->in].ld, c->k);
}

static void bound_slice(const struct replay *rp, const struct op *op, uint32_t out, uint32_t slice, uint32_t slices)
{
    struct approx_row *s = &rp->x->approx[out];
    if (!s->n) return;
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const struct logit_range g = logit_range_at(rp->run, rp->run->out_row[out]);
    const size_t panels = pack_panels(c->n), p0 = (size_t)slice * SLICE_PANELS;
    float *max = bounds_of(rp, out), *lower = max + panels;
    const struct approx_logits l = { logits_at(rp, out), c->approx, s->x, &g, s->n };
    approx_bounds(max, lower + slice * APPROX_TOPK, &l, p0, p0 + SLICE_PANELS < panels ? p0 + SLICE_PANELS : panels, rp->x->kern);
    if (atomic_fetch_add(&s->slices, 1) + 1 < slices) return;
    atomic_store_explicit(&s->slices, 0, memory_order_relaxed);
    s->lower = approx_lower_bound(lower, slices, s->n);
}

int approx_keeps(const struct replay *rp, size_t out, size_t panel)
{
    const struct approx_row *s = &rp->x->approx[out];
    return !s->n || approx_may_hold(bounds_of(rp, out)[panel], s->lower);
}

/* ---- reducing and sampling */

/* Reduce the part of [a, b) that is in the slice. */
static void reduce_range(const struct replay *rp, struct logit_partial *partial, const float *x, const uint32_t *mask, int32_t a, int32_t b,
                         int32_t lo, int32_t hi)
{
    const int32_t from = a > lo ? a : lo, to = b < hi ? b : hi;
    *partial = (struct logit_partial){ -INFINITY, 0, -1 };
    if (from < to) rp->x->kern->logits_reduce(partial, x + from, mask, from, (size_t)(to - from));
}

static void reduce_slice(const struct replay *rp, uint32_t item, uint32_t slices)
{
    const uint32_t out = item / slices, slice = item % slices;
    const int32_t n = (int32_t)rp->p->slot[rp->p->logits].width, lo = (int32_t)slice * SLICE_IDS, hi = lo + SLICE_IDS;
    const int32_t given_end = rp->run->align.given_end < n ? rp->run->align.given_end : n;
    const struct row *row = &rp->run->row[rp->run->out_row[out]];
    const float *x = logits_at(rp, out);
    struct logit_partial *partial = &rp->x->partials[(size_t)item * 3];
    if (row->flags & (ROW_SAMPLE | ROW_TOPK)) {
        const struct logit_range g = logit_range_of(&rp->run->lane[row->lane].sampler);
        reduce_range(rp, &partial[0], x, g.mask, g.text_from, g.text_to, lo, hi);
        reduce_range(rp, &partial[1], x, g.mask, g.ts_from, g.ts_to, lo, hi);
    }
    if (row->flags & ROW_PROB) reduce_range(rp, &partial[2], x, NULL, 0, n, lo, hi);
    if (row->flags & ROW_BEST) reduce_range(rp, &partial[2], x, rp->run->lane[row->lane].argmax_mask, 0, n, lo, hi);
    if (row->flags & ROW_GIVEN) reduce_range(rp, &partial[2], x, NULL, 0, given_end, lo, hi);
}

static void prob_of(const struct replay *rp, uint32_t out, uint32_t slices)
{
    struct lane *l = &rp->run->lane[rp->run->row[rp->run->out_row[out]].lane];
    const struct logit_partial all = logits_merge(&rp->x->partials[(size_t)out * slices * 3 + 2], slices, 3);
    l->prob.p = all.arg < 0 ? NAN : (float)(exp((double)logits_at(rp, out)[l->prob.id] - all.max) / all.sum);
}

/* Make logits sortable after a caller's filter changed them. */
static void clamp_logits(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = x[i] > FLT_MAX ? FLT_MAX : x[i] >= -FLT_MAX ? x[i] : -INFINITY;
}

/* A probability requested together with a choice uses the unfiltered logits. */
static void filter_row(const struct replay *rp, uint32_t out)
{
    const size_t n = rp->p->slot[rp->p->logits].width;
    const uint32_t slices = logit_slices((uint32_t)n);
    struct row *row = &rp->run->row[rp->run->out_row[out]];
    float *x = logits_at(rp, out);
    if (!(row->flags & (ROW_SAMPLE | ROW_TOPK)) || !rp->run->lane[row->lane].processors.wanted) return;
    if (row->flags & ROW_PROB) {
        for (uint32_t i = 0; i < slices; i++) reduce_slice(rp, out * slices + i, slices);
        prob_of(rp, out, slices);
        row->flags &= (uint16_t)~ROW_PROB;
    }
    rp->calls.filter(rp->calls.user, row->lane, x);
    clamp_logits(x, n);
}

static void sample_row(const struct replay *rp, uint32_t out, uint32_t slices)
{
    const struct row *row = &rp->run->row[rp->run->out_row[out]];
    struct lane *l = &rp->run->lane[row->lane];
    const float *x = logits_at(rp, out);
    const struct logit_partial *partial = &rp->x->partials[(size_t)out * slices * 3];
    if (row->flags & ROW_PROB) prob_of(rp, out, slices);
    if (row->flags & ROW_BEST) {
        const struct logit_partial all = logits_merge(partial + 2, slices, 3);
        rp->run->argmax.best[rp->run->out_row[out]] = logits_best(&all);
    }
    if (row->flags & ROW_GIVEN) {
        const struct logit_partial all = logits_merge(partial + 2, slices, 3);
        struct best *b = &rp->run->argmax.best[rp->run->out_row[out]];
        const int counts = all.arg >= 0 && b->id >= 0 && b->id < rp->run->align.given_end;
        b->logprob = counts ? (float)((double)x[b->id] - all.max - log(all.sum)) : -INFINITY;
    }
    if (row->flags & (ROW_SAMPLE | ROW_TOPK)) {
        const struct logit_partial text = logits_merge(partial, slices, 3), ts = logits_merge(partial + 1, slices, 3);
        const int one = row->flags & ROW_SAMPLE;
        if (l->sampler.mt19937) (one ? mt19937_token : mt19937_tokens)(&l->sampler, &text, &ts, x);
        else if (one) sample_token(&l->sampler, &text, &ts, x, rp->x->kern);
        else sample_topk(&l->sampler, &text, &ts, x, rp->x->kern);
    }
}

void logits_filter(const struct replay *rp)
{
    for (uint32_t out = 0; out < rp->run->n_out; out++) filter_row(rp, out);
}

void logits_choose(const struct replay *rp, uint32_t out)
{
    const uint32_t slices = logit_slices(rp->p->slot[rp->p->logits].width);
    rp->run->row[rp->run->out_row[out]].flags = ROW_SAMPLE;
    if (rp->calls.filter) filter_row(rp, out);
    for (uint32_t i = 0; i < slices; i++) reduce_slice(rp, out * slices + i, slices);
    sample_row(rp, out, slices);
}

/* ---- ops */

void logits_bound_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t slices = logit_slices(rp->p->bind[op->bind].n);
    FOR_ITEMS(i, rows_of(rp, op) * slices) bound_slice(rp, op, (uint32_t)i / slices, (uint32_t)i % slices, slices);
}

void logits_reduce_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t slices = logit_slices(rp->p->slot[rp->p->logits].width);
    FOR_ITEMS(i, rows_of(rp, op) * slices) reduce_slice(rp, (uint32_t)i, slices);
}

void sample_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t slices = op->rows == ROWS_OUT ? logit_slices(rp->p->slot[rp->p->logits].width) : 0;
    FOR_ITEMS(i, rows_of(rp, op)) {
        if (slices) sample_row(rp, (uint32_t)i, slices);
        else best_of_row(rp, op, (uint32_t)i, worker->scratch);
    }
}

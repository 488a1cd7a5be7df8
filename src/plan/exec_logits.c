/* steno: from logits to tokens, on the CPU. SPDX-License-Identifier: MIT
 *
 * When only the best id of a row and its probability are needed, a thread computes logits for a slice of ids and some rows in its scratch.
 * They are discarded when the slice is reduced. Slices, arithmetic and reduction of a row equal those of logits stored in a slot, and so do
 * the bits.
 *
 * In two stages (logits_approx.h), these logits are approximate, in int8, and the largest of each panel is kept. The thread that merges a
 * row recomputes from the stored weights the panels that can hold its best id. The id and its logit are therefore those of one stage. The
 * sum of exponentials uses the exact logits of these panels and the approximate logits of the others. */
#include <float.h>
#include <math.h>
#include "plan/mt19937.h"
#include "plan/replay.h"

/* ---- the most probable id of every row --------------------------------------------------------------------------------------- */

enum {
    BEST_ROWS = 48, /* most rows of an item: logits and weights then alternate in the second-level cache */
    RUN_PANELS = 8  /* panels that are recomputed together */
};

/* Rows of an item. Multiples of the highest register tile are not cut. Each thread gets four items if there are enough rows. */
static uint32_t rows_high(const struct kern *k, const struct bind *c, size_t rows, size_t slices, int threads)
{
    const size_t tile = kern_slices(k, (enum packed_type)c->type, c->k).tile, most = (BEST_ROWS + tile - 1) / tile * tile;
    const size_t share = rows * slices / ((size_t)threads * 4), high = (share + tile - 1) / tile * tile;
    return (uint32_t)(high < tile ? tile : high < most ? high : most);
}

/* Floats between rows of a slice's logits. */
static size_t logits_ld(const struct bind *c) { return (c->n < SLICE_IDS ? pack_panels(c->n) * PANEL : SLICE_IDS) + ROW_PAD; }
static size_t logits_sz(const struct bind *c, size_t rows) { return rows * logits_ld(c) * sizeof(float); }

size_t logits_best_scratch(const struct kern *k, const struct bind *c)
{
    const size_t most = rows_high(k, c, SIZE_MAX / SLICE_IDS, 1, 1);
    return logits_sz(c, most) + kern_linear_scratch(k, (enum packed_type)c->type, c->k, most);
}

/* The binding for a row's logits: the approximate one if it exists. */
static const struct bind *approx_of(const struct plan *p, const struct op *op)
{
    return op->approx ? &p->bind[op->approx - 1u] : NULL;
}

/* Logits of panels [p0, p1) for rows [from, to) of the op, computed by c, which replaces the op's own matrix. Written to y, rows ld
 * apart. */
struct some { uint32_t from, to; size_t p0, p1; float *y; size_t ld; };
static void logits_of(const struct replay *rp, const struct op *op, const struct bind *c, const struct some *s, void *scratch)
{
    const struct bind *own = &rp->p->bind[op->bind];
    const size_t ld = rp->p->slot[op->in].ld, lo = s->p0 * PANEL, left = c->n - lo, all = (s->p1 - s->p0) * PANEL;
    const uint32_t n = (uint32_t)(left < all ? left : all);
    struct linear l = { .w = (const char *)c->w + s->p0 * pack_panel_sz((enum packed_type)c->type, c->k),
                        .bias = own->bias ? own->bias + lo : NULL, .n = n, .n_y = n, .k = c->k,
                        .x = row0(rp, op->in) + s->from * ld, .ld_x = ld, .y = s->y, .ld_y = s->ld };
    rp->x->kern->linear[c->type](&l, 0, s->to - s->from, 0, s->p1 - s->p0, scratch);
}

static struct logit_partial *partials_at(const struct replay *rp, uint32_t row, uint32_t slices)
{
    return &rp->x->partials[(size_t)row * slices];
}

static const uint32_t *mask_of(const struct replay *rp, uint32_t row)
{
    return rp->run->lane[rp->run->row[row].lane].argmax_mask;
}

/* Rows [from, to) of the op for one slice, computed by c. */
static void best_slice(const struct replay *rp, const struct op *op, const struct bind *c, uint32_t from, uint32_t to, uint32_t slice,
                       void *scratch)
{
    const size_t p0 = (size_t)slice * SLICE_PANELS, all = pack_panels(c->n), p1 = p0 + SLICE_PANELS < all ? p0 + SLICE_PANELS : all;
    const size_t lo = p0 * PANEL, n = (p1 * PANEL < c->n ? p1 * PANEL : c->n) - lo, ld = logits_ld(c);
    const struct some s = { from, to, p0, p1, scratch, ld };
    const struct kern *kern = rp->x->kern;
    logits_of(rp, op, c, &s, (char *)scratch + logits_sz(c, to - from));
    for (uint32_t r = 0; r < to - from; r++) {
        struct logit_partial *partial = partials_at(rp, from + r, logit_slices(c->n)) + slice;
        float *y = s.y + r * ld;
        *partial = (struct logit_partial){ -INFINITY, 0, -1 };
        kern->logits_reduce(partial, y, mask_of(rp, from + r), (int32_t)lo, n);
        if (c == &rp->p->bind[op->bind]) continue;
        for (size_t i = n; i < (p1 - p0) * PANEL; i++) y[i] = -INFINITY;
        kern->panel_max(rp->x->panel_max + (size_t)(from + r) * all + p0, y, p1 - p0);
    }
}

/* Threads take the rows of one slice after another, so that its weights are read once for all threads. */
void logits_best_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const struct bind *own = &rp->p->bind[op->bind], *approx = approx_of(rp->p, op), *c = approx ? approx : own;
    const uint32_t rows = rows_of(rp, op), slices = logit_slices(c->n);
    const uint32_t high = rows_high(rp->x->kern, c, rows, slices, worker->threads), down = (rows + high - 1) / high;
    FOR_ITEMS(i, (int64_t)down * slices) {
        const uint32_t from = (uint32_t)i % down * high;
        best_slice(rp, op, c, from, from + high < rows ? from + high : rows, (uint32_t)i / down, worker->scratch);
    }
}

/* ---- the second stage */

/* Search state of a row: the error of its approximate logits, a lower bound for its best logit, and the best id so far. */
struct search {
    uint32_t row;
    const struct approx_panel *panel;
    const float *max; /* per panel */
    struct approx_reach reach;
    float lower;
    struct logit_partial best;
    double ref, sum;
};

static int may_be_best(const struct search *s, size_t panel)
{
    return approx_may_hold(s->max[panel] + approx_distance(s->reach, s->panel[panel]), s->lower);
}

/* Replace panels [p0, p1) of approximate logits by exact ones. */
static void panels_again(const struct replay *rp, const struct op *op, struct search *s, size_t p0, size_t p1, void *scratch)
{
    float exact[RUN_PANELS * PANEL], approx[RUN_PANELS * PANEL];
    const struct bind *own = &rp->p->bind[op->bind];
    const uint32_t *mask = mask_of(rp, s->row);
    struct some some = { s->row, s->row + 1, p0, p1, exact, sizeof exact / sizeof *exact };
    logits_of(rp, op, own, &some, scratch);
    some.y = approx;
    logits_of(rp, op, approx_of(rp->p, op), &some, scratch);
    for (size_t id = p0 * PANEL; id < p1 * PANEL && id < own->n; id++) {
        const size_t i = id - p0 * PANEL;
        if (mask && mask[id / 32] >> id % 32 & 1) continue;
        if (exact[i] > s->best.max) s->best.max = exact[i], s->best.arg = (int32_t)id;
        s->sum += exp((double)exact[i] - s->ref) - exp((double)approx[i] - s->ref);
    }
}

/* Start from the approximate logits. @return 0: no id is allowed, or no logit is a number */
static int search_begin(struct search *s, const struct replay *rp, const struct op *op)
{
    const struct bind *own = &rp->p->bind[op->bind], *approx = approx_of(rp->p, op);
    const uint32_t slices = logit_slices(own->n);
    const struct logit_partial *part = partials_at(rp, s->row, slices), all = logits_merge(part, slices, 1);
    if (all.arg < 0) return 0;
    const float *x = row0(rp, op->in) + s->row * (size_t)rp->p->slot[op->in].ld;
    s->reach = approx_reach_of(approx_x_of((enum packed_type)approx->type, x, own->k), (enum packed_type)own->type, own->k);
    s->panel = approx->approx;
    s->max = rp->x->panel_max + (size_t)s->row * pack_panels(own->n);
    s->lower = -INFINITY;
    for (uint32_t i = 0; i < slices; i++) {
        if (part[i].arg < 0) continue;
        const float least = part[i].max - approx_distance(s->reach, s->panel[part[i].arg / PANEL]);
        if (least > s->lower) s->lower = least;
    }
    s->best = (struct logit_partial){ -INFINITY, 0, -1 };
    s->ref = (double)all.max;
    s->sum = (double)all.sum;
    return 1;
}

/* @return 0: the row needs one stage */
static int best_in_two(const struct replay *rp, const struct op *op, uint32_t row, void *scratch)
{
    const size_t panels = pack_panels(rp->p->bind[op->bind].n);
    struct search s = { .row = row };
    if (!search_begin(&s, rp, op)) return 0;
    for (size_t p = 0, end; p < panels; p = end + 1) {
        for (end = p; end < panels && end < p + RUN_PANELS && may_be_best(&s, end); end++) {}
        if (p < end) panels_again(rp, op, &s, p, end, scratch);
        if (end == p + RUN_PANELS) end--; /* no panel was skipped */
    }
    if (s.best.arg < 0 || !isfinite(s.sum)) return 0;
    const double sum = s.sum * exp(s.ref - (double)s.best.max);
    s.best.sum = sum > 1 ? (float)sum : 1;
    rp->run->argmax.best[row] = logits_best(&s.best);
    return 1;
}

static void best_of_row(const struct replay *rp, const struct op *op, uint32_t row, void *scratch)
{
    const struct bind *own = &rp->p->bind[op->bind];
    const uint32_t slices = logit_slices(own->n);
    if (op->approx && best_in_two(rp, op, row, scratch)) return;
    for (uint32_t i = 0; op->approx && i < slices; i++) best_slice(rp, op, own, row, row + 1, i, scratch);
    const struct logit_partial all = logits_merge(partials_at(rp, row, slices), slices, 1);
    rp->run->argmax.best[row] = logits_best(&all);
}

/* ---- logits in two stages (logits_approx.h). Threads take rows in OP_LOGITS_APPROX and slices in OP_LOGITS_BOUND as items. The thread
 * that finishes the last slice of a row computes the lower bound of its best ids. */

int approx_needed(const struct replay *rp, size_t out)
{
    const struct row *row = &rp->run->row[rp->run->out_row[out]];
    const struct lane *l = &rp->run->lane[row->lane];
    const int is_one = row->flags == ROW_SAMPLE || row->flags == ROW_DRAFT;
    if (l->sampler.mt19937 || l->processors.enabled || (!is_one && row->flags != ROW_TOPK) || l->sampler.rules->temperature != 0) return 0;
    return is_one ? 1 + l->sampler.keeps_margin : l->sampler.topk <= APPROX_TOPK ? l->sampler.topk : 0;
}

static float *bounds_of(const struct replay *rp, size_t out)
{
    return row0(rp, rp->p->bounds) + out * rp->p->slot[rp->p->bounds].ld;
}

void approx_begin(const struct replay *rp, const struct op *op, uint32_t out)
{
    struct approx_row *s = &rp->x->approx[out];
    s->n = approx_needed(rp, out);
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
    if (!(row->flags & (ROW_SAMPLE | ROW_TOPK)) || !rp->run->lane[row->lane].processors.enabled) return;
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

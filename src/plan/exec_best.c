/* steno: the most probable id of every row, on the CPU. SPDX-License-Identifier: MIT
 *
 * When only the best id of a row and its probability are needed, a thread computes logits for a slice of ids and some rows in its scratch.
 * They are discarded when the slice is reduced. Slices, arithmetic and reduction of a row equal those of logits stored in a slot, and so do
 * the bits.
 *
 * In two stages (logits_approx.h), these logits are approximate, in int8, and the largest of each panel is kept. The thread that merges a
 * row recomputes from the stored weights the panels that can hold its best id. The id and its logit are therefore those of one stage. The
 * sum of exponentials uses the exact logits of these panels and the approximate logits of the others. */
#include "plan/replay.h"
#include <math.h>

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
static const struct bind *screen_of(const struct plan *p, const struct op *op)
{
    return op->screen ? &p->bind[op->screen - 1u] : NULL;
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
    const struct bind *own = &rp->p->bind[op->bind], *screen = screen_of(rp->p, op), *c = screen ? screen : own;
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
    logits_of(rp, op, screen_of(rp->p, op), &some, scratch);
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
    const struct bind *own = &rp->p->bind[op->bind], *screen = screen_of(rp->p, op);
    const uint32_t slices = logit_slices(own->n);
    const struct logit_partial *part = partials_at(rp, s->row, slices), all = logits_merge(part, slices, 1);
    if (all.arg < 0) return 0;
    const float *x = row0(rp, op->in) + s->row * (size_t)rp->p->slot[op->in].ld;
    s->reach = approx_reach_of(approx_x_of((enum packed_type)screen->type, x, own->k), (enum packed_type)own->type, own->k);
    s->panel = screen->approx;
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

void best_of_row(const struct replay *rp, const struct op *op, uint32_t row, void *scratch)
{
    const struct bind *own = &rp->p->bind[op->bind];
    const uint32_t slices = logit_slices(own->n);
    if (op->screen && best_in_two(rp, op, row, scratch)) return;
    for (uint32_t i = 0; op->screen && i < slices; i++) best_slice(rp, op, own, row, row + 1, i, scratch);
    const struct logit_partial all = logits_merge(partials_at(rp, row, slices), slices, 1);
    rp->run->argmax.best[row] = logits_best(&all);
}

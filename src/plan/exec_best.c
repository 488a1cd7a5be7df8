/* steno: the most probable id of every row, on the CPU. SPDX-License-Identifier: MIT
 *
 * Where nothing but the best id of a row is wanted, with its probability, logits are made a slice of ids of some rows at a time, in the
 * scratch of a thread, and are gone when the slice is reduced. A row's slices and what is made of them are those of logits that stand in a
 * slot, and so are the bits. */
#include "plan/replay.h"

enum { BEST_ROWS = 48 /* of an item at most: then logits and weights take turns in the second-level cache */ };

/* Rows of an item: no multiple of the highest register tile is cut, and threads have four items each where there are so many. */
static uint32_t rows_high(const struct kern *k, const struct bind *c, size_t rows, size_t slices, int threads)
{
    const size_t tile = kern_slices(k, (enum packed_type)c->type, c->k).tile, most = (BEST_ROWS + tile - 1) / tile * tile;
    const size_t share = rows * slices / ((size_t)threads * 4), high = (share + tile - 1) / tile * tile;
    return (uint32_t)(high < tile ? tile : high < most ? high : most);
}

/* Floats from row to row of a slice's logits. */
static size_t logits_ld(const struct bind *c) { return (c->n < SLICE_IDS ? pack_panels(c->n) * PANEL : SLICE_IDS) + ROW_PAD; }
static size_t logits_sz(const struct bind *c, size_t rows) { return rows * logits_ld(c) * sizeof(float); }

size_t logits_best_scratch(const struct kern *k, const struct bind *c)
{
    const size_t most = rows_high(k, c, SIZE_MAX / SLICE_IDS, 1, 1);
    return logits_sz(c, most) + kern_linear_scratch(k, (enum packed_type)c->type, c->k, most);
}

/* Rows [from, to) of the op, one slice. */
static void best_slice(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to, uint32_t slice, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct kern *kern = rp->x->kern;
    const size_t ld = rp->p->slot[op->in].ld, lo = (size_t)slice * SLICE_IDS, left = c->n - lo, n = left < SLICE_IDS ? left : SLICE_IDS;
    const uint32_t rows = to - from, slices = logit_slices(c->n);
    const struct run *run = rp->run;
    float *logits = scratch;
    struct linear l = { .w = (const char *)c->w + lo / PANEL * pack_panel_sz((enum packed_type)c->type, c->k),
                        .bias = c->bias ? c->bias + lo : NULL, .n = (uint32_t)n, .n_y = (uint32_t)n, .k = c->k,
                        .x = row0(rp, op->in) + from * ld, .ld_x = ld, .y = logits, .ld_y = logits_ld(c) };
    kern->linear[c->type](&l, 0, rows, 0, pack_panels(n), (char *)scratch + logits_sz(c, rows));
    for (uint32_t r = 0; r < rows; r++) {
        struct logit_partial *partial = &rp->x->partials[(size_t)(from + r) * slices + slice];
        *partial = (struct logit_partial){ -__builtin_inff(), 0, -1 };
        kern->logits_reduce(partial, logits + r * logits_ld(c), run->lane[run->row[from + r].lane].argmax_mask, (int32_t)lo, n);
    }
}

/* Whoever is free takes the next rows of a slice, so that its weights pass by once for all threads. */
void logits_best_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const uint32_t rows = rows_of(rp, op), slices = logit_slices(c->n);
    const uint32_t high = rows_high(rp->x->kern, c, rows, slices, worker->threads), down = (rows + high - 1) / high;
    FOR_ITEMS(i, (int64_t)down * slices) {
        const uint32_t from = (uint32_t)i % down * high;
        best_slice(rp, op, from, from + high < rows ? from + high : rows, (uint32_t)i / down, worker->scratch);
    }
}

void best_of_row(const struct replay *rp, const struct op *op, uint32_t row)
{
    const uint32_t slices = logit_slices(rp->p->bind[op->bind].n);
    const struct logit_partial all = logits_merge(&rp->x->partials[(size_t)row * slices], slices, 1);
    rp->run->argmax.best[row] = logits_best(&all);
}

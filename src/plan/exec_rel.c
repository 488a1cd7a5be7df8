/* steno: attention with relative positions, on the CPU. SPDX-License-Identifier: MIT */
#include "kern/rel_positions.h"
#include "plan/replay.h"

enum { REL_ITEM = 32 /* query rows of an item, which begin at multiples of it in their sequence: rows are grouped in one way only */ };

void distances_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const uint32_t rows = rows_of(rp, op);
    FOR_ITEMS(i, (rows + REL_ITEM - 1) / REL_ITEM) {
        for (uint32_t r = (uint32_t)i * REL_ITEM; r < rows && r < ((uint32_t)i + 1) * REL_ITEM; r++)
            memcpy(row0(rp, op->out) + (size_t)r * rp->p->slot[op->out].ld, c->positions + (size_t)(c->k + r - rows / 2) * c->n,
                   c->n * sizeof(float));
    }
}

static uint32_t rel_groups(struct sequence s) { return (s.n + REL_ITEM - 1u) / REL_ITEM; }

/* The keys that row i of n sees. */
static struct key_span sees(const struct bind *c, uint32_t i, uint32_t n)
{
    return (struct key_span){ i > c->behind ? i - c->behind : 0, n - 1 - i > c->ahead ? i + c->ahead + 1 : n };
}

/* Group `at` of all sequences for one head. */
static void attn_rel_item(const struct replay *rp, const struct op *op, uint32_t at, uint32_t head, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct slot *in = &rp->p->slot[op->in], *distances = &rp->p->slot[op->aux];
    struct key_span span[REL_ITEM];
    struct sequence s = sequence_at(rp, op->rows, 0);
    for (uint32_t i = 0, n; at >= (n = rel_groups(s)); at -= n) s = sequence_at(rp, op->rows, ++i);
    const uint32_t first = at * REL_ITEM, left = s.n - first, width = (uint32_t)c->heads * c->d_head;
    const size_t column = (size_t)head * c->d_head;
    const float *rows = row0(rp, op->in) + (size_t)s.row * in->ld + column;
    struct attn_rel a = { .out = row0(rp, op->out) + (size_t)(s.row + first) * rp->p->slot[op->out].ld + column,
                          .ld_out = rp->p->slot[op->out].ld, .q = rows + (size_t)first * in->ld, .ld_q = in->ld, .u = c->bias + column,
                          .v = c->filter + column, .keys = rows + width, .values = rows + 2 * width, .ld_kv = in->ld,
                          .r = row0(rp, op->aux) + (size_t)(distances_count(rp) / 2) * distances->ld + column,
                          .ld_r = (ptrdiff_t)distances->ld, .sees = span, .first = first, .rows = left < REL_ITEM ? left : REL_ITEM,
                          .d_head = c->d_head, .scale = c->scale };
    for (uint32_t i = 0; i < a.rows; i++) span[i] = sees(c, first + i, s.n);
    rp->x->kern->attn_rel(&a, scratch);
}

/* All groups of a head follow each other, so that its keys stay in the second-level cache. */
void attn_rel_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) groups += rel_groups(sequence_at(rp, op->rows, i));
    FOR_ITEMS(i, groups * rp->p->bind[op->bind].heads) attn_rel_item(rp, op, (uint32_t)i % groups, (uint32_t)i / groups, worker->scratch);
}

/* steno: attention with relative positions, on the CPU. SPDX-License-Identifier: MIT */
#include "kern/rel_positions.h"
#include "plan/replay.h"

enum { REL_ITEM = 32 /* query rows of an item, which begin at multiples of it in their sequence: rows are grouped in one way only */ };

size_t attn_rel_scratch(const struct plan *p, const struct op *op, const struct kv_state *state)
{
    return kern_attn_rel_scratch(op->state == NO_STATE ? p->max_rows : state[op->state].desc.positions);
}

/* A stream's keys, those of earlier runs and its own, fit into its state. */
static int keys_fit(const struct cpu_exec *x, const struct plan *p, const struct op *op, struct sequence s)
{
    if (op->kind != OP_ATTN_REL || op->state == NO_STATE) return 1;
    const uint64_t n = (uint64_t)s.n + p->bind[op->bind].behind;
    return s.lane < x->mem[op->state].n_lanes && n <= x->mem[op->state].lane[s.lane].positions;
}

int streams_fit(const struct cpu_exec *x, const struct plan *p, const struct phases *what)
{
    const struct sequence all = { .n = (uint16_t)what->n_rows, .lane = what->window };
    for (uint16_t i = p->phase[what->first].first; i < p->phase[what->end - 1].last; i++) {
        if (!what->n_sequences && !keys_fit(x, p, &p->op[i], all)) return 0;
        for (uint32_t k = 0; k < what->n_sequences; k++)
            if (!keys_fit(x, p, &p->op[i], what->sequence[k])) return 0;
    }
    return 1;
}

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

/* Keys of a sequence for one head, and the table of distances. */
struct rel_keys {
    const float *at;   /* key 0 */
    size_t ld;
    uint32_t n;        /* keys, of earlier runs first */
    uint32_t held;     /* those of earlier runs */
    struct run_stream place;
    const float *r;    /* of distance 0 */
    size_t ld_r;
};

/* The first key of the stream that row i of it sees, and the one after the last. */
static struct key_span sees(const struct bind *c, const struct rel_keys *k, uint32_t i)
{
    const uint32_t chunk = k->place.chunk ? k->place.chunk : 1, behind = c->behind / chunk, at = i / chunk;
    const uint32_t end = k->place.before + k->n - k->held, left = (at + 1) * chunk - i; /* rows of the chunk from i on */
    if (c->positions) return (struct key_span){ at > behind ? (at - behind) * chunk : 0, left < end - i ? i + left : end };
    return (struct key_span){ i > c->behind ? i - c->behind : 0, end - 1 - i > c->ahead ? i + c->ahead + 1 : end };
}

static struct rel_keys keys_of(const struct replay *rp, const struct op *op, struct sequence s, size_t column)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t width = (size_t)c->heads * c->d_head;
    if (op->state == NO_STATE) {
        const size_t ld = rp->p->slot[op->in].ld, ld_r = rp->p->slot[op->aux].ld;
        return (struct rel_keys){ row0(rp, op->in) + (size_t)s.row * ld + width + column, ld, s.n, 0, { 0, s.n },
                                  row0(rp, op->aux) + (size_t)(distances_count(rp) / 2) * ld_r + column, ld_r };
    }
    struct rel_keys k = { .ld = 2 * width, .place = stream_place(rp, s), .r = c->positions + c->k * width + column, .ld_r = width };
    const struct shift_mem *m = &rp->x->mem[op->state].lane[s.lane];
    k.held = k.place.before - sees(c, &k, k.place.before).from;
    k.n = k.held + s.n;
    k.at = state_rows(m, op->layer) + (m->positions - k.n) * k.ld + column;
    return k;
}

/* Group `at` of all sequences for one head. */
static void attn_rel_item(const struct replay *rp, const struct op *op, uint32_t at, uint32_t head, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct slot *in = &rp->p->slot[op->in];
    struct key_span span[REL_ITEM];
    struct sequence s = sequence_at(rp, op->rows, 0);
    for (uint32_t i = 0, n; at >= (n = rel_groups(s)); at -= n) s = sequence_at(rp, op->rows, ++i);
    const uint32_t first = at * REL_ITEM, left = s.n - first;
    const size_t column = (size_t)head * c->d_head, width = (size_t)c->heads * c->d_head;
    const struct rel_keys k = keys_of(rp, op, s, column);
    struct attn_rel a = { .out = row0(rp, op->out) + (size_t)(s.row + first) * rp->p->slot[op->out].ld + column,
                          .ld_out = rp->p->slot[op->out].ld, .q = row0(rp, op->in) + (size_t)(s.row + first) * in->ld + column,
                          .ld_q = in->ld, .u = c->bias + column, .v = c->filter + column, .keys = k.at, .values = k.at + width,
                          .ld_kv = k.ld, .r = k.r, .ld_r = (ptrdiff_t)k.ld_r, .sees = span, .first = k.held + first,
                          .rows = left < REL_ITEM ? left : REL_ITEM, .d_head = c->d_head, .scale = c->scale };
    for (uint32_t i = 0; i < a.rows; i++) {
        const uint32_t gone = k.place.before - k.held; /* rows of the stream before key 0 */
        span[i] = sees(c, &k, k.place.before + first + i);
        span[i].from -= gone;
        span[i].to -= gone;
    }
    rp->x->kern->attn_rel(&a, scratch);
}

/* All groups of a head follow each other, so that its keys stay in the second-level cache. */
void attn_rel_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) groups += rel_groups(sequence_at(rp, op->rows, i));
    FOR_ITEMS(i, groups * rp->p->bind[op->bind].heads) attn_rel_item(rp, op, (uint32_t)i % groups, (uint32_t)i / groups, worker->scratch);
}

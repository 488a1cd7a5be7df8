/* steno: attention with relative positions, on the CPU. SPDX-License-Identifier: MIT */
#include "kern/rel_positions.h"
#include "plan/replay.h"

enum {
    REL_ITEM = 32,     /* query rows of an item over a state, and rows of distances */
    DISTANCE_PARTS = 4 /* items that pack the distances of a head */
};

size_t attn_rel_scratch(const struct plan *p, const struct op *op, const struct kv_state *state)
{
    if (op->state == NO_STATE) return kern_attn_rel_run_scratch(p->max_rows);
    return kern_attn_rel_scratch(state[op->state].desc.positions);
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
            memcpy(row0(rp, op->out) + (size_t)r * rp->p->slot[op->out].ld, c->positions + (size_t)(c->k + rows / 2 - r) * c->n,
                   c->n * sizeof(float));
    }
}

/* The first layers whose packed distances fit into the kept block, each with room for `rows` rows of a sequence. */
static uint32_t layers_kept(const struct plan *p, uint32_t rows, int *all)
{
    uint32_t n = 0;
    *all = 1;
    for (uint16_t i = p->phase[0].first; i < p->phase[0].last && *all; i++) {
        const struct slot *s = p->op[i].kind == OP_PACK_DISTANCES ? &p->slot[p->op[i].kv_slot] : NULL;
        if (!s) continue;
        *all = (s->kept_at + s->size / (s->rows / KV_BLOCK)) * kv_blocks(rows) <= p->kept.sz;
        n += *all ? 1 : 0;
    }
    return n;
}

/* The rows of a sequence for which a run with `most` rows keeps distances. Those of all layers are kept for half as many rows more than
 * the run before, so that a row of lengths that rise costs at most three times the last one. Clips that are longer than that keep those of
 * the first layers. One clip among others of the other kind does not change what is kept. */
static uint32_t rows_kept(struct kept *k, const struct plan *p, uint32_t most)
{
    const int is_long = most > p->kept.rows, was_long = k->rows && k->room > p->kept.rows;
    k->others = k->rows && is_long != was_long ? k->others + 1 : 0;
    if (k->others == 1) return k->rows;
    k->others = 0;
    if (is_long) return was_long && most <= k->rows ? k->rows : most;
    if (!was_long && most <= k->rows) return k->rows;
    const uint32_t more = was_long ? 0 : k->rows + k->rows / 2, grown = more > most ? more : most;
    return grown < p->kept.rows ? grown : p->kept.rows;
}

void distances_begin(struct replay *rp, int has_first_phase)
{
    struct kept *k = &rp->x->kept;
    const struct plan *p = rp->p;
    struct replay_distances *d = &rp->distances;
    uint32_t most = rp->n_sequences ? 0 : rp->n_rows;
    for (uint32_t i = 0; i < rp->n_sequences; i++)
        if (rp->sequence[i].n > most) most = rp->sequence[i].n;
    if (most > p->reach) most = p->reach;
    *d = (struct replay_distances){ .rows = most };
    if (!has_first_phase || !most || !p->kept.rows) return;
    if (k->of != p) *k = (struct kept){ .at = k->at, .sz = k->sz, .of = p };
    const uint32_t rows = rows_kept(k, p, most);
    if (rows < most) return; /* another kind of clip */
    d->kept_rows = rows;
    d->is_ready = rows == k->rows;
    if (!d->is_ready) {
        d->rows = rows;
        k->rows = 0;
        k->room = rows > p->kept.rows ? rows : p->kept.rows;
    }
    d->n_kept = layers_kept(p, k->room, &d->all);
}

void distances_end(const struct replay *rp)
{
    if (rp->distances.n_kept && !rp->status) rp->x->kept.rows = rp->distances.kept_rows;
}

/* Packed distances of a layer and head. */
static char *distances_of(const struct replay *rp, const struct op *op, uint16_t slot, uint32_t head)
{
    const struct slot *s = &rp->p->slot[slot];
    const size_t sz = kv_block_sz((enum kv_type)s->kv_type, s->d_head), blocks = kv_blocks(rp->x->kept.room);
    if (op->layer < rp->distances.n_kept) return (char *)rp->x->kept.at + s->kept_at * blocks + head * blocks * sz;
    return (char *)rp->x->scratch + s->offset + head * (s->rows / KV_BLOCK) * sz;
}

void pack_distances_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    static const float none[HEAD_MAX];
    const struct bind *c = &rp->p->bind[op->bind];
    const enum kv_type type = (enum kv_type)rp->p->slot[op->kv_slot].kv_type;
    const size_t rows = rows_of(rp, op), panels = pack_panels(rows), ld = rp->p->slot[op->in].ld;
    const size_t sz = pack_panel_sz(kv_run_packed(type), c->d_head);
    FOR_ITEMS(i, c->heads * DISTANCE_PARTS) {
        const uint32_t head = (uint32_t)i / DISTANCE_PARTS, part = (uint32_t)i % DISTANCE_PARTS;
        const float *x = row0(rp, op->in) + (size_t)head * c->d_head;
        char *to = distances_of(rp, op, op->kv_slot, head);
        for (size_t p = panels * part / DISTANCE_PARTS; p < panels * (part + 1) / DISTANCE_PARTS; p++) {
            const size_t n = rows - p * PANEL < PANEL ? rows - p * PANEL : PANEL;
            kern_run_of(rp->x->kern, type)->pack_keys(to + p * sz, x + p * PANEL * ld, ld, n, c->d_head, none);
        }
    }
}

/* Query rows of an item: the kernel's groups. */
static uint32_t rel_rows(const struct op *op) { return op->state == NO_STATE ? REL_ROWS : REL_ITEM; }
static uint32_t rel_groups(const struct op *op, struct sequence s) { return (s.n + rel_rows(op) - 1u) / rel_rows(op); }

/* Keys of a sequence for one head over a state, and the table of distances. */
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
    struct rel_keys k = { .ld = 2 * width, .place = stream_place(rp, s), .r = c->positions + c->k * width + column, .ld_r = width };
    const struct shift_mem *m = &rp->x->mem[op->state].lane[s.lane];
    k.held = k.place.before - sees(c, &k, k.place.before).from;
    k.n = k.held + s.n;
    k.at = state_rows(m, op->layer) + (m->positions - k.n) * k.ld + column;
    return k;
}

/* Rows [first, first + rows) of a sequence. */
struct rel_item { struct sequence s; uint32_t first, rows; };

/* Group `at` of all sequences. */
static struct rel_item rel_item_at(const struct replay *rp, const struct op *op, uint32_t at)
{
    struct sequence s = sequence_at(rp, op->rows, 0);
    for (uint32_t i = 0, n; at >= (n = rel_groups(op, s)); at -= n) s = sequence_at(rp, op->rows, ++i);
    const uint32_t first = at * rel_rows(op), left = s.n - first;
    return (struct rel_item){ s, first, left < rel_rows(op) ? left : rel_rows(op) };
}

/* Over keys that this run packed. */
static void attn_rel_packed(const struct replay *rp, const struct op *op, struct rel_item t, uint32_t head, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct slot *in = &rp->p->slot[op->in], *out = &rp->p->slot[op->out];
    const struct rel_keys k = { .n = t.s.n, .place = { 0, t.s.n } };
    const size_t column = (size_t)head * c->d_head, row = (size_t)t.s.row + t.first;
    const uint32_t rows = op->layer < rp->distances.n_kept ? rp->distances.kept_rows : rp->distances.rows;
    struct key_span span[REL_ROWS];
    enum kv_type type;
    struct kv_view kv = replay_kv(rp, op, head, 0, &type);
    kv.base = (char *)kv.base + t.s.block * kv.block_stride;
    for (uint32_t i = 0; i < t.rows; i++) span[i] = sees(c, &k, t.first + i);
    const struct attn_rel_run a = { .out = row0(rp, op->out) + row * out->ld + column, .ld_out = out->ld,
                                    .q = row0(rp, op->in) + row * in->ld + column, .ld_q = in->ld, .u = c->bias + column,
                                    .v = c->filter + column, .keys = kv.base, .values = kv_run_values(&kv, type, t.s.n, c->d_head),
                                    .distances = distances_of(rp, op, op->aux, head), .sees = span,
                                    .at = (size_t)rows - 1 - t.first, .rows = t.rows, .d_head = c->d_head, .n_keys = t.s.n,
                                    .scale = c->scale };
    kern_run_of(rp->x->kern, type)->attn_rel(&a, scratch);
}

/* Over the keys of a state. */
static void attn_rel_state(const struct replay *rp, const struct op *op, struct rel_item t, uint32_t head, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct slot *in = &rp->p->slot[op->in], *out = &rp->p->slot[op->out];
    const size_t column = (size_t)head * c->d_head, width = (size_t)c->heads * c->d_head, row = (size_t)t.s.row + t.first;
    struct key_span span[REL_ITEM];
    const struct rel_keys k = keys_of(rp, op, t.s, column);
    const uint32_t gone = k.place.before - k.held; /* rows of the stream before key 0 */
    const struct attn_rel a = { .out = row0(rp, op->out) + row * out->ld + column, .ld_out = out->ld,
                                .q = row0(rp, op->in) + row * in->ld + column, .ld_q = in->ld, .u = c->bias + column,
                                .v = c->filter + column, .keys = k.at, .values = k.at + width, .ld_kv = k.ld, .r = k.r,
                                .ld_r = (ptrdiff_t)k.ld_r, .sees = span, .first = k.held + t.first, .rows = t.rows, .d_head = c->d_head,
                                .scale = c->scale };
    for (uint32_t i = 0; i < t.rows; i++) {
        span[i] = sees(c, &k, k.place.before + t.first + i);
        span[i].from -= gone;
        span[i].to -= gone;
    }
    rp->x->kern->attn_rel(&a, scratch);
}

/* All groups of a head follow each other, so that its keys stay in the second-level cache. */
void attn_rel_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    uint32_t groups = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) groups += rel_groups(op, sequence_at(rp, op->rows, i));
    FOR_ITEMS(i, groups * rp->p->bind[op->bind].heads) {
        const struct rel_item t = rel_item_at(rp, op, (uint32_t)i % groups);
        (op->state == NO_STATE ? attn_rel_packed : attn_rel_state)(rp, op, t, (uint32_t)i / groups, worker->scratch);
    }
}

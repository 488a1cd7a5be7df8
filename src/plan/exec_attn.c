/* steno: attention on the CPU. SPDX-License-Identifier: MIT
 *
 * An item is one head for a group of rows that attend to the same keys. If there are fewer heads than the threads need, blocks of a head's
 * keys become items, too. The thread that finishes the last partial of a head merges its partials. */
#include "plan/partition.h"
#include "plan/replay.h"

enum {
    RUN_ROWS = 48,      /* most rows of an item of integer attention over a run */
    WEIGHTS_ROWS = 12,  /* rows of an item of attention weights: a tile */
    ATTN_PARTIALS = 256 /* partials per thread, enough for groups of 21 rows over 1500 keys */
};

enum kv_type attn_kv_type(const struct plan *p, const struct op *op, const struct kv_state *state)
{
    return op->state != NO_STATE ? state[op->state].type : (enum kv_type)p->slot[op->kv_slot].kv_type;
}

struct kv_view replay_kv(const struct replay *rp, const struct op *op, uint32_t head, uint16_t lane, enum kv_type *type)
{
    const struct cpu_exec *x = rp->x;
    *type = attn_kv_type(rp->p, op, x->state);
    if (op->state != NO_STATE) {
        const struct kv_state *s = &x->state[op->state];
        const uint32_t l = s->desc.kind == STATE_APPEND || !rp->run ? lane : rp->run->lane[lane].kv.window;
        return state_view(&x->mem[op->state], s, op->layer, head, l);
    }
    const struct slot *s = &rp->p->slot[op->kv_slot];
    const size_t block = kv_block_sz(*type, s->d_head);
    return (struct kv_view){ x->scratch + s->offset + head * (s->rows / KV_BLOCK) * block, block, NULL };
}

/* The partition of an attention: groups of rows with the same keys, then heads, then all keys of a head or blocks of them. */
struct attn_items {
    uint32_t high, groups, heads, blocks, n; /* high: rows of a group if all rows of a sequence attend to the same keys of this run */
    uint32_t ahead;                          /* distance from an item to the one that its thread will probably take next */
};

/* A group of rows and one head of keys and values, with all query heads that share it. n_keys and block: the number and first block of keys
 * of this run. */
struct attn_unit { struct group g; uint32_t head, n_keys, block; };

/* The number of keys of a sequence, including those of earlier runs, which follow its own. */
static uint32_t keys_n(const struct replay *rp, const struct op *op, struct sequence s)
{
    return s.n + (op->past && rp->run->past ? rp->run->past[s.lane][op->past - 1].held : 0);
}

static uint32_t groups_of(const struct replay *rp, const struct op *op, uint32_t high)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) n += (sequence_at(rp, op->rows, i).n + high - 1) / high;
    return n;
}

/* Group `at`, counted over all sequences. */
static struct attn_unit own_unit(const struct replay *rp, const struct op *op, uint32_t high, uint32_t at, uint32_t head)
{
    struct sequence s = sequence_at(rp, op->rows, 0);
    uint32_t i = 0;
    for (uint32_t n; at >= (n = (s.n + high - 1) / high); at -= n) s = sequence_at(rp, op->rows, ++i);
    const uint32_t from = at * high, left = s.n - from;
    const struct group g = { (uint16_t)(s.row + from), (uint16_t)(left < high ? left : high), 0 };
    const struct sequence keys = sequence_in_rows(rp, op->rows, op->kv_rows, i); /* of the same rows, or of another kind */
    return (struct attn_unit){ g, head, keys_n(rp, op, keys), keys.block };
}

/* Keys of this run: all groups of a head are consecutive items, so that its keys stay in the second-level cache. Otherwise each group has
 * its own keys. */
static struct attn_unit attn_unit_of(const struct replay *rp, const struct op *op, const struct attn_items *t, uint32_t i)
{
    if (op->state != NO_STATE) {
        const struct group *g = op->flags & OPF_CAUSAL ? rp->run->self : rp->run->cross;
        return (struct attn_unit){ g[i / t->heads], i % t->heads, 0, 0 };
    }
    return own_unit(rp, op, t->high, i % t->groups, i / t->groups);
}

/* Keys and values of a unit. */
static struct kv_view unit_kv(const struct replay *rp, const struct op *op, struct attn_unit u, enum kv_type *type)
{
    struct kv_view v = replay_kv(rp, op, u.head, u.g.lane, type);
    if (u.block) v.base = (char *)v.base + u.block * v.block_stride;
    return v;
}

/* The largest number of keys of this run that a row attends to. */
static uint32_t own_keys_max(const struct replay *rp, const struct op *op)
{
    uint32_t max = 0;
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) {
        const uint32_t n = keys_n(rp, op, sequence_in_rows(rp, op->rows, op->kv_rows, i));
        if (n > max) max = n;
    }
    return max;
}

/* The most blocks of ATTN_KEYS keys that a run's rows attend to within a window; the window may begin anywhere in a block. */
static size_t window_blocks(uint32_t window, uint32_t rows) { return (window + rows + ATTN_KEYS - 3) / ATTN_KEYS + 1; }

/* The number of blocks before the first one that a group attends to. */
static uint32_t blocks_before(const struct replay *rp, const struct op *op, struct attn_unit u)
{
    const uint32_t window = rp->p->bind[op->bind].window, len = window ? (uint32_t)rp->run->self_len[u.g.row] : 0;
    return len > window ? (len - window) / ATTN_KEYS : 0;
}

/* Uses the rule of attn_items_of: this number of heads of groups is too small for the threads. */
size_t attn_partials_max(const struct plan *p, const struct op *op, const struct kv_state *state, uint32_t rows, int threads)
{
    const struct bind *c = &p->bind[op->bind];
    const size_t own = p->max_rows + (op->past ? p->max_past : 0);
    const size_t keys = op->state == NO_STATE ? own : state[op->state].desc.positions, all = (keys + ATTN_KEYS - 1) / ATTN_KEYS;
    const size_t some = c->window ? window_blocks(c->window, rows) : all, blocks = some < all ? some : all;
    const size_t groups = (size_t)(threads * ATTN_SHARED - 1) / c->kv_heads, room = (size_t)threads * ATTN_PARTIALS;
    if (kv_is_run(attn_kv_type(p, op, state))) return 0;
    const int each_other = op->state == NO_STATE && op->kv_rows == op->rows; /* then two blocks of keys are as many rows */
    const size_t fewest = (each_other ? ATTN_KEYS + 1 : 1) * 2 * (size_t)c->heads;
    if (threads == 1 || !groups || blocks < 2 || fewest > room) return 0;
    const size_t shared = op->flags & OPF_CAUSAL || rows < groups * ATTN_TILE ? rows : groups * ATTN_TILE;
    const size_t most = shared * c->heads * blocks;
    return most < room ? most : room;
}

/* Blocks of keys become items if there are fewer heads of groups than the threads need, and partials have room. */
static struct attn_items attn_items_of(const struct replay *rp, const struct op *op, int threads)
{
    const uint32_t rows = rows_of(rp, op);
    struct attn_items t = { .heads = rp->p->bind[op->bind].kv_heads, .blocks = 1, .ahead = (uint32_t)threads };
    const size_t q_heads = rp->p->bind[op->bind].heads;
    const int causal = op->flags & OPF_CAUSAL, own = op->state == NO_STATE;
    const int is_run = kv_is_run(attn_kv_type(rp->p, op, rp->x->state)); /* all of whose rows attend to all keys at once */
    const int32_t keys = own ? (int32_t)own_keys_max(rp, op) : causal ? rp->run->self_len_max : rp->run->cross_len_max;
    const uint32_t window = rp->p->bind[op->bind].window;
    const size_t all = ((size_t)keys + ATTN_KEYS - 1) / ATTN_KEYS, some = window ? window_blocks(window, rows) : all;
    const size_t blocks = some < all ? some : all;
    if (own) {
        t.high = (uint32_t)partition_heads(rows, is_run ? RUN_ROWS : ATTN_TILE, t.heads, threads);
        t.groups = groups_of(rp, op, t.high);
    } else t.groups = causal ? rp->run->n_self : rp->run->n_cross;
    if (!is_run && blocks > 1 && t.groups * t.heads < (uint32_t)threads * ATTN_SHARED && rows * q_heads * blocks <= rp->x->n_attn_partials)
        t.blocks = (uint32_t)blocks;
    t.n = t.groups * t.heads * t.blocks;
    return t;
}

/* Write the keys and values of this run's rows that belong to block b of `blocks`. No other thread reads or writes that block. */
static void write_kv(const struct replay *rp, const struct op *op, const struct attn *a, enum kv_type type, struct attn_unit u, uint32_t b,
                     uint32_t blocks)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct group g = u.g;
    const size_t keys = c->n + (size_t)u.head * c->d_head, values = (size_t)c->kv_heads * c->d_head; /* from the row; from its key */
    for (uint32_t r = 0; r < g.n; r++) {
        const uint32_t pos = (uint32_t)rp->run->row[g.row + r].pos;
        const float *k = row0(rp, op->in) + (g.row + r) * a->ld_q + keys;
        if (blocks == 1 || pos / ATTN_KEYS == b) rp->x->kern->kv_put[type](&a->kv, pos, k, k + values, a->d_head);
    }
}

/* The number of keys per row; NULL: all keys. */
static const int32_t *lengths_of(const struct replay *rp, const struct op *op)
{
    if (op->flags & OPF_CAUSAL) return rp->run->self_len;
    return op->state == NO_STATE && !(op->flags & OPF_TABLE) ? NULL : rp->run->cross_len;
}

/* Prefetch the keys of an item, if it exists: blocks up to the last one that its first row attends to. */
static void keys_come_next(struct attn *a, const struct replay *rp, const struct op *op, const struct attn_items *t, uint32_t item)
{
    enum { BLOCKS = ATTN_KEYS / KV_BLOCK };
    enum kv_type type;
    if (item >= t->n) return;
    const struct attn_unit u = attn_unit_of(rp, op, t, item / t->blocks);
    const int32_t *len = lengths_of(rp, op);
    const uint32_t from = (blocks_before(rp, op, u) + item % t->blocks) * BLOCKS, n = kv_blocks(len ? (uint32_t)len[u.g.row] : u.n_keys);
    a->next = unit_kv(rp, op, u, &type);
    if (a->next.table) a->next.table += from;
    else a->next.base = (char *)a->next.base + from * a->next.block_stride;
    a->n_next = n > from ? n - from < BLOCKS ? n - from : BLOCKS : 0;
}

/* For a single row, treat the query heads that share keys as rows, so that keys and values are read once. */
static uint32_t heads_as_rows(struct attn *a, uint32_t share)
{
    if (a->rows > 1 || share == 1) return share;
    if (a->len) a->n_keys = *a->len;
    a->len = NULL;
    a->ld_q = a->ld_out = a->d_head;
    a->rows = share;
    return 1;
}

/* ---- integer attention over the keys of a run */

enum { KEY_PARTS = 4 /* items that pack the keys of a head; each panel of values is an item */ };

uint32_t kv_pack_items(const struct replay *rp, const struct op *op)
{
    const struct bind *c = &rp->p->bind[op->bind];
    return sequences_of(rp, op->rows) * c->kv_heads * (KEY_PARTS + (uint32_t)pack_panels(c->d_head));
}

void *kv_run_values(const struct kv_view *kv, enum kv_type type, size_t n, size_t d_head)
{
    return (char *)kv->base + pack_panels(n) * pack_panel_sz(kv_run_packed(type), d_head);
}

/* Compute the mean of n keys approximately: a part that all keys share changes no attention weight. */
static void keys_mean(float *mean, const struct kern *kern, const float *keys, size_t ld, size_t n, size_t d_head)
{
    const size_t some = n < KV_MEAN_KEYS ? n : KV_MEAN_KEYS;
    memset(mean, 0, d_head * sizeof *mean);
    for (size_t i = 0; i < some; i++) kern->scale(mean, keys + i * n / some * ld, 1 / (float)some, mean, d_head);
}

void kv_pack_item(const struct replay *rp, const struct op *op, uint32_t i)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const uint32_t panels = (uint32_t)pack_panels(c->d_head), parts = KEY_PARTS + panels, part = i % parts, head = i / parts % c->kv_heads;
    const struct sequence s = sequence_at(rp, op->rows, i / parts / c->kv_heads);
    const size_t ld = rp->p->slot[op->in].ld, blocks = kv_blocks(s.n);
    const float *keys = row0(rp, op->in) + s.row * ld + op->column + (size_t)head * c->d_head;
    enum kv_type type;
    struct kv_view kv = replay_kv(rp, op, head, 0, &type);
    const struct run_kern *kern = kern_run_of(rp->x->kern, type);
    kv.base = (char *)kv.base + s.block * kv.block_stride;
    if (part >= KEY_PARTS) {
        const size_t d = (size_t)(part - KEY_PARTS) * PANEL, left = c->d_head - d;
        char *to = (char *)kv_run_values(&kv, type, s.n, c->d_head) + d / PANEL * pack_panel_sz(kv_run_packed(type), s.n);
        kern->pack_values(to, keys + (size_t)c->kv_heads * c->d_head + d, ld, s.n, left < PANEL ? left : PANEL);
        return;
    }
    float less[HEAD_MAX];
    keys_mean(less, rp->x->kern, keys, ld, s.n, c->d_head);
    for (size_t b = blocks * part / KEY_PARTS; b < blocks * (part + 1) / KEY_PARTS; b++) {
        const size_t left = s.n - b * PANEL, n = left < PANEL ? left : PANEL;
        kern->pack_keys((char *)kv.base + b * pack_panel_sz(kv_run_packed(type), c->d_head), keys + b * PANEL * ld, ld, n, c->d_head, less);
    }
}

/* A group of rows, for each query head that shares the keys. */
static void attn_run_item(const struct replay *rp, const struct op *op, const struct attn_items *t, uint32_t item, void *scratch)
{
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const struct attn_unit u = attn_unit_of(rp, op, t, item);
    const uint32_t share = c->heads / c->kv_heads;
    const size_t ld_q = p->slot[op->in].ld, ld_out = p->slot[op->out].ld, at = (size_t)u.head * share * c->d_head;
    enum kv_type type;
    const struct kv_view kv = unit_kv(rp, op, u, &type);
    struct attn_run a = { .out = row0(rp, op->out) + u.g.row * ld_out + at, .ld_out = ld_out, .q = row0(rp, op->in) + u.g.row * ld_q + at,
                         .ld_q = ld_q, .keys = kv.base, .values = kv_run_values(&kv, type, u.n_keys, c->d_head), .rows = u.g.n,
                         .d_head = c->d_head, .n_keys = u.n_keys, .scale = c->scale };
    for (uint32_t h = 0; h < share; h++, a.q += c->d_head, a.out += c->d_head) kern_run_of(rp->x->kern, type)->attn(&a, scratch);
}

/* A group of rows over all keys of a head, or over one block of them, for each query head that shares the keys. */
static void attn_item(const struct replay *rp, const struct op *op, const struct attn_items *t, uint32_t item, void *scratch)
{
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const struct kern *kern = rp->x->kern;
    const uint32_t unit = item / t->blocks, b = item % t->blocks, share = c->heads / c->kv_heads;
    const struct attn_unit u = attn_unit_of(rp, op, t, unit);
    const struct group g = u.g;
    const int32_t *len = lengths_of(rp, op);
    const size_t ld_q = p->slot[op->in].ld, ld_out = p->slot[op->out].ld, at = (size_t)u.head * share * c->d_head;
    enum kv_type type;
    struct attn a = { .out = row0(rp, op->out) + g.row * ld_out + at, .ld_out = ld_out,
                      .q = row0(rp, op->in) + g.row * ld_q + at, .ld_q = ld_q,
                      .kv = unit_kv(rp, op, u, &type), .len = len ? len + g.row : NULL, .n_keys = (int32_t)u.n_keys, .rows = g.n,
                      .d_head = c->d_head, .window = c->window, .scale = c->scale };
    const uint32_t block = blocks_before(rp, op, u) + b;
    keys_come_next(&a, rp, op, t, item + t->ahead);
    if (op->flags & OPF_WRITE_KV) write_kv(rp, op, &a, type, u, block, t->blocks);
    const uint32_t calls = heads_as_rows(&a, share);
    const size_t partial_len = attn_partial_len(c->d_head), head_len = t->blocks * partial_len, row_len = c->heads * head_len;
    const size_t ld_partial = calls < share ? head_len : row_len;
    float *partial = rp->x->attn_partials + g.row * row_len + u.head * share * head_len; /* of the first head */
    struct attn one = a;
    for (uint32_t h = 0; h < calls; h++, one.q += c->d_head, one.out += c->d_head)
        if (t->blocks == 1) kern->attn[type](&one, scratch);
        else kern->attn_partial[type](&one, block, partial + h * head_len + b * partial_len, ld_partial, scratch);
    if (t->blocks == 1 || atomic_fetch_add(&rp->x->attn_done[unit], 1) + 1 < t->blocks) return;
    atomic_store_explicit(&rp->x->attn_done[unit], 0, memory_order_relaxed);
    for (uint32_t h = 0; h < calls; h++, a.q += c->d_head, a.out += c->d_head)
        kern->attn_merge(&a, partial + h * head_len, ld_partial, t->blocks);
}

void attn_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const struct attn_items t = attn_items_of(rp, op, worker->threads);
    const int is_run = kv_is_run(attn_kv_type(rp->p, op, rp->x->state));
    FOR_ITEMS(i, t.n) (is_run ? attn_run_item : attn_item)(rp, op, &t, (uint32_t)i, worker->scratch);
}

/* Attention weights of one head over the frames, for alignment. */
static void attn_weights_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t n, void *scratch)
{
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const size_t ld_q = p->slot[op->in].ld, ld_out = p->slot[op->out].ld;
    const uint32_t kv_head = op->attn_head / (c->heads / c->kv_heads);
    enum kv_type type;
    const struct attn a = { .out = row0(rp, op->out) + from * ld_out, .ld_out = ld_out,
                            .q = row0(rp, op->in) + from * ld_q + (size_t)op->attn_head * c->d_head, .ld_q = ld_q,
                            .kv = replay_kv(rp, op, kv_head, rp->run->row[from].lane, &type), .n_keys = (int32_t)rp->run->align.frames,
                            .rows = n, .d_head = c->d_head, .scale = c->scale };
    rp->x->kern->attn_weights[type](&a, scratch);
}

void attn_weights_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t rows = rows_of(rp, op);
    FOR_ITEMS(i, (rows + WEIGHTS_ROWS - 1) / WEIGHTS_ROWS) {
        const uint32_t from = (uint32_t)i * WEIGHTS_ROWS;
        attn_weights_rows(rp, op, from, rows - from < WEIGHTS_ROWS ? rows - from : WEIGHTS_ROWS, worker->scratch);
    }
}

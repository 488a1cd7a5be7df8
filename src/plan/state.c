/* steno: state that outlives a run. SPDX-License-Identifier: MIT */
#include "plan/state.h"

static size_t rows_sz(const struct state_desc *d)
{
    return (size_t)d->positions * d->heads * d->d_head * sizeof(float);
}

/* Blocks that the rows of a run attend to and write, for any start position. */
static uint32_t held_blocks(const struct state_desc *d)
{
    const uint32_t all = kv_blocks(d->positions), seen = kv_blocks(d->window + d->ahead) + 1;
    return d->window && seen < all ? seen : all;
}

/* Blocks of a lane, including those that a row at its mark attends to. */
static uint32_t lane_pool(const struct state_desc *d)
{
    const uint32_t all = kv_blocks(d->positions), some = held_blocks(d) + kv_blocks(d->window) + 1;
    return d->window && some < all ? some : all;
}

/* Lanes for whose texts the pool has blocks. */
static uint32_t pool_lanes(const struct state_desc *d, uint32_t lanes) { return d->pooled && lanes ? 1 : lanes; }

size_t state_pool_sz(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    if (d->kind == STATE_SHIFT) return rows_sz(d) * d->layers * lanes;
    return kv_block_sz(type, d->d_head) * d->heads * d->layers * lane_pool(d) * pool_lanes(d, lanes);
}

size_t state_token_sz(const struct state_desc *d, enum kv_type type)
{
    return kv_block_sz(type, d->d_head) / KV_BLOCK * d->heads * d->layers;
}

struct kv_state state_shape(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    struct kv_state s = { .desc = *d, .type = type, .lanes = lanes, .lane_blocks = kv_blocks(d->positions), .held_blocks = held_blocks(d) };
    if (d->kind == STATE_APPEND) s.n_blocks = lane_pool(d) * pool_lanes(d, lanes);
    return s;
}

static void tables_take(struct kv_state *s, struct arena_take *t)
{
    s->table = arena_take(t, (size_t)s->lane_blocks * s->lanes, sizeof *s->table);
    s->used = arena_take(t, s->lanes, sizeof *s->used);
    s->gone = arena_take(t, s->lanes, sizeof *s->gone);
    s->mark = arena_take(t, s->lanes, sizeof *s->mark);
    s->refs = arena_take(t, s->n_blocks, sizeof *s->refs);
    s->free = arena_take(t, s->n_blocks, sizeof *s->free);
    s->copy = arena_take(t, s->n_blocks, sizeof *s->copy);
}

size_t state_tables_memory(const struct state_desc *d, uint32_t lanes)
{
    struct kv_state s = state_shape(d, KV_F32, lanes);
    struct arena_take t = { 0 };
    if (d->kind == STATE_APPEND) tables_take(&s, &t);
    return t.sz;
}

size_t state_memory(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    return state_pool_sz(d, type, lanes) + state_tables_memory(d, lanes);
}

int state_open(struct kv_state *s, struct arena *a, const struct state_desc *d, enum kv_type type, uint32_t lanes, steno_error *e)
{
    const uint64_t n_blocks = (uint64_t)lane_pool(d) * pool_lanes(d, lanes);
    *s = state_shape(d, type, lanes);
    if (d->kind != STATE_APPEND) return STENO_OK;
    if (n_blocks > UINT16_MAX + 1)
        return err_set(e, STENO_EUNSUPPORTED, "%s: %u sequences of %u positions take %llu blocks, want at most %d", d->name, lanes,
                       d->positions, (unsigned long long)n_blocks, UINT16_MAX + 1);
    struct arena_take t = { .a = a };
    tables_take(s, &t);
    if (t.failed) return err_nomem(e, t.sz, d->name);
    for (uint32_t i = 0; i < s->n_blocks; i++) s->free[s->n_free++] = (uint16_t)(s->n_blocks - 1 - i);
    return STENO_OK;
}

uint16_t *state_table(const struct kv_state *s, uint32_t l)
{
    return s->table + (size_t)l * s->lane_blocks;
}

static void block_drop(struct kv_state *s, uint16_t b)
{
    if (--s->refs[b] == 0) s->free[s->n_free++] = b;
}

static uint16_t block_take(struct kv_state *s)
{
    const uint16_t b = s->free[--s->n_free]; /* the pool holds a full table for every lane, or the caller has checked it */
    s->refs[b] = 1;
    return b;
}

/* Replace block `at` of lane l, which is shared, by its own. @return the copy that is needed */
static struct kv_copy block_own(struct kv_state *s, uint32_t l, uint32_t at, uint32_t positions)
{
    uint16_t *t = state_table(s, l);
    const struct kv_copy c = { block_take(s), t[at], (uint16_t)positions };
    block_drop(s, t[at]);
    t[at] = c.to;
    return c;
}

/* The first block that the row of position `pos` attends to. */
static uint32_t first_seen(const struct kv_state *s, uint32_t pos)
{
    return s->desc.window && pos >= s->desc.window ? (pos + 1 - s->desc.window) / KV_BLOCK : 0;
}

/* Blocks [first, end) that a row at the lane's mark attends to. */
struct block_span { uint32_t first, end; };

static struct block_span marked(const struct kv_state *s, uint32_t l)
{
    const uint32_t at = s->mark[l];
    return (struct block_span){ first_seen(s, at), kv_blocks(at) };
}

static int is_in(struct block_span m, uint32_t i) { return i >= m.first && i < m.end; }

/* The first block from which on all are present. */
static uint32_t first_there(const struct kv_state *s, uint32_t l)
{
    const struct block_span m = marked(s, l);
    return m.first < s->gone[l] && m.end >= s->gone[l] ? m.first : s->gone[l];
}

static void mark_drop(struct kv_state *s, uint32_t l)
{
    const struct block_span m = marked(s, l);
    for (uint32_t i = m.first; i < m.end && i < s->gone[l]; i++) block_drop(s, state_table(s, l)[i]);
    s->mark[l] = 0;
}

/* Make room for blocks of lane l up to `need` by dropping the oldest. @return 0, or -1: `need` exceeds the blocks of a lane */
static int ring_turn(struct kv_state *s, uint32_t l, uint32_t need)
{
    const uint16_t *t = state_table(s, l);
    const struct block_span m = marked(s, l);
    for (; s->gone[l] < s->used[l] && s->gone[l] + s->held_blocks < need; s->gone[l]++)
        if (!is_in(m, s->gone[l])) block_drop(s, t[s->gone[l]]);
    return s->gone[l] + s->held_blocks < need ? -1 : 0;
}

/* Attention reads ATTN_KEYS keys together. For dropped blocks among them, whose keys have no weight, it reads the first present block. */
static void ring_close(struct kv_state *s, uint32_t l)
{
    enum { TOGETHER = ATTN_KEYS / KV_BLOCK };
    uint16_t *t = state_table(s, l);
    const struct block_span m = marked(s, l);
    for (uint32_t i = s->gone[l] / TOGETHER * TOGETHER; i < s->gone[l]; i++)
        if (!is_in(m, i)) t[i] = t[s->gone[l]];
}

int state_prepare(struct kv_state *s, uint32_t l, uint32_t from, uint32_t to)
{
    uint16_t *t = state_table(s, l);
    const uint32_t need = kv_blocks(to);
    if (need > s->lane_blocks || ring_turn(s, l, need) || first_seen(s, from) < s->gone[l]) return -1;
    if (s->desc.pooled && need > s->used[l] + s->n_free) return -1;
    for (uint32_t i = from / KV_BLOCK; i < s->used[l] && i < need; i++) {
        if (s->refs[t[i]] < 2) continue;
        const struct kv_copy c = block_own(s, l, i, i == from / KV_BLOCK ? from % KV_BLOCK : 0);
        if (c.positions) s->copy[s->n_copies++] = c;
    }
    while (s->used[l] < need) t[s->used[l]++] = block_take(s);
    ring_close(s, l);
    return 0;
}

uint32_t state_reach(const struct kv_state *s, uint32_t l, uint32_t len)
{
    if (first_seen(s, len) >= first_there(s, l)) return len;
    return s->mark[l] <= len ? s->mark[l] : 0;
}

void state_mark(struct kv_state *s, uint32_t l, uint32_t len)
{
    if (!s->desc.window || len == s->mark[l]) return;
    mark_drop(s, l);
    if (first_seen(s, len) >= s->gone[l]) s->mark[l] = len;
}

void state_truncate(struct kv_state *s, uint32_t l, uint32_t len)
{
    const uint16_t *t = state_table(s, l);
    const uint16_t n = (uint16_t)kv_blocks(len);
    if (s->mark[l] > len) mark_drop(s, l);
    while (s->used[l] > n && s->used[l] > s->gone[l]) block_drop(s, t[--s->used[l]]);
    if (s->used[l] > n) {
        if (marked(s, l).end < n) mark_drop(s, l); /* nothing is left: only a new text can follow */
        s->used[l] = s->gone[l] = n;
    }
    s->gone[l] = (uint16_t)first_there(s, l);
}

void state_fork(struct kv_state *s, uint32_t dst, uint32_t src)
{
    if (dst == src) return;
    state_truncate(s, dst, 0);
    const uint16_t *from = state_table(s, src);
    uint16_t *to = state_table(s, dst);
    for (uint32_t i = 0; i < s->used[src]; i++) to[i] = from[i];
    const struct block_span m = marked(s, src);
    for (uint32_t i = 0; i < s->used[src]; i++)
        if (i >= s->gone[src] || is_in(m, i)) s->refs[to[i]]++;
    s->used[dst] = s->used[src];
    s->gone[dst] = s->gone[src];
    s->mark[dst] = s->mark[src];
}

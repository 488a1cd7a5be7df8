/* steno: state that outlives a run. SPDX-License-Identifier: MIT */
#include "plan/state.h"

static size_t rows_sz(const struct state_desc *d)
{
    return (size_t)d->positions * d->heads * d->d_head * sizeof(float);
}

size_t state_pool_sz(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    if (d->kind == STATE_SHIFT) return rows_sz(d) * d->layers * lanes;
    return kv_block_sz(type, d->d_head) * d->heads * d->layers * kv_blocks(d->positions) * lanes;
}

struct kv_state state_shape(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    struct kv_state s = { .desc = *d, .type = type, .lanes = lanes, .lane_blocks = kv_blocks(d->positions) };
    if (d->kind == STATE_APPEND) s.n_blocks = s.lane_blocks * lanes;
    return s;
}

static void tables_take(struct kv_state *s, struct arena_take *t)
{
    s->table = arena_take(t, s->n_blocks, sizeof *s->table);
    s->used = arena_take(t, s->lanes, sizeof *s->used);
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
    const uint64_t n_blocks = (uint64_t)kv_blocks(d->positions) * lanes;
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
    const uint16_t b = s->free[--s->n_free]; /* the pool holds a full table for every lane, so it never runs dry */
    s->refs[b] = 1;
    return b;
}

/* Block `at` of lane l, which others share, becomes its own. What has to be copied for that. */
static struct kv_copy block_own(struct kv_state *s, uint32_t l, uint32_t at, uint32_t positions)
{
    uint16_t *t = state_table(s, l);
    const struct kv_copy c = { block_take(s), t[at], (uint16_t)positions };
    block_drop(s, t[at]);
    t[at] = c.to;
    return c;
}

int state_prepare(struct kv_state *s, uint32_t l, uint32_t from, uint32_t to)
{
    uint16_t *t = state_table(s, l);
    const uint32_t need = kv_blocks(to);
    if (need > s->lane_blocks) return -1;
    for (uint32_t i = from / KV_BLOCK; i < s->used[l] && i < need; i++) {
        if (s->refs[t[i]] < 2) continue;
        const struct kv_copy c = block_own(s, l, i, i == from / KV_BLOCK ? from % KV_BLOCK : 0);
        if (c.positions) s->copy[s->n_copies++] = c;
    }
    while (s->used[l] < need) t[s->used[l]++] = block_take(s);
    return 0;
}

void state_truncate(struct kv_state *s, uint32_t l, uint32_t len)
{
    uint16_t *t = state_table(s, l);
    while (s->used[l] > kv_blocks(len)) block_drop(s, t[--s->used[l]]);
}

void state_fork(struct kv_state *s, uint32_t dst, uint32_t src)
{
    if (dst == src) return;
    state_truncate(s, dst, 0);
    const uint16_t *from = state_table(s, src);
    uint16_t *to = state_table(s, dst);
    for (uint32_t i = 0; i < s->used[src]; i++) {
        to[i] = from[i];
        s->refs[to[i]]++;
    }
    s->used[dst] = s->used[src];
}

/* steno: state that outlives a run. SPDX-License-Identifier: MIT */
#include "plan/state.h"
#include <string.h>
#include "base/os.h"

static uint32_t blocks_of(uint32_t positions)
{
    return (positions + KV_BLOCK - 1) / KV_BLOCK;
}

static size_t rows_sz(const struct state_desc *d)
{
    return (size_t)d->positions * d->heads * d->d_head * sizeof(float);
}

static size_t pool_sz(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    if (d->kind == STATE_SHIFT) return rows_sz(d) * d->layers * lanes;
    return kv_block_sz(type, d->d_head) * d->heads * d->layers * blocks_of(d->positions) * lanes;
}

size_t state_memory(const struct state_desc *d, enum kv_type type, uint32_t lanes)
{
    const size_t per_lane = (3 * (size_t)blocks_of(d->positions) + 1) * sizeof(uint16_t) + sizeof(struct kv_copy);
    const size_t tables = d->kind == STATE_APPEND ? per_lane * lanes : 0;
    return pool_sz(d, type, lanes) + tables;
}

int state_open(struct kv_state *s, struct arena *a, const struct state_desc *d, enum kv_type type, uint32_t lanes, steno_error *e)
{
    memset(s, 0, sizeof *s);
    s->desc = *d;
    s->type = type;
    s->lanes = lanes;
    s->lane_blocks = blocks_of(d->positions);
    const size_t cell = kv_block_sz(type, d->d_head);
    const uint64_t n_blocks = (uint64_t)blocks_of(d->positions) * lanes;
    if (d->kind == STATE_APPEND && n_blocks > UINT16_MAX + 1)
        return err_set(e, STENO_EUNSUPPORTED, "%s: %u sequences of %u positions take %llu blocks, want at most %d", d->name, lanes,
                       d->positions, (unsigned long long)n_blocks, UINT16_MAX + 1);
    if (d->kind == STATE_APPEND) {
        s->n_blocks = s->lane_blocks * lanes;
        s->head_sz = cell;
        s->block_stride = cell * d->heads;
        s->layer_sz = s->block_stride * s->n_blocks;
        s->table = arena_array(a, s->n_blocks, sizeof *s->table);
        s->used = arena_array(a, lanes, sizeof *s->used);
        s->refs = arena_array(a, s->n_blocks, sizeof *s->refs);
        s->free = arena_array(a, s->n_blocks, sizeof *s->free);
        s->copy = arena_array(a, lanes, sizeof *s->copy);
        if (!s->table || !s->used || !s->refs || !s->free || !s->copy) return err_nomem(e, s->n_blocks * sizeof *s->table, d->name);
        for (uint32_t i = 0; i < s->n_blocks; i++) s->free[s->n_free++] = (uint16_t)(s->n_blocks - 1 - i);
    } else if (d->kind == STATE_SHIFT) {
        s->layer_sz = rows_sz(d);
        s->window_sz = s->layer_sz * d->layers;
    } else {
        s->block_stride = cell;
        s->head_sz = cell * s->lane_blocks;
        s->layer_sz = s->head_sz * d->heads;
        s->window_sz = s->layer_sz * d->layers;
    }
    s->mem_sz = pool_sz(d, type, lanes);
    s->mem = d->kind == STATE_APPEND ? os_pages_alloc_sparse(s->mem_sz) : os_pages_alloc(s->mem_sz); /* few lanes fill up */
    return s->mem ? STENO_OK : err_nomem(e, s->mem_sz, d->name);
}

void state_close(struct kv_state *s)
{
    if (s->mem) os_pages_free(s->mem, s->mem_sz);
    s->mem = NULL;
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

/* Keys of a position are no run of bytes, values are; of KV_BF16 two positions are one. */
static void copy_layer(const struct kv_state *s, struct kv_copy c, uint32_t layer)
{
    const size_t row = s->desc.d_head * kv_elem_sz(s->type), sz = row * (KV_BLOCK + ((c.positions + 1u) & ~1u));
    uint8_t *mem = s->mem + layer * s->layer_sz, *to = mem + c.to * s->block_stride;
    const uint8_t *from = mem + c.from * s->block_stride;
    for (uint32_t head = 0; c.positions && head < s->desc.heads; head++) memcpy(to + head * s->head_sz, from + head * s->head_sz, sz);
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
    const uint32_t need = blocks_of(to);
    if (need > s->lane_blocks) return -1;
    for (uint32_t i = from / KV_BLOCK; i < s->used[l] && i < need; i++) {
        if (s->refs[t[i]] < 2) continue;
        const struct kv_copy c = block_own(s, l, i, i == from / KV_BLOCK ? from % KV_BLOCK : 0);
        for (uint32_t layer = 0; layer < s->desc.layers; layer++) copy_layer(s, c, layer);
    }
    while (s->used[l] < need) t[s->used[l]++] = block_take(s);
    return 0;
}

int state_prepare_later(struct kv_state *s, uint32_t l, uint32_t pos)
{
    const uint32_t at = pos / KV_BLOCK;
    if (at < s->used[l] && s->refs[state_table(s, l)[at]] > 1) s->copy[s->n_copies++] = block_own(s, l, at, pos % KV_BLOCK);
    return state_prepare(s, l, pos, pos + 1);
}

void state_copy_layer(const struct kv_state *s, uint32_t copy, uint32_t layer)
{
    copy_layer(s, s->copy[copy], layer);
}

void state_truncate(struct kv_state *s, uint32_t l, uint32_t len)
{
    uint16_t *t = state_table(s, l);
    while (s->used[l] > blocks_of(len)) block_drop(s, t[--s->used[l]]);
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

struct kv_view state_view(const struct kv_state *s, uint32_t layer, uint32_t head, uint32_t l)
{
    uint8_t *base = s->mem + layer * s->layer_sz + head * s->head_sz;
    if (s->desc.kind == STATE_APPEND) return (struct kv_view){ base, s->block_stride, state_table(s, l) };
    return (struct kv_view){ base + l * s->window_sz, s->block_stride, NULL };
}

float *state_rows(const struct kv_state *s, uint32_t layer, uint32_t l)
{
    return (float *)(void *)(s->mem + l * s->window_sz + layer * s->layer_sz);
}

void state_reset(struct kv_state *s, uint32_t l)
{
    memset(state_rows(s, 0, l), 0, s->window_sz);
}

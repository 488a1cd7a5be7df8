/* steno: states in the memory of the CPU. SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/os.h"
#include "plan/replay.h"

int state_mem_open(struct state_mem *m, const struct kv_state *s, steno_error *e)
{
    const struct state_desc *d = &s->desc;
    const size_t block = kv_block_sz(s->type, d->d_head);
    if (d->kind == STATE_APPEND) {
        m->head_sz = block;
        m->block_stride = block * d->heads;
        m->layer_sz = m->block_stride * s->n_blocks;
    } else if (d->kind == STATE_SHIFT) {
        m->layer_sz = (size_t)d->positions * d->heads * d->d_head * sizeof(float);
        m->positions = d->positions;
    } else {
        m->block_stride = block;
        m->head_sz = block * s->lane_blocks;
        m->layer_sz = m->head_sz * d->heads;
    }
    m->window_sz = m->layer_sz * d->layers;
    m->sz = state_pool_sz(d, s->type, s->lanes);
    m->at = d->kind == STATE_APPEND ? os_pages_alloc_sparse(m->sz) : os_pages_alloc(m->sz); /* few lanes fill up */
    return m->at ? STENO_OK : err_nomem(e, m->sz, d->name);
}

/* A shift state for more positions: what it held are the newest. */
int state_mem_grow(struct state_mem *m, const struct kv_state *s, uint32_t positions, steno_error *e)
{
    const struct state_desc *d = &s->desc;
    if (positions <= m->positions) return STENO_OK;
    struct state_mem more = *m;
    more.layer_sz = m->layer_sz / m->positions * positions;
    more.window_sz = more.layer_sz * d->layers;
    more.sz = more.window_sz * s->lanes;
    more.positions = positions;
    more.at = os_pages_alloc(more.sz);
    if (!more.at) return err_nomem(e, more.sz, d->name);
    for (size_t i = 0; i < (size_t)d->layers * s->lanes; i++)
        memcpy(more.at + (i + 1) * more.layer_sz - m->layer_sz, m->at + i * m->layer_sz, m->layer_sz);
    state_mem_close(m);
    *m = more;
    return STENO_OK;
}

void state_mem_close(struct state_mem *m)
{
    if (m->at) os_pages_free(m->at, m->sz);
    m->at = NULL;
}

struct kv_view state_view(const struct state_mem *m, const struct kv_state *s, uint32_t layer, uint32_t head, uint32_t l)
{
    uint8_t *base = m->at + layer * m->layer_sz + head * m->head_sz;
    if (s->desc.kind == STATE_APPEND) return (struct kv_view){ base, m->block_stride, state_table(s, l) };
    return (struct kv_view){ base + l * m->window_sz, m->block_stride, NULL };
}

float *state_rows(const struct state_mem *m, uint32_t layer, uint32_t l)
{
    return (float *)(void *)(m->at + l * m->window_sz + layer * m->layer_sz);
}

/* Keys of a position are no run of bytes, values are; of KV_BF16 two positions are one. */
void state_copy_layer(const struct state_mem *m, const struct kv_state *s, uint32_t copy, uint32_t layer)
{
    const struct kv_copy c = s->copy[copy];
    const size_t row = s->desc.d_head * kv_elem_sz(s->type), sz = row * (KV_BLOCK + ((c.positions + 1u) & ~1u));
    uint8_t *at = m->at + layer * m->layer_sz, *to = at + c.to * m->block_stride;
    const uint8_t *from = at + c.from * m->block_stride;
    for (uint32_t head = 0; head < s->desc.heads; head++) memcpy(to + head * m->head_sz, from + head * m->head_sz, sz);
}

void state_copy_all(const struct state_mem *m, struct kv_state *s)
{
    for (uint32_t i = 0; i < s->n_copies; i++)
        for (uint32_t layer = 0; layer < s->desc.layers; layer++) state_copy_layer(m, s, i, layer);
    s->n_copies = 0;
}

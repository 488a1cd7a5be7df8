/* steno: states in the memory of the CPU. SPDX-License-Identifier: MIT */
#include <string.h>
#include "base/os.h"
#include "plan/replay.h"

/* Each stream has its own rows, because one may need more than others. */
static int shift_open(struct state_mem *m, const struct kv_state *s, steno_error *e)
{
    m->n_lanes = s->lanes;
    m->sz = state_pool_sz(&s->desc, s->type, 1);
    for (uint32_t l = 0; l < s->lanes; l++) {
        m->lane[l] = (struct shift_mem){ os_pages_alloc(m->sz), m->sz, m->sz / s->desc.layers, s->desc.positions };
        if (!m->lane[l].at) return err_nomem(e, m->sz, s->desc.name);
    }
    return STENO_OK;
}

int state_mem_open(struct state_mem *m, const struct kv_state *s, steno_error *e)
{
    const struct state_desc *d = &s->desc;
    const size_t block = kv_block_sz(s->type, d->d_head);
    if (d->kind == STATE_SHIFT) return shift_open(m, s, e);
    if (d->kind == STATE_APPEND) { /* block after block, each with all layers: blocks in use are adjacent, in few huge pages */
        m->head_sz = block;
        m->layer_sz = block * d->heads;
        m->block_stride = m->layer_sz * d->layers;
    } else {
        m->block_stride = block;
        m->head_sz = block * s->lane_blocks;
        m->layer_sz = m->head_sz * d->heads;
    }
    m->window_sz = m->layer_sz * d->layers;
    m->sz = state_pool_sz(d, s->type, s->lanes);
    m->at = os_pages_alloc(m->sz);
    return m->at ? STENO_OK : err_nomem(e, m->sz, d->name);
}

/* Grow a shift state; its contents are the newest positions. */
int state_mem_grow(struct shift_mem *m, const struct state_desc *d, uint32_t positions, steno_error *e)
{
    if (positions <= m->positions) return STENO_OK;
    struct shift_mem more = { .layer_sz = m->layer_sz / m->positions * positions, .positions = positions };
    more.sz = more.layer_sz * d->layers;
    more.at = os_pages_alloc(more.sz);
    if (!more.at) return err_nomem(e, more.sz, d->name);
    for (size_t i = 0; i < d->layers; i++)
        memcpy(more.at + (i + 1) * more.layer_sz - m->layer_sz, m->at + i * m->layer_sz, m->layer_sz);
    os_pages_free(m->at, m->sz);
    *m = more;
    return STENO_OK;
}

void state_mem_close(struct state_mem *m)
{
    for (uint32_t l = 0; l < m->n_lanes; l++)
        if (m->lane[l].at) os_pages_free(m->lane[l].at, m->lane[l].sz);
    if (m->at) os_pages_free(m->at, m->sz);
    m->n_lanes = 0;
    m->at = NULL;
}

struct kv_view state_view(const struct state_mem *m, const struct kv_state *s, uint32_t layer, uint32_t head, uint32_t l)
{
    uint8_t *base = m->at + layer * m->layer_sz + head * m->head_sz;
    if (s->desc.kind == STATE_APPEND) return (struct kv_view){ base, m->block_stride, state_table(s, l) };
    return (struct kv_view){ base + l * m->window_sz, m->block_stride, NULL };
}

float *state_rows(const struct shift_mem *m, uint32_t layer)
{
    return (float *)(void *)(m->at + layer * m->layer_sz);
}

/* The keys of a position are not contiguous bytes, its values are; with KV_BF16 two positions form a unit. Integer blocks are copied whole:
 * later positions are written before they are read. */
void state_copy_layer(const struct state_mem *m, const struct kv_state *s, uint32_t copy, uint32_t layer)
{
    const struct kv_copy c = s->copy[copy];
    const size_t row = s->desc.d_head * kv_elem_sz(s->type), some = row * (KV_BLOCK + ((c.positions + 1u) & ~1u));
    const size_t sz = kv_is_ints(s->type) ? kv_block_sz(s->type, s->desc.d_head) : some;
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

static int is_append(const struct cpu_exec *x, int i) { return x->state[i].desc.kind == STATE_APPEND; }

static int row_prepare(const struct cpu_exec *x, const struct row *row)
{
    int bad = 0;
    for (int i = 0; i < x->n_states; i++)
        if (is_append(x, i)) bad |= state_prepare(&x->state[i], row->lane, (uint32_t)row->pos, (uint32_t)row->pos + 1);
    return bad;
}

int appends_prepare(const struct cpu_exec *x, struct run *r)
{
    int whole = 1;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        if (!row_prepare(x, &r->row[i])) continue;
        r->lane[r->row[i].lane].sampler.done = 1;
        whole = 0;
    }
    return whole;
}

int64_t appends_copies(const struct cpu_exec *x)
{
    int64_t n = 0;
    for (int i = 0; i < x->n_states; i++) n += (int64_t)x->state[i].n_copies * x->state[i].desc.layers;
    return n;
}

void appends_copy_one(const struct cpu_exec *x, int64_t i)
{
    const struct kv_state *s = x->state;
    for (int64_t n; i >= (n = (int64_t)s->n_copies * s->desc.layers); i -= n) s++;
    state_copy_layer(&x->mem[s - x->state], s, (uint32_t)(i / s->desc.layers), (uint32_t)(i % s->desc.layers));
}

void appends_copy(const struct cpu_exec *x)
{
    for (int i = 0; i < x->n_states; i++)
        if (is_append(x, i)) state_copy_all(&x->mem[i], &x->state[i]);
}

void appends_copied(const struct cpu_exec *x)
{
    for (int i = 0; i < x->n_states; i++) x->state[i].n_copies = 0;
}

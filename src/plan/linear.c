/* steno: linears of one or several matrices. SPDX-License-Identifier: MIT */
#include "plan/linear.h"
#include <stdio.h>
#include "plan/emit.h"
#include "plan/packing.h"

/* Concatenated biases, in the order of the weights; NULL: no part has one. */
static const float *bias_of(struct build *b, const struct linear_desc *l)
{
    struct stored what = { .n_parts = (uint32_t)l->n_parts, .as = STORED_F32 };
    const struct tensor *tensor[LINEAR_PARTS_MAX];
    int any = 0;
    for (int i = 0; i < l->n_parts; i++) {
        const struct linear_part *part = &l->part[i];
        tensor[i] = part->bias ? bind_tensor(b, part->bias, part->n, 0, 0) : NULL;
        what.tensor[i] = tensor_number(b, tensor[i]);
        what.n += with_room(part->n, l->out_head);
        any |= part->bias != NULL;
    }
    if (!any || b->status) return NULL;
    what.data = weight_store_find(b->p.store, &what);
    if (what.data) return what.data;
    float *all = packed_take(b, (size_t)what.n * sizeof *all); /* zeroed, so a missing bias is zeros */
    what.data = all;
    for (int i = 0; i < l->n_parts && !b->status && !b->p.store->dry; all += with_room(l->part[i++].n, l->out_head)) {
        if (tensor[i]) b->status = tensor_read_f32(tensor[i], all, b->e);
        if (tensor[i] && l->out_head) spread_heads(all, l->part[i].n / l->out_head, l->out_head);
    }
    packed_remember(b, &what);
    return what.data;
}

/* Bind rows of matrices of one stored type, packed as lower (0: as stored). */
static uint16_t bind_rows(struct build *b, const struct matrices *m, enum packed_type lower, const float *bias)
{
    const enum packed_type stored = m->column_head ? PK_F32 : packed_as_stored(m->tensor[0]->type), type = lower ? lower : stored;
    const void *packed = pack_shared(b, m, type);
    const uint32_t n = (uint32_t)matrices_rows(m), k = (uint32_t)matrices_columns(m);
    const uint16_t id = bind_add(b);
    if (!b->status)
        *bind_at(b, id) = (struct bind){ .w = packed, .bias = bias, .n = n, .k = k, .n_y = n, .type = (uint8_t)type, .stride = 1 };
    return id;
}

static void add_rows(struct build *b, struct linear_binds *binds, const struct matrices *m, enum packed_type lower, const float *bias)
{
    if (b->status) return;
    binds->column[binds->n] = binds->width;
    binds->bind[binds->n++] = bind_rows(b, m, lower, bias ? bias + binds->width : NULL);
    binds->width += (uint32_t)matrices_rows(m);
}

/* Bind part `from` and the following parts of the same stored type. Values are bound separately if they are packed as another type. @return
 * the first remaining part */
static int add_parts(struct build *b, struct linear_binds *binds, const struct linear_desc *l, const struct linear_input *in,
                     const struct matrices *all, int from, uint64_t n_values, const float *bias)
{
    int to = from + 1;
    while (to < l->n_parts && all->tensor[to]->type == all->tensor[from]->type) to++;
    const enum packed_type lower = precision_of(b, l->role, all, from, in);
    struct matrices m = *all;
    m.n_parts = to - from;
    for (int i = 0; i < m.n_parts; i++) {
        m.tensor[i] = all->tensor[from + i];
        m.n[i] = all->n[from + i];
    }
    const enum packed_type values = n_values ? precision_of_values(b, &m, in, lower) : lower;
    if (values != lower) m.n[0] -= n_values;
    add_rows(b, binds, &m, lower, bias);
    if (values == lower) return to;
    m.first = m.n[0];
    m.n[0] = n_values;
    add_rows(b, binds, &m, values, bias);
    return to;
}

struct linear_binds bind_linear_values(struct build *b, const struct linear_desc *desc, uint64_t n_values)
{
    struct linear_binds binds = { 0 };
    struct linear_desc own = *desc;
    const struct linear_desc *const l = &own;
    if (head_room(own.out_head) == own.out_head) own.out_head = 0; /* nothing to add */
    if (head_room(own.in_head) == own.in_head) own.in_head = 0;
    struct matrices m = { .k = l->k, .n_parts = l->n_parts, .taps = 1, .row_head = l->out_head, .column_head = l->in_head };
    for (int i = 0; i < l->n_parts; i++) {
        m.tensor[i] = bind_tensor(b, l->part[i].weight, l->part[i].n, l->k, 0);
        m.n[i] = l->part[i].n;
    }
    const float *bias = bias_of(b, l);
    const float *norm = !b->status && l->norm != NO_BIND ? bind_at(b, l->norm)->norm_weight : NULL;
    const struct linear_input in = precision_input(b, l->role, &m, norm);
    for (int t = KV_TYPES; t < KV_ALL; t++) binds.attends[t - KV_TYPES] = precision_attends_in(b, l->role, &in, (enum kv_type)t);
    if (!b->status && matrices_rows(&m) > UINT32_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: tensor %s has too many rows", b->p.weights->name, m.tensor[0]->name);
    for (int from = 0; from < l->n_parts && !b->status;) from = add_parts(b, &binds, l, &in, &m, from, n_values, bias);
    return binds;
}

struct linear_binds bind_linear(struct build *b, const struct linear_desc *l)
{
    return bind_linear_values(b, l, 0);
}

uint16_t bind_matrix(struct build *b, const struct linear_part *part, uint64_t k, enum linear_role role, uint16_t norm)
{
    return bind_linear(b, &(struct linear_desc){ part, 1, k, role, norm, 0, 0 }).bind[0];
}

enum kv_type linear_kv_type(const struct build *b, const struct linear_binds *l)
{
    if (b->status) return KV_F32;
    for (int i = 0; i < l->n; i++) {
        const uint8_t t = b->bind[l->bind[i]].type;
        if (t != PK_BF16_PAIR && (t != PK_I8_QUAD || !b->p.precision.bf16)) return KV_F32;
    }
    return KV_BF16;
}

static int suits_run(const struct build *b, const struct linear_binds *l, uint32_t d_head, enum kv_type t)
{
    const int may = l->attends[t - KV_TYPES] && (t == KV_I8 || d_head <= I16_GROUP);
    int all = may && !b->status && head_room(d_head) == d_head && l->width <= UINT16_MAX && b->plan.max_rows <= RUN_KEYS_MAX;
    for (int i = 0; i < l->n && all; i++) all = b->bind[l->bind[i]].type == kv_run_packed(t);
    return all;
}

enum kv_type linear_kv_type_of_run(const struct build *b, const struct linear_binds *l, uint32_t d_head)
{
    for (int t = KV_I8; t < KV_ALL; t++)
        if (suits_run(b, l, d_head, (enum kv_type)t)) return (enum kv_type)t;
    return linear_kv_type(b, l);
}

/* The number of outputs in both [at, at + n) and [from, to). */
static uint32_t overlap(uint32_t at, uint32_t n, uint32_t from, uint32_t to)
{
    const uint32_t a = at > from ? at : from, b = at + n < to ? at + n : to;
    return a < b ? b - a : 0;
}

void emit_linear(struct build *b, const struct linear_use *u, const struct linear_binds *l)
{
    const uint32_t n_y = l->width - 2 * u->n_kv;
    char label[NAME_MAX_LEN];
    if (!b->status && l->n > 1 && l->width > UINT16_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s has %u outputs in parts of unequal types, want at most %d",
                            b->p.weights->name, u->label, l->width, UINT16_MAX);
    for (int i = 0; i < l->n && !b->status; i++) {
        struct bind *c = bind_at(b, l->bind[i]);
        c->n_y = overlap(l->column[i], c->n, 0, n_y);
        c->n_kv = overlap(l->column[i], c->n, n_y, n_y + u->n_kv);
        c->act = (uint8_t)u->act;
        c->heads = u->heads;
        c->kv_heads = u->kv_heads;
        c->d_head = u->d_head;
        snprintf(label, sizeof label, "%s.%d", u->label, i);
        struct op *op = emit(b, OP_LINEAR, l->n > 1 ? label : u->label, c->n_y ? u->out : NO_SLOT, u->in, l->bind[i]);
        if (!op) return;
        if (c->n_y) op->aux = u->aux;
        if (c->n_y) op->column = (uint16_t)l->column[i];
        if (c->n_y == c->n) continue;
        op->kv_slot = u->kv_slot;
        op->state = u->state;
        op->layer = u->layer;
    }
}

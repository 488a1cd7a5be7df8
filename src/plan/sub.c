/* steno: the boxes of a transformer as ops. SPDX-License-Identifier: MIT
 *
 * Each sub-layer normalises x, does its work, and adds the result to x: the pre-norm residual blocks of Vaswani et al. 2017 as Whisper
 * arranges them (Radford et al. 2022). Names of weights are openai/whisper's; readers of other formats translate theirs. */
#include "plan/build.h"
#include <stdio.h>

enum { PART_MAX = 64 };

/* "NAME.SUFFIX" for a part of the layer. */
struct part { char s[PART_MAX]; };
static struct part part_of(const char *name, const char *suffix)
{
    struct part p;
    snprintf(p.s, sizeof p.s, "%s.%s", name, suffix);
    return p;
}

static uint16_t norm_of(struct build *b, const char *name, uint32_t d)
{
    const struct part g = part_of(name, "weight"), v = part_of(name, "bias");
    return bind_norm(b, g.s, v.s, d);
}

static uint16_t linear_of(struct build *b, const char *name, uint64_t n, uint64_t k)
{
    const struct part w = part_of(name, "weight"), v = part_of(name, "bias");
    return bind_linear(b, 1, (const char *const[]){ w.s }, (const char *const[]){ v.s }, n, k);
}

/* x += out(attended) */
static void emit_out(struct build *b, const char *label, const char *name, uint32_t d, uint16_t x, uint16_t attended)
{
    struct op *op = emit(b, OP_LINEAR, label, x, attended, linear_of(b, name, d, d));
    if (op) op->aux = x;
}

void sub_attn(struct build *b, const struct sub_dims *d, const char *norm, uint16_t x, uint16_t layer, unsigned flags)
{
    const int causal = flags & SUB_CAUSAL;
    const uint16_t normed = build_slot(b, d->d), attended = build_slot(b, d->d);
    emit(b, OP_NORM, norm, normed, x, norm_of(b, norm, d->d));

    const uint16_t qkv = bind_linear(b, 3, (const char *const[]){ "attn.query.weight", "attn.key.weight", "attn.value.weight" },
                                     (const char *const[]){ "attn.query.bias", NULL, "attn.value.bias" }, d->d, d->d);
    const uint16_t rows = build_slot(b, causal ? 3 * d->d : d->d);
    const uint16_t kv = causal ? NO_SLOT : build_slot_kv(b, d->heads, d->d_head);
    struct op *op = emit(b, OP_LINEAR, "attn.qkv", rows, normed, qkv);
    if (!op || b->status) return;
    op->kv_slot = kv;
    struct bind *c = bind_at(b, qkv);
    c->heads = (uint16_t)d->heads;
    c->d_head = (uint16_t)d->d_head;
    if (!causal) c->n_y = c->n_kv = d->d; /* keys and values go head-major, straight from the projection */

    op = emit(b, OP_ATTN, "attn", attended, rows, bind_attn(b, d->heads, d->d_head));
    if (!op) return;
    op->kv_slot = kv;
    op->layer = layer;
    if (causal) op->flags = OPF_CAUSAL | OPF_PUT, op->state = 0;
    emit_out(b, "attn.out", "attn.out", d->d, x, attended);
}

void sub_cross(struct build *b, const struct sub_dims *d, const char *norm, uint16_t x, uint16_t layer, unsigned flags)
{
    (void)flags;
    const uint16_t normed = build_slot(b, d->d), q = build_slot(b, d->d), attended = build_slot(b, d->d);
    emit(b, OP_NORM, norm, normed, x, norm_of(b, norm, d->d));
    emit(b, OP_LINEAR, "cross_attn.query", q, normed, linear_of(b, "cross_attn.query", d->d, d->d));
    struct op *op = emit(b, OP_ATTN, "cross_attn", attended, q, bind_attn(b, d->heads, d->d_head));
    if (!op) return;
    op->state = 1;
    op->layer = layer;
    emit_out(b, "cross_attn.out", "cross_attn.out", d->d, x, attended);
}

void sub_ffn(struct build *b, const struct sub_dims *d, const char *norm, uint16_t x, uint16_t layer, unsigned flags)
{
    (void)layer;
    const uint16_t normed = build_slot(b, d->d), wide = build_slot(b, d->d_ff);
    emit(b, OP_NORM, norm, normed, x, norm_of(b, norm, d->d));
    const uint16_t up = linear_of(b, "mlp.0", d->d_ff, d->d);
    emit(b, OP_LINEAR, "mlp.up", wide, normed, up);
    if (b->status) return;
    bind_at(b, up)->act = flags & SUB_TANH ? ACT_GELU_TANH : ACT_GELU_ERF;
    struct op *op = emit(b, OP_LINEAR, "mlp.down", x, wide, linear_of(b, "mlp.2", d->d, d->d_ff));
    if (op) op->aux = x;
}

void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x)
{
    for (uint32_t i = 0; i < n_layers && !b->status; i++) {
        char name[PART_MAX];
        snprintf(name, sizeof name, "%s.%u", prefix, i);
        b->prefix = name;
        for (const struct sub *s = table; s->fn; s++) s->fn(b, d, s->norm, x, (uint16_t)i, s->flags);
        b->prefix = "";
    }
}

void sub_cross_kv(struct build *b, const struct sub_dims *d, const char *prefix, uint16_t enc, uint16_t state, uint16_t layer)
{
    b->prefix = prefix;
    const uint16_t kv = bind_linear(b, 2, (const char *const[]){ "cross_attn.key.weight", "cross_attn.value.weight" },
                                    (const char *const[]){ NULL, "cross_attn.value.bias" }, d->d, d->d);
    struct op *op = emit(b, OP_LINEAR, "cross_attn.kv", NO_SLOT, enc, kv);
    b->prefix = "";
    if (!op || b->status) return;
    op->state = state;
    op->layer = layer;
    struct bind *c = bind_at(b, kv);
    c->n_y = 0;
    c->n_kv = d->d;
    c->heads = (uint16_t)d->heads;
    c->d_head = (uint16_t)d->d_head;
}

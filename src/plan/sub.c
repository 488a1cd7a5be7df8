/* steno: the boxes of a transformer as ops. SPDX-License-Identifier: MIT
 *
 * Each sub-layer normalises x, does its work, and adds the result to x: the pre-norm residual blocks of Vaswani et al. 2017 as Whisper
 * arranges them (Radford et al. 2022). Names of weights are openai/whisper's; readers of other formats translate theirs. */
#include "plan/sub.h"
#include <stdio.h>
#include "plan/bind.h"
#include "plan/emit.h"

enum { PART_MAX = 64 };

/* "NAME.SUFFIX" for a part of the layer. */
struct clip_result { char s[PART_MAX]; };
static struct clip_result part_of(const char *name, const char *suffix)
{
    struct clip_result p;
    snprintf(p.s, sizeof p.s, "%s.%s", name, suffix);
    return p;
}

/* "NAME.PART.SUFFIX" */
static struct clip_result part_in(const char *name, const char *part, const char *suffix)
{
    struct clip_result p;
    snprintf(p.s, sizeof p.s, "%s.%s.%s", name, part, suffix);
    return p;
}

static uint16_t norm_of(struct build *b, const char *name, uint32_t d, float eps)
{
    const struct clip_result g = part_of(name, "weight"), v = part_of(name, "bias");
    return bind_norm(b, g.s, v.s, d, eps);
}

static uint16_t linear_of(struct build *b, const char *name, uint64_t n, uint64_t k)
{
    const struct clip_result w = part_of(name, "weight"), v = part_of(name, "bias");
    return bind_linear(b, 1, (const char *const[]){ w.s }, (const char *const[]){ v.s }, n, k);
}

/* out = NAME(in) + added */
static void emit_linear(struct build *b, const char *name, uint16_t out, uint16_t in, uint16_t added, uint64_t n, uint64_t k)
{
    struct op *op = emit(b, OP_LINEAR, name, out, in, linear_of(b, name, n, k));
    if (op) op->aux = added;
}

/* A norm of its own slot. */
static uint16_t emit_norm(struct build *b, const char *name, uint16_t in, uint32_t d, float eps)
{
    const uint16_t normed = build_slot(b, d);
    const uint16_t norm = norm_of(b, name, d, eps);
    emit(b, OP_NORM, name, normed, in, norm);
    b->norm_weight = b->status ? NULL : bind_at(b, norm)->norm_weight;
    return normed;
}

/* Q, K and V of rows `in` by the linear `qkv`, then attention over the rows of this run (kv: where keys and values go) or, kv NO_SLOT, over
 * the positions of state `state`. @return the attended rows */
static uint16_t emit_self_attn(struct build *b, const struct sub_dims *d, const char *name, uint16_t in, uint16_t qkv, uint16_t kv,
                               uint16_t state, uint16_t layer)
{
    const uint16_t attended = build_slot(b, d->d), rows = build_slot(b, kv == NO_SLOT ? 3 * d->d : d->d);
    const struct clip_result label = part_of(name, "qkv");
    struct op *op = emit(b, OP_LINEAR, label.s, rows, in, qkv);
    if (!op || b->status) return attended;
    op->kv_slot = kv;
    struct bind *c = bind_at(b, qkv);
    c->heads = (uint16_t)d->heads;
    c->d_head = (uint16_t)d->d_head;
    if (kv != NO_SLOT) c->n_y = c->n_kv = d->d; /* keys and values go head-major, straight from the projection */

    op = emit(b, OP_ATTN, name, attended, rows, bind_attn(b, d->heads, d->d_head));
    if (!op) return attended;
    op->kv_slot = kv;
    op->layer = layer;
    if (kv == NO_SLOT) op->flags = OPF_CAUSAL | OPF_WRITE_KV, op->state = state;
    return attended;
}

/* Keys and values of a product of bf16 are attended to in such products. */
static enum kv_type kv_type_after(struct build *b, uint16_t qkv)
{
    return !b->status && bind_at(b, qkv)->type == PK_BF16_PAIR ? KV_BF16 : KV_F32;
}

/* Behind attention, added to the stream x. */
static void emit_projection(struct build *b, const char *name, uint16_t x, uint16_t attended, uint32_t d)
{
    const enum packed_type layers = b->low_precision;
    b->low_precision = b->low_precision_out;
    emit_linear(b, name, x, attended, x, d, d);
    b->low_precision = layers;
}

void sub_attn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    const uint16_t normed = emit_norm(b, s->norm, x, d->d, d->eps);
    const struct clip_result qw = part_in(s->name, "query", "weight"), kw = part_in(s->name, "key", "weight");
    const struct clip_result vw = part_in(s->name, "value", "weight"), qb = part_in(s->name, "query", "bias");
    const struct clip_result vb = part_in(s->name, "value", "bias"), out = part_of(s->name, "out");
    const uint16_t qkv = bind_linear(b, 3, (const char *const[]){ qw.s, kw.s, vw.s }, (const char *const[]){ qb.s, NULL, vb.s }, d->d,
                                     d->d);
    const uint16_t kv = s->flags & SUB_CAUSAL ? NO_SLOT : build_slot_kv(b, d->heads, d->d_head, kv_type_after(b, qkv));
    const uint16_t attended = emit_self_attn(b, d, s->name, normed, qkv, kv, 0, layer);
    emit_projection(b, out.s, x, attended, d->d);
}

/* Memory and attention side by side: the memory filters the values before they are cut into heads. */
static void emit_sanm(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t out, uint16_t in, uint32_t d_in,
                      uint16_t residual)
{
    const uint16_t normed = emit_norm(b, s->norm, in, d_in, d->eps);
    const struct clip_result q = part_of(s->name, "linear_q_k_v"), o = part_of(s->name, "linear_out");
    const struct clip_result f = part_of(s->name, "fsmn_block"), fw = part_in(s->name, "fsmn_block", "weight");
    const uint16_t kv = build_slot_kv(b, d->heads, d->d_head, KV_F32), memory = build_slot(b, d->d);
    const uint16_t qkv = linear_of(b, q.s, 3 * (uint64_t)d->d, d_in);
    const uint16_t attended = emit_self_attn(b, d, s->name, normed, qkv, kv, NO_STATE, 0);
    struct op *op = emit(b, OP_FSMN, f.s, memory, NO_SLOT, bind_fsmn(b, fw.s, d->d, d->taps, (d->taps - 1) / 2, d->heads));
    if (!op || b->status) return;
    op->kv_slot = kv;
    op->aux = residual;
    emit_linear(b, o.s, out, attended, memory, d->d, d->d);
}

void sub_sanm(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    (void)layer;
    emit_sanm(b, d, s, x, x, d->d, x);
}

void sub_sanm_first(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t in, uint32_t d_in)
{
    emit_sanm(b, d, s, x, in, d_in, NO_SLOT);
}

/* Weights of the wanted heads of a layer: each over the frames, over the rows, filtered, and added to the average of all of them. */
static void emit_heads(struct build *b, const char *name, uint16_t q, uint16_t attn, uint16_t layer)
{
    struct heads_wanted *h = &b->heads;
    uint16_t score = NO_SLOT, share = 0;
    for (; h->done < h->n && h->head[h->done].layer == layer && !b->status; h->done++) {
        char label[3][PART_MAX];
        static const char *const step[] = { "score", "standard", "median" };
        for (int i = 0; i < 3; i++) snprintf(label[i], sizeof label[i], "%s.%s.%u", name, step[i], h->head[h->done].head);
        if (score == NO_SLOT) {
            score = build_slot(b, h->frames);
            share = bind_scale(b, 1 / (float)h->n, NULL, h->frames);
        }
        struct op *op = emit(b, OP_ATTN_WEIGHTS, label[0], score, q, attn);
        if (!op) return;
        op->state = 1;
        op->layer = layer;
        op->attn_head = h->head[h->done].head;
        emit(b, OP_ZSCORE, label[1], score, score, share);
        op = emit(b, OP_MEDIAN_FILTER, label[2], h->average, score, share);
        if (op && h->done) op->aux = h->average;
    }
}

void sub_cross(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    const uint16_t normed = emit_norm(b, s->norm, x, d->d, d->eps), q = build_slot(b, d->d), attended = build_slot(b, d->d);
    const struct clip_result query = part_of(s->name, "query"), out = part_of(s->name, "out");
    emit_linear(b, query.s, q, normed, NO_SLOT, d->d, d->d);
    const uint16_t attn = bind_attn(b, d->heads, d->d_head);
    emit_heads(b, s->name, q, attn, layer);
    struct op *op = emit(b, OP_ATTN, s->name, attended, q, attn);
    if (!op) return;
    op->state = 1;
    op->layer = layer;
    emit_projection(b, out.s, x, attended, d->d);
}

void sub_ffn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    (void)layer;
    const uint16_t normed = emit_norm(b, s->norm, x, d->d, d->eps), wide = build_slot(b, d->d_ff);
    const uint16_t up = linear_of(b, s->name, d->d_ff, d->d);
    emit(b, OP_LINEAR, s->name, wide, normed, up);
    if (b->status) return;
    bind_at(b, up)->act = s->flags & SUB_TANH ? ACT_GELU_TANH : s->flags & SUB_RELU ? ACT_RELU : ACT_GELU_ERF;
    emit_linear(b, s->name2, x, wide, x, d->d, d->d_ff);
}

void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x)
{
    for (uint32_t i = 0; i < n_layers && !b->status; i++) {
        char name[PART_MAX];
        snprintf(name, sizeof name, "%s.%u", prefix, i);
        b->prefix = name;
        for (const struct sub *s = table; s->fn; s++) s->fn(b, d, s, x, (uint16_t)i);
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

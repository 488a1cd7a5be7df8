/* steno: sub-layers of a transformer as ops. SPDX-License-Identifier: MIT
 *
 * Each sub-layer normalises x, computes, and adds the result to x: the pre-norm residual blocks of Vaswani et al. 2017 in Whisper's
 * arrangement (Radford et al. 2022). Names of weights are those of openai/whisper; readers of other formats translate theirs. */
#include "plan/sub.h"
#include <stdio.h>
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/logits_approx.h"

enum { PART_MAX = 64 };

/* "NAME.SUFFIX" for a part of the layer. */
struct part_name { char s[PART_MAX]; };
static struct part_name part_of(const char *name, const char *suffix)
{
    struct part_name p;
    snprintf(p.s, sizeof p.s, "%s.%s", name, suffix);
    return p;
}

/* "NAME.PART.SUFFIX" */
static struct part_name part_in(const char *name, const char *part, const char *suffix)
{
    struct part_name p;
    snprintf(p.s, sizeof p.s, "%s.%s.%s", name, part, suffix);
    return p;
}

static uint32_t q_width(const struct sub_dims *d) { return d->n_heads * d->d_head; }
static uint32_t kv_width(const struct sub_dims *d) { return d->n_kv_heads * d->d_head; }
/* The same with padded heads. */
static uint32_t q_room(const struct sub_dims *d) { return d->n_heads * head_room(d->d_head); }
static uint32_t kv_room(const struct sub_dims *d) { return d->n_kv_heads * head_room(d->d_head); }
static uint32_t taps_before(const struct sub_dims *d) { return (d->taps - 1) / 2 + d->shift; }

/* A norm with an output slot. */
struct normed { uint16_t slot, norm; };
static struct normed emit_norm(struct build *b, const struct sub_dims *d, const char *name, uint16_t in, uint32_t width)
{
    const struct part_name w = part_of(name, "weight"), v = part_of(name, "bias");
    const uint16_t norm = d->norm == NORM_RMS ? bind_norm_rms(b, w.s, width, d->eps, d->norms_less_one)
                                              : bind_norm(b, w.s, v.s, width, d->eps);
    const struct normed n = { build_slot(b, width), norm };
    emit(b, OP_NORM, name, n.slot, in, n.norm);
    return n;
}

/* A matrix with a bias: out = act(NAME(in)) + aux. norm: the norm that computes `in`, or NO_BIND. Heads as in struct linear_desc. */
struct matrix { const char *name; uint64_t n, k; enum linear_role role; uint16_t norm; enum act act; uint32_t out_head, in_head; };
static void emit_matrix(struct build *b, const struct matrix *m, uint16_t out, uint16_t in, uint16_t aux)
{
    const struct part_name w = part_of(m->name, "weight"), v = part_of(m->name, "bias");
    const struct linear_part part = { w.s, v.s, m->n };
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ &part, 1, m->k, m->role, m->norm, NULL, m->out_head, m->in_head });
    emit_linear(b, &(struct linear_use){ .label = m->name, .out = out, .in = in, .aux = aux, .act = m->act, .kv_slot = NO_SLOT,
                                         .state = NO_STATE }, &l);
}

/* A linear whose outputs belong to heads. */
static struct linear_use use_of(const struct sub_dims *d, const char *label, uint16_t out, uint16_t in)
{
    return (struct linear_use){ .label = label, .out = out, .in = in, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE,
                                .heads = (uint16_t)d->n_heads, .kv_heads = (uint16_t)d->n_kv_heads,
                                .d_head = (uint16_t)head_room(d->d_head) };
}

/* Append keys and values of earlier runs to those in the slot, so that attention can use them. */
static void emit_look_back(struct build *b, const struct sub_dims *d, const char *name, uint16_t kv, uint16_t layer)
{
    if (!d->past) return;
    const struct part_name label = part_of(name, "past");
    struct op *op = emit(b, OP_LOOK_BACK, label.s, NO_SLOT, NO_SLOT, bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head));
    if (!op) return;
    op->kv_slot = kv;
    op->state = d->past - 1;
    op->layer = layer;
}

/* Are keys and values packed by a separate op, from rows that contain them after queries? */
static int is_packed(const struct build *b, uint16_t kv)
{
    return !b->status && kv != NO_SLOT && kv_is_run((enum kv_type)b->slot[kv].kv_type);
}

/* Q, K and V of rows `in` by the linear `qkv`. kv: slot for keys and values of this run, NO_SLOT: they stay in the rows. @return the
 * rows */
static uint16_t emit_qkv(struct build *b, const struct sub_dims *d, const char *name, uint16_t in, const struct linear_binds *qkv,
                         uint16_t kv, uint16_t layer)
{
    const int beside = kv == NO_SLOT || is_packed(b, kv);
    const uint16_t rows = build_slot(b, q_room(d) + (beside ? 2 * kv_room(d) : 0));
    const struct part_name label = part_of(name, "qkv"), pack = part_of(name, "pack");
    struct linear_use use = use_of(d, label.s, rows, in);
    if (!beside) use.n_kv = kv_room(d), use.kv_slot = kv; /* the linear writes keys and values head-major */
    emit_linear(b, &use, qkv);
    if (!beside) emit_look_back(b, d, name, kv, layer);
    if (!is_packed(b, kv)) return rows;
    struct op *op = emit(b, OP_KV_PACK, pack.s, NO_SLOT, rows, bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head));
    if (op) op->kv_slot = kv, op->column = (uint16_t)q_room(d);
    return rows;
}

/* Attention of emit_qkv's rows over keys of this run, or, with kv NO_SLOT, over the plan's self_state. @return the output slot */
static uint16_t emit_attend(struct build *b, const struct sub_dims *d, const char *name, uint16_t rows, uint16_t kv, uint16_t layer)
{
    const int causal = kv == NO_SLOT;
    const uint16_t attended = build_slot(b, q_room(d));
    struct op *op = emit(b, OP_ATTN, name, attended, rows, bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head));
    if (!op) return attended;
    op->kv_slot = kv;
    op->layer = layer;
    if (!causal) op->past = d->past;
    if (causal) op->flags = OPF_CAUSAL | OPF_WRITE_KV, op->state = b->plan.self_state;
    return attended;
}

static enum kv_type kv_type_of_run(const struct build *b, const struct sub_dims *d, const struct sub *s, const struct linear_binds *l)
{
    if (s->flags & (SUB_CAUSAL | SUB_TABLE) || d->past) return linear_kv_type(b, l);
    return linear_kv_type_of_run(b, l, d->d_head);
}

/* A sub-layer over a state needs the plan's state. */
static int has_state(struct build *b, const char *name, const char *what, uint16_t state)
{
    if (!b->status && state == NO_STATE)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: %s attends to a state, but the plan has no %s", b->plan.name, name, what);
    return !b->status;
}

/* Names of the four matrices of an attention. */
struct attn_names { const char *q, *k, *v, *out; int has_key_bias; };
static void emit_attn(struct build *b, const struct sub_dims *d, const struct sub *s, const struct attn_names *a, uint16_t x,
                      uint16_t layer)
{
    const int causal = (s->flags & SUB_CAUSAL) != 0;
    if (causal && !has_state(b, s->name, "self_state", b->plan.self_state)) return;
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    const struct part_name qw = part_in(s->name, a->q, "weight"), kw = part_in(s->name, a->k, "weight");
    const struct part_name vw = part_in(s->name, a->v, "weight"), qb = part_in(s->name, a->q, "bias"), kb = part_in(s->name, a->k, "bias");
    const struct part_name vb = part_in(s->name, a->v, "bias"), out = part_of(s->name, a->out);
    const struct linear_part part[] = { { qw.s, qb.s, q_width(d) }, { kw.s, a->has_key_bias ? kb.s : NULL, kv_width(d) },
                                        { vw.s, vb.s, kv_width(d) } };
    const struct linear_binds qkv = bind_linear(b, &(struct linear_desc){ part, 3, d->d, LINEAR_QKV, normed.norm, NULL, d->d_head, 0 });
    const uint16_t kv = causal ? NO_SLOT : build_slot_kv(b, d->n_kv_heads, d->d_head, kv_type_of_run(b, d, s, &qkv));
    const uint16_t attended = emit_attend(b, d, s->name, emit_qkv(b, d, s->name, normed.slot, &qkv, kv, layer), kv, layer);
    emit_matrix(b, &(struct matrix){ out.s, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, d->d_head }, x, attended, x);
}

void sub_attn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    static struct attn_names const names = { "query", "key", "value", "out", 0 };
    emit_attn(b, d, s, &names, x, layer);
}

void sub_attn_linear(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    static struct attn_names const names = { "linear_q", "linear_k", "linear_v", "linear_out", 1 };
    emit_attn(b, d, s, &names, x, layer);
}

/* Matrices of queries, keys and values, with their names. */
struct qkv_parts { struct part_name w[3], v[3]; struct linear_part part[3]; };
static void qkv_of(struct qkv_parts *q, const struct sub_dims *d, const char *name, const char *const part[3], int has_biases)
{
    const uint32_t width[] = { q_width(d), kv_width(d), kv_width(d) };
    for (int i = 0; i < 3; i++) {
        q->w[i] = part_in(name, part[i], "weight");
        q->v[i] = part_in(name, part[i], "bias");
        q->part[i] = (struct linear_part){ q->w[i].s, has_biases ? q->v[i].s : NULL, width[i] };
    }
}

/* x = NORM(x + NAME(in)), where NAME is the matrix. */
static void emit_post(struct build *b, const struct sub_dims *d, const struct sub *s, const struct matrix *m, uint16_t x, uint16_t in)
{
    const uint16_t sum = build_slot(b, d->d);
    const struct part_name w = part_of(s->norm, "weight"), v = part_of(s->norm, "bias");
    emit_matrix(b, m, sum, in, x);
    emit(b, OP_NORM, s->norm, x, sum, bind_norm(b, w.s, v.s, d->d, d->eps));
}

void sub_attn_post(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    static const char *const part[] = { "query", "key", "value" };
    struct qkv_parts q;
    qkv_of(&q, d, s->name, part, 1);
    const struct linear_binds qkv = bind_linear(b, &(struct linear_desc){ q.part, 3, d->d, LINEAR_QKV, NO_BIND, NULL, d->d_head, 0 });
    const uint16_t kv = build_slot_kv(b, d->n_kv_heads, d->d_head, kv_type_of_run(b, d, s, &qkv));
    const uint16_t attended = emit_attend(b, d, s->name, emit_qkv(b, d, s->name, x, &qkv, kv, layer), kv, layer);
    emit_post(b, d, s, &(struct matrix){ s->name2, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, d->d_head }, x, attended);
}

/* Memory and attention in parallel: the memory filters the values before they are split into heads. */
static void emit_sanm(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t out, uint16_t in, uint32_t d_in,
                      uint16_t residual, uint16_t layer)
{
    const struct normed normed = emit_norm(b, d, s->norm, in, d_in);
    const struct part_name qw = part_in(s->name, "linear_q_k_v", "weight"), qb = part_in(s->name, "linear_q_k_v", "bias");
    const struct part_name f = part_of(s->name, "fsmn_block"), fw = part_in(s->name, "fsmn_block", "weight");
    const struct part_name o = part_of(s->name, "linear_out");
    const struct linear_part part = { qw.s, qb.s, q_width(d) + 2 * kv_width(d) };
    const struct linear_desc desc = { &part, 1, d_in, LINEAR_QKV, normed.norm, NULL, d->d_head, 0 };
    const struct linear_binds qkv = bind_linear_values(b, &desc, kv_width(d));
    const uint16_t kv = build_slot_kv(b, d->n_kv_heads, d->d_head, kv_type_of_run(b, d, s, &qkv));
    const int packed = is_packed(b, kv);
    const uint16_t memory = build_slot(b, kv_width(d)), rows = emit_qkv(b, d, s->name, normed.slot, &qkv, kv, layer);
    struct op *op = emit(b, OP_FSMN, f.s, memory, packed ? rows : NO_SLOT,
                         bind_fsmn(b, fw.s, kv_width(d), d->taps, taps_before(d), d->n_kv_heads));
    if (!op || b->status) return;
    if (packed) op->column = (uint16_t)(q_width(d) + kv_width(d));
    else op->kv_slot = kv;
    op->aux = residual;
    const uint16_t attended = emit_attend(b, d, s->name, rows, kv, layer);
    if (!b->status) b->op[b->plan.n_ops - 1].flags |= s->flags & SUB_CAUSAL ? OPF_CAUSAL : s->flags & SUB_TABLE ? OPF_TABLE : 0;
    emit_matrix(b, &(struct matrix){ o.s, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, d->d_head }, out, attended, memory);
}

void sub_sanm(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    emit_sanm(b, d, s, x, x, d->d, x, layer + 1);
}

void sub_sanm_first(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t in, uint32_t d_in)
{
    emit_sanm(b, d, s, x, in, d_in, NO_SLOT, 0);
}

/* Attention weights of a layer's selected heads. Each head is normalised over the frames and over the rows, filtered, and added to the
 * average of all heads. */
static void emit_heads(struct build *b, const char *name, uint16_t q, uint16_t attn, uint16_t layer)
{
    struct averaged_heads *h = &b->heads;
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
        op->state = b->plan.cross_state;
        op->layer = layer;
        op->attn_head = h->head[h->done].head;
        emit(b, OP_ZSCORE, label[1], score, score, share);
        op = emit(b, OP_MEDIAN_FILTER, label[2], h->average, score, share);
        if (op && h->done) op->aux = h->average;
    }
}

void sub_cross(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    if (!has_state(b, s->name, "cross_state", b->plan.cross_state)) return;
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    const uint16_t q = build_slot(b, q_room(d)), attended = build_slot(b, q_room(d));
    const struct part_name query = part_of(s->name, "query"), out = part_of(s->name, "out");
    emit_matrix(b, &(struct matrix){ query.s, q_width(d), d->d, LINEAR_CROSS_Q, normed.norm, ACT_NONE, d->d_head, 0 }, q, normed.slot,
                NO_SLOT);
    const uint16_t attn = bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head);
    emit_heads(b, s->name, q, attn, layer);
    struct op *op = emit(b, OP_ATTN, s->name, attended, q, attn);
    if (!op) return;
    op->state = b->plan.cross_state;
    op->layer = layer;
    emit_matrix(b, &(struct matrix){ out.s, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, d->d_head }, x, attended, x);
}

static enum act act_of(const struct sub *s)
{
    return s->flags & SUB_TANH ? ACT_GELU_TANH : s->flags & SUB_RELU ? ACT_RELU : ACT_GELU_ERF;
}

void sub_ffn_post(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    (void)layer;
    const uint16_t wide = build_slot(b, d->d_ff);
    emit_matrix(b, &(struct matrix){ s->name, d->d_ff, d->d, LINEAR_UP, NO_BIND, act_of(s), 0, 0 }, wide, x, NO_SLOT);
    emit_post(b, d, s, &(struct matrix){ s->name2, d->d, d->d_ff, LINEAR_DOWN, NO_BIND, ACT_NONE, 0, 0 }, x, wide);
}

void sub_ffn(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    (void)layer;
    const enum act act = act_of(s);
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    const uint16_t wide = build_slot(b, d->d_ff);
    emit_matrix(b, &(struct matrix){ s->name, d->d_ff, d->d, LINEAR_UP, normed.norm, act, 0, 0 }, wide, normed.slot, NO_SLOT);
    emit_matrix(b, &(struct matrix){ s->name2, d->d, d->d_ff, LINEAR_DOWN, NO_BIND, ACT_NONE, 0, 0 }, x, wide, x);
}

/* Add a product without a bias to the residual: out = NAME.PART(in) + out; with a norm after it, out = POST(NAME.PART(in)) + out. */
static void emit_plain(struct build *b, const struct sub_dims *d, const struct sub *s, const char *part, const struct matrix *m,
                       uint16_t out, uint16_t in)
{
    const struct part_name label = part_of(s->name, part), w = part_in(s->name, part, "weight");
    const struct linear_part p = { w.s, NULL, m->n };
    const uint16_t made = s->name2 ? build_slot(b, (uint32_t)m->n) : out;
    struct op *op = emit(b, OP_LINEAR, label.s, made, in, bind_matrix(b, &p, m->k, m->role, m->norm));
    if (op && !s->name2) op->aux = out;
    if (!s->name2) return;
    const struct normed post = emit_norm(b, d, s->name2, made, (uint32_t)m->n);
    op = emit(b, OP_ADD, "residual", out, post.slot, bind_scale(b, 1, NULL, m->n));
    if (op) op->aux = out;
}

static void emit_head_norm(struct build *b, const struct sub_dims *d, const char *name, const char *part, uint16_t rows, uint32_t column,
                           uint32_t heads)
{
    const struct part_name label = part_of(name, part), w = part_in(name, part, "weight");
    struct op *op = emit(b, OP_NORM, label.s, rows, rows, bind_norm_heads(b, w.s, heads, d->d_head, d->eps, d->norms_less_one));
    if (op) op->column = (uint16_t)column;
}

void sub_attn_rope(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    if (!has_state(b, s->name, "self_state", b->plan.self_state)) return;
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    static const char *const part[] = { "q_proj", "k_proj", "v_proj" };
    struct qkv_parts q;
    qkv_of(&q, d, s->name, part, d->has_qkv_bias);
    const uint16_t attended = build_slot(b, q_width(d)), rows = build_slot(b, q_width(d) + 2 * kv_width(d));
    const struct linear_binds qkv = bind_linear(b, &(struct linear_desc){ q.part, 3, d->d, LINEAR_QKV, normed.norm, NULL, 0, 0 });
    const struct part_name label = part_of(s->name, "qkv"), turn = part_of(s->name, "rope");
    const struct linear_use use = use_of(d, label.s, rows, normed.slot);
    emit_linear(b, &use, &qkv);
    if (d->has_qk_norm) emit_head_norm(b, d, s->name, "q_norm", rows, 0, d->n_heads);
    if (d->has_qk_norm) emit_head_norm(b, d, s->name, "k_norm", rows, q_width(d), d->n_kv_heads);
    emit(b, OP_ROPE, turn.s, rows, rows, d->rope);
    const uint16_t attn = bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head);
    struct op *op = emit(b, OP_ATTN, s->name, attended, rows, attn);
    if (!op || b->status) return;
    if (d->attn_scale > 0) bind_at(b, attn)->scale = d->attn_scale;
    bind_at(b, attn)->window = d->window;
    op->flags = OPF_CAUSAL | OPF_WRITE_KV;
    op->state = d->kv_state ? d->kv_state - 1 : b->plan.self_state;
    op->layer = d->kv_state ? d->kv_layer : layer;
    emit_plain(b, d, s, "o_proj", &(struct matrix){ NULL, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, 0 }, x, attended);
}

void sub_ffn_glu(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t layer)
{
    (void)layer;
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    const struct part_name gate = part_in(s->name, "gate_proj", "weight"), up = part_in(s->name, "up_proj", "weight");
    const struct linear_part part[] = { { gate.s, NULL, d->d_ff }, { up.s, NULL, d->d_ff } };
    const uint16_t both = build_slot(b, 2 * d->d_ff), glu = bind_scale(b, 1, NULL, d->d_ff);
    const struct linear_binds made = bind_linear(b, &(struct linear_desc){ part, 2, d->d, LINEAR_UP, normed.norm, NULL, 0, 0 });
    const struct part_name label = part_of(s->name, "gate_up"), name = part_of(s->name, "glu");
    emit_linear(b, &(struct linear_use){ .label = label.s, .out = both, .in = normed.slot, .aux = NO_SLOT, .kv_slot = NO_SLOT,
                                         .state = NO_STATE }, &made);
    if (!b->status) bind_at(b, glu)->act = s->flags & SUB_TANH ? ACT_GELU_TANH : ACT_SILU;
    emit(b, OP_GLU, name.s, both, both, glu);
    emit_plain(b, d, s, "down_proj", &(struct matrix){ NULL, d->d, d->d_ff, LINEAR_DOWN, NO_BIND, ACT_NONE, 0, 0 }, x, both);
}

void sub_ffn_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t out, uint16_t in)
{
    const uint16_t first = b->plan.n_ops, wide = build_slot(b, d->d_ff);
    const struct part_name up = part_of(s->name, "w_1"), norm = part_of(s->name, "norm");
    const struct part_name down = part_of(s->name, "w_2"), weight = part_in(s->name, "w_2", "weight");
    const struct linear_part part = { weight.s, NULL, d->d };
    const struct normed before = emit_norm(b, d, s->norm, in, d->d);
    emit_matrix(b, &(struct matrix){ up.s, d->d_ff, d->d, LINEAR_UP, before.norm, ACT_RELU, 0, 0 }, wide, before.slot, NO_SLOT);
    const struct normed within = emit_norm(b, d, norm.s, wide, d->d_ff);
    emit(b, OP_LINEAR, down.s, out, within.slot, bind_matrix(b, &part, d->d_ff, LINEAR_DOWN, within.norm));
    emit_rows(b, first, ROWS_TABLE);
}

void sub_sanm_tokens(struct build *b, const struct sub_dims *d, const struct sub *s, const char *norm2, uint16_t x)
{
    const uint16_t out = build_slot(b, d->d);
    const struct part_name f = part_of(s->name2, "fsmn_block"), fw = part_in(s->name2, "fsmn_block", "weight");
    sub_ffn_tokens(b, d, s, out, x);
    const uint16_t first = b->plan.n_ops;
    const struct normed y = emit_norm(b, d, norm2, out, d->d);
    struct op *op = emit(b, OP_FSMN, f.s, x, y.slot, bind_fsmn(b, fw.s, d->d, d->taps, taps_before(d), 1));
    if (op) op->aux = x;
    if (op && d->memory) op->state = d->memory - 1, op->layer = d->layer;
    op = d->memory ? emit(b, OP_SHIFT_STATE, f.s, NO_SLOT, y.slot, op ? op->bind : 0) : NULL;
    if (op) op->state = d->memory - 1, op->layer = d->layer;
    emit_rows(b, first, ROWS_TABLE);
}

/* out = attention of x over the rows enc, through linear_out, + aux */
static void emit_cross_rows(struct build *b, const struct sub_dims *d, const struct sub *s, struct columns out, uint16_t x, uint16_t enc,
                            uint16_t aux)
{
    const struct part_name q = part_of(s->name, "linear_q"), o = part_of(s->name, "linear_out"), kv = part_of(s->name, "linear_k_v");
    const struct part_name w = part_in(s->name, "linear_k_v", "weight"), v = part_in(s->name, "linear_k_v", "bias");
    const struct linear_part part = { w.s, v.s, 2 * kv_width(d) };
    const struct linear_binds made = bind_linear(b, &(struct linear_desc){ &part, 1, d->d, LINEAR_CROSS_KV, NO_BIND, NULL, d->d_head, 0 });
    struct linear_use use = use_of(d, kv.s, NO_SLOT, enc);
    use.n_kv = kv_room(d);
    use.kv_slot = build_slot_kv(b, d->n_kv_heads, d->d_head, linear_kv_type(b, &made));
    emit_linear(b, &use, &made);
    emit_look_back(b, d, s->name, use.kv_slot, d->layer);
    const uint16_t first = b->plan.n_ops, query = build_slot(b, q_room(d)), attended = build_slot(b, q_room(d));
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    emit_matrix(b, &(struct matrix){ q.s, q_width(d), d->d, LINEAR_CROSS_Q, normed.norm, ACT_NONE, d->d_head, 0 }, query, normed.slot,
                NO_SLOT);
    struct op *op = emit(b, OP_ATTN, s->name, attended, query, bind_attn(b, d->n_heads, d->n_kv_heads, d->d_head));
    if (op) op->kv_slot = use.kv_slot, op->past = d->past; /* kv_rows: ROWS_RUN */
    emit_matrix(b, &(struct matrix){ o.s, d->d, q_width(d), LINEAR_OUT, NO_BIND, ACT_NONE, 0, d->d_head }, out.slot, attended, aux);
    if (!b->status) b->op[b->plan.n_ops - 1].column = out.column;
    emit_rows(b, first, ROWS_TABLE);
}

void sub_cross_rows(struct build *b, const struct sub_dims *d, const struct sub *s, uint16_t x, uint16_t enc)
{
    emit_cross_rows(b, d, s, (struct columns){ x, 0 }, x, enc, x);
}

void sub_cross_rows_alone(struct build *b, const struct sub_dims *d, const struct sub *s, struct columns out, uint16_t x, uint16_t enc)
{
    emit_cross_rows(b, d, s, out, x, enc, NO_SLOT);
}

void sub_cross_scores(struct build *b, const struct sub_dims *d, const struct sub *s, struct cross_rows to, uint16_t x, uint16_t enc)
{
    const struct part_name q = part_of(s->name, "linear_q"), kv = part_of(s->name, "linear_k_v");
    emit_matrix(b, &(struct matrix){ kv.s, 2 * kv_width(d), d->d, LINEAR_CROSS_KV, NO_BIND, ACT_NONE, 0, 0 }, to.kv, enc, NO_SLOT);
    const uint16_t first = b->plan.n_ops;
    const struct normed normed = emit_norm(b, d, s->norm, x, d->d);
    emit_matrix(b, &(struct matrix){ q.s, q_width(d), d->d, LINEAR_CROSS_Q, normed.norm, ACT_NONE, 0, 0 }, to.q, normed.slot, NO_SLOT);
    emit_rows(b, first, ROWS_TABLE);
}

void sub_layer(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t i, uint16_t x)
{
    char name[PART_MAX];
    snprintf(name, sizeof name, "%s.%u", prefix, i);
    b->prefix = name;
    for (const struct sub *s = table; s->fn; s++) s->fn(b, d, s, x, (uint16_t)i);
    b->prefix = "";
}

void sub_stack(struct build *b, const struct sub *table, const struct sub_dims *d, const char *prefix, uint32_t n_layers, uint16_t x)
{
    for (uint32_t i = 0; i < n_layers && !b->status; i++) sub_layer(b, table, d, prefix, i, x);
}

void sub_lm_head(struct build *b, const struct lm_head *h, uint16_t x)
{
    const uint16_t last = build_slot_out(b, h->d), logits = build_slot_out(b, h->n_vocab);
    b->plan.logits = logits;
    const uint16_t approx = h->two_stages ? bind_approx(b, h->matrix, h->n_vocab, h->d) : NO_BIND;
    const uint16_t bounds = approx == NO_BIND ? NO_SLOT : build_slot_out(b, approx_bounds_width(h->n_vocab));
    b->plan.bounds = bounds;
    const uint16_t cap = h->cap > 0 ? bind_scale(b, h->cap, NULL, h->n_vocab) : NO_BIND;
    if (cap != NO_BIND && !b->status) bind_at(b, cap)->act = ACT_TANH;
    const struct { enum op_kind kind; const char *label; uint16_t out, in, bind; unsigned flags; } ops[] = {
        { OP_NORM, "ln", last, x, h->norm, 0 },
        { OP_LOGITS_APPROX, "approx", logits, last, approx, 0 },
        { OP_LOGITS_BOUND, "bounds", bounds, logits, approx, 0 },
        { OP_LINEAR, "logits", logits, last, h->tokens, approx == NO_BIND ? 0 : OPF_APPROX },
        { OP_ACT, "cap", logits, logits, cap, 0 },
        { OP_LOGITS_REDUCE, "reduce", NO_SLOT, logits, h->tokens, 0 },
        { OP_SAMPLE, "sample", NO_SLOT, logits, h->tokens, 0 },
    };
    b->prefix = h->prefix;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct op *op = ops[i].bind == NO_BIND ? NULL : emit(b, ops[i].kind, ops[i].label, ops[i].out, ops[i].in, ops[i].bind);
        if (!op) continue;
        op->rows = ROWS_OUT;
        op->flags = (uint8_t)ops[i].flags;
    }
    b->prefix = "";
}

void sub_best(struct build *b, const struct best_head *h, uint16_t x)
{
    static const struct { enum op_kind kind; const char *label; } ops[] = { { OP_LOGITS_BEST, "best" }, { OP_SAMPLE, "merge" } };
    b->prefix = h->prefix;
    for (int i = 0; i < 2; i++) {
        struct op *op = emit(b, ops[i].kind, ops[i].label, NO_SLOT, x, h->head);
        if (!op) continue;
        op->rows = (uint8_t)h->rows;
        op->approx = h->approx == NO_BIND ? 0 : (uint16_t)(h->approx + 1);
    }
    b->prefix = "";
}

void sub_cross_kv(struct build *b, const struct sub_dims *d, const char *prefix, uint16_t enc, uint16_t layer)
{
    if (!has_state(b, prefix, "cross_state", b->plan.cross_state)) return;
    b->prefix = prefix;
    const struct linear_part part[] = { { "cross_attn.key.weight", NULL, kv_width(d) },
                                        { "cross_attn.value.weight", "cross_attn.value.bias", kv_width(d) } };
    const struct linear_binds kv = bind_linear(b, &(struct linear_desc){ part, 2, d->d, LINEAR_CROSS_KV, NO_BIND, NULL, d->d_head, 0 });
    struct linear_use use = use_of(d, "cross_attn.kv", NO_SLOT, enc);
    use.n_kv = kv_room(d);
    use.state = b->plan.cross_state;
    use.layer = layer;
    emit_linear(b, &use, &kv);
    b->prefix = "";
}

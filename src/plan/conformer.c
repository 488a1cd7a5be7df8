/* steno: sub-layers of a Conformer as ops. SPDX-License-Identifier: MIT */
#include "plan/conformer.h"
#include <math.h>
#include <stdio.h>
#include "kern/rel_positions.h"
#include "plan/bind.h"
#include "plan/sub.h"

static uint32_t halved(uint32_t n, uint32_t left) { return (n + left - 2) / 2 + 1; }

/* Zeros before the stem's image. */
static uint32_t left_of(const struct conformer *c) { return c->is_causal ? 2 : 1; }

uint32_t conformer_columns(const struct conformer *c)
{
    const uint32_t left = left_of(c);
    return halved(halved(halved(c->n_mels, left), left), left);
}

/* ---- the stem */

/* The bindings of OP_STEM2D follow each other. */
static uint16_t bind_stem(struct build *b, const struct conformer *c)
{
    const struct linear_part all[] = { { "conv.3.weight", "conv.3.bias", c->channels }, { "conv.6.weight", "conv.6.bias", c->channels } };
    static const char *const each[][2] = { { "conv.2.weight", "conv.2.bias" }, { "conv.5.weight", "conv.5.bias" } };
    const uint16_t first = bind_squares(b, "conv.0.weight", "conv.0.bias", c->channels);
    if (b->status) return 0;
    bind_at(b, first)->act = ACT_RELU;
    bind_at(b, first)->d_head = (uint16_t)c->n_mels;
    bind_at(b, first)->stride = (uint16_t)c->stack;
    bind_at(b, first)->left = (uint16_t)left_of(c);
    for (int i = 0; i < 2; i++) {
        bind_filter(b, &(struct filter_desc){ .weight = each[i][0], .bias = each[i][1], .n = c->channels, .taps = 9, .left = 4,
                                              .is_square = 1 });
        const uint16_t id = bind_matrix(b, &all[i], c->channels, LINEAR_OTHER, NO_BIND);
        if (b->status) return 0;
        bind_at(b, id)->act = ACT_RELU;
    }
    return first;
}

/* The layer's rows of a state (1 + its number) move on by rows of `in`. */
static void shift_state(struct build *b, uint16_t state, uint16_t layer, const char *label, struct columns in, uint32_t width)
{
    struct op *op = emit(b, OP_SHIFT_STATE, label, NO_SLOT, in.slot, bind_scale(b, 0, NULL, width));
    if (!op) return;
    op->state = state - 1;
    op->layer = layer;
    op->column = in.column;
}

static uint16_t build_stem(struct build *b, const struct conformer *c, const char *prefix)
{
    char name[NAME_MAX_LEN];
    const uint32_t columns = conformer_columns(c), width = c->n_mels * c->stack + 1;
    const uint16_t in = b->plan.input = build_slot(b, width), wide = build_slot(b, columns * c->channels);
    const uint16_t x = build_slot(b, c->d);
    snprintf(name, sizeof name, "%s.pre_encode", prefix);
    b->prefix = name;
    struct op *op = emit(b, OP_STEM2D, "conv", wide, in, bind_stem(b, c));
    if (op && c->image) op->state = c->image - 1;
    if (c->image) shift_state(b, c->image, 0, "image", (struct columns){ in, 0 }, width);
    emit(b, OP_LINEAR, "out", x, wide, bind_by_columns(b, "out.weight", "out.bias", c->d, c->channels, columns));
    if (c->input_scale > 0) emit(b, OP_SCALE, "scale", x, x, bind_scale(b, c->input_scale, NULL, c->d));
    b->prefix = "";
    return x;
}

/* ---- layers */

struct layer_part { char s[NAME_MAX_LEN / 2]; };
static struct layer_part part_of(const char *name, const char *suffix)
{
    struct layer_part p;
    snprintf(p.s, sizeof p.s, "%s.%s", name, suffix);
    return p;
}

static uint16_t emit_norm(struct build *b, const struct conformer *c, const char *name, uint16_t out, uint16_t in)
{
    const struct layer_part w = part_of(name, "weight"), v = part_of(name, "bias");
    const uint16_t norm = bind_norm(b, w.s, v.s, c->d, c->eps);
    emit(b, OP_NORM, name, out, in, norm);
    return norm;
}

/* out = act(NAME(in)) + aux */
struct layer_matrix { const char *name; uint32_t n, k; enum linear_role role; uint16_t norm; enum act act; const float *deviations; };
static struct op *emit_matrix(struct build *b, const struct conformer *c, const struct layer_matrix *m, uint16_t out, uint16_t in,
                              uint16_t aux)
{
    const struct layer_part w = part_of(m->name, "weight"), v = part_of(m->name, "bias");
    const struct linear_part part = { w.s, c->has_biases ? v.s : NULL, m->n };
    const uint16_t id = bind_linear(b, &(struct linear_desc){ &part, 1, m->k, m->role, m->norm, m->deviations, 0, 0 }).bind[0];
    struct op *op = emit(b, OP_LINEAR, m->name, out, in, id);
    if (!op) return NULL;
    bind_at(b, id)->act = (uint8_t)m->act;
    op->aux = aux;
    return op;
}

/* x += FF(NORM(x)) / 2 */
static void build_ffn(struct build *b, const struct conformer *c, const char *norm_name, const char *name, uint16_t x)
{
    const struct layer_part up = part_of(name, "linear1"), down = part_of(name, "linear2"), add = part_of(name, "add");
    const uint16_t y = build_slot(b, c->d), wide = build_slot(b, c->d_ff), norm = emit_norm(b, c, norm_name, y, x);
    const struct layer_matrix first = { up.s, c->d_ff, c->d, LINEAR_UP, norm, ACT_SILU, NULL };
    const struct op *wider = emit_matrix(b, c, &first, wide, y, NO_SLOT);
    const float *deviations = wider ? bind_deviations(b, LINEAR_DOWN, up.s, wider->bind, norm) : NULL;
    const uint16_t made = build_slot(b, c->d);
    emit_matrix(b, c, &(struct layer_matrix){ down.s, c->d, c->d_ff, LINEAR_DOWN, NO_BIND, ACT_NONE, deviations }, made, wide, NO_SLOT);
    struct op *op = emit(b, OP_ADD, add.s, x, made, bind_scale(b, 0.5f, NULL, c->d));
    if (op) op->aux = x;
}

/* The products of distances with a layer's matrix, packed for its heads. */
static uint16_t build_distance_rows(struct build *b, const struct conformer *c, const char *name, uint16_t distances, uint16_t attn,
                                    enum kv_type type, uint16_t layer)
{
    const struct linear_part pos = { name, NULL, c->d };
    const uint16_t first = b->plan.n_ops, rows = build_slot_rows(b, 2 * b->plan.reach - 1, c->d);
    const uint16_t packed = build_slot_distances(b, c->heads, c->d / c->heads, type);
    struct op *op = emit(b, OP_LINEAR, "self_attn.linear_pos", rows, distances, bind_matrix(b, &pos, c->d, LINEAR_OTHER, NO_BIND));
    if (op) op->layer = layer;
    op = emit(b, OP_PACK_DISTANCES, "self_attn.pos_pack", NO_SLOT, rows, attn);
    if (op) op->kv_slot = packed, op->layer = layer;
    emit_rows(b, first, ROWS_DISTANCES);
    return packed;
}

/* Attention over rows of queries, keys and values. distances: slot of the table's rows; NO_SLOT: a stream */
static void build_heads(struct build *b, const struct conformer *c, uint16_t out, uint16_t rows, uint16_t distances, enum kv_type type,
                        uint16_t layer)
{
    static const char pos_name[] = "self_attn.linear_pos.weight";
    const uint32_t d_head = c->d / c->heads;
    const uint16_t attn = bind_attn(b, c->heads, c->heads, d_head);
    const float *table = NULL;
    uint16_t r = NO_SLOT, kv = NO_SLOT;
    struct op *op;
    if (c->keys) {
        table = bind_distance_rows(b, pos_name, c->behind + c->ahead + 1, c->d);
        shift_state(b, c->keys, layer, "self_attn.keys", (struct columns){ rows, (uint16_t)c->d }, 2 * c->d);
    } else {
        r = build_distance_rows(b, c, pos_name, distances, attn, type, layer);
        kv = build_slot_kv(b, c->heads, d_head, type);
        op = emit(b, OP_KV_PACK, "self_attn.pack", NO_SLOT, rows, attn);
        if (op) op->kv_slot = kv, op->column = (uint16_t)c->d;
    }
    const float *u = bind_table(b, "self_attn.pos_bias_u", c->heads, d_head), *v = bind_table(b, "self_attn.pos_bias_v", c->heads, d_head);
    op = emit(b, OP_ATTN_REL, "self_attn", out, rows, attn);
    if (!op) return;
    op->aux = r;
    op->kv_slot = kv;
    op->layer = layer;
    if (c->keys) op->state = c->keys - 1;
    struct bind *at = bind_at(b, attn);
    at->bias = u;
    at->filter = v;
    at->positions = table;
    if (table) at->k = c->behind + c->ahead;
    at->behind = c->behind;
    at->ahead = c->ahead;
}

static void build_attn(struct build *b, const struct conformer *c, uint16_t x, uint16_t distances, uint16_t layer)
{
    static const char *const weight[] = { "self_attn.linear_q.weight", "self_attn.linear_k.weight", "self_attn.linear_v.weight" };
    static const char *const bias[] = { "self_attn.linear_q.bias", "self_attn.linear_k.bias", "self_attn.linear_v.bias" };
    const uint16_t y = build_slot(b, c->d), norm = emit_norm(b, c, "norm_self_att", y, x), rows = build_slot(b, 3 * c->d);
    struct linear_part part[3];
    for (int i = 0; i < 3; i++) part[i] = (struct linear_part){ weight[i], c->has_biases ? bias[i] : NULL, c->d };
    const struct linear_binds qkv = bind_linear(b, &(struct linear_desc){ part, 3, c->d, LINEAR_QKV, norm, NULL, 0, 0 });
    emit_linear(b, &(struct linear_use){ .label = "self_attn.qkv", .out = rows, .in = y, .aux = NO_SLOT, .kv_slot = NO_SLOT,
                                         .state = NO_STATE }, &qkv);
    const uint16_t out = build_slot(b, c->d);
    build_heads(b, c, out, rows, distances, linear_kv_type_of_relative(b, &qkv, c->d / c->heads), layer);
    emit_matrix(b, c, &(struct layer_matrix){ "self_attn.linear_out", c->d, c->d, LINEAR_OUT, NO_BIND, ACT_NONE, NULL }, x, out, x);
}

static void build_filter(struct build *b, const struct conformer *c, uint16_t out, uint16_t in, uint16_t layer)
{
    static const char norm_name[] = "conv.batch_norm";
    const struct filter_desc f = { .weight = "conv.depthwise_conv.weight", .bias = c->has_biases ? "conv.depthwise_conv.bias" : NULL,
                                   .norm = c->has_layer_norm ? NULL : norm_name, .n = c->d, .taps = c->taps,
                                   .left = c->is_causal ? c->taps - 1 : (c->taps - 1) / 2, .eps = c->eps,
                                   .act = c->has_layer_norm ? ACT_NONE : ACT_SILU };
    struct op *op = emit(b, OP_FSMN, "conv.depthwise_conv", out, in, bind_filter(b, &f));
    if (op && c->filter_rows) op->state = c->filter_rows - 1, op->layer = layer;
    if (c->filter_rows) shift_state(b, c->filter_rows, layer, "conv.rows", (struct columns){ in, 0 }, c->d);
    if (!c->has_layer_norm) return;
    emit_norm(b, c, norm_name, out, out);
    const uint16_t act = bind_scale(b, 0, NULL, c->d);
    if (!b->status) bind_at(b, act)->act = ACT_SILU;
    emit(b, OP_ACT, "conv.act", out, out, act);
}

static void build_conv(struct build *b, const struct conformer *c, uint16_t x, uint16_t layer)
{
    const uint16_t y = build_slot(b, c->d), norm = emit_norm(b, c, "norm_conv", y, x), wide = build_slot(b, 2 * c->d);
    emit_matrix(b, c, &(struct layer_matrix){ "conv.pointwise_conv1", 2 * c->d, c->d, LINEAR_UP, norm, ACT_NONE, NULL }, wide, y, NO_SLOT);
    const uint16_t glu = bind_scale(b, 1, NULL, c->d), out = build_slot(b, c->d);
    if (!b->status) bind_at(b, glu)->act = ACT_SIGMOID, bind_at(b, glu)->gate_last = 1;
    emit(b, OP_GLU, "conv.glu", wide, wide, glu);
    build_filter(b, c, out, wide, layer);
    const float *deviations = bind_deviations_of_norm(b, LINEAR_DOWN, "conv.batch_norm", c->d);
    emit_matrix(b, c, &(struct layer_matrix){ "conv.pointwise_conv2", c->d, c->d, LINEAR_DOWN, NO_BIND, ACT_NONE, deviations }, x, out, x);
}

/* The rows of all distances, for layers that see whole clips. A row reads the distances to all keys in sight of its group. */
static uint16_t build_distances(struct build *b, const struct conformer *c)
{
    const uint32_t sight = c->behind > c->ahead ? c->behind : c->ahead;
    if (sight < b->plan.max_rows && sight + REL_ROWS < b->plan.max_rows) b->plan.reach = sight + REL_ROWS;
    const uint16_t distances = build_slot_rows(b, 2 * b->plan.reach - 1, c->d);
    struct op *op = emit(b, OP_DISTANCES, "distances", distances, NO_SLOT, bind_distances(b, b->plan.reach, c->d));
    if (op) op->rows = ROWS_DISTANCES;
    return distances;
}

uint16_t conformer_build(struct build *b, const struct conformer *c, const char *prefix)
{
    const uint16_t x = build_stem(b, c, prefix);
    const uint16_t distances = c->keys ? NO_SLOT : build_distances(b, c);
    for (uint32_t i = 0; i < c->layers && !b->status; i++) {
        char name[NAME_MAX_LEN];
        snprintf(name, sizeof name, "%s.layers.%u", prefix, (unsigned)i);
        b->prefix = name;
        build_ffn(b, c, "norm_feed_forward1", "feed_forward1", x);
        build_attn(b, c, x, distances, (uint16_t)i);
        build_conv(b, c, x, (uint16_t)i);
        build_ffn(b, c, "norm_feed_forward2", "feed_forward2", x);
        emit_norm(b, c, "norm_out", x, x);
        b->prefix = "";
    }
    if (!c->keys) build_keep_distances(b, c->kept_most);
    return x;
}

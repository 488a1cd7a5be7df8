/* steno tests: the ops of the plain executor, each over all its rows. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAIN_OPS_H
#define STENO_TESTS_PLAIN_OPS_H
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "executor/plain_executor.h"
#include "harness.h"
#include "kern/kv.h"
#include "plan/logits_approx.h"

enum { PLAIN_GAP = 7, PLAIN_PLANS = 4, PLAIN_STATES = 4 }; /* gap: floats between rows of a slot */

struct plain_plan { const struct plan *p; float **slot; /* [n_slots] row 0 of each slot; for keys and values the first byte */ };

struct plain_exec {
    struct exec base;
    struct plain_executor *x;
    struct plain_plan plan[PLAIN_PLANS];
    int n_plans, n_states;
    uint32_t max_out;
    struct kv_state *state;
    uint8_t *mem[PLAIN_STATES], *grown[PLAIN_STATES];
    uint32_t positions[PLAIN_STATES]; /* positions of shift states */
    float *staging; /* buffer of the last output request */
    void *scratch;
    uint16_t window;
};

/* An op that is being executed. */
struct plain_op {
    struct plain_exec *x;
    const struct plain_plan *plan;
    const struct op *op;
    const struct bind *bind;
    const struct kern *kern;
    struct run *run;
    const struct chain_calls *calls;
    const struct phases *what; /* NULL: a chain */
    uint32_t n_rows, rows;
};

/* ---- weights */

static inline int plain_weights(struct executor *executor, const void *at, size_t n, steno_error *e)
{
    struct plain_executor *x = (struct plain_executor *)(void *)executor;
    if (x->n_spans == PLAIN_SPANS) return err_set(e, STENO_EUNSUPPORTED, "more than %d pieces of weights", PLAIN_SPANS);
    struct plain_span *s = &x->span[x->n_spans];
    *s = (struct plain_span){ at, aligned_alloc(64, (n + 63) & ~(size_t)63), n };
    if (!s->own) return err_nomem(e, n, "weights");
    memcpy(s->own, at, n);
    x->n_spans++;
    return STENO_OK;
}

/* The executor's copy of the weights that a plan calls `name`. */
static inline const void *plain_at(const struct plain_op *o, const void *name)
{
    const uint8_t *p = name;
    if (!p) return NULL;
    for (int i = 0; i < o->x->x->n_spans; i++) {
        const struct plain_span *s = &o->x->x->span[i];
        if (p >= s->name && p < s->name + s->n) return s->own + (p - s->name);
    }
    fail_msg("op %s of plan %s: weights that the executor was not given", o->plan->p->label[o->op - o->plan->p->op], o->plan->p->name);
    return NULL;
}

/* ---- slots and states */

/* Inputs have the row length of the plan; padded rows have no gaps. */
static inline size_t plain_ld(const struct plan *p, uint16_t slot)
{
    return slot == p->input || p->slot[slot].front ? p->slot[slot].ld : p->slot[slot].width + PLAIN_GAP;
}

static inline struct plain_plan *plain_plan_of(struct plain_exec *x, const struct plan *p)
{
    for (int i = 0; i < x->n_plans; i++)
        if (x->plan[i].p == p) return &x->plan[i];
    fail_msg("plan %s was not opened", p->name);
    return NULL;
}

static inline float *plain_row(const struct plain_op *o, uint16_t slot, size_t row)
{
    return o->plan->slot[slot] + row * plain_ld(o->plan->p, slot);
}

/* Blocks of a state are ordered by lane or pool block, then head, then layer; the CPU's executor has heads and layers in the other
 * order. */
static inline struct kv_view plain_state(const struct plain_exec *x, int state, uint32_t layer, uint32_t head, uint32_t lane,
                                         size_t *head_sz)
{
    const struct kv_state *s = &x->state[state];
    const size_t block = kv_block_sz(s->type, s->desc.d_head), blocks = s->desc.kind == STATE_APPEND ? s->n_blocks : s->lane_blocks;
    uint8_t *base = x->mem[state];
    *head_sz = block * blocks * s->desc.layers;
    if (s->desc.kind != STATE_APPEND) base += lane * s->desc.heads * *head_sz;
    base += head * *head_sz + layer * blocks * block;
    return (struct kv_view){ base, block, s->desc.kind == STATE_APPEND ? state_table(s, lane) : NULL };
}

static inline float *plain_state_rows(const struct plain_exec *x, int state, uint32_t layer, uint32_t lane)
{
    const struct state_desc *d = &x->state[state].desc;
    return (float *)(void *)x->mem[state] + (size_t)(lane * d->layers + layer) * x->positions[state] * d->heads * d->d_head;
}

static inline struct kv_view plain_kv(const struct plain_op *o, uint32_t head, uint16_t lane, enum kv_type *type, size_t *head_sz)
{
    if (o->op->state != NO_STATE) {
        const struct kv_state *s = &o->x->state[o->op->state];
        *type = s->type;
        const uint32_t l = s->desc.kind == STATE_APPEND ? lane : o->run ? o->run->lane[lane].kv.window : lane;
        return plain_state(o->x, o->op->state, o->op->layer, head, l, head_sz);
    }
    const struct slot *s = &o->plan->p->slot[o->op->kv_slot];
    *type = (enum kv_type)s->kv_type;
    const size_t block = kv_block_sz(*type, s->d_head);
    *head_sz = s->rows / KV_BLOCK * block;
    return (struct kv_view){ (uint8_t *)o->plan->slot[o->op->kv_slot] + head * *head_sz, block, NULL };
}

static inline void plain_copies(struct plain_exec *x, struct kv_state *s, uint8_t *mem)
{
    const size_t block = kv_block_sz(s->type, s->desc.d_head);
    for (uint32_t i = 0; i < s->n_copies; i++)
        for (size_t k = 0; k < (size_t)s->desc.heads * s->desc.layers; k++)
            memcpy(mem + (k * s->n_blocks + s->copy[i].to) * block, mem + (k * s->n_blocks + s->copy[i].from) * block, block);
    s->n_copies = 0;
    (void)x;
}

/* ---- ops, each over all its rows */

static inline uint32_t plain_rows_count(const struct plain_op *o, uint8_t rows)
{
    if (rows == ROWS_OUT || rows == ROWS_TABLE) return rows == ROWS_OUT ? o->run->n_out : o->run->n_rows;
    if (rows == ROWS_DISTANCES) {
        uint32_t most = o->what && o->what->n_sequences ? 0 : o->n_rows;
        for (uint32_t k = 0; o->what && k < o->what->n_sequences; k++) most = o->what->sequence[k].n > most ? o->what->sequence[k].n : most;
        return 2 * (most < o->plan->p->reach ? most : o->plan->p->reach) - 1;
    }
    return (rows == ROWS_TWICE ? 2 : rows == ROWS_THRICE ? 3 : 1) * o->n_rows;
}

/* Sequence i of a kind of rows; a single sequence of all rows if they are not divided. */
static inline struct sequence plain_sequence_at(const struct plain_op *o, uint8_t rows, uint32_t i)
{
    const struct phases *w = o->what;
    const uint32_t n = plain_rows_count(o, rows);
    if (!w || !w->n_sequences || rows == ROWS_OUT || (rows == ROWS_TABLE && !w->tokens))
        return (struct sequence){ .n = (uint16_t)n, .lane = o->x->window };
    if (rows == ROWS_TABLE) return w->tokens[i];
    struct sequence s = w->sequence[i];
    for (uint16_t k = 1; k < (rows == ROWS_TWICE ? 2 : rows == ROWS_THRICE ? 3 : 1); k++) {
        s.row = (uint16_t)(s.row + w->sequence[i].row);
        s.n = (uint16_t)(s.n + w->sequence[i].n);
    }
    return s;
}

/* Index of the sequence of row r. */
static inline uint32_t plain_number(const struct plain_op *o, uint8_t rows, uint32_t r)
{
    for (uint32_t i = 0; o->what && i < o->what->n_sequences; i++) {
        const struct sequence s = plain_sequence_at(o, rows, i);
        if (r >= s.row && r - s.row < s.n) return i;
    }
    return 0;
}

/* The sequence of row r of the op, and the rows of another kind that belong to it. */
static inline struct sequence plain_sequence(const struct plain_op *o, uint32_t r)
{
    return plain_sequence_at(o, o->op->rows, plain_number(o, o->op->rows, r));
}

static inline struct sequence plain_beside(const struct plain_op *o, uint8_t rows, uint32_t r)
{
    return plain_sequence_at(o, rows, plain_number(o, o->op->rows, r));
}

static inline void plain_pad(const struct plain_op *o, uint16_t slot, size_t rows)
{
    const size_t n = plain_ld(o->plan->p, slot);
    memset(plain_row(o, slot, 0) - n, 0, n * sizeof(float));
    memset(plain_row(o, slot, rows), 0, n * sizeof(float));
}

static inline void plain_embed(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    for (uint32_t r = 0; r < o->rows; r++) {
        const struct row *row = &o->run->row[r];
        float *y = plain_row(o, o->op->out, r) + o->op->column;
        const float *positions = plain_at(o, c->positions);
        if (row->token < 0) memcpy(y, plain_row(o, o->op->in, (size_t)(-1 - row->token)), c->k * sizeof *y); /* token_of_input */
        else o->kern->embed[c->type](y, plain_at(o, c->w), (size_t)row->token, c->k);
        if (c->scale > 0 && row->token >= 0) o->kern->scale(y, y, c->scale, NULL, c->k);
        if (positions) o->kern->add(y, y, positions + (size_t)row->pos * c->k, c->k);
    }
}

/* Norms, scales, activations, sums and softmaxes: one row in, one row out. */
static inline void plain_rows(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const float *norm = plain_at(o, c->norm_weight), *bias = plain_at(o, c->bias), *positions = plain_at(o, c->positions);
    for (uint32_t r = 0; r < o->rows; r++) {
        const uint32_t src = o->op->rows == ROWS_OUT ? o->run->out_row[r] : r;
        const size_t at = o->op->kind == OP_ACT || o->op->kind == OP_ADD ? o->op->column : 0;
        float *y = plain_row(o, o->op->out, r) + at;
        const float *x = plain_row(o, o->op->in, src) + at;
        if (o->op->kind == OP_NORM && c->norm_kind == NORM_RMS) o->kern->norm_rms(y, x, norm, c->eps, c->k);
        else if (o->op->kind == OP_NORM) o->kern->norm_layer(y, x, norm, bias, c->eps, c->k);
        const uint8_t kind = o->op->rows == ROWS_OUT ? ROWS_RUN : o->op->rows;
        const uint32_t at_row = src - plain_sequence_at(o, kind, plain_number(o, kind, src)).row;
        const float *position = positions ? positions + (size_t)at_row * c->n : NULL;
        if (o->op->kind == OP_SCALE) o->kern->scale(y, x, c->scale, position, c->n);
        if (o->op->kind == OP_ACT && bias) o->kern->add(y, x, bias, c->n);
        if (o->op->kind == OP_ACT && c->scale > 0) o->kern->scale(y, x, 1 / c->scale, NULL, c->n);
        if (o->op->kind == OP_ACT) o->kern->act[c->act](y, bias || c->scale > 0 ? y : x, c->n);
        if (o->op->kind == OP_ACT && c->scale > 0) o->kern->scale(y, y, c->scale, NULL, c->n);
        const float *to = o->op->kind != OP_ADD ? NULL : o->op->aux == NO_SLOT ? positions + (size_t)r * c->n
                                                                               : plain_row(o, o->op->aux, r) + at;
        if (to && c->scale > 0) o->kern->scale(y, x, c->scale, to, c->n);
        else if (to) o->kern->add(y, x, to, c->n);
        if (o->op->kind == OP_SOFTMAX) o->kern->softmax(y, x, o->plan->p->slot[o->op->in].width);
    }
    if (o->op->flags & OPF_PADDED) plain_pad(o, o->op->out, o->rows);
}

/* Norms and rotations of a row's heads, in place, pair by pair. */
static inline void plain_heads(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const size_t half = c->n / 2, step = c->neighbours ? 2 : 1, apart = step == 2 ? 1 : half;
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t h = 0; h < c->heads; h++) {
            float *x = plain_row(o, o->op->in, r) + o->op->column + (size_t)h * c->d_head;
            if (o->op->kind == OP_NORM) o->kern->norm_rms(x, x, plain_at(o, c->norm_weight), c->eps, c->d_head);
            for (size_t j = 0; o->op->kind == OP_ROPE && j < half; j++) {
                const float *turn = (const float *)plain_at(o, c->positions) + (size_t)o->run->row[r].pos * c->n + j;
                const float a = x[step * j], b = x[step * j + apart];
                const float ac = a * turn[0], as = a * turn[half], bc = b * turn[0], bs = b * turn[half];
                x[step * j] = ac - bs;
                x[step * j + apart] = as + bc;
            }
        }
}

static inline void plain_glu(const struct plain_op *o)
{
    const uint32_t n = o->bind->n;
    for (uint32_t r = 0; r < o->rows; r++) {
        float *y = plain_row(o, o->op->out, r);
        float *x = plain_row(o, o->op->in, r), *gate = x + (o->bind->gate_last ? n : 0), *value = x + (o->bind->gate_last ? 0 : n);
        o->kern->act[o->bind->act](gate, gate, n);
        for (uint32_t i = 0; i < n; i++) y[i] = gate[i] * value[i];
    }
}

static inline void plain_magnitude(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    for (uint32_t r = 0; r < o->rows; r++)
        for (size_t i = 0; i < (size_t)c->heads * c->n; i++) {
            const float *x = plain_row(o, o->op->in, r) + i / c->n * 2 * c->n + i % c->n;
            plain_row(o, o->op->out, r)[i] = sqrtf(x[0] * x[0] + x[c->n] * x[c->n]);
        }
}

static inline void plain_norm(const struct plain_op *o)
{
    if (o->bind->heads) plain_heads(o);
    else plain_rows(o);
}

/* The input of a convolution for row r: zeros outside its sequence. */
static inline float *plain_patch(const struct plain_op *o, uint32_t r)
{
    const struct bind *c = o->bind;
    const size_t n = plain_ld(o->plan->p, o->op->in);
    const struct sequence s = plain_sequence(o, r);
    float *x = calloc(c->k, sizeof *x);
    assert_non_null(x);
    for (int64_t j = 0, at = (int64_t)r * c->stride - 1; j < (int64_t)(c->k / n); j++, at++)
        if (at >= (int64_t)s.row * c->stride && at < (int64_t)(s.row + s.n) * c->stride)
            memcpy(x + (size_t)j * n, plain_row(o, o->op->in, (size_t)at), n * sizeof *x);
    return x;
}

static inline void plain_linear(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const struct op *op = o->op;
    struct linear l = { .w = plain_at(o, c->w), .bias = plain_at(o, c->bias), .n = c->n, .k = c->k, .n_y = c->n_y, .n_kv = c->n_kv,
                        .act = c->act, .d_head = c->d_head, .x = plain_row(o, op->in, 0) + c->in_column,
                        .ld_x = plain_ld(o->plan->p, op->in) };
    if (op->out != NO_SLOT) l.y = plain_row(o, op->out, 0) + op->column, l.ld_y = plain_ld(o->plan->p, op->out);
    if (op->flags & OPF_SPREAD) l.ld_y *= c->stride;
    if (op->aux != NO_SLOT) l.res = plain_row(o, op->aux, 0) + op->column, l.ld_res = plain_ld(o->plan->p, op->aux);
    else if (c->positions) l.res = plain_at(o, c->positions), l.ld_res = c->n;
    if (c->n_y < c->n) {
        enum kv_type type;
        l.kv = plain_kv(o, 0, o->x->window, &type, &l.kv_head_sz);
        l.kv_type = (uint8_t)type;
    }
    for (uint32_t r = 0; r < o->rows; r++) {
        const struct sequence s = plain_sequence(o, r);
        float *patch = op->flags & OPF_CONV ? plain_patch(o, r) : NULL;
        if (op->state == NO_STATE) l.kv_pos = (uint32_t)s.block * KV_BLOCK - s.row;
        if (patch) l.x = patch, l.ld_x = 0;
        o->kern->linear[c->type](&l, r, r + 1, 0, pack_panels(c->n), o->x->scratch);
        free(patch);
    }
    if (op->flags & OPF_PADDED) plain_pad(o, op->out, o->rows);
}

static inline void *plain_run_values(const struct kv_view *kv, enum kv_type type, int32_t n, uint32_t d_head)
{
    return (char *)kv->base + pack_panels((size_t)n) * pack_panel_sz(kv_run_packed(type), d_head);
}

static inline void plain_attn_row(const struct plain_op *o, uint32_t r, uint32_t head, int32_t len)
{
    const size_t at = (size_t)head * o->bind->d_head;
    enum kv_type type;
    size_t head_sz;
    struct kv_view kv = plain_kv(o, head / (o->bind->heads / o->bind->kv_heads), o->run ? o->run->row[r].lane : 0, &type, &head_sz);
    if (o->op->state == NO_STATE) kv.base = (char *)kv.base + plain_beside(o, o->op->kv_rows, r).block * kv.block_stride;
    if (kv_is_run(type)) {
        const struct attn_run whole = { .out = plain_row(o, o->op->out, r) + at, .q = plain_row(o, o->op->in, r) + at, .keys = kv.base,
                                       .values = plain_run_values(&kv, type, len, o->bind->d_head), .rows = 1, .d_head = o->bind->d_head,
                                       .n_keys = (uint32_t)len, .scale = o->bind->scale };
        kern_run_of(o->kern, type)->attn(&whole, o->x->scratch);
        return;
    }
    const struct attn a = { .out = plain_row(o, o->op->out, r) + at, .q = plain_row(o, o->op->in, r) + at, .kv = kv, .n_keys = len,
                            .rows = 1, .d_head = o->bind->d_head, .window = o->bind->window, .scale = o->bind->scale };
    o->kern->attn[type](&a, o->x->scratch);
}

static inline void plain_attn(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    enum kv_type type;
    size_t head_sz;
    for (uint32_t r = 0; o->op->flags & OPF_WRITE_KV && r < o->rows; r++)
        for (uint32_t h = 0; h < c->kv_heads; h++) {
            const struct kv_view kv = plain_kv(o, h, o->run->row[r].lane, &type, &head_sz);
            const float *k = plain_row(o, o->op->in, r) + c->n + (size_t)h * c->d_head;
            o->kern->kv_put[type](&kv, (uint32_t)o->run->row[r].pos, k, k + (size_t)c->kv_heads * c->d_head, c->d_head);
        }
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t h = 0; h < c->heads; h++) {
            const int own = o->op->state == NO_STATE;
            const int looks = o->op->past && o->run->past;
            const int32_t past = looks ? (int32_t)o->run->past[plain_beside(o, o->op->kv_rows, r).lane][o->op->past - 1].held : 0;
            const int32_t len = o->op->flags & OPF_TABLE    ? o->run->cross_len[r]
                                : o->op->flags & OPF_CAUSAL ? o->run->row[r].pos + 1
                                : own                       ? (int32_t)plain_beside(o, o->op->kv_rows, r).n + past
                                                            : o->run->lane[o->run->row[r].lane].kv.enc_len;
            plain_attn_row(o, r, h, len);
        }
}

/* Row t of a sequence. */
/* wide: [d_head] for a row that is stored as bf16 */
static inline const float *plain_fsmn_row(const struct plain_op *o, uint32_t head, struct sequence s, int64_t t, float *wide)
{
    const struct bind *c = o->bind;
    const size_t at = (size_t)head * c->d_head;
    if (t >= (int64_t)s.n) return NULL;
    if (t < 0) {
        if (o->op->state == NO_STATE) return NULL;
        const int64_t i = (int64_t)o->x->positions[o->op->state] + t;
        return i < 0 ? NULL : plain_state_rows(o->x, o->op->state, o->op->layer, s.lane) + (size_t)i * c->n + at;
    }
    if (o->op->in != NO_SLOT) return plain_row(o, o->op->in, (size_t)(s.row + t)) + o->op->column + at;
    enum kv_type type;
    size_t head_sz;
    const struct kv_view v = plain_kv(o, head, 0, &type, &head_sz);
    const size_t room = head_room(c->d_head);
    const void *block = (const char *)v.base + (s.block + (size_t)t / KV_BLOCK) * v.block_stride;
    if (type == KV_F32) return (const float *)block + kv_value_at(KV_F32, (size_t)t % KV_BLOCK, 0, room);
    for (size_t i = 0; i < c->d_head; i++)
        wide[i] = bf16_to_f32(((const uint16_t *)block)[kv_value_at(KV_BF16, (size_t)t % KV_BLOCK, i, room)]);
    return wide;
}

static inline void plain_fsmn(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const float *x[FSMN_TAPS];
    float *wide = calloc((size_t)c->taps * c->d_head, sizeof *wide);
    assert_non_null(wide);
    for (uint32_t head = 0; head < c->heads; head++)
        for (uint32_t r = 0; r < o->rows; r++) {
            const size_t at = (size_t)head * c->d_head;
            const struct sequence s = plain_sequence(o, r);
            for (uint32_t j = 0; j < c->taps; j++)
                x[j] = plain_fsmn_row(o, head, s, (int64_t)r - s.row - c->left + j, wide + (size_t)j * c->d_head);
            const struct fsmn f = { .y = plain_row(o, o->op->out, r) + at,
                                    .add = o->op->aux == NO_SLOT ? NULL : plain_row(o, o->op->aux, r) + at, .x = x,
                                    .w = (const float *)plain_at(o, c->filter) + at * c->taps,
                                    .start = c->bias ? (const float *)plain_at(o, c->bias) + at : NULL, .taps = c->taps, .left = c->left,
                                    .n = c->d_head, .rows = 1 };
            o->kern->fsmn(&f);
            o->kern->act[c->act](f.y, f.y, c->d_head);
        }
    free(wide);
}

/* One direction at a time, with separate state and gates. */
static inline void plain_lstm(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const uint32_t n = c->d_head;
    float *h = calloc(6 * (size_t)n, sizeof *h), *cell = h + n, *gates = cell + n;
    const int goes_on = o->op->state != NO_STATE;
    assert_non_null(h);
    for (uint32_t way = 0; way < c->heads; way++)
        for (uint32_t i = 0; i < o->rows; i++) {
            const uint32_t r = way ? o->rows - 1 - i : i, edge = way ? r + 1 : r, before = way ? r + 1 : r - 1;
            const int begins = !i || plain_sequence(o, r).row != plain_sequence(o, before).row ||
                               (o->op->rows == ROWS_TABLE && o->run->row[edge].pos == 0);
            const int first = begins && !goes_on;
            float *kept = goes_on ? plain_state_rows(o->x, o->op->state, o->op->layer, plain_sequence(o, r).lane) : NULL;
            if (begins && goes_on) memcpy(h, kept, 2 * n * sizeof *h);
            const struct bind *x = &o->plan->p->bind[c->of_input[way]];
            float *out = plain_row(o, o->op->out, r) + way * n;
            const struct linear in = { .w = plain_at(o, x->w), .bias = plain_at(o, x->bias), .n = 4 * n, .k = x->k, .n_y = 4 * n,
                                       .x = plain_row(o, o->op->in, r), .y = gates };
            const struct linear l = { .w = (const char *)plain_at(o, c->w) + way * 4 * n / PANEL * pack_panel_sz(c->type, c->k), .n = 4 * n,
                                      .k = n, .n_y = 4 * n, .x = h, .y = gates, .res = gates };
            o->kern->linear[x->type](&in, 0, 1, 0, pack_panels(4 * n), o->x->scratch);
            if (!first) o->kern->linear[c->type](&l, 0, 1, 0, pack_panels(4 * n), o->x->scratch);
            o->kern->lstm(out, cell, gates, first ? NULL : cell, n);
            memcpy(h, out, n * sizeof *h);
            if (goes_on) memcpy(kept, h, 2 * n * sizeof *h);
        }
    free(h);
}

static inline void plain_align(const struct plain_op *o)
{
    const struct op *op = o->op;
    const uint32_t frames = o->run->align.frames;
    enum kv_type type;
    size_t head_sz;
    if (op->kind == OP_ZSCORE) {
        o->kern->zscore(plain_row(o, op->out, 0), plain_ld(o->plan->p, op->out), o->rows, frames);
        return;
    }
    for (uint32_t r = 0; r < o->rows; r++) {
        float *y = plain_row(o, op->out, r);
        if (op->kind == OP_MEDIAN_FILTER) {
            o->kern->median(y, plain_row(o, op->in, r), op->aux == NO_SLOT ? NULL : plain_row(o, op->aux, r), o->bind->scale, frames);
            continue;
        }
        const uint32_t kv_head = op->attn_head / (o->bind->heads / o->bind->kv_heads);
        const struct attn a = { .out = y, .q = plain_row(o, op->in, r) + (size_t)op->attn_head * o->bind->d_head,
                                .kv = plain_kv(o, kv_head, o->run->row[r].lane, &type, &head_sz), .n_keys = (int32_t)frames,
                                .rows = 1, .d_head = o->bind->d_head, .scale = o->bind->scale };
        o->kern->attn_weights[type](&a, o->x->scratch);
    }
}

static inline void plain_nothing(const struct plain_op *o) { (void)o; }
#endif

/* steno tests: a second executor. SPDX-License-Identifier: MIT
 *
 * It stands behind the same seam as the CPU's and has nothing in common with it but the C twins of the kernels: one thread, one op after
 * the other, one row after the other, and memory that nobody else can see. Weights are copies of what it was given; slots have rows of
 * other lengths; blocks of states lie in another order; logits have one stage. So whatever a session gets from it went through the seam. */
#ifndef STENO_TESTS_PLAIN_EXECUTOR_H
#define STENO_TESTS_PLAIN_EXECUTOR_H
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "plan/executor.h"
#include "plan/logits_approx.h"

enum { PLAIN_GAP = 7, PLAIN_SPANS = 256, PLAIN_PLANS = 4, PLAIN_STATES = 4 }; /* gap: floats between rows of a slot */

struct plain_span { const uint8_t *name; uint8_t *own; size_t n; };

struct plain_executor {
    struct executor base;
    struct kern kern;
    struct plain_span span[PLAIN_SPANS];
    int n_spans;
    int n_runs, fails_at; /* test: so many runs so far; number of the run that fails, 0: none */
};

struct plain_plan { const struct plan *p; float **slot; /* [n_slots] row 0 of each; keys and values: their first byte */ };

struct plain_exec {
    struct exec base;
    struct plain_executor *x;
    struct plain_plan plan[PLAIN_PLANS];
    int n_plans, n_states;
    uint32_t max_out;
    struct kv_state *state;
    uint8_t *mem[PLAIN_STATES];
    float *staging; /* what was asked for last */
    void *scratch;
    uint16_t window;
};

/* An op at work. */
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

/* Nothing that the host holds of the weights is of use from now on. */
static inline void plain_forget_host(struct plain_executor *x)
{
    for (int i = 0; i < x->n_spans; i++) memset((void *)(uintptr_t)x->span[i].name, 0xff, x->span[i].n);
}

/* The executor's own copy of what a plan calls `name`. */
static inline const void *plain_at(const struct plain_op *o, const void *name)
{
    const uint8_t *p = name;
    if (!p) return NULL;
    for (int i = 0; i < o->x->x->n_spans; i++) {
        const struct plain_span *s = &o->x->x->span[i];
        if (p >= s->name && p < s->name + s->n) return s->own + (p - s->name);
    }
    fail_msg("op %s of plan %s: weights that nobody gave the executor", o->plan->p->label[o->op - o->plan->p->op], o->plan->p->name);
    return NULL;
}

/* ---- slots and states */

/* Inputs lie as the plan says, padded rows have no gaps. */
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

/* Blocks of a state: lanes or blocks of the pool, then heads, then layers: the CPU has them the other way round. */
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
    return (float *)(void *)x->mem[state] + (size_t)(lane * d->layers + layer) * d->positions * d->heads * d->d_head;
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
    return (rows == ROWS_TWICE ? 2 : rows == ROWS_THRICE ? 3 : 1) * o->n_rows;
}

/* The sequence that row r of the op is of. */
static inline struct sequence plain_sequence(const struct plain_op *o, uint32_t r)
{
    const struct sequence *s = o->what ? o->what->sequence : NULL;
    if (!s || !o->what->n_sequences || o->op->rows != ROWS_RUN) return (struct sequence){ .n = (uint16_t)o->rows, .lane = o->x->window };
    while (r >= (uint32_t)s->row + s->n) s++;
    return *s;
}

/* Which of its positions row r of the run has: that in its sequence. */
static inline uint32_t plain_position(const struct plain_op *o, uint32_t r)
{
    for (uint32_t i = 0; o->what && i < o->what->n_sequences; i++) {
        const struct sequence *s = &o->what->sequence[i];
        if (r >= s->row && r < (uint32_t)s->row + s->n) return r - s->row;
    }
    return r;
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
        float *y = plain_row(o, o->op->out, r);
        const float *positions = plain_at(o, c->positions);
        if (row->token < 0) memcpy(y, plain_row(o, o->op->in, (size_t)(-1 - row->token)), c->k * sizeof *y); /* token_of_input */
        else o->kern->embed[c->type](y, plain_at(o, c->w), (size_t)row->token, c->k);
        if (positions) o->kern->add(y, y, positions + (size_t)row->pos * c->k, c->k);
    }
}

/* Norms, scales, activations, sums and softmaxes: a row to a row. */
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
        const float *position = positions ? positions + (size_t)plain_position(o, src) * c->n : NULL;
        if (o->op->kind == OP_SCALE) o->kern->scale(y, x, c->scale, position, c->n);
        if (o->op->kind == OP_ACT && bias) o->kern->add(y, x, bias, c->n);
        if (o->op->kind == OP_ACT) o->kern->act[c->act](y, bias ? y : x, c->n);
        if (o->op->kind == OP_ADD)
            o->kern->add(y, x, o->op->aux == NO_SLOT ? positions + (size_t)r * c->n : plain_row(o, o->op->aux, r) + at, c->n);
        if (o->op->kind == OP_SOFTMAX) o->kern->softmax(y, x, o->plan->p->slot[o->op->in].width);
    }
    if (o->op->flags & OPF_PADDED) plain_pad(o, o->op->out, o->rows);
}

static inline void plain_linear(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const struct op *op = o->op;
    struct linear l = { .w = plain_at(o, c->w), .bias = plain_at(o, c->bias), .n = c->n, .k = c->k, .n_y = c->n_y, .n_kv = c->n_kv,
                        .act = c->act, .d_head = c->d_head, .x = plain_row(o, op->in, 0), .ld_x = plain_ld(o->plan->p, op->in) };
    if (op->flags & OPF_CONV) {
        l.x -= l.ld_x;
        l.ld_x *= c->stride;
    }
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
        if (op->state == NO_STATE) l.kv_pos = (uint32_t)s.block * KV_BLOCK - s.row;
        o->kern->linear[c->type](&l, r, r + 1, 0, pack_panels(c->n), o->x->scratch);
    }
    if (op->flags & OPF_PADDED) plain_pad(o, op->out, o->rows);
}

static inline void plain_attn_row(const struct plain_op *o, uint32_t r, uint32_t head, int32_t len)
{
    const size_t at = (size_t)head * o->bind->d_head;
    enum kv_type type;
    size_t head_sz;
    struct kv_view kv = plain_kv(o, head / (o->bind->heads / o->bind->kv_heads), o->run ? o->run->row[r].lane : 0, &type, &head_sz);
    if (o->op->state == NO_STATE) kv.base = (char *)kv.base + plain_sequence(o, r).block * kv.block_stride;
    const struct attn a = { .out = plain_row(o, o->op->out, r) + at, .q = plain_row(o, o->op->in, r) + at, .kv = kv, .n_keys = len,
                            .rows = 1, .d_head = o->bind->d_head, .scale = o->bind->scale };
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
            const int own = o->op->state == NO_STATE, same = o->op->kv_rows == o->op->rows;
            const int32_t len = own && same                 ? (int32_t)plain_sequence(o, r).n
                                : own                       ? (int32_t)plain_rows_count(o, o->op->kv_rows)
                                : o->op->flags & OPF_CAUSAL ? o->run->row[r].pos + 1
                                                            : o->run->lane[o->run->row[r].lane].kv.enc_len;
            plain_attn_row(o, r, h, len);
        }
}

/* Row t of a sequence. */
static inline const float *plain_fsmn_row(const struct plain_op *o, uint32_t head, struct sequence s, int64_t t)
{
    const struct bind *c = o->bind;
    const size_t at = (size_t)head * c->d_head;
    if (t >= (int64_t)s.n) return NULL;
    if (t < 0) {
        if (o->op->state == NO_STATE) return NULL;
        const int64_t i = (int64_t)o->x->state[o->op->state].desc.positions + t;
        return i < 0 ? NULL : plain_state_rows(o->x, o->op->state, o->op->layer, s.lane) + (size_t)i * c->n + at;
    }
    if (o->op->in != NO_SLOT) return plain_row(o, o->op->in, (size_t)(s.row + t)) + at;
    enum kv_type type;
    size_t head_sz;
    const struct kv_view v = plain_kv(o, head, 0, &type, &head_sz);
    const float *block = (const float *)(const void *)((const char *)v.base + (s.block + (size_t)t / KV_BLOCK) * v.block_stride);
    return block + ((size_t)KV_BLOCK + (size_t)t % KV_BLOCK) * c->d_head;
}

static inline void plain_fsmn(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const float *x[FSMN_TAPS];
    for (uint32_t head = 0; head < c->heads; head++)
        for (uint32_t r = 0; r < o->rows; r++) {
            const size_t at = (size_t)head * c->d_head;
            const struct sequence s = plain_sequence(o, r);
            for (uint32_t j = 0; j < c->taps; j++) x[j] = plain_fsmn_row(o, head, s, (int64_t)r - s.row - c->left + j);
            const struct fsmn f = { .y = plain_row(o, o->op->out, r) + at,
                                    .add = o->op->aux == NO_SLOT ? NULL : plain_row(o, o->op->aux, r) + at, .x = x,
                                    .w = (const float *)plain_at(o, c->filter) + at * c->taps, .taps = c->taps, .left = c->left,
                                    .n = c->d_head };
            o->kern->fsmn(&f);
        }
}

/* A way after the other, with a state beside. */
static inline void plain_lstm(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const uint32_t n = c->d_head;
    float *h = calloc(2 * (size_t)n, sizeof *h), *cell = h + n;
    assert_non_null(h);
    for (uint32_t way = 0; way < c->heads; way++)
        for (uint32_t i = 0; i < o->rows; i++) {
            const uint32_t r = way ? o->rows - 1 - i : i, edge = way ? r + 1 : r;
            const int first = !i || (o->op->rows == ROWS_TABLE && o->run->row[edge].pos == 0);
            float *gates = plain_row(o, o->op->in, r) + way * 4 * n, *out = plain_row(o, o->op->out, r) + way * n;
            const struct linear l = { .w = (const char *)plain_at(o, c->w) + way * 4 * n / PANEL * pack_panel_sz(c->type, c->k), .n = 4 * n,
                                      .k = n, .n_y = 4 * n, .x = h, .y = gates, .res = gates };
            if (!first) o->kern->linear[c->type](&l, 0, 1, 0, pack_panels(4 * n), o->x->scratch);
            o->kern->lstm(out, cell, gates, first ? NULL : cell, n);
            memcpy(h, out, n * sizeof *h);
        }
    free(h);
}

static inline void plain_cif(const struct plain_op *o)
{
    const struct run_cif *c = &o->run->cif;
    const uint32_t width = o->plan->p->slot[o->op->out].width;
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t i = 0; i < width; i++) {
            float sum = 0;
            for (uint32_t k = 0; k < c->token[r].n; k++) {
                const uint32_t frame = c->token[r].first + k;
                if (frame < o->n_rows) sum += plain_row(o, o->op->in, frame)[i] * c->weight[c->token[r].at + k];
            }
            plain_row(o, o->op->out, r)[i] = sum;
        }
}

static inline void plain_shift(const struct plain_op *o)
{
    const struct state_desc *d = &o->x->state[o->op->state].desc;
    const size_t n = d->positions, width = (size_t)d->heads * d->d_head;
    for (uint32_t r = 0; r < o->rows; r++) { /* one by one */
        float *rows = plain_state_rows(o->x, o->op->state, o->op->layer, plain_sequence(o, r).lane);
        memmove(rows, rows + width, (n - 1) * width * sizeof *rows);
        memcpy(rows + (n - 1) * width, plain_row(o, o->op->in, r), width * sizeof *rows);
    }
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

/* ---- choosing */

static inline struct logit_partial plain_reduce(const struct plain_op *o, const float *x, const uint32_t *mask, int32_t from, int32_t to)
{
    struct logit_partial all[SLICE_IDS];
    size_t n = 0;
    for (int32_t lo = 0; lo < to; lo += SLICE_IDS) {
        const int32_t a = from > lo ? from : lo, b = to < lo + SLICE_IDS ? to : lo + SLICE_IDS;
        all[n] = (struct logit_partial){ -INFINITY, 0, -1 };
        if (a < b) o->kern->logits_reduce(&all[n], x + a, mask, a, (size_t)(b - a));
        n++;
    }
    return logits_merge(all, n, 1);
}

static inline void plain_choose(const struct plain_op *o, uint32_t out)
{
    struct row *row = &o->run->row[o->run->out_row[out]];
    struct lane *l = &o->run->lane[row->lane];
    struct best *best = o->run->argmax.best ? &o->run->argmax.best[o->run->out_row[out]] : NULL;
    const int32_t n = (int32_t)o->plan->p->slot[o->plan->p->logits].width;
    float *x = plain_row(o, o->plan->p->logits, out);
    if (row->flags & ROW_PROB) {
        const struct logit_partial all = plain_reduce(o, x, NULL, 0, n);
        l->prob.p = all.arg < 0 ? NAN : (float)(exp((double)x[l->prob.id] - all.max) / all.sum);
    }
    if (row->flags & ROW_BEST) {
        const struct logit_partial all = plain_reduce(o, x, l->argmax_mask, 0, n);
        *best = (struct best){ all.arg, all.arg < 0 ? -INFINITY : (float)-log(all.sum) };
    }
    if (row->flags & ROW_GIVEN) {
        const struct logit_partial all = plain_reduce(o, x, NULL, 0, o->run->align.given_end < n ? o->run->align.given_end : n);
        const int counts = all.arg >= 0 && best->id >= 0 && best->id < o->run->align.given_end;
        best->logprob = counts ? (float)((double)x[best->id] - all.max - log(all.sum)) : -INFINITY;
    }
    if (!(row->flags & (ROW_SAMPLE | ROW_TOPK))) return;
    if (o->calls && o->calls->filter && l->processors.wanted) {
        o->calls->filter(o->calls->user, row->lane, x);
        for (int32_t i = 0; i < n; i++) x[i] = x[i] > FLT_MAX ? FLT_MAX : x[i] >= -FLT_MAX ? x[i] : -INFINITY;
    }
    const struct logit_range g = logit_range_of(&l->sampler);
    const struct logit_partial text = plain_reduce(o, x, g.mask, g.text_from, g.text_to);
    const struct logit_partial ts = plain_reduce(o, x, g.mask, g.ts_from, g.ts_to);
    if (row->flags & ROW_SAMPLE) sample_token(&l->sampler, &text, &ts, x, o->kern);
    else sample_topk(&l->sampler, &text, &ts, x, o->kern);
}

static inline void plain_sample(const struct plain_op *o)
{
    for (uint32_t out = 0; out < o->rows; out++) plain_choose(o, out);
}

static inline void plain_nothing(const struct plain_op *o) { (void)o; }

/* ---- runs */

static inline void plain_op_run(struct plain_op *o, const struct op *op)
{
    static void (*const run[OP_KINDS])(const struct plain_op *o) = {
        [OP_EMBED] = plain_embed, [OP_NORM] = plain_rows, [OP_SCALE] = plain_rows, [OP_LINEAR] = plain_linear, [OP_ATTN] = plain_attn,
        [OP_FSMN] = plain_fsmn, [OP_SHIFT_STATE] = plain_shift, [OP_SOFTMAX] = plain_rows, [OP_ATTN_WEIGHTS] = plain_align,
        [OP_ZSCORE] = plain_align, [OP_MEDIAN_FILTER] = plain_align, [OP_CIF] = plain_cif, [OP_LSTM] = plain_lstm, [OP_ACT] = plain_rows,
        [OP_ADD] = plain_rows, [OP_LOGITS_APPROX] = plain_nothing, [OP_LOGITS_BOUND] = plain_nothing,
        [OP_LOGITS_REDUCE] = plain_nothing, [OP_SAMPLE] = plain_sample,
    };
    o->op = op;
    o->bind = &o->plan->p->bind[op->bind];
    o->rows = plain_rows_count(o, op->rows);
    run[op->kind](o);
}

static inline int plain_run(struct plain_op *o, int first, int last)
{
    struct plain_exec *x = o->x;
    x->base.n_wakes++;
    if (++x->x->n_runs == x->x->fails_at) return err_set(&x->base.error, STENO_EIO, "the plain executor was told to fail");
    for (int i = first; i < last; i++) {
        if (x->base.should_stop && x->base.should_stop(x->base.user)) return STENO_ECANCELED;
        plain_op_run(o, &o->plan->p->op[i]);
    }
    return STENO_OK;
}

static inline struct plain_exec *plain_of(struct exec *x) { return (struct plain_exec *)(void *)x; }

static inline struct room plain_room(const struct exec *x, const struct plan *p)
{
    const uint32_t max = ((const struct plain_exec *)(const void *)x)->max_out;
    return (struct room){ p->max_rows, p->logits == NO_SLOT ? 0 : p->max_out < max ? p->max_out : max };
}

static inline int plain_fits(struct plain_exec *x, const struct plan *p, const struct run *r, uint32_t n_rows)
{
    const struct room room = plain_room(&x->base, p);
    return n_rows <= room.rows && (!r || (r->n_rows <= r->room.rows && r->n_out <= room.out && r->n_out <= r->room.out));
}

static inline int plain_phases(struct exec *exec, const struct plan *p, const struct phases *what, struct op_time *time,
                               struct run_time *spent)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = what->run, .what = what,
                          .n_rows = what->n_rows };
    (void)time;
    *spent = (struct run_time){ 1000, 1000 };
    err_clear(&exec->error);
    x->window = what->window;
    if (!plain_fits(x, p, what->run, what->n_rows)) return STENO_EARG;
    for (int i = 0; what->run && i < x->n_states; i++)
        if (x->state[i].desc.kind == STATE_APPEND) plain_copies(x, &x->state[i], x->mem[i]);
    if (!what->first && p->input != NO_SLOT && p->slot[p->input].front) {
        const struct op *op = &p->op[0];
        plain_pad(&o, p->input, (size_t)(op->rows == ROWS_TWICE ? 2 : 1) * what->n_rows * p->bind[op->bind].stride);
    }
    return plain_run(&o, p->phase[what->first].first, p->phase[what->end - 1].last);
}

static inline int plain_chain(struct exec *exec, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls,
                              int *ran, struct op_time *time, struct run_time *spent)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = run, .calls = calls };
    (void)time;
    *ran = 0;
    *spent = (struct run_time){ 1000, 1000 };
    err_clear(&exec->error);
    for (;;) {
        if (!run->n_rows) return STENO_OK;
        if (run->n_rows > run->room.rows) return STENO_EARG;
        for (uint32_t i = 0; i < run->n_rows; i++)
            if (state_prepare(&x->state[0], run->row[i].lane, (uint32_t)run->row[i].pos, (uint32_t)run->row[i].pos + 1)) return STENO_EARG;
        plain_copies(x, &x->state[0], x->mem[0]);
        run_prepare(run);
        if (!plain_fits(x, p, run, run->n_rows)) return STENO_EARG;
        o.n_rows = run->n_rows;
        const int rc = plain_run(&o, 0, p->n_ops);
        for (uint32_t i = 0; i < run->n_rows; i++) run->lane[run->row[i].lane].kv.len = run->row[i].pos + 1;
        ++*ran;
        if (rc) return rc;
        if (calls && calls->next) {
            if (!calls->next(calls->user)) return STENO_OK;
        } else {
            if (*ran >= steps) return STENO_OK;
            run_advance(run);
        }
    }
}

static inline int plain_exec_choose(struct exec *exec, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = run, .calls = calls };
    run->row[run->out_row[out]].flags = ROW_SAMPLE;
    plain_choose(&o, out);
    return STENO_OK;
}

/* ---- opening and the rest */

static inline void *plain_pages(struct arena *a, size_t n, size_t *total) /* 64-aligned; total alone where there is no arena */
{
    *total += n + 64;
    uint8_t *p = a ? arena_alloc(a, n + 64) : NULL;
    if (p) memset(p, 0xff, n + 64); /* NaN: nobody may count on what it was not told */
    return p ? (void *)(p + (64 - (uintptr_t)p % 64)) : NULL;
}

static inline size_t plain_state_bytes(const struct kv_state *s)
{
    const struct state_desc *d = &s->desc;
    if (d->kind == STATE_SHIFT) return (size_t)s->lanes * d->layers * d->positions * d->heads * d->d_head * sizeof(float);
    return kv_block_sz(s->type, d->d_head) * d->heads * d->layers * s->lane_blocks * s->lanes;
}

/* All memory; x NULL: only how much. */
static inline size_t plain_take(struct plain_exec *x, struct arena *a, const struct exec_params *p)
{
    size_t n = 0;
    for (int i = 0; i < p->n_plans; i++) {
        const struct plan *plan = p->plan[i];
        float **slot = plain_pages(a, plan->n_slots * sizeof *slot, &n);
        for (uint16_t s = 0; s < plan->n_slots; s++) {
            const struct slot *k = &plan->slot[s];
            const size_t sz = k->heads ? k->size : ((size_t)k->rows + 2 * k->front) * plain_ld(plan, s) * sizeof(float);
            float *at = plain_pages(a, sz, &n);
            if (at) slot[s] = at + (k->heads ? 0 : k->front * plain_ld(plan, s));
        }
        if (x) x->plan[i] = (struct plain_plan){ plan, slot };
    }
    for (int i = 0; i < p->n_states; i++) {
        void *at = plain_pages(a, plain_state_bytes(&p->state[i]), &n);
        if (x) x->mem[i] = at;
    }
    void *scratch = plain_pages(a, kern_linear_scratch_max() + kern_attn_scratch_max(), &n);
    if (x) x->scratch = scratch;
    return n;
}

static inline size_t plain_memory(const struct executor *x, const struct exec_params *p)
{
    (void)x;
    return sizeof(struct plain_exec) + plain_take(NULL, NULL, p);
}

static inline int plain_open(struct exec **out, const struct executor *executor, struct arena *a, const struct exec_params *p,
                             steno_error *e)
{
    struct plain_exec *x = arena_array(a, 1, sizeof *x);
    if (!x || p->n_plans > PLAIN_PLANS || p->n_states > PLAIN_STATES) return err_nomem(e, sizeof *x, "the plain executor");
    x->base = (struct exec){ .ops = executor->ops, .should_stop = p->should_stop, .user = p->user };
    x->x = (struct plain_executor *)(uintptr_t)executor;
    x->n_plans = p->n_plans;
    x->n_states = p->n_states;
    x->state = p->state;
    x->max_out = p->max_out;
    plain_take(x, a, p);
    *out = &x->base;
    return STENO_OK;
}

static inline void plain_close(struct exec *x) { free(plain_of(x)->staging); }

static inline float *plain_input(struct exec *x, const struct plan *p)
{
    return plain_plan_of(plain_of(x), p)->slot[p->input];
}

/* A copy, whose rows lie farther apart than the plan says. */
static inline const float *plain_output(struct exec *exec, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld)
{
    struct plain_exec *x = plain_of(exec);
    const struct slot *s = &p->slot[slot];
    const size_t from = plain_ld(p, slot);
    *ld = s->width + 3;
    float *copy = realloc(x->staging, (size_t)n * *ld * sizeof *copy);
    if (!copy) return NULL;
    x->staging = copy;
    for (uint32_t r = 0; r < n; r++) memcpy(copy + r * *ld, plain_plan_of(x, p)->slot[slot] + (row + r) * from, s->width * sizeof *copy);
    return copy;
}

static inline void plain_state_reset(struct exec *x, int state, uint32_t lane)
{
    const struct state_desc *d = &plain_of(x)->state[state].desc;
    memset(plain_state_rows(plain_of(x), state, 0, lane), 0, (size_t)d->layers * d->positions * d->heads * d->d_head * sizeof(float));
}

static inline size_t plain_state_sz(const struct exec *x, int state)
{
    return plain_state_bytes(&((const struct plain_exec *)(const void *)x)->state[state]);
}

static inline void plain_state_get(struct exec *x, int state, void *to) { memcpy(to, plain_of(x)->mem[state], plain_state_sz(x, state)); }
static inline void plain_state_set(struct exec *x, int state, const void *from)
{
    memcpy(plain_of(x)->mem[state], from, plain_state_sz(x, state));
}

static inline void plain_state_copy(struct exec *x, int state, uint32_t to, uint32_t from)
{
    const size_t sz = plain_state_sz(x, state) / plain_of(x)->state[state].lanes;
    if (to != from) memcpy(plain_of(x)->mem[state] + to * sz, plain_of(x)->mem[state] + from * sz, sz);
}

static inline void plain_executor_open(struct plain_executor *x)
{
    static struct executor_ops const ops = {
        .weights = plain_weights, .memory = plain_memory, .open = plain_open, .close = plain_close, .room = plain_room,
        .input = plain_input, .output = plain_output, .phases = plain_phases, .chain = plain_chain, .choose = plain_exec_choose,
        .state_reset = plain_state_reset, .state_sz = plain_state_sz, .state_get = plain_state_get, .state_set = plain_state_set,
        .state_copy = plain_state_copy,
    };
    *x = (struct plain_executor){ .base = { .ops = &ops, .caps = { .name = "plain" } } };
    kern_init_c(&x->kern);
}

static inline void plain_executor_close(struct plain_executor *x)
{
    for (int i = 0; i < x->n_spans; i++) free(x->span[i].own);
}
#endif

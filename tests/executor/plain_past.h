/* steno tests: the ops of the plain executor that use earlier runs. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAIN_PAST_H
#define STENO_TESTS_PLAIN_PAST_H
#include "executor/plain_ops.h"

/* The last row of the op's state in a lane. */
static inline const float *plain_newest(const struct plain_op *o, uint32_t lane)
{
    const struct state_desc *d = &o->x->state[o->op->state].desc;
    const float *rows = plain_state_rows(o->x, o->op->state, o->op->layer, lane);
    return rows + (size_t)(o->x->positions[o->op->state] - 1) * d->heads * d->d_head;
}

static inline void plain_cif(const struct plain_op *o)
{
    const struct run_cif *c = &o->run->cif;
    const uint32_t width = o->plan->p->slot[o->op->out].width;
    for (uint32_t r = 0; r < o->rows; r++) {
        const struct sequence s = plain_beside(o, ROWS_RUN, r);
        for (uint32_t i = 0; i < width; i++) {
            float sum = 0;
            for (uint32_t k = 0; k < c->token[r].n; k++) {
                const int has = o->op->state != NO_STATE;
                const uint32_t frame = c->token[r].first + k;
                if (has && !frame) sum += plain_newest(o, s.lane)[i] * c->weight[c->token[r].at];
                else if (frame - has < s.n) sum += plain_row(o, o->op->in, s.row + frame - has)[i] * c->weight[c->token[r].at + k];
            }
            plain_row(o, o->op->out, r)[i] = sum;
        }
    }
}

static inline void plain_shift(const struct plain_op *o)
{
    const struct state_desc *d = &o->x->state[o->op->state].desc;
    const size_t n = o->x->positions[o->op->state], width = (size_t)d->heads * d->d_head;
    for (uint32_t r = 0; r < o->rows; r++) { /* one by one */
        float *rows = plain_state_rows(o->x, o->op->state, o->op->layer, plain_sequence(o, r).lane);
        memmove(rows, rows + width, (n - 1) * width * sizeof *rows);
        memcpy(rows + (n - 1) * width, plain_row(o, o->op->in, r) + o->op->column, width * sizeof *rows);
    }
}

/* Append the state's held rows to the keys and values of the sequence. Then store each kept row at the end of the state, after the
 * earlier rows have moved up. */
static inline void plain_look_back_in(const struct plain_op *o, const struct plain_op *at_slot, struct sequence s)
{
    const struct run_past past = o->run->past[s.lane][o->op->state];
    const uint32_t n = o->x->positions[o->op->state], d = o->bind->d_head, width = 2 * o->bind->kv_heads * d;
    float *rows = plain_state_rows(o->x, o->op->state, o->op->layer, s.lane);
    enum kv_type type;
    size_t head_sz;
    for (uint32_t i = 0; i < past.held; i++)
        for (uint32_t h = 0; h < o->bind->kv_heads; h++) {
            const struct kv_view kv = plain_kv(at_slot, h, 0, &type, &head_sz);
            const float *row = rows + (size_t)(n - past.held + i) * width + h * d;
            o->kern->kv_put[type](&kv, s.block * KV_BLOCK + s.n + i, row, row + width / 2, d);
        }
    for (uint32_t i = 0; i < past.kept; i++) {
        memmove(rows, rows + width, (size_t)(n - 1) * width * sizeof *rows);
        for (uint32_t h = 0; h < o->bind->kv_heads; h++) {
            const struct kv_view kv = plain_kv(at_slot, h, 0, &type, &head_sz);
            float *row = rows + (size_t)(n - 1) * width + h * d;
            kv_get_f32(row, row + width / 2, &kv, s.block * KV_BLOCK + i, d);
        }
    }
}

static inline void plain_look_back(const struct plain_op *o)
{
    struct plain_op at_slot = *o;
    struct op own = *o->op;
    own.state = NO_STATE;
    at_slot.op = &own;
    for (uint32_t i = 0; o->run->past && i < (o->what->n_sequences ? o->what->n_sequences : 1); i++)
        plain_look_back_in(o, &at_slot, plain_sequence_at(o, o->op->rows, i));
}

/* Keys and values of each sequence at once. */
static inline void plain_kv_pack(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const size_t ld = plain_ld(o->plan->p, o->op->in);
    enum kv_type type;
    size_t head_sz;
    for (uint32_t r = 0; r < o->rows; r++) {
        const struct sequence s = plain_sequence(o, r);
        if (r != s.row) continue;
        for (uint32_t h = 0; h < c->kv_heads; h++) {
            struct kv_view kv = plain_kv(o, h, 0, &type, &head_sz);
            const float *k = plain_row(o, o->op->in, r) + o->op->column + (size_t)h * c->d_head, *v = k + (size_t)c->kv_heads * c->d_head;
            const struct run_kern *kern = kern_run_of(o->kern, type);
            float less[HEAD_MAX] = { 0 };
            const uint32_t some = s.n < KV_MEAN_KEYS ? s.n : KV_MEAN_KEYS;
            for (uint32_t i = 0; i < some; i++) o->kern->scale(less, k + (size_t)i * s.n / some * ld, 1 / (float)some, less, c->d_head);
            kv.base = (char *)kv.base + s.block * kv.block_stride;
            for (uint32_t i = 0; i < s.n; i += PANEL)
                kern->pack_keys((char *)kv.base + i / PANEL * pack_panel_sz(kv_run_packed(type), c->d_head), k + i * ld, ld,
                                s.n - i < PANEL ? s.n - i : PANEL, c->d_head, less);
            for (uint32_t i = 0; i < c->d_head; i += PANEL)
                kern->pack_values((char *)plain_run_values(&kv, type, s.n, c->d_head) + i / PANEL * pack_panel_sz(kv_run_packed(type), s.n),
                                  v + i, ld, s.n, c->d_head - i < PANEL ? c->d_head - i : PANEL);
        }
    }
}
#endif

/* steno tests: the ops of a Conformer, on the plain executor. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAIN_CONFORMER_H
#define STENO_TESTS_PLAIN_CONFORMER_H
#include "executor/plain_ops.h"
#include "kern/rel_positions.h"

static inline void plain_distances(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const float *table = plain_at(o, c->positions);
    for (uint32_t r = 0; r < o->rows; r++)
        memcpy(plain_row(o, o->op->out, r), table + (size_t)(c->k + r - o->rows / 2) * c->n, c->n * sizeof *table);
}

/* Row by row, head by head. */
static inline void plain_attn_rel(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const size_t ld = plain_ld(o->plan->p, o->op->in), ld_r = plain_ld(o->plan->p, o->op->aux), width = (size_t)c->heads * c->d_head;
    const float *u = plain_at(o, c->bias), *v = plain_at(o, c->filter);
    void *scratch = malloc(kern_attn_rel_scratch(o->rows));
    assert_non_null(scratch);
    const uint32_t middle = plain_rows_count(o, ROWS_DISTANCES) / 2;
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t h = 0; h < c->heads; h++) {
            const struct sequence s = plain_sequence(o, r);
            const int64_t i = (int64_t)r - s.row, from = i - (int64_t)c->behind, to = i + (int64_t)c->ahead + 1;
            const struct key_span sees = { from > 0 ? (uint32_t)from : 0, to < s.n ? (uint32_t)to : s.n };
            const float *keys = plain_row(o, o->op->in, s.row) + width + h * c->d_head;
            const struct attn_rel a = { .out = plain_row(o, o->op->out, r) + h * c->d_head, .q = plain_row(o, o->op->in, r) + h * c->d_head,
                                        .u = u + h * c->d_head, .v = v + h * c->d_head, .keys = keys, .values = keys + width, .ld_kv = ld,
                                        .r = plain_row(o, o->op->aux, middle) + h * c->d_head, .ld_r = (ptrdiff_t)ld_r, .sees = &sees,
                                        .first = (uint32_t)i, .rows = 1, .d_head = c->d_head, .scale = c->scale };
            o->kern->attn_rel(&a, scratch);
        }
    free(scratch);
}

/* An image [rows, columns, n]. */
struct plain_image { float *x; int64_t rows, columns, n; };

static inline struct plain_image plain_image_half(struct plain_image of, int64_t n)
{
    struct plain_image to = { NULL, (of.rows - 1) / 2 + 1, (of.columns - 1) / 2 + 1, n };
    to.x = calloc((size_t)(to.rows * to.columns * n), sizeof *to.x);
    assert_non_null(to.x);
    return to;
}

static inline float *plain_place(const struct plain_image *m, int64_t r, int64_t f)
{
    return r < 0 || f < 0 || r >= m->rows || f >= m->columns ? NULL : m->x + (r * m->columns + f) * m->n;
}

static inline void plain_stage_linear(const struct plain_op *o, const struct bind *c, float *y, const float *x)
{
    const struct linear l = { .w = plain_at(o, c->w), .bias = plain_at(o, c->bias), .n = c->n, .k = c->k, .n_y = c->n, .act = c->act,
                              .x = x, .ld_x = c->k, .y = y, .ld_y = c->n };
    o->kern->linear[c->type](&l, 0, 1, 0, pack_panels(c->n), o->x->scratch);
}

static inline struct plain_image plain_stage(const struct plain_op *o, struct plain_image of, int stage)
{
    const struct bind *c = o->bind + (stage ? 2 * stage - 1 : 0);
    struct plain_image to = plain_image_half(of, o->bind->n);
    float square[9], *mid = calloc(o->bind->n, sizeof *mid);
    assert_non_null(mid);
    for (int64_t r = 0; r < to.rows; r++)
        for (int64_t f = 0; f < to.columns; f++) {
            const float *x[9];
            for (int k = 0; k < 9; k++) {
                x[k] = plain_place(&of, 2 * r - 1 + k / 3, 2 * f - 1 + k % 3);
                square[k] = x[k] ? x[k][0] : 0;
            }
            const struct fsmn each = { .y = mid, .x = x, .w = plain_at(o, c->filter), .start = plain_at(o, c->bias), .taps = 9, .left = 4,
                                       .n = o->bind->n, .rows = 1 };
            if (stage) o->kern->fsmn(&each);
            plain_stage_linear(o, stage ? c + 1 : c, plain_place(&to, r, f), stage ? mid : square);
        }
    free(mid);
    free(of.x);
    return to;
}

/* A stage of a stem of chunks: the nine places by columns, then rows, all channels of each. */
static inline struct plain_image plain_stage_of_all(const struct plain_op *o, struct plain_image of, int stage)
{
    const struct bind *c = o->bind + stage;
    struct plain_image to = plain_image_half(of, o->bind->n);
    float *square = calloc((size_t)(9 * of.n), sizeof *square);
    assert_non_null(square);
    for (int64_t r = 0; r < to.rows; r++)
        for (int64_t f = 0; f < to.columns; f++) {
            for (int k = 0; k < 9; k++) {
                const float *x = plain_place(&of, 2 * r - 1 + k % 3, 2 * f - 1 + k / 3);
                for (int64_t i = 0; i < of.n; i++) square[k * of.n + i] = x ? x[i] : 0;
            }
            plain_stage_linear(o, c, plain_place(&to, r, f), square);
        }
    free(square);
    free(of.x);
    return to;
}

/* Rows [first, first + n) of the op: a chunk. */
static inline void plain_chunk(const struct plain_op *o, uint32_t first, uint32_t n)
{
    const struct bind *c = o->bind;
    const size_t width = (size_t)c->stride * c->d_head;
    struct plain_image m = { NULL, c->window, c->d_head, 1 };
    m.x = calloc((size_t)(m.rows + c->stride) * c->d_head, sizeof *m.x);
    assert_non_null(m.x);
    for (uint32_t r = 0; r < n; r++) memcpy(m.x + r * width, plain_row(o, o->op->in, first + r), width * sizeof *m.x);
    for (int i = 0; i < 3; i++) m = plain_stage_of_all(o, m, i);
    for (uint32_t r = 0; r < n; r++)
        memcpy(plain_row(o, o->op->out, first + r), plain_place(&m, r, 0), (size_t)(m.columns * m.n) * sizeof *m.x);
    free(m.x);
}

static inline void plain_stem(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    for (uint32_t first = 0; first < o->rows;) {
        const struct sequence s = plain_sequence(o, first);
        const size_t width = (size_t)c->stride * c->d_head;
        const uint32_t chunk = ((c->window - 1) / 2 / 2 / 2) + 1;
        for (uint32_t at = 0; c->window && at < s.n; at += chunk) plain_chunk(o, s.row + at, s.n - at < chunk ? s.n - at : chunk);
        first += s.n;
        if (c->window) continue;
        struct plain_image m = { NULL, 0, c->d_head, 1 };
        m.x = calloc((size_t)s.n * width, sizeof *m.x);
        assert_non_null(m.x);
        for (uint32_t r = 0; r < s.n; r++) {
            const float *row = plain_row(o, o->op->in, s.row + r);
            memcpy(m.x + r * width, row, width * sizeof *row);
            m.rows += (int64_t)row[width];
        }
        for (int i = 0; i < 3; i++) m = plain_stage(o, m, i);
        assert_int_equal(m.rows, s.n);
        for (int64_t r = 0; r < m.rows; r++)
            memcpy(plain_row(o, o->op->out, (size_t)(s.row + r)), plain_place(&m, r, 0), (size_t)(m.columns * m.n) * sizeof *m.x);
        free(m.x);
    }
}
#endif

/* steno tests: the ops of a Conformer, on the plain executor. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAIN_CONFORMER_H
#define STENO_TESTS_PLAIN_CONFORMER_H
#include "executor/plain_ops.h"
#include "executor/plain_past.h"
#include "kern/rel_positions.h"

static inline void plain_distances(const struct plain_op *o)
{
    const struct bind *c = o->bind;
    const float *table = plain_at(o, c->positions);
    for (uint32_t r = 0; r < o->rows; r++)
        memcpy(plain_row(o, o->op->out, r), table + (size_t)(c->k + o->rows / 2 - r) * c->n, c->n * sizeof *table);
}

static inline struct run_stream plain_stream(const struct plain_op *o, struct sequence s)
{
    return o->run && o->run->stream ? o->run->stream[s.lane] : (struct run_stream){ 0, s.n };
}

/* A row of the stream sees the chunks of the last `behind` rows and its own. Key 0 is the oldest of the state. */
static inline struct key_span plain_chunks(const struct plain_op *o, uint32_t row, struct sequence s, uint32_t *first)
{
    const struct run_stream at = plain_stream(o, s);
    const uint32_t i = at.before + row - s.row, oldest = at.before + s.n - o->x->positions[o->op->state]; /* may wrap */
    uint32_t from = i - i % at.chunk, to = from + at.chunk;
    for (uint32_t n = o->bind->behind / at.chunk; n && from; n--) from -= at.chunk;
    if (to > at.before + s.n) to = at.before + s.n;
    *first = i - oldest;
    return (struct key_span){ from - oldest, to - oldest };
}

static inline char *plain_packed_distances(const struct plain_op *o, uint16_t slot, uint32_t head)
{
    const struct slot *s = &o->plan->p->slot[slot];
    return (char *)o->plan->slot[slot] + head * (s->rows / KV_BLOCK) * kv_block_sz((enum kv_type)s->kv_type, s->d_head);
}

static inline void plain_pack_distances(const struct plain_op *o)
{
    const enum kv_type type = (enum kv_type)o->plan->p->slot[o->op->kv_slot].kv_type;
    const struct bind *c = o->bind;
    const float none[HEAD_MAX] = { 0 };
    for (uint32_t h = 0; h < c->heads; h++)
        for (uint32_t r = 0; r < o->rows; r += PANEL)
            kern_run_of(o->kern, type)->pack_keys(plain_packed_distances(o, o->op->kv_slot, h) +
                                                      r / PANEL * pack_panel_sz(kv_run_packed(type), c->d_head),
                                                  plain_row(o, o->op->in, r) + h * c->d_head, plain_ld(o->plan->p, o->op->in),
                                                  o->rows - r < PANEL ? o->rows - r : PANEL, c->d_head, none);
}

/* Row r of a head, over packed keys. */
static inline void plain_rel_packed(const struct plain_op *o, uint32_t r, uint32_t h, void *scratch)
{
    const struct bind *c = o->bind;
    const struct sequence s = plain_sequence(o, r);
    const int64_t i = (int64_t)r - s.row, from = i - (int64_t)c->behind, to = i + (int64_t)c->ahead + 1;
    const struct key_span sees = { from > 0 ? (uint32_t)from : 0, to < s.n ? (uint32_t)to : s.n };
    enum kv_type type;
    size_t head_sz;
    struct kv_view kv = plain_kv(o, h, 0, &type, &head_sz);
    kv.base = (char *)kv.base + s.block * kv.block_stride;
    const struct attn_rel_run a = { .out = plain_row(o, o->op->out, r) + h * c->d_head, .q = plain_row(o, o->op->in, r) + h * c->d_head,
                                    .u = (const float *)plain_at(o, c->bias) + h * c->d_head,
                                    .v = (const float *)plain_at(o, c->filter) + h * c->d_head, .keys = kv.base,
                                    .values = plain_run_values(&kv, type, s.n, c->d_head),
                                    .distances = plain_packed_distances(o, o->op->aux, h), .sees = &sees,
                                    .at = plain_rows_count(o, ROWS_DISTANCES) / 2 - (size_t)i, .rows = 1, .d_head = c->d_head,
                                    .n_keys = s.n, .scale = c->scale };
    kern_run_of(o->kern, type)->attn_rel(&a, scratch);
}

/* The same over the keys of a state. */
static inline void plain_rel_state(const struct plain_op *o, uint32_t r, uint32_t h, void *scratch)
{
    const struct bind *c = o->bind;
    const size_t width = (size_t)c->heads * c->d_head;
    const float *u = plain_at(o, c->bias), *v = plain_at(o, c->filter), *table = plain_at(o, c->positions);
    const struct sequence s = plain_sequence(o, r);
    uint32_t first;
    const struct key_span sees = plain_chunks(o, r, s, &first);
    const float *keys = plain_state_rows(o->x, o->op->state, o->op->layer, s.lane);
    const struct attn_rel a = { .out = plain_row(o, o->op->out, r) + h * c->d_head, .q = plain_row(o, o->op->in, r) + h * c->d_head,
                                .u = u + h * c->d_head, .v = v + h * c->d_head, .keys = keys + h * c->d_head,
                                .values = keys + width + h * c->d_head, .ld_kv = 2 * width, .r = table + c->k * width + h * c->d_head,
                                .ld_r = (ptrdiff_t)width, .sees = &sees, .first = first, .rows = 1, .d_head = c->d_head,
                                .scale = c->scale };
    o->kern->attn_rel(&a, scratch);
}

/* Row by row, head by head. */
static inline void plain_attn_rel(const struct plain_op *o)
{
    const int streams = o->op->state != NO_STATE;
    const size_t keys = streams ? o->x->positions[o->op->state] : o->rows;
    void *scratch = aligned_alloc(64, ((streams ? kern_attn_rel_scratch(keys) : kern_attn_rel_run_scratch(keys)) + 63) & ~(size_t)63);
    assert_non_null(scratch);
    for (uint32_t r = 0; r < o->rows; r++)
        for (uint32_t h = 0; h < o->bind->heads; h++) (streams ? plain_rel_state : plain_rel_packed)(o, r, h, scratch);
    free(scratch);
}

/* An image [rows, columns, n]. */
struct plain_image { float *x; int64_t rows, columns, n; };

static inline struct plain_image plain_image_half(struct plain_image of, int64_t n, int64_t left)
{
    struct plain_image to = { NULL, (of.rows + left - 2) / 2 + 1, (of.columns + left - 2) / 2 + 1, n };
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
    struct plain_image to = plain_image_half(of, o->bind->n, o->bind->left);
    float square[9], *mid = calloc(o->bind->n, sizeof *mid);
    assert_non_null(mid);
    for (int64_t r = 0; r < to.rows; r++)
        for (int64_t f = 0; f < to.columns; f++) {
            const float *x[9];
            for (int k = 0; k < 9; k++) {
                x[k] = plain_place(&of, 2 * r - o->bind->left + k / 3, 2 * f - o->bind->left + k % 3);
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
    struct plain_image to = plain_image_half(of, o->bind->n, o->bind->left);
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

/* Rows of the input before a stream's new ones: the state's, and before that one of zeros. Rows of out for them are wrong, and dropped. */
enum { PLAIN_PAST = 2 };

static inline struct plain_image plain_stem_image(const struct plain_op *o, struct sequence s, uint32_t past)
{
    const struct bind *c = o->bind;
    const size_t width = (size_t)c->stride * c->d_head;
    struct plain_image m = { NULL, 0, c->d_head, 1 };
    m.x = calloc((past + (size_t)s.n) * width, sizeof *m.x);
    assert_non_null(m.x);
    if (past) memcpy(m.x + (past - 1) * width, plain_newest(o, s.lane), width * sizeof *m.x);
    for (uint32_t r = 0; r < s.n; r++) memcpy(m.x + (past + r) * width, plain_row(o, o->op->in, s.row + r), width * sizeof *m.x);
    m.rows = (int64_t)(past + s.n - 1) * c->stride + (int64_t)plain_row(o, o->op->in, (size_t)s.row + s.n - 1)[width];
    const int64_t lead = c->left > 1 ? c->stride - 1 : 0; /* row 0 of the input ends with the image's first row */
    memmove(m.x, m.x + lead * c->d_head, (size_t)((m.rows -= lead) * c->d_head) * sizeof *m.x);
    return m;
}

static inline void plain_stem(const struct plain_op *o)
{
    for (uint32_t first = 0; first < o->rows;) {
        const struct bind *c = o->bind;
        const struct sequence s = plain_sequence(o, first);
        const uint32_t chunk = ((c->window - 1) / 2 / 2 / 2) + 1;
        for (uint32_t at = 0; c->window && at < s.n; at += chunk) plain_chunk(o, s.row + at, s.n - at < chunk ? s.n - at : chunk);
        first += s.n;
        if (c->window) continue;
        const uint32_t before = plain_stream(o, s).before, past = before < PLAIN_PAST ? before : PLAIN_PAST;
        struct plain_image m = plain_stem_image(o, s, past);
        for (int i = 0; i < 3; i++) m = plain_stage(o, m, i);
        assert_int_equal(m.rows, past + s.n);
        for (int64_t r = 0; r < s.n; r++)
            memcpy(plain_row(o, o->op->out, (size_t)(s.row + r)), plain_place(&m, past + r, 0), (size_t)(m.columns * m.n) * sizeof *m.x);
        free(m.x);
    }
}
#endif

/* steno: attention over integer keys and values. SPDX-License-Identifier: MIT
 *
 * KV_INT_D d of a block's keys are stored like a block of weights of PK_Q8_QUAD, and (not for KV_Q8) one of PK_Q4_QUAD with four more bits
 * of each. Values are stored like a block of PK_Q8_QUAD. All products are therefore those of lowp_blocks.h: vectors of keys or values are
 * read once, and all rows are multiplied with them; with BLOCK_ROWS > 1 they are read once for each tile of rows (attn_int_tiles.h). While
 * keys are multiplied, their values are prefetched; while values are multiplied, the next keys are.
 *
 * Before it includes this header, a file defines vf_load_bf16, the primitives of lowp_blocks.h, and:
 *   row_to_weights(row, x, n)          as quantize_attn_weights, integers of a block in the order of their products
 * and, with BLOCK_ROWS 1:
 *   quad_more(high, low, b, x)         add QUAD_VECTORS blocks b times a row's block x to sums of integers
 *   ints_joined(high, low)             the sum of both
 * If QUADS_SIGNED is 1 (knobs.h), values are signed and sums begin with 0. */
#ifndef STENO_KERN_ATTN_INT_H
#define STENO_KERN_ATTN_INT_H
#include "kern/attn_group.h"
#include "kern/lowp_blocks.h"

/* Prefetch lines [from, to) of 64 bytes. */
INLINE void bring(const char *p, size_t from, size_t to)
{
    UNROLL
    for (; from < to; from++) __builtin_prefetch(p + 64 * from, 0, 2);
}

INLINE void queries_ints(struct attn_scratch *s, enum kv_type t, const struct attn *a, size_t r0, size_t rows)
{
    for (size_t r = 0; r < rows; r++) {
        uint32_t *to = s->q_int + r * Q_INT_LD;
        for (size_t d = 0; d < a->d_head; d += KV_INT_D, to += Q_INT_WORDS) {
            const float *q = a->q + (r0 + r) * a->ld_q + d;
            row_to_blocks(to, PK_Q8_QUAD, q, KV_INT_D);
            if (t == KV_INT) row_to_blocks(to + block_words(PK_Q8_QUAD), PK_Q4_QUAD, q, KV_INT_D);
        }
    }
}

#if BLOCK_ROWS > 1
#include "kern/attn_int_tiles.h"
#else
enum { AT_ONCE = QUAD_VECTORS * VF_N }; /* outputs of a block that are computed at a time */

/* The vectors of a block from output c on. */
INLINE void int_vectors(vi b[QUAD_VECTORS][QUAD_WEIGHTS], enum packed_type t, const char *ints, size_t c)
{
    UNROLL
    for (size_t i = 0; i < QUAD_VECTORS; i++, c += VF_N) quad_weights(b[i], t, ints + c / QUAD_W * quad_outputs_sz(t) + c % QUAD_W * 4);
}

/* Add KV_INT_D d of the keys' high or low bits to the scores of KV_BLOCK positions, [rows] of SCORE_LD. x: those d of the first row. fresh:
 * scores begin with 0. values: prefetch `lines` lines of them. */
INLINE void score_ints(float *score, const struct key_block *b, enum packed_type t, const char *ints, const uint16_t *scale_k,
                       const uint32_t *x, int fresh, float one, const char *values, size_t lines)
{
    const vf unit = vf_set1(one);
    UNROLL
    for (size_t c = 0; c < KV_BLOCK; c += AT_ONCE) {
        vi k[QUAD_VECTORS][QUAD_WEIGHTS];
        vf scale[QUAD_VECTORS];
        bring(values, lines * c / KV_BLOCK, lines * (c + AT_ONCE) / KV_BLOCK);
        int_vectors(k, t, ints, c);
        UNROLL
        for (size_t i = 0; i < QUAD_VECTORS; i++) scale[i] = vf_mul(unit, vf_load_bf16(scale_k + c + i * VF_N));
        const uint32_t *from = x;
        float *to = score + c;
        for (size_t r = 0; r < b->rows; r++, from += Q_INT_LD, to += SCORE_LD) {
            const vf scale_q = vf_set1(load_f32(from + block_scale_at(t)));
            vf sum[QUAD_VECTORS];
            quad_sums(sum, QUAD_VECTORS, t, k, from, 0);
            UNROLL
            for (size_t i = 0; i < QUAD_VECTORS; i++)
                vf_store(to + i * VF_N, vf_fma_once(sum[i], vf_mul(scale_q, scale[i]), fresh ? vf_zero() : vf_load(to + i * VF_N)));
        }
    }
}

/* Outputs of row r of `rows` from d + c on. All rows share the prefetch of the next keys, so that reading never waits for products. */
INLINE void weigh_int_row(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t r, size_t rows, size_t d,
                          const size_t c)
{
    const size_t shares = rows * (KV_INT_D / VF_N), share = r * (KV_INT_D / VF_N) + c / VF_N;
    const size_t from = key_group_sz(t) / 64 * share / shares, to = key_group_sz(t) / 64 * (share + QUAD_VECTORS) / shares;
    const size_t values = value_group_at(t, d, b->d_head) + VALUE_INTS, keys = key_group_at(t, d);
    const uint32_t *w = s->weight + r * WEIGHT_LD;
    vs high[QUAD_VECTORS], low[QUAD_VECTORS];
    UNROLL
    for (size_t j = 0; j < QUAD_VECTORS; j++) high[j] = vs_zero(), low[j] = vs_set1(QUADS_SIGNED ? 0 : (int32_t)w[INT_START]);
    for (size_t i = 0; i * KV_BLOCK < b->seen[r]; i++) {
        vi v[QUAD_VECTORS][QUAD_WEIGHTS];
        bring(b->next[i] + keys, from, to);
        int_vectors(v, PK_Q8_QUAD, b->kv[i] + values, c);
        quad_more(high, low, v, w + i * INT_WORDS);
    }
    const vf scale = vf_set1(load_f32(w + INT_SCALE));
    float *out = b->out + r * OUT_LD + d + c;
    UNROLL
    for (size_t j = 0; j < QUAD_VECTORS; j++) vf_store(out + j * VF_N, vf_mul(vf_of_ints(ints_joined(high[j], low[j])), scale));
}

/* Outputs of all rows from d on. */
INLINE void weigh_group(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t d)
{
    UNROLL
    for (size_t c = 0; c < KV_INT_D; c += AT_ONCE) {
        if (b->rows == 1) weigh_int_row(s, t, b, 0, 1, d, c);
        for (size_t r = 0; r < b->rows && b->rows > 1; r++) weigh_int_row(s, t, b, r, b->rows, d, c);
    }
}
#endif

INLINE void scores_ints(struct attn_scratch *s, enum kv_type t, const struct key_block *b)
{
    enum { LINES = VALUE_GROUP_SZ / 64 };
    const size_t first = t == KV_INT ? 11 : LINES; /* shared like the products */
    for (size_t i = 0; i * KV_BLOCK < b->max; i++)
        for (size_t d = 0; d < b->d_head; d += KV_INT_D) {
            const char *group = b->kv[i] + key_group_at(t, d), *values = b->kv[i] + value_group_at(t, d, b->d_head);
            const uint16_t *scale_k = (const uint16_t *)(const void *)group;
            const uint32_t *q = s->q_int + d / KV_INT_D * Q_INT_WORDS;
            float *score = s->score + i * KV_BLOCK;
            score_ints(score, b, PK_Q8_QUAD, group + KEY_HIGH, scale_k, q, d == 0, t == KV_INT ? 16 : 1, values, first);
            if (t == KV_INT)
                score_ints(score, b, PK_Q4_QUAD, group + KEY_LOW, scale_k, q + block_words(PK_Q8_QUAD), 0, 1, values + 64 * first,
                           LINES - first);
        }
}

/* A NaN score makes the first weight NaN, and with it all values. */
static vf exps_int(struct attn_scratch *s, size_t r, float unit, float max, size_t n)
{
    vf powers;
    const vf sum = exps_in_place(s, r, unit, max, n, &powers);
    if (isnan(vf_sum(powers))) s->score[r * SCORE_LD] = NAN;
    return sum;
}

/* Weights of each row times the scales of the values from d on, as integers. */
INLINE void weights_to_ints(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t d)
{
    float weight[ATTN_KEYS], scale[ATTN_KEYS];
    const size_t at = value_group_at(t, d, b->d_head);
    for (size_t i = 0; i < b->max; i += KV_BLOCK)
        UNROLL
        for (size_t j = 0; j < KV_BLOCK; j += VF_N)
            vf_store(scale + i + j, vf_load_bf16((const uint16_t *)(const void *)(b->kv[i / KV_BLOCK] + at) + j));
    for (size_t r = 0; r < b->rows; r++) {
        const float *from = s->score + r * SCORE_LD;
        for (size_t i = 0; i < b->seen[r]; i += KV_BLOCK) /* to the end of a block, which is in memory */
            UNROLL
            for (size_t j = i; j < i + KV_BLOCK; j += VF_N) vf_store(weight + j, vf_mul(vf_load(from + j), vf_load(scale + j)));
        row_to_weights(s->weight + r * WEIGHT_LD, weight, b->seen[r]);
    }
}

INLINE void weigh_ints(struct attn_scratch *s, enum kv_type t, const struct key_block *b)
{
    for (size_t r = 0; r < b->rows; r++) /* not skipped, although no score may be above -infinity */
        if (b->seen[r] && isnan(s->score[r * SCORE_LD])) b->out[r * OUT_LD + partial_max_at(b->d_head)] = 0;
    for (size_t d = 0; d < b->d_head; d += KV_INT_D) {
        weights_to_ints(s, t, b, d);
        weigh_group(s, t, b, d);
    }
}

INLINE uint16_t kv_row_ints(int16_t q[KV_INT_D], const float *x, int of)
{
    vf v[KV_INT_D / VF_N];
    UNROLL
    for (size_t c = 0; c < KV_INT_D / VF_N; c++) v[c] = vf_load(x + c * VF_N);
    return kv_ints(q, v, of);
}

INLINE void kv_put_ints(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head, enum kv_type t)
{
    char *block = kv_block_at(kv, pos / KV_BLOCK);
    int16_t q[KV_INT_D];
    for (size_t d = 0; d < d_head; d += KV_INT_D) {
        const uint16_t scale_k = kv_row_ints(q, k + d, kv_int_max(t, 1));
        put_key_ints(t, block + key_group_at(t, d), pos % KV_BLOCK, scale_k, q);
        const uint16_t scale_v = kv_row_ints(q, v + d, I8_MAX);
        put_value_ints(block + value_group_at(t, d, d_head), pos % KV_BLOCK, scale_v, q);
    }
}

#define TYPED(name, t)                                                                                                             \
    static void kv_put_##name(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)             \
    {                                                                                                                              \
        kv_put_ints(kv, pos, k, v, d_head, t);                                                                                     \
    }                                                                                                                              \
    static void queries_##name(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows)                               \
    {                                                                                                                              \
        queries_ints(s, t, a, r0, rows);                                                                                           \
    }                                                                                                                              \
    static void scores_##name(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0)                  \
    {                                                                                                                              \
        (void)a, (void)r0;                                                                                                         \
        scores_ints(s, t, b);                                                                                                      \
    }                                                                                                                              \
    static void weigh_##name(struct attn_scratch *s, const struct key_block *b) { weigh_ints(s, t, b); }                           \
    static const struct attn_body body_##name = { queries_##name, scores_##name, exps_int, weigh_##name };                         \
    ATTN_KERNELS(name, t)
TYPED(int, KV_INT)
TYPED(q8, KV_Q8)
#undef TYPED

INLINE void init_attn_ints(struct kern *k)
{
    init_attn_int(k);
    init_attn_q8(k);
    k->kv_put[KV_INT] = kv_put_int;
    k->kv_put[KV_Q8] = kv_put_q8;
}
#endif

/* steno: attention over vectors. SPDX-License-Identifier: MIT
 *
 * Keys and values of f32 and f16. A block of keys is stored like a panel of weights, so scores use the register tile of gemm.h. So does the
 * product with values, whose "k" is the key. */
#ifndef STENO_KERN_ATTN_H
#define STENO_KERN_ATTN_H
#include "kern/attn_group.h"
#include "kern/gemm.h"

INLINE enum packed_type plain_type(enum kv_type t) { return t == KV_F16 ? PK_F16 : PK_F32; }

/* ---- few rows of f16 ------------------------------------------------------------------------------------------------------------ */
/* Halves of a tile when n columns are left. */
INLINE size_t halves_of(size_t n) { return n >= HALVES * TILE_W ? HALVES : 1; }

static void score_few(struct attn_scratch *s, const struct key_block *b, const float *q, size_t ld_q)
{
    const size_t n = (b->max + KV_BLOCK - 1) / KV_BLOCK * KV_BLOCK;
    for (size_t j = 0, halves; j < n; j += halves * TILE_W) {
        const void *w[HALVES], *ahead[HALVES];
        halves = halves_of(n - j);
        for (size_t h = 0; h < halves; h++) {
            const size_t key = j + h * TILE_W;
            const uint16_t *k = (const uint16_t *)(const void *)b->kv[key / KV_BLOCK];
            w[h] = k + key % KV_BLOCK;
            ahead[h] = k + (KV_BLOCK + key % KV_BLOCK) * b->d_head; /* the values */
        }
        few_tiles(s->score + j, SCORE_LD, q, ld_q, w, KV_BLOCK, b->d_head, b->d_head, b->out ? ahead : NULL,
                  b->rows, halves);
    }
}

/* Columns of values up to wide_d, for the first keys, which all rows attend to. */
static void weigh_few(struct attn_scratch *s, const struct key_block *b, size_t wide_d, size_t n_keys)
{
    for (size_t d = 0, halves; d < wide_d; d += halves * TILE_W) {
        const void *w[BLOCKS * HALVES], *ahead[BLOCKS * HALVES];
        halves = halves_of(wide_d - d);
        for (size_t i = 0; i * KV_BLOCK < n_keys; i++)
            for (size_t h = 0; h < halves; h++) {
                const size_t at = d + h * TILE_W;
                w[i * halves + h] = (const uint16_t *)(const void *)b->kv[i] + KV_BLOCK * b->d_head + at;
                ahead[i * halves + h] = (const uint16_t *)(const void *)b->next[i] + KV_BLOCK * at;
            }
        few_tiles(b->out + d, OUT_LD, s->score, SCORE_LD, w, b->d_head, KV_BLOCK, n_keys, ahead, b->rows, halves);
    }
}

/* f16 only. n is rounded up to whole vectors, which are still inside the block of keys and values. */
INLINE void widen_plain(float *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i += VF_N) vf_store(to + i, vf_load_f16((const uint16_t *)from + i));
}

/* ---- scores --------------------------------------------------------------------------------------------------------------------- */
/* One row: four blocks of keys in parallel. */
INLINE void score_row(float *score, enum kv_type t, const struct key_block *b, const float *q)
{
    const size_t n_blocks = (b->max + KV_BLOCK - 1) / KV_BLOCK, ahead = KV_BLOCK * b->d_head * kv_elem_sz(t); /* distance to the values */
    for (size_t i = 0; i < n_blocks;) {
        const int streams = n_blocks - i >= FEW_PANELS(1) ? FEW_PANELS(1) : 1;
        if (streams > 1) few(score + i * KV_BLOCK, plain_type(t), q, 0, b->kv + i, b->d_head, ahead, 2, 1, FEW_PANELS(1));
        else few(score + i * KV_BLOCK, plain_type(t), q, 0, b->kv + i, b->d_head, ahead, 2, 1, 1);
        i += (size_t)streams;
    }
}

INLINE void score_rows(struct attn_scratch *s, enum kv_type t, const struct key_block *b, const float *q, size_t ld_q)
{
    if (b->rows == 1) {
        score_row(s->score, t, b, q);
        return;
    }
    if (t == KV_F16 && b->rows <= FEW_ROWS_MAX) {
        score_few(s, b, q, ld_q);
        return;
    }
    size_t most[ATTN_ROWS / TILE_ROWS];
    for (size_t r = 0; r < b->rows; r += TILE_ROWS) most[r / TILE_ROWS] = most_keys(b, r);
    for (size_t j = 0; j < b->max; j += KV_BLOCK) {
        const float *k = (const float *)(const void *)b->kv[j / KV_BLOCK];
        if (t == KV_F16) {
            widen_plain(s->k_wide, b->kv[j / KV_BLOCK], KV_BLOCK * b->d_head);
            k = s->k_wide;
        }
        for (size_t r = 0; r < b->rows; r += TILE_ROWS)
            for (size_t c = 0; c < KV_BLOCK && j + c < most[r / TILE_ROWS]; c += TILE_W) {
                const void *w = k + c;
                tile_of[size_min(TILE_ROWS, b->rows - r)](s->score + r * SCORE_LD + j + c, SCORE_LD, q + r * ld_q, ld_q, &w, KV_BLOCK,
                                                          b->d_head, b->d_head, 1);
            }
    }
}

/* ---- weights times values ------------------------------------------------------------------------------------------------------- */
INLINE const char *values_of(enum kv_type t, const struct key_block *b, size_t key)
{
    return b->kv[key / KV_BLOCK] + (KV_BLOCK + key % KV_BLOCK) * b->d_head * kv_elem_sz(t);
}

/* out[vectors] += p[k0, k1) v for one row, columns from d; lanes < VF_N only for the last vector of a head. */
INLINE void weigh_columns(float *out, enum kv_type t, const struct key_block *b, const float *p, size_t k0, size_t k1, size_t d,
                          const int vectors, size_t lanes)
{
    vf a[4 * PV];
    const size_t elem = kv_elem_sz(t);
    UNROLL
    for (int c = 0; c < vectors; c++) a[c] = vf_load(out + d + (size_t)c * VF_N);
    while (k0 < k1) {
        const char *v = values_of(t, b, k0) + d * elem;
        const char *next = b->next[k0 / KV_BLOCK] + (k0 % KV_BLOCK * b->d_head + d) * elem;
        const size_t end = size_min(k1, (k0 / KV_BLOCK + 1) * KV_BLOCK);
        for (; k0 < end; k0++, v += b->d_head * elem, next += b->d_head * elem) {
            for (size_t i = 0; i < (size_t)vectors * VF_N * elem; i += 64) __builtin_prefetch(next + i, 0, 2);
            const vf w = vf_set1(p[k0]);
            if (lanes < VF_N) {
                char rest[VF_N * sizeof(float)] = { 0 };
                memcpy(rest, v, lanes * elem);
                a[0] = vf_fma(w, load_weights(plain_type(t), rest, 0), a[0]);
                continue;
            }
            UNROLL
            for (int c = 0; c < vectors; c++) a[c] = vf_fma(w, load_weights(plain_type(t), v, (size_t)c * VF_N), a[c]);
        }
    }
    UNROLL
    for (int c = 0; c < vectors; c++) vf_store(out + d + (size_t)c * VF_N, a[c]);
}

INLINE void weigh_row(float *out, enum kv_type t, const struct key_block *b, const float *p, size_t k0, size_t k1, size_t d)
{
    if (k0 >= k1) return;
    for (; d + 2 * PANEL <= b->d_head; d += 2 * PANEL) weigh_columns(out, t, b, p, k0, k1, d, 2 * PV, VF_N);
    for (; d + VF_N <= b->d_head; d += VF_N) weigh_columns(out, t, b, p, k0, k1, d, 1, VF_N);
    if (d < b->d_head) weigh_columns(out, t, b, p, k0, k1, d, 1, b->d_head - d);
}

INLINE void weigh_many(struct attn_scratch *s, enum kv_type t, const struct key_block *b, size_t wide_d,
                       const size_t common[ATTN_ROWS / TILE_ROWS])
{
    const float *v[BLOCKS] = { 0 };
    for (size_t j = 0; j < b->max; j += KV_BLOCK) {
        v[j / KV_BLOCK] = (const float *)(const void *)values_of(t, b, j);
        if (t == KV_F16) {
            float *to = s->v_wide + j * b->d_head;
            widen_plain(to, values_of(t, b, j), size_min(KV_BLOCK, b->max - j) * b->d_head);
            v[j / KV_BLOCK] = to;
        }
    }
    for (size_t d = 0; d < wide_d; d += TILE_W) {
        const void *at[BLOCKS];
        for (size_t i = 0; i < BLOCKS; i++) at[i] = v[i] ? v[i] + d : NULL;
        for (size_t r = 0; r < b->rows; r += TILE_ROWS)
            tile_of[size_min(TILE_ROWS, b->rows - r)](b->out + r * OUT_LD + d, OUT_LD, s->score + r * SCORE_LD, SCORE_LD, at, b->d_head,
                                                      KV_BLOCK, common[r / TILE_ROWS], 1);
    }
}

INLINE void weigh_rows(struct attn_scratch *s, enum kv_type t, const struct key_block *b)
{
    const size_t wide_d = b->d_head / TILE_W * TILE_W;
    size_t common[ATTN_ROWS / TILE_ROWS] = { 0 };
    for (size_t r = 0; r < b->rows; r += TILE_ROWS) common[r / TILE_ROWS] = common_keys(b, r);
    if (t == KV_F16 && b->rows <= FEW_ROWS_MAX) {
        for (size_t i = 1; i * TILE_ROWS < b->rows; i++) common[0] = common[i] = size_min(common[0], common[i]);
        weigh_few(s, b, wide_d, common[0]);
    } else weigh_many(s, t, b, wide_d, common);
    for (size_t r = 0; r < b->rows; r++) {
        float *out = b->out + r * OUT_LD;
        clear_values(out, wide_d, b->d_head);
        const float *p = s->score + r * SCORE_LD;
        const size_t done = common[r / TILE_ROWS];
        if (wide_d < b->d_head) weigh_row(out, t, b, p, 0, done, wide_d);
        weigh_row(out, t, b, p, done, b->seen[r], 0);
    }
}

/* ---- the types ------------------------------------------------------------------------------------------------------------------ */
static void queries_plain(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows) { (void)s, (void)a, (void)r0, (void)rows; }

#define TYPED(name, t)                                                                                                       \
    static void scores_##name(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0)            \
    {                                                                                                                        \
        score_rows(s, t, b, a->q + r0 * a->ld_q, a->ld_q);                                                                   \
    }                                                                                                                        \
    static void weigh_##name(struct attn_scratch *s, const struct key_block *b)                                              \
    {                                                                                                                        \
        if (b->rows == 1) {                                                                                                  \
            clear_values(b->out, 0, b->d_head);                                                                              \
            weigh_row(b->out, t, b, s->score, 0, b->seen[0], 0);                                                             \
        } else weigh_rows(s, t, b);                                                                                          \
    }                                                                                                                        \
    static const struct attn_body body_##name = { queries_plain, scores_##name, exps_plain, weigh_##name };                  \
    ATTN_KERNELS(name, t)
TYPED(f32, KV_F32)
TYPED(f16, KV_F16)
#undef TYPED

/* A position of f16. Its keys are a line apart. */
static void kv_put_f16(const struct kv_view *kv, uint32_t pos, const float *k, const float *v, uint32_t d_head)
{
    const size_t slot = pos % KV_BLOCK;
    uint16_t half[HEAD_MAX], *block = (uint16_t *)(void *)kv_block_at(kv, pos / KV_BLOCK), *key = block + kv_key_at(KV_F16, slot, 0);
    for (size_t d = 0; d < d_head; d += VF_N) vf_store_f16(half + d, load_some(k + d, d_head - d));
    for (size_t d = 0; d < d_head; d++) key[d * KV_BLOCK] = half[d];
    for (size_t d = 0; d < d_head; d += VF_N) vf_store_f16(half + d, load_some(v + d, d_head - d));
    memcpy(block + kv_value_at(KV_F16, slot, 0, d_head), half, d_head * sizeof *half);
}

static void attn_merge(const struct attn *a, const float *partial, size_t ld_partial, size_t n)
{
    attn_merge_any(a, partial, ld_partial, n);
}

static void init_attn(struct kern *k)
{
    init_attn_f32(k);
    init_attn_f16(k);
    k->attn_merge = attn_merge;
    k->kv_put[KV_F16] = kv_put_f16;
}
#endif

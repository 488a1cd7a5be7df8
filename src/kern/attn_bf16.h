/* steno: attention with products of bf16 over vectors. SPDX-License-Identifier: MIT
 *
 * Both products use the register tile of lowp.h: a block of keys is a panel of pairs of d, and values are pairs of keys by d. A row that
 * ends inside a pair processes that pair separately, from a copy without the key past its length. */
#ifndef STENO_KERN_ATTN_BF16_H
#define STENO_KERN_ATTN_BF16_H
#include "kern/attn_pairs.h"
#include "kern/lowp.h"

/* ---- scores --------------------------------------------------------------------------------------------------------------------- */
/* One row, several blocks in parallel. */
INLINE void score_streams(float *score, const uint32_t *q, const struct key_block *b, size_t block, const int streams)
{
    vf a[4][PV];
    UNROLL
    for (int g = 0; g < streams; g++)
        UNROLL
        for (int c = 0; c < PV; c++) a[g][c] = vf_zero();
    for (size_t k = 0; k < b->d_head / 2; k++) {
        const vi v = vi_set1(q[k]);
        UNROLL
        for (int g = 0; g < streams; g++) {
            const uint32_t *w = key_words(b, block + (size_t)g) + k * PANEL;
            UNROLL
            for (int c = 0; c < PV; c++) a[g][c] = vf_dot_pairs(a[g][c], v, vi_load(w + c * VF_N));
        }
    }
    UNROLL
    for (int g = 0; g < streams; g++)
        UNROLL
        for (int c = 0; c < PV; c++) vf_store(score + g * KV_BLOCK + c * VF_N, a[g][c]);
}

static void scores_bf16(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0)
{
    enum { STREAMS = FEW_PANELS(1) };
    const size_t n_blocks = (b->max + KV_BLOCK - 1) / KV_BLOCK, words = b->d_head / 2;
    (void)a, (void)r0;
    if (b->rows == 1) {
        size_t i = 0;
        for (; i + STREAMS <= n_blocks; i += STREAMS) score_streams(s->score + i * KV_BLOCK, s->q, b, i, STREAMS);
        for (; i < n_blocks; i++) score_streams(s->score + i * KV_BLOCK, s->q, b, i, 1);
        return;
    }
    for (size_t i = 0; i < n_blocks; i++)
        for (size_t r = 0; r < b->rows; r += TILE_ROWS)
            for (size_t c = 0; c < KV_BLOCK; c += TILE_W) {
                const uint32_t *k = key_words(b, i) + c;
                const struct weight_words of = { &k, KV_BLOCK, words, words, (const char *)k, NULL, NULL, 0, 0 };
                tiles_pair[size_min(TILE_ROWS, b->rows - r)](s->score + r * SCORE_LD + i * KV_BLOCK + c, SCORE_LD, s->q + r * Q_LD,
                                                             Q_LD, NULL, 0, &of);
            }
}

/* ---- weights times values ------------------------------------------------------------------------------------------------------- */
/* out[vectors] += w[p0, p1) v for one row, columns from d; lanes < VF_N only for the last vector of a head. last: replaces the last pair of
 * values; NULL: no replacement. */
INLINE void weigh_words(float *out, const struct key_block *b, const uint32_t *w, size_t p0, size_t p1, const uint32_t *last, size_t d,
                        const int vectors, size_t lanes)
{
    vf a[4 * PV];
    UNROLL
    for (int c = 0; c < vectors; c++) a[c] = vf_load(out + d + (size_t)c * VF_N);
    for (size_t p = p0; p < p1; p++) {
        const uint32_t *v = (last && p + 1 == p1 ? last : value_words(b, p)) + d;
        uint32_t rest[VF_N] = { 0 };
        if (lanes < VF_N) v = memcpy(rest, v, lanes * sizeof *v);
        UNROLL
        for (int c = 0; c < vectors; c++) a[c] = vf_dot_pairs(a[c], vi_set1(w[p]), vi_load(v + (size_t)c * VF_N));
    }
    UNROLL
    for (int c = 0; c < vectors; c++) vf_store(out + d + (size_t)c * VF_N, a[c]);
}

/* Keys [2 p0, n), columns from d. */
INLINE void weigh_row_words(float *out, const struct key_block *b, const uint32_t *w, size_t p0, size_t n, size_t d)
{
    uint32_t even[HEAD_MAX];
    const uint32_t *last = NULL;
    const size_t p1 = (n + 1) / 2;
    if (p0 >= p1) return;
    if (n % 2) {
        last = even;
        for (size_t i = d; i < b->d_head; i++) even[i] = value_words(b, p1 - 1)[i] & 0xffffu;
    }
    for (; d + 2 * PANEL <= b->d_head; d += 2 * PANEL) weigh_words(out, b, w, p0, p1, last, d, 2 * PV, VF_N);
    for (; d + VF_N <= b->d_head; d += VF_N) weigh_words(out, b, w, p0, p1, last, d, 1, VF_N);
    if (d < b->d_head) weigh_words(out, b, w, p0, p1, last, d, 1, b->d_head - d);
}

static void weigh_bf16(struct attn_scratch *s, const struct key_block *b)
{
    if (b->rows == 1) {
        clear_values(b->out, 0, b->d_head);
        weigh_row_words(b->out, b, s->weight, 0, b->seen[0], 0);
        return;
    }
    const size_t wide_d = b->d_head / TILE_W * TILE_W;
    size_t common[ATTN_ROWS / TILE_ROWS]; /* pairs */
    for (size_t r = 0; r < b->rows; r += TILE_ROWS) common[r / TILE_ROWS] = common_keys(b, r) / 2;
    for (size_t d = 0; d < wide_d; d += TILE_W) {
        const uint32_t *v[BLOCKS] = { 0 };
        for (size_t i = 0; i * KV_BLOCK < b->max; i++) v[i] = value_words(b, i * KV_BLOCK / 2) + d;
        for (size_t r = 0; r < b->rows; r += TILE_ROWS) {
            const struct weight_words of = { v, b->d_head, KV_BLOCK / 2, common[r / TILE_ROWS], (const char *)v[0], NULL, NULL, 0, 0 };
            tiles_pair[size_min(TILE_ROWS, b->rows - r)](b->out + r * OUT_LD + d, OUT_LD, s->weight + r * WEIGHT_LD, WEIGHT_LD, NULL, 0,
                                                         &of);
        }
    }
    for (size_t r = 0; r < b->rows; r++) {
        float *out = b->out + r * OUT_LD;
        clear_values(out, wide_d, b->d_head);
        const uint32_t *w = s->weight + r * WEIGHT_LD;
        const size_t done = common[r / TILE_ROWS];
        if (wide_d < b->d_head) weigh_row_words(out, b, w, 0, 2 * done, wide_d);
        weigh_row_words(out, b, w, done, b->seen[r], 0);
    }
}

static const struct attn_body body_bf16 = { queries_bf16, scores_bf16, exps_bf16, weigh_bf16 };
ATTN_KERNELS(bf16, KV_BF16)
#endif

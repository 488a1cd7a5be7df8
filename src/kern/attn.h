/* steno: attention over vectors. SPDX-License-Identifier: MIT
 *
 * Groups of up to ATTN_ROWS query rows walk the keys in blocks of ATTN_KEYS. A block of keys is stored like a panel of weights, so
 * scores are the register tile of gemm.h; so is the product with values, whose "k" runs over keys. Between the two, each row by
 * itself: scale, maximum, exp, sum, and fading of what earlier blocks gave.
 *
 * A row must not see what lies past its length, not even multiplied by zero: the tile's product with values stops at the shortest row,
 * and every row goes on from there alone, in the same order and so with the same bits as if it had been alone from the start. */
#ifndef STENO_KERN_ATTN_H
#define STENO_KERN_ATTN_H
#include "kern/elem.h"
#include "kern/gemm.h"

enum { BLOCKS = ATTN_KEYS / KV_BLOCK };

/* What a group of rows shares while it looks at one block of ATTN_KEYS keys. */
struct key_block {
    const char *kv[BLOCKS];    /* keys; values lie behind them */
    size_t rows, d_head;
    size_t seen[ATTN_ROWS];    /* keys of this block that each row sees */
    size_t most;               /* the largest of them */
};

INLINE enum dtype plain_type(enum kv_type t) { return t == KV_F16 ? DT_F16 : DT_F32; }

/* f16 only. n is rounded up to whole vectors, which still lie within the block of keys and values. */
INLINE void widen_plain(float *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i += VF_N) vf_store(to + i, vf_load_f16((const uint16_t *)from + i));
}

/* ---- scores --------------------------------------------------------------------------------------------------------------------- */
/* One row: four blocks of keys side by side. */
INLINE void score_row(float *score, enum kv_type t, const struct key_block *b, const float *q)
{
    const size_t n_blocks = (b->most + KV_BLOCK - 1) / KV_BLOCK;
    for (size_t i = 0; i < n_blocks;) {
        const int streams = n_blocks - i >= FEW_PANELS(1) ? FEW_PANELS(1) : 1;
        if (streams > 1) few(score + i * KV_BLOCK, plain_type(t), q, 0, b->kv + i, b->d_head, 1, FEW_PANELS(1));
        else few(score + i * KV_BLOCK, plain_type(t), q, 0, b->kv + i, b->d_head, 1, 1);
        i += (size_t)streams;
    }
}

INLINE void score_rows(struct attn_scratch *s, enum kv_type t, const struct key_block *b, const float *q, size_t ld_q)
{
    if (b->rows == 1) {
        score_row(s->score, t, b, q);
        return;
    }
    for (size_t j = 0; j < b->most; j += KV_BLOCK) {
        const float *k = (const float *)(const void *)b->kv[j / KV_BLOCK];
        if (t == KV_F16) {
            widen_plain(s->k_wide, b->kv[j / KV_BLOCK], KV_BLOCK * b->d_head);
            k = s->k_wide;
        }
        for (size_t r = 0; r < b->rows; r += TILE_ROWS)
            for (size_t c = 0; c < KV_BLOCK; c += TILE_W) {
                const float *w = k + c;
                tile_of[size_min(TILE_ROWS, b->rows - r)](s->score + r * SCORE_LD + j + c, SCORE_LD, q + r * ld_q, ld_q, &w, KV_BLOCK,
                                                          b->d_head, b->d_head, 1);
            }
    }
}

/* ---- online softmax of one row: scores become weights, and what earlier blocks gave fades --------------------------------------- */
static void merge_row(float *score, float *max, float *sum, float *out, float scale, size_t n, size_t d_head)
{
    vf top = vf_set1(-INFINITY);
    for (size_t i = 0; i < n; i += VF_N) {
        const vf v = vf_mul(vf_load(score + i), vf_set1(scale)); /* may read past n: the row of scores is longer */
        vf_store(score + i, v);
        top = vf_max(n - i >= VF_N ? v : vf_drop(v, ~0u << (n - i)), top);
    }
    const float here = vf_hmax(top), m = here > *max ? here : *max;
    if (m == -INFINITY) { /* only where every score is: such keys weigh nothing */
        memset(score, 0, n * sizeof *score);
        return;
    }
    const float before = *max - m;
    *max = m;
    const float part = exp_row(score, score, m, n);
    if (before == 0) {
        *sum += part;
        return;
    }
    float fade[VF_N];
    vf_store(fade, vf_exp(vf_set1(before)));
    *sum = fmaf(*sum, fade[0], part);
    for (size_t d = 0; d < d_head; d += VF_N) vf_store(out + d, vf_mul(vf_load(out + d), vf_load(fade)));
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
        const size_t end = size_min(k1, (k0 / KV_BLOCK + 1) * KV_BLOCK);
        for (; k0 < end; k0++, v += b->d_head * elem) {
            const vf w = vf_set1(p[k0]);
            if (lanes < VF_N) {
                char part[VF_N * sizeof(float)] = { 0 };
                memcpy(part, v, lanes * elem);
                a[0] = vf_fma(w, load_weights(plain_type(t), part, 0), a[0]);
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

INLINE void weigh_rows(struct attn_scratch *s, enum kv_type t, const struct key_block *b)
{
    const size_t wide_d = b->d_head / TILE_W * TILE_W;
    const float *v[BLOCKS] = { 0 };
    for (size_t j = 0; j < b->most; j += KV_BLOCK) {
        v[j / KV_BLOCK] = (const float *)(const void *)values_of(t, b, j);
        if (t == KV_F16) {
            float *to = s->v_wide + j * b->d_head;
            widen_plain(to, values_of(t, b, j), size_min(KV_BLOCK, b->most - j) * b->d_head);
            v[j / KV_BLOCK] = to;
        }
    }
    size_t common[ATTN_ROWS / TILE_ROWS];
    for (size_t r = 0; r < b->rows; r += TILE_ROWS) {
        size_t least = ATTN_KEYS;
        for (size_t i = r; i < size_min(b->rows, r + TILE_ROWS); i++) least = size_min(least, b->seen[i]);
        common[r / TILE_ROWS] = least;
    }
    for (size_t d = 0; d < wide_d; d += TILE_W) {
        const float *at[BLOCKS];
        for (size_t i = 0; i < BLOCKS; i++) at[i] = v[i] ? v[i] + d : NULL;
        for (size_t r = 0; r < b->rows; r += TILE_ROWS)
            tile_of[size_min(TILE_ROWS, b->rows - r)](s->out + r * OUT_LD + d, OUT_LD, s->score + r * SCORE_LD, SCORE_LD, at, b->d_head,
                                                      KV_BLOCK, common[r / TILE_ROWS], 0);
    }
    for (size_t r = 0; r < b->rows; r++) {
        float *out = s->out + r * OUT_LD;
        const float *p = s->score + r * SCORE_LD;
        const size_t done = common[r / TILE_ROWS];
        if (wide_d < b->d_head) weigh_row(out, t, b, p, 0, done, wide_d);
        weigh_row(out, t, b, p, done, b->seen[r], 0);
    }
}

/* ---- a group of rows ------------------------------------------------------------------------------------------------------------ */
INLINE void attn_keys(const struct attn *a, struct attn_scratch *s, enum kv_type t, struct key_block *b, const size_t *len, size_t r0,
                      size_t key0)
{
    b->most = 0;
    for (size_t r = 0; r < b->rows; r++) {
        b->seen[r] = len[r] > key0 ? size_min(ATTN_KEYS, len[r] - key0) : 0;
        if (b->seen[r] > b->most) b->most = b->seen[r];
    }
    for (size_t j = 0; j < b->most; j += KV_BLOCK) b->kv[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
    score_rows(s, t, b, a->q + r0 * a->ld_q, a->ld_q);
    for (size_t r = 0; r < b->rows; r++)
        if (b->seen[r])
            merge_row(s->score + r * SCORE_LD, &s->max[r], &s->sum[r], s->out + r * OUT_LD, a->scale, b->seen[r], b->d_head);
    if (b->rows == 1) weigh_row(s->out, t, b, s->score, 0, b->seen[0], 0);
    else weigh_rows(s, t, b);
}

INLINE void attn_group(const struct attn *a, struct attn_scratch *s, enum kv_type t, size_t r0, size_t rows)
{
    struct key_block b = { .rows = rows, .d_head = a->d_head };
    size_t len[ATTN_ROWS], longest = 0;
    for (size_t r = 0; r < rows; r++) {
        const int32_t want = a->len ? a->len[r0 + r] : a->n_keys;
        len[r] = want > 0 ? (size_t)want : 0;
        if (len[r] > longest) longest = len[r];
        s->max[r] = -INFINITY, s->sum[r] = 0;
        memset(s->out + r * OUT_LD, 0, OUT_LD * sizeof(float));
    }
    for (size_t key0 = 0; key0 < longest; key0 += ATTN_KEYS) attn_keys(a, s, t, &b, len, r0, key0);
    for (size_t r = 0; r < rows; r++) {
        const vf scale = vf_set1(s->sum[r] > 0 ? 1 / s->sum[r] : 0);
        const float *from = s->out + r * OUT_LD;
        float *to = a->out + (r0 + r) * a->ld_out;
        size_t d = 0;
        for (; d + VF_N <= a->d_head; d += VF_N) vf_store(to + d, vf_mul(vf_load(from + d), scale));
        if (d < a->d_head) vf_store_n(to + d, vf_mul(vf_load(from + d), scale), a->d_head - d);
    }
}

static void attn_f32(const struct attn *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r += ATTN_ROWS) attn_group(a, scratch, KV_F32, r, size_min(ATTN_ROWS, a->rows - r));
}

static void attn_f16(const struct attn *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r += ATTN_ROWS) attn_group(a, scratch, KV_F16, r, size_min(ATTN_ROWS, a->rows - r));
}

/* ---- weights alone ---------------------------------------------------------------------------------------------------------------- */
INLINE void weights_group(const struct attn *a, struct attn_scratch *s, enum kv_type t, size_t r0, size_t rows)
{
    struct key_block b = { .rows = rows, .d_head = a->d_head };
    const size_t n = a->n_keys > 0 ? (size_t)a->n_keys : 0;
    float *out = a->out + r0 * a->ld_out;
    for (size_t key0 = 0; key0 < n; key0 += ATTN_KEYS) {
        b.most = size_min(ATTN_KEYS, n - key0);
        for (size_t j = 0; j < b.most; j += KV_BLOCK) b.kv[j / KV_BLOCK] = kv_block_at(&a->kv, (key0 + j) / KV_BLOCK);
        score_rows(s, t, &b, a->q + r0 * a->ld_q, a->ld_q);
        for (size_t r = 0; r < rows; r++) scale_row(out + r * a->ld_out + key0, s->score + r * SCORE_LD, a->scale, NULL, b.most);
    }
    for (size_t r = 0; r < rows; r++) softmax(out + r * a->ld_out, out + r * a->ld_out, n);
}

static void attn_weights_f32(const struct attn *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r += ATTN_ROWS) weights_group(a, scratch, KV_F32, r, size_min(ATTN_ROWS, a->rows - r));
}

static void attn_weights_f16(const struct attn *a, void *scratch)
{
    for (size_t r = 0; r < a->rows; r += ATTN_ROWS) weights_group(a, scratch, KV_F16, r, size_min(ATTN_ROWS, a->rows - r));
}

static void init_attn(struct kern *k)
{
    k->attn_weights[KV_F32] = attn_weights_f32;
    k->attn_weights[KV_F16] = attn_weights_f16;
    k->attn[KV_F32] = attn_f32;
    k->attn[KV_F16] = attn_f16;
}
#endif

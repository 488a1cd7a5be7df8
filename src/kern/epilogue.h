/* steno: processing of a linear's sums. SPDX-License-Identifier: MIT
 *
 * epilogue() takes the sums of some rows of one panel from scratch, adds bias, activation and residual, and stores the result, or writes
 * outputs to keys and values. Shared by f32 products (gemm.h) and low-precision products (lowp.h). */
#ifndef STENO_KERN_EPILOGUE_H
#define STENO_KERN_EPILOGUE_H
#include "kern/vec.h"

enum {
    TILE_W = 2 * VF_N,    /* outputs of a register tile */
    AHEAD = 2048          /* prefetch distance in a stream of weights, in bytes */
};

/* Sums of some rows of a panel, rows of PANEL. f32; for PK_I16_PAIR f32 without the output's scale; for PK_I8_QUAD int32 without the
 * output's and the row's scale. */
struct sums { float *acc; const float *scale_w, *scale_x; };

/* Sums of row r, from output c of the panel on. */
INLINE vf sums_at(const struct sums *s, size_t r, size_t c, enum packed_type t)
{
    const float *at = s->acc + r * PANEL + c;
    if (t == PK_I16_PAIR) return vf_mul(vf_load(at), vf_load(s->scale_w + c));
    if (t != PK_I8_QUAD) return vf_load(at);
    return vf_mul(vf_of_ints(vs_load((const int32_t *)(const void *)at)), vf_mul(vf_set1(s->scale_x[r]), vf_load(s->scale_w + c)));
}

INLINE void epilogue_y(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, const struct sums *s, enum packed_type t,
                       enum act act)
{
    for (size_t n = n0; n < n1; n += VF_N) {
        const size_t lanes = n1 - n;
        const float *res = l->res ? l->res + m * l->ld_res + n : NULL;
        float *y = l->y + m * l->ld_y + n;
        if (lanes >= VF_N) {
            const vf bias = l->bias ? vf_load(l->bias + n) : vf_zero();
            for (size_t r = 0; r < rows; r++) {
                const vf v = vf_act(vf_add(sums_at(s, r, n - n0, t), bias), act);
                vf_store(y + r * l->ld_y, res ? vf_add(v, vf_load(res + r * l->ld_res)) : v);
            }
        } else {
            const vf bias = l->bias ? vf_load_n(l->bias + n, lanes) : vf_zero();
            for (size_t r = 0; r < rows; r++) {
                const vf v = vf_act(vf_add(sums_at(s, r, n - n0, t), bias), act);
                vf_store_n(y + r * l->ld_y, res ? vf_add(v, vf_load_n(res + r * l->ld_res, lanes)) : v, lanes);
            }
        }
    }
}

/* Convert KV_INT_D numbers to integers, the largest magnitude to `of`. @return the scale as stored */
INLINE uint16_t kv_ints(int16_t q[KV_INT_D], const vf v[KV_INT_D / VF_N], int of)
{
    uint32_t words[KV_INT_D / 2];
    vi max = vi_set1(0);
    UNROLL
    for (size_t c = 0; c < KV_INT_D / VF_N; c++) max = vi_max_abs(max, v[c]);
    const struct int_scale s = kv_scale_of(vi_hmax(max), of);
    UNROLL
    for (size_t c = 0; c < KV_INT_D / VF_N; c++)
        vf_store_halves(words + c * VF_N / 2, vf_add(vf_mul(v[c], vf_set1(s.inverse)), vf_set1(I16_MAGIC)));
    memcpy(q, words, sizeof words);
    return kv_stored_scale(s.scale);
}

/* Convert outputs of a panel from n0 on to integers: bias, then integers with a scale per row, then copies. */
static void epilogue_ints(const struct linear *l, size_t m, size_t rows, size_t n0, const float *acc)
{
    const int is_key = n0 < (size_t)l->n_y + l->n_kv;
    const enum kv_type t = (enum kv_type)l->kv_type;
    const size_t at = int_group_at(l, n0);
    int16_t q[TILE_ROWS][KV_INT_D];
    uint16_t scale[TILE_ROWS];
    for (size_t r = 0; r < rows; r++) {
        vf v[PANEL / VF_N];
        UNROLL
        for (size_t c = 0; c < PANEL / VF_N; c++)
            v[c] = vf_add(vf_load(acc + r * PANEL + c * VF_N), l->bias ? vf_load(l->bias + n0 + c * VF_N) : vf_zero());
        scale[r] = kv_ints(q[r], v, kv_int_max(t, is_key));
    }
    for (size_t r = 0; r < rows; r++) {
        const size_t pos = l->kv_pos + m + r, slot = pos % KV_BLOCK;
        char *group = kv_block_at(&l->kv, pos / KV_BLOCK) + at;
        if (is_key) put_key_ints(t, group, slot, scale[r], q[r]);
        else if (slot % 4 || r + 4 > rows) put_value_ints(group, slot, scale[r], q[r]);
        else put_value_words(group, slot, scale + r, q + r), r += 3;
    }
}

/* Whether whole panels are keys or values of one head. */
INLINE int panels_are_of_heads(const struct linear *l) { return !(l->d_head % PANEL || l->n_y % PANEL || l->n_kv % PANEL); }

/* Write such a panel to KV_BF16: words of two neighbours for keys, words of two positions for values. */
static void epilogue_pairs(const struct linear *l, size_t m, size_t rows, size_t n0, const float *acc)
{
    const int is_key = n0 < (size_t)l->n_y + l->n_kv;
    const size_t at = n0 - l->n_y - (is_key ? 0 : l->n_kv), head = at / l->d_head, d = at % l->d_head;
    uint16_t half[TILE_ROWS][PANEL];
    for (size_t r = 0; r < rows; r++) {
        float row[PANEL];
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(row + c, vf_add(vf_load(acc + r * PANEL + c), l->bias ? vf_load(l->bias + n0 + c) : vf_zero()));
        for (size_t c = 0; c < PANEL; c++) half[r][c] = bf16_rounded(row[c]);
    }
    for (size_t r = 0; r < rows; r++) {
        const size_t pos = l->kv_pos + m + r, slot = pos % KV_BLOCK;
        uint16_t *block = (uint16_t *)(void *)(kv_block_at(&l->kv, pos / KV_BLOCK) + head * l->kv_head_sz);
        uint32_t *keys = (uint32_t *)(void *)(block + kv_key_at(KV_BF16, slot, d));
        uint16_t *values = block + kv_value_at(KV_BF16, slot, d, l->d_head);
        uint32_t word[PANEL];
        if (is_key) {
            memcpy(word, half[r], sizeof half[r]);
            for (size_t i = 0; i < PANEL / 2; i++) keys[i * KV_BLOCK] = word[i];
        } else if (slot % 2 == 0 && r + 1 < rows) {
            for (size_t i = 0; i < PANEL; i++) word[i] = half[r][i] | (uint32_t)half[r + 1][i] << 16;
            memcpy(values, word, sizeof word);
            r++;
        } else {
            for (size_t i = 0; i < PANEL; i++) values[2 * i] = half[r][i];
        }
    }
}

/* Write outputs [n0, n1) to keys and values: bias, conversion in place, then copies. acc: output n0 first. */
static void epilogue_kv(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, float *acc)
{
    uint16_t half[TILE_ROWS * PANEL];
    float bias[PANEL + VF_N] = { 0 }, row[PANEL + VF_N] = { 0 };
    if (kv_is_ints((enum kv_type)l->kv_type)) {
        epilogue_ints(l, m, rows, n0, acc);
        return;
    }
    if (l->kv_type == KV_BF16 && panels_are_of_heads(l)) {
        epilogue_pairs(l, m, rows, n0, acc);
        return;
    }
    if (l->bias) memcpy(bias, l->bias + n0, (n1 - n0) * sizeof *bias);
    for (size_t r = 0; r < rows; r++) {
        memcpy(row, acc + r * PANEL, (n1 - n0) * sizeof *row);
        for (size_t c = 0; c < PANEL; c += VF_N) {
            const vf v = vf_add(vf_load(row + c), vf_load(bias + c));
            if (l->kv_type == KV_F16) vf_store_f16(half + r * PANEL + c, v);
            else vf_store(row + c, v);
        }
        if (l->kv_type == KV_F32) memcpy(acc + r * PANEL, row, (n1 - n0) * sizeof *row);
        if (l->kv_type != KV_BF16) continue;
        for (size_t c = 0; c < PANEL; c++) half[r * PANEL + c] = bf16_rounded(row[c]);
    }
    kern_put_kv(l, m, rows, n0, n1, l->kv_type == KV_F32 ? acc : (const void *)half, PANEL);
}

/* Process rows <= TILE_ROWS rows from m of panel p, sums of products of type t. */
INLINE void epilogue_of(const struct linear *l, size_t m, size_t rows, size_t p, const struct sums *s, enum packed_type t)
{
    const size_t n0 = p * PANEL, n1 = size_min(l->n, n0 + PANEL), y_end = n0 < l->n_y ? size_min(n1, l->n_y) : n0;
    switch (l->act) {
    case ACT_GELU_ERF: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_GELU_ERF); break;
    case ACT_GELU_TANH: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_GELU_TANH); break;
    case ACT_RELU: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_RELU); break;
    case ACT_SILU: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_SILU); break;
    case ACT_TANH: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_TANH); break;
    case ACT_SIGMOID: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_SIGMOID); break;
    default: epilogue_y(l, m, rows, n0, y_end, s, t, ACT_NONE);
    }
    if (y_end == n1) return;
    for (size_t r = 0; r < rows && (t == PK_I16_PAIR || t == PK_I8_QUAD); r++)
        for (size_t c = 0; c < PANEL; c += VF_N) vf_store(s->acc + r * PANEL + c, sums_at(s, r, c, t));
    epilogue_kv(l, m, rows, y_end, n1, s->acc + (y_end - n0));
}

static inline void epilogue(const struct linear *l, size_t m, size_t rows, size_t p, float *acc)
{
    epilogue_of(l, m, rows, p, &(struct sums){ acc, NULL, NULL }, PK_F32);
}
#endif

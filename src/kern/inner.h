/* steno: what the kernels share among themselves. SPDX-License-Identifier: MIT
 *
 * Sizes of the scratch, where a position of keys and values lies, and one weight of a packed panel (the plain C reading of pack.c's
 * layout). Private to src/kern. */
#ifndef STENO_KERN_INNER_H
#define STENO_KERN_INNER_H
#include <string.h>
#include "kern/kern.h"

enum {
    K_STEP = 512,          /* most k widened at once */
    PANEL_GROUP = 4,       /* panels that share a pass over a block of x */
    HEAD_MAX = 256,        /* largest d_head */
    ATTN_ROWS = 48,        /* query rows that share a widened block of keys: four tiles of 12 */
    SCORE_LD = ATTN_KEYS + 16,
    OUT_LD = HEAD_MAX + 16
};

/* Scratch of linear: one panel's k-block as f32, then accumulators [PANEL_GROUP][GEMM_ROWS][PANEL]. */
struct linear_scratch {
    float wide[K_STEP * PANEL];
    float acc[PANEL_GROUP * GEMM_ROWS * PANEL];
};

/* Scratch of attention: scores (then weights) and unfinished outputs of a group of rows; keys and values widened where they are f16. */
struct attn_scratch {
    float score[ATTN_ROWS * SCORE_LD];
    float out[ATTN_ROWS * OUT_LD];
    float max[ATTN_ROWS], sum[ATTN_ROWS];
    float k_wide[KV_BLOCK * HEAD_MAX];
    float v_wide[ATTN_KEYS * HEAD_MAX];
};

static inline size_t size_min(size_t a, size_t b) { return a < b ? a : b; }

static inline char *kv_block_at(const struct kv_view *v, size_t block)
{
    return (char *)v->base + (v->table ? v->table[block] : block) * v->block_stride;
}

/* Outputs [n0, n1) of `rows` rows from row m go to keys and values. src holds them in the cache's type already: [rows] of ld elements,
 * output n0 first. */
void kern_put_kv(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, const void *src, size_t ld);

/* Parts of kern_init_c. */
void kern_init_linear_c(struct kern *k);
void kern_init_attn_c(struct kern *k);
void act_none_c(float *y, const float *x, size_t n);
void act_gelu_erf_c(float *y, const float *x, size_t n);
void act_gelu_tanh_c(float *y, const float *x, size_t n);
void act_relu_c(float *y, const float *x, size_t n);

/* ---- a packed panel, read plainly. Where block k / QBLOCK begins, and what follows its scales. */
static inline size_t panel_block_sz(enum dtype t)
{
    switch (t) {
    case DT_F32: return (size_t)QBLOCK * PANEL * 4;
    case DT_F16: case DT_BF16: return (size_t)QBLOCK * PANEL * 2;
    case DT_Q4_0: return PANEL * 2 + QBLOCK / 2 * PANEL;
    case DT_Q4_1: return PANEL * 4 + QBLOCK / 2 * PANEL;
    case DT_Q5_0: return PANEL * 2 + QBLOCK * 4 + QBLOCK / 2 * PANEL;
    case DT_Q5_1: return PANEL * 4 + QBLOCK * 4 + QBLOCK / 2 * PANEL;
    default: return PANEL * 2 + QBLOCK * PANEL;
    }
}
static inline int dtype_has_min(enum dtype t) { return t == DT_Q4_1 || t == DT_Q5_1; }
static inline int dtype_has_fifth(enum dtype t) { return t == DT_Q5_0 || t == DT_Q5_1; }

static inline uint16_t load_u16(const void *p) { uint16_t v; memcpy(&v, p, sizeof v); return v; }
static inline uint32_t load_u32(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; }

static inline float panel_value(enum dtype t, const uint8_t *panel, size_t k, size_t i)
{
    if (t == DT_F32) { float v; memcpy(&v, panel + (k * PANEL + i) * 4, sizeof v); return v; }
    if (t == DT_F16) return f16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    if (t == DT_BF16) return bf16_to_f32(load_u16(panel + (k * PANEL + i) * 2));
    const uint8_t *p = panel + k / QBLOCK * panel_block_sz(t);
    const size_t j = k % QBLOCK;
    const float d = f16_to_f32(load_u16(p + 2 * i));
    float m = 0;
    p += PANEL * 2;
    if (dtype_has_min(t)) { m = f16_to_f32(load_u16(p + 2 * i)); p += PANEL * 2; }
    if (t == DT_Q8_0) return d * (float)(int8_t)p[j * PANEL + i];
    int bias = t == DT_Q4_0 ? 8 : 0, q = 0;
    if (dtype_has_fifth(t)) {
        q = (int)(load_u32(p + 4 * j) >> i & 1u) << 4;
        p += QBLOCK * 4;
        bias = t == DT_Q5_0 ? 16 : 0;
    }
    const uint8_t pair = p[j / 2 * PANEL + i];
    q |= j & 1 ? pair >> 4 : pair & 15;
    return d * (float)(q - bias) + m;
}
#endif

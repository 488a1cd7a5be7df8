/* steno: linear in plain C, the definition. SPDX-License-Identifier: MIT
 *
 * Each output is one f32 accumulator that starts at 0 and adds x[k] * w[k] in ascending k, with multiply and add rounded separately. The
 * loops run over the 32 outputs of a panel, so that any compiler can vectorise them; blocking never changes an accumulator's order. */
#include "kern/ref.h"

#include <math.h>

static void widen_panel(float *wide, enum packed_type t, const uint8_t *panel, size_t k0, size_t kc)
{
    for (size_t k = 0; k < kc; k++)
        for (size_t i = 0; i < PANEL; i++) wide[k * PANEL + i] = panel_value(t, panel, k0 + k, i);
}

static void accumulate(float acc[PANEL], const float *x, const float *wide, size_t kc)
{
    enum { PART = 16 }; /* fits the baseline registers */
    for (size_t h = 0; h < PANEL; h += PART) {
        float a[PART];
        memcpy(a, acc + h, sizeof a);
        for (size_t k = 0; k < kc; k++)
            for (size_t i = 0; i < PART; i++) a[i] = a[i] + x[k] * wide[k * PANEL + h + i];
        memcpy(acc + h, a, sizeof a);
    }
}

static float activate(float x, enum act act)
{
    if (act == ACT_GELU_ERF) return (float)(0.5 * x * (1.0 + erf(x * 0.70710678118654752440)));
    if (act == ACT_GELU_TANH) return (float)(0.5 * x * (1.0 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))));
    if (act == ACT_RELU) return x > 0 ? x : 0;
    if (act == ACT_SILU) return (float)(x / (1 + exp(-(double)x)));
    if (act == ACT_TANH) return (float)tanh(x);
    if (act == ACT_SIGMOID) return (float)(1 / (1 + exp(-(double)x)));
    return x;
}

/* n elements of one position, [d, d + n) of a head. */
static void put_position(char *block, enum kv_type t, int is_key, size_t slot, size_t d, size_t d_head, const char *from, size_t n)
{
    if (!is_key && t != KV_BF16) {
        memcpy(block + kv_value_at(t, slot, d, d_head) * kv_elem_sz(t), from, n * kv_elem_sz(t));
    } else if (!is_key) {
        for (size_t i = 0; i < n; i++) memcpy(block + kv_value_at(KV_BF16, slot, d + i, d_head) * 2, from + i * 2, 2);
    } else if (t == KV_F32) {
        for (size_t i = 0; i < n; i++) memcpy(block + kv_key_at(KV_F32, slot, d + i) * 4, from + i * 4, 4);
    } else if (t == KV_F16) {
        for (size_t i = 0; i < n; i++) memcpy(block + kv_key_at(KV_F16, slot, d + i) * 2, from + i * 2, 2);
    } else {
        for (size_t i = 0; i < n; i++) memcpy(block + kv_key_at(KV_BF16, slot, d + i) * 2, from + i * 2, 2);
    }
}

/* Values in bf16 of a position and the next one, whose rows are ld elements apart: whole words. */
static void put_pairs(char *block, size_t slot, size_t d, size_t d_head, const char *from, size_t ld, size_t n)
{
    char *to = block + kv_value_at(KV_BF16, slot, d, d_head) * 2;
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = load_u16(from + i * 2) | (uint32_t)load_u16(from + (ld + i) * 2) << 16;
        memcpy(to + i * 4, &word, 4);
    }
}

void kern_put_kv(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, const void *src, size_t ld)
{
    const enum kv_type t = (enum kv_type)l->kv_type;
    const size_t elem = kv_elem_sz(t), d_head = l->d_head;
    for (size_t n = n0, end; n < n1; n = end) { /* runs within one head of keys or of values */
        const int is_key = n < (size_t)l->n_y + l->n_kv;
        const size_t at = n - l->n_y - (is_key ? 0 : l->n_kv), head = at / d_head, d = at % d_head;
        end = size_min(n1, n + d_head - d);
        for (size_t r = 0; r < rows; r++) {
            const size_t pos = l->kv_pos + m + r, slot = pos % KV_BLOCK;
            char *block = kv_block_at(&l->kv, pos / KV_BLOCK) + head * l->kv_head_sz;
            const char *from = (const char *)src + (r * ld + n - n0) * elem;
            if (t == KV_BF16 && !is_key && slot % 2 == 0 && r + 1 < rows) put_pairs(block, slot, d, d_head, from, ld, end - n), r++;
            else put_position(block, t, is_key, slot, d, d_head, from, end - n);
        }
    }
}

static void put_ints(const struct linear *l, size_t m, size_t n0, const float v[KV_INT_D])
{
    const size_t pos = l->kv_pos + m;
    char *group = kv_block_at(&l->kv, pos / KV_BLOCK) + int_group_at(l, n0);
    const int is_key = n0 < (size_t)l->n_y + l->n_kv;
    int16_t q[KV_INT_D];
    const enum kv_type t = (enum kv_type)l->kv_type;
    const uint16_t scale = kv_quantize(q, v, kv_int_max(t, is_key));
    if (is_key) put_key_ints(t, group, pos % KV_BLOCK, scale, q);
    else put_value_ints(group, pos % KV_BLOCK, scale, q);
}

void linear_epilogue_c(const struct linear *l, size_t m, size_t n0, size_t n1, const float *acc)
{
    float v[PANEL];
    for (size_t i = 0; i < n1 - n0; i++) v[i] = acc[i] + (l->bias ? l->bias[n0 + i] : 0);
    const size_t y_end = n0 < l->n_y ? size_min(n1, l->n_y) : n0;
    for (size_t n = n0; n < y_end; n++) {
        const float a = activate(v[n - n0], (enum act)l->act);
        l->y[m * l->ld_y + n] = l->res ? a + l->res[m * l->ld_res + n] : a;
    }
    if (y_end == n1) return;
    if (l->kv_type == KV_F32) {
        kern_put_kv(l, m, 1, y_end, n1, v + (y_end - n0), PANEL);
    } else if (kv_is_ints((enum kv_type)l->kv_type)) {
        put_ints(l, m, n0, v);
    } else {
        uint16_t half[PANEL];
        for (size_t i = y_end - n0; i < n1 - n0; i++) half[i] = l->kv_type == KV_F16 ? f16_from_f32(v[i]) : bf16_rounded(v[i]);
        kern_put_kv(l, m, 1, y_end, n1, half + (y_end - n0), PANEL);
    }
}

static inline void linear_c(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct linear_c_scratch *s,
                            enum packed_type t)
{
    for (size_t r0 = m0; r0 < m1; r0 += ROWS_C) {
        const size_t rows = size_min(ROWS_C, m1 - r0);
        for (size_t p = p0; p < p1; p++) {
            const uint8_t *panel = (const uint8_t *)l->w + p * pack_panel_sz(t, l->k);
            memset(s->acc, 0, rows * PANEL * sizeof(float));
            for (size_t k0 = 0; k0 < l->k; k0 += K_C) {
                const size_t kc = size_min(K_C, l->k - k0);
                const float *wide = t == PK_F32 ? (const float *)(const void *)panel + k0 * PANEL : s->wide;
                if (t != PK_F32) widen_panel(s->wide, t, panel, k0, kc);
                for (size_t r = 0; r < rows; r++) accumulate(s->acc + r * PANEL, l->x + (r0 + r) * l->ld_x + k0, wide, kc);
            }
            for (size_t r = 0; r < rows; r++)
                linear_epilogue_c(l, r0 + r, p * PANEL, size_min(l->n, (p + 1) * PANEL), s->acc + r * PANEL);
        }
    }
}

EACH_STORED(LINEAR_C)

void kern_init_linear_c(struct kern *k)
{
    EACH_STORED(SET_LINEAR_C)
}

void act_none_c(float *y, const float *x, size_t n) { memmove(y, x, n * sizeof *y); }
void act_gelu_erf_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_GELU_ERF); }
void act_gelu_tanh_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_GELU_TANH); }
void act_silu_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_SILU); }
void act_tanh_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_TANH); }
void act_sigmoid_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_SIGMOID); }
void act_relu_c(float *y, const float *x, size_t n) { for (size_t i = 0; i < n; i++) y[i] = activate(x[i], ACT_RELU); }

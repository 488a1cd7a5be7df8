/* steno: attention in int16: a row's query and weights, and packing. SPDX-License-Identifier: MIT
 *
 * Weights are integers of 14 bits with a scale for each RUN_GROUP keys; the highest score of a group has the largest integer. Keys and
 * values are panels of PK_I16_PAIR. Shared by the bodies over vectors (attn_i16.h) and over tiles (x86/attn_i16_tiles.h). */
#ifndef STENO_KERN_ATTN_I16_ROW_H
#define STENO_KERN_ATTN_I16_ROW_H
#include "kern/attn_run_row.h"

INLINE float i16_query(uint32_t *to, const float *q, size_t d_head)
{
    uint32_t scale;
    group_to_ints(to, &scale, q, d_head);
    return load_f32(&scale);
}

/* The highest of scores [i, end). */
INLINE float i16_top(const uint32_t *score, size_t i, size_t end)
{
    enum { SIDE = 32 / VF_N };
    vf top[SIDE];
    UNROLL
    for (size_t c = 0; c < SIDE; c++) top[c] = vf_set1(-INFINITY);
    for (; i + PANEL <= end; i += PANEL)
        UNROLL
        for (size_t c = 0; c < SIDE; c++) top[c] = vf_max(run_score_at(score, i + c * VF_N), top[c]);
    for (; i < end; i += VF_N) top[0] = vf_max(first_or_absent(run_score_at(score, i), end - i), top[0]);
    for (size_t c = 1; c < SIDE; c++) top[0] = vf_max(top[0], top[c]);
    return vf_hmax(top[0]);
}

/* Convert scores [i, end) to adjacent integers. @return their sums by lanes */
INLINE vf i16_ints(uint32_t *score, size_t i, size_t end, float unit, float top)
{
    const vf by = vf_set1(unit), most = vf_set1(RUN_LOG2_I16 - top), magic = vf_set1(I16_MAGIC);
    vf sum = vf_zero();
    for (; i < end; i += VF_N) {
        const vf power = vf_fma(run_score_at(score, i), by, most);
        const vf w = vf_add(vf_exp2_short(end - i >= VF_N ? power : first_or_absent(power, end - i)), magic);
        vf_store_halves(score + i / 2, w);
        sum = vf_add(sum, vf_sub(w, magic));
    }
    return sum;
}

/* Turn a row's scores into weights; the row begins with the scales of its groups. top: room for a number per group. @return 1 / their sum;
 * NaN if the highest score is */
INLINE float i16_row_weights(float *top, uint32_t *row, size_t n, float unit)
{
    const size_t groups = run_groups(n);
    float *const scale = (float *)(void *)row, highest = -INFINITY;
    uint32_t *const score = row + run_head(PK_I16_PAIR, n);
    vf sum = vf_zero();
    for (size_t g = 0; g < groups; g++) {
        top[g] = i16_top(score, g * RUN_GROUP, size_min(n, (g + 1) * RUN_GROUP)) * unit;
        highest = top[g] > highest ? top[g] : highest;
    }
    for (size_t g = 0; g < groups; g += VF_N)
        vf_store(scale + g, vf_exp2(vf_sub(load_some(top + g, groups - g), vf_set1(highest))));
    for (size_t g = 0; g < groups; g++) {
        const vf ints = i16_ints(score, g * RUN_GROUP, size_min(n, (g + 1) * RUN_GROUP), unit, top[g]);
        sum = vf_fma(ints, vf_set1(scale[g]), sum);
    }
    return unit - unit == 0 ? 1 / vf_sum(sum) : NAN;
}

/* ---- packing ------------------------------------------------------------------------------------------------------------------------ */
/* Pack a panel of x[k, n], n adjacent outputs, n <= PANEL, as pack does for weights with groups of `group` k and `of` = I16_SUM. Plain
 * loops, which compilers vectorise. */
INLINE void pack_i16_panel(void *panel, const float *x, size_t ld, size_t k, size_t n, size_t group, float of)
{
    _Alignas(64) float row[2][PANEL] = { { 0 } }, sum[PANEL], scale[PANEL], inverse[PANEL];
    _Alignas(64) uint32_t top[PANEL] = { 0 }, top_sum[PANEL] = { 0 };
    for (size_t i = 0; i < k; i++) {
        if (i % group == 0) memset(sum, 0, sizeof sum);
        memcpy(row[0], x + i * ld, n * sizeof(float));
        for (size_t c = 0; c < PANEL; c++) {
            const float mag = fabsf(row[0][c]);
            sum[c] += mag;
            top[c] = bits_of_f32(mag) > top[c] ? bits_of_f32(mag) : top[c];
            top_sum[c] = bits_of_f32(sum[c]) > top_sum[c] ? bits_of_f32(sum[c]) : top_sum[c];
        }
    }
    for (size_t c = 0; c < PANEL; c++) {
        const struct int_scale q = i16_scale_of(i16_weight_max(top[c], top_sum[c], of), I16_W_MAX);
        scale[c] = q.scale, inverse[c] = q.inverse;
    }
    memcpy(panel, scale, sizeof scale);
    uint32_t *to = (uint32_t *)(void *)((char *)panel + sizeof scale);
    for (size_t i = 0; i < k; i += 2, to += PANEL) {
        memcpy(row[0], x + i * ld, n * sizeof(float));
        if (i + 1 < k) memcpy(row[1], x + (i + 1) * ld, n * sizeof(float));
        else memset(row[1], 0, sizeof row[1]);
        for (size_t c = 0; c < PANEL; c++) {
            const uint32_t even = i16_rounded(row[0][c], inverse[c]), odd = i16_rounded(row[1][c], inverse[c]);
            to[c] = inverse[c] > 0 ? odd << 16 | even : 0;
        }
    }
}

INLINE void pack_values_i16(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    pack_i16_panel(panel, x, ld, n, n_d, RUN_GROUP, RUN_SUM);
}

/* VF_N rows from d on of the transposed x[n, d_head] - less[d_head]: to[VF_N, PANEL]. n: at most PANEL */
INLINE void turn_keys(float *to, const float *x, size_t ld, size_t n, size_t d_head, const float *less, size_t d)
{
    const vf off = load_some(less + d, d_head - d);
    for (size_t i = 0; i < PANEL; i += VF_N) {
        vf v[VF_N];
        UNROLL
        for (size_t j = 0; j < VF_N; j++) v[j] = i + j < n ? vf_sub(load_some(x + (i + j) * ld + d, d_head - d), off) : vf_zero();
        vf_transpose(v);
        UNROLL
        for (size_t j = 0; j < VF_N; j++) vf_store(to + j * PANEL + i, v[j]);
    }
}

/* Pack a panel of keys; d and keys are transposed first. */
INLINE void pack_keys_i16(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    _Alignas(64) float turned[I16_GROUP + VF_N][PANEL];
    for (size_t d = 0; d < d_head; d += VF_N) turn_keys(turned[d], x, ld, n, d_head, less, d);
    pack_i16_panel(panel, turned[0], PANEL, d_head, PANEL, I16_GROUP, I16_SUM);
}
#endif

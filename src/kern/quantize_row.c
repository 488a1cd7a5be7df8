/* steno: conversion of numbers to stored types. SPDX-License-Identifier: MIT
 *
 * The inverse of dtype_widen_row, with the rounding of ggml, the origin of these types. A block's scale comes from its largest value, and
 * quants are rounded by the scale before it is rounded to f16. With known importance of columns, and in the K types, scales are searched
 * for. */
#include <math.h>
#include "kern/fit.h"
#include "kern/quantize_row.h"
#include "kern/ref.h"

int dtype_is_quantized(enum dtype t)
{
    return t <= DT_IQ4_XS || t == DT_IQ4_NL;
}

/* Quants as halves of bytes, and the fifth bits, if the type has them, in four separate bytes. */
static void store_quants(uint8_t *p, const uint8_t *q, int has_fifth)
{
    uint32_t fifth = 0;
    uint8_t *half = p + (has_fifth ? 4 : 0);
    for (int i = 0; i < QBLOCK / 2; i++) {
        half[i] = (uint8_t)((q[i] & 15) | (q[i + 16] & 15) << 4);
        fifth |= (uint32_t)(q[i] >> 4) << i | (uint32_t)(q[i + 16] >> 4) << (i + 16);
    }
    for (int i = 0; has_fifth && i < 4; i++) p[i] = (uint8_t)(fifth >> 8 * i);
}

/* Round towards zero; 0 for values that no integer represents, which occur if the inverse of a scale is infinite: the scale is then 0 in
 * f16. */
static int whole(float x)
{
    return x > -0x1p31f && x < 0x1p31f ? (int)x : 0;
}

/* q4_0, q5_0: the value of largest magnitude, with its sign, becomes the lowest quant. */
static void quantize_signed(uint8_t *p, const float *x, int lowest)
{
    uint8_t q[QBLOCK];
    float most = 0;
    for (int i = 0; i < QBLOCK; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    const float d = most / (float)lowest, inverse = d != 0 ? 1 / d : 0;
    const int top = -2 * lowest - 1;
    for (int i = 0; i < QBLOCK; i++) {
        const int v = whole(x[i] * inverse + ((float)-lowest + 0.5f));
        q[i] = (uint8_t)(v > top ? top : v);
    }
    fit_store_u16(p, f16_from_f32(d));
    store_quants(p + 2, q, lowest == -16);
}

/* q4_1, q5_1: quants from the smallest value to the largest. */
static void quantize_ranged(uint8_t *p, const float *x, int top)
{
    uint8_t q[QBLOCK];
    float lo = x[0], hi = x[0];
    for (int i = 1; i < QBLOCK; i++) {
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    const float d = (hi - lo) / (float)top, inverse = d != 0 ? 1 / d : 0;
    for (int i = 0; i < QBLOCK; i++) {
        const int v = whole((x[i] - lo) * inverse + 0.5f);
        q[i] = (uint8_t)(v > top ? top : v);
    }
    fit_store_u16(p, f16_from_f32(d));
    fit_store_u16(p + 2, f16_from_f32(lo));
    store_quants(p + 4, q, top == 31);
}

static void quantize_q8(uint8_t *p, const float *x)
{
    float most = 0;
    for (int i = 0; i < QBLOCK; i++) most = fmaxf(most, fabsf(x[i]));
    const float d = most / 127, inverse = d != 0 ? 1 / d : 0;
    fit_store_u16(p, f16_from_f32(d));
    for (int i = 0; i < QBLOCK; i++) p[2 + i] = (uint8_t)whole(roundf(x[i] * inverse));
}

/* Convert a block with the scale that minimises the weighted error. */
static void quantize_weighed(uint8_t *p, enum dtype t, const float *x, const float *weight)
{
    static struct fit_steps const steps = { -0.9f, 0.05f, 36, 0 };
    const int has_fifth = t == DT_Q5_0 || t == DT_Q5_1;
    uint8_t q[QBLOCK];
    float min;
    if (t == DT_Q4_0 || t == DT_Q5_0) {
        fit_store_u16(p, f16_from_f32(fit_signed(q, x, weight, QBLOCK, has_fifth ? 16 : 8)));
        store_quants(p + 2, q, has_fifth);
        return;
    }
    fit_store_u16(p, f16_from_f32(fit_ranged(q, &min, x, weight, QBLOCK, has_fifth ? 31 : 15, &steps)));
    fit_store_u16(p + 2, f16_from_f32(-min));
    store_quants(p + 4, q, has_fifth);
}

static void quantize_blocks_weighed(uint8_t *p, enum dtype t, const float *x, const float *importance, size_t k)
{
    float sum = 0, weight[QBLOCK];
    for (size_t i = 0; i < k; i++) sum += x[i] * x[i];
    const float spread = sum / (float)k;
    for (size_t i = 0; i < k; i += QBLOCK, p += dtype_row_sz(t, QBLOCK)) {
        for (size_t j = 0; j < QBLOCK; j++) weight[j] = importance[i + j] * sqrtf(spread + x[i + j] * x[i + j]);
        quantize_weighed(p, t, x + i, weight);
    }
}

static void quantize_plain_block(uint8_t *p, enum dtype t, const float *x)
{
    switch (t) {
    case DT_Q4_0: quantize_signed(p, x, -8); break;
    case DT_Q5_0: quantize_signed(p, x, -16); break;
    case DT_Q4_1: quantize_ranged(p, x, 15); break;
    case DT_Q5_1: quantize_ranged(p, x, 31); break;
    default: quantize_q8(p, x);
    }
}

void quantize_row_weighed(void *row, enum dtype t, const float *x, const float *importance, size_t k)
{
    const size_t block = (size_t)dtype_block(t);
    uint8_t *p = row;
    if (t == DT_F32) memcpy(p, x, k * sizeof *x);
    for (size_t i = 0; i < k && (t == DT_F16 || t == DT_BF16); i++)
        fit_store_u16(p + 2 * i, t == DT_F16 ? f16_from_f32(x[i]) : bf16_from_f32(x[i]));
    if (t <= DT_BF16) return;
    if (importance && t < DT_Q8_0) {
        quantize_blocks_weighed(p, t, x, importance, k);
        return;
    }
    for (size_t i = 0; i < k; i += block, p += dtype_row_sz(t, block))
        if (t == DT_Q2_K || t == DT_Q3_K || t == DT_IQ4_XS || t == DT_IQ4_NL)
            quantize_row_few(p, t, x + i, importance ? importance + i : NULL);
        else if (block == KBLOCK) quantize_row_k(p, t, x + i, importance ? importance + i : NULL);
        else quantize_plain_block(p, t, x + i);
}

void quantize_row(void *row, enum dtype t, const float *x, size_t k)
{
    quantize_row_weighed(row, t, x, NULL, k);
}

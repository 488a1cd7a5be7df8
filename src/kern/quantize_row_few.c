/* steno: conversion of numbers to blocks of two and three bits, and of four-bit indices. SPDX-License-Identifier: MIT
 *
 * For each run of 16 or 32 numbers a scale is searched for. The scales become integers times one more scale, and every number is then
 * rounded again with the stored scales (dtype_quantize_k.c). */
#include <math.h>
#include <string.h>
#include "kern/fit.h"
#include "kern/ref.h"

enum { RUN = 16, RUNS = KBLOCK / RUN, RUN4 = QBLOCK, RUNS4 = KBLOCK / RUN4 };

static int between(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* The weights of a run's errors if importance is known. @return their sum */
static float weigh(float *weight, const float *x, const float *importance, int n, float spread)
{
    float sum = 0;
    for (int i = 0; i < n; i++) {
        weight[i] = importance ? importance[i] * sqrtf(spread + x[i] * x[i]) : fabsf(x[i]);
        sum += weight[i];
    }
    return sum;
}

/* Two bits of each of KBLOCK, as planes over 32 bytes. */
static void store_two_bits(uint8_t *out, const uint8_t *q)
{
    memset(out, 0, KBLOCK / 4);
    for (int e = 0; e < KBLOCK; e++) {
        uint8_t *to = &out[e / 128 * 32 + e % 32];
        *to = (uint8_t)(*to | (q[e] & 3) << 2 * (e % 128 / 32));
    }
}

static void quantize_q2(uint8_t *out, const float *x, const float *importance)
{
    enum { TOP = 3, CODE_MAX = 15 };
    static struct fit_steps const steps = { -0.5f, 0.1f, 15, 1 }, fine = { -0.9f, 0.05f, 36, 0 };
    const float spread = importance ? fit_sum_of_squares(x, KBLOCK) / KBLOCK : 0;
    float scale[RUNS], min[RUNS], sum[RUNS], weight[RUN];
    uint8_t q[KBLOCK], code[RUNS], low[RUNS];
    uint16_t d, dmin;
    for (int j = 0; j < RUNS; j++) {
        sum[j] = weigh(weight, x + RUN * j, importance ? importance + RUN * j : NULL, RUN, spread);
        scale[j] = fit_ranged(q + RUN * j, &min[j], x + RUN * j, weight, RUN, TOP, importance ? &fine : &steps);
    }
    if (importance) {
        d = f16_from_f32(fit_scales(code, scale, sum, RUNS, CODE_MAX));
        dmin = f16_from_f32(fit_scales(low, min, sum, RUNS, CODE_MAX));
    } else {
        fit_codes_by_largest(code, &d, scale, RUNS, CODE_MAX);
        fit_codes_by_largest(low, &dmin, min, RUNS, CODE_MAX);
    }
    for (int i = 0; i < KBLOCK; i++) {
        const float s = f16_to_f32(d) * (float)code[i / RUN], m = f16_to_f32(dmin) * (float)low[i / RUN];
        if (s != 0) q[i] = (uint8_t)between(fit_round((x[i] + m) / s), 0, TOP);
    }
    for (int j = 0; j < RUNS; j++) out[j] = (uint8_t)(code[j] | low[j] << 4);
    store_two_bits(out + 16, q);
    fit_store_u16(out + 80, d);
    fit_store_u16(out + 82, dmin);
}

/* Sixteen scales of 6 bits, code 32 too high, in 12 bytes. */
static void store_codes(uint8_t *s, const uint8_t *code)
{
    memset(s, 0, 12);
    for (int j = 0; j < RUNS; j++) {
        s[j % 8] = (uint8_t)(s[j % 8] | (code[j] & 15) << 4 * (j / 8));
        s[8 + j % 4] = (uint8_t)(s[8 + j % 4] | (code[j] >> 4) << 2 * (j / 4));
    }
}

/* Codes of scales that may be negative, relative to the largest of them. */
static float codes_by_most(uint8_t *code, const float *scale)
{
    float most = 0;
    for (int j = 0; j < RUNS; j++)
        if (fabsf(scale[j]) > fabsf(most)) most = scale[j];
    memset(code, 0, RUNS);
    if (most == 0) return 0;
    const float inverse = -32.0f / most;
    for (int j = 0; j < RUNS; j++) code[j] = (uint8_t)(between(fit_round(inverse * scale[j]), -32, 31) + 32);
    return 1 / inverse;
}

static void quantize_q3(uint8_t *out, const float *x, const float *importance)
{
    enum { LEVELS = 4, CODES = 32 };
    const float spread = importance ? 2 * fit_sum_of_squares(x, KBLOCK) / KBLOCK : 0;
    float scale[RUNS], sum[RUNS], weight[RUN];
    uint8_t q[KBLOCK], code[RUNS];
    for (int j = 0; j < RUNS; j++) {
        const float *v = x + RUN * j;
        if (importance) sum[j] = weigh(weight, v, importance + RUN * j, RUN, spread);
        scale[j] = importance ? fit_signed(q + RUN * j, v, weight, RUN, LEVELS) : fit_in_turn(q + RUN * j, v, RUN, LEVELS);
    }
    const uint16_t d = f16_from_f32(importance ? fit_signed(code, scale, sum, RUNS, CODES) : codes_by_most(code, scale));
    for (int i = 0; i < KBLOCK; i++) {
        const float s = f16_to_f32(d) * (float)(code[i / RUN] - CODES);
        if (s != 0) q[i] = (uint8_t)(between(fit_round(x[i] / s), -LEVELS, LEVELS - 1) + LEVELS);
    }
    memset(out, 0, 32);
    for (int e = 0; e < KBLOCK; e++) out[e % 32] = (uint8_t)(out[e % 32] | q[e] >> 2 << e / 32);
    store_two_bits(out + 32, q);
    store_codes(out + 96, code);
    fit_store_u16(out + 108, d);
}

/* ---- places in a table ------------------------------------------------------------------------------------------------------------- */

static void store_nibbles(uint8_t *out, const uint8_t *q)
{
    for (int i = 0; i < RUN4 / 2; i++) out[i] = (uint8_t)(q[i] | q[i + RUN4 / 2] << 4);
}

/* Numbers times the inverse of a scale, as indices. */
static void place_run(uint8_t *out, const float *x, float inverse)
{
    uint8_t q[RUN4];
    for (int i = 0; i < RUN4; i++) q[i] = fit_place(iq4_value, inverse * x[i]);
    store_nibbles(out, q);
}

static float scale_run(const float *x, const float *importance, float spread)
{
    float weight[RUN4];
    if (importance) weigh(weight, x, importance, RUN4, spread);
    return fit_table(x, importance ? weight : NULL, RUN4, iq4_value);
}

static void quantize_iq4_nl(uint8_t *out, const float *x, const float *importance)
{
    const float scale = scale_run(x, importance, 2 * fit_sum_of_squares(x, QBLOCK) / QBLOCK);
    fit_store_u16(out, f16_from_f32(scale));
    place_run(out + 2, x, scale != 0 ? 1 / scale : 0);
}

static void quantize_iq4_xs(uint8_t *out, const float *x, const float *importance)
{
    const float spread = 2 * fit_sum_of_squares(x, KBLOCK) / KBLOCK;
    float scale[RUNS4], most = 0;
    unsigned high = 0;
    for (int j = 0; j < RUNS4; j++) {
        scale[j] = scale_run(x + RUN4 * j, importance ? importance + RUN4 * j : NULL, spread);
        if (fabsf(scale[j]) > fabsf(most)) most = scale[j];
    }
    const float d = -most / 32, inverse = d != 0 ? 1 / d : 0;
    fit_store_u16(out, f16_from_f32(d));
    for (int j = 0; j < RUNS4; j++) {
        const int l = between(fit_round(inverse * scale[j]), -32, 31), code = l + 32;
        const float s = d * (float)l;
        place_run(out + 8 + 16 * j, x + RUN4 * j, s != 0 ? 1 / s : 0);
        out[4 + j / 2] = (uint8_t)(j % 2 ? out[4 + j / 2] | (code & 15) << 4 : code & 15);
        high |= (unsigned)code >> 4 << 2 * j;
    }
    fit_store_u16(out + 2, (uint16_t)high);
}

void quantize_row_few(uint8_t *p, enum dtype t, const float *x, const float *importance)
{
    switch (t) {
    case DT_Q2_K: quantize_q2(p, x, importance); break;
    case DT_Q3_K: quantize_q3(p, x, importance); break;
    case DT_IQ4_NL: quantize_iq4_nl(p, x, importance); break;
    default: quantize_iq4_xs(p, x, importance);
    }
}

/* steno: conversion of numbers to blocks of the K types. SPDX-License-Identifier: MIT
 *
 * For each run of 16 or 32 numbers a scale (and a minimum) is searched for. These become integers times one more scale, and every number is
 * then rounded again with the stored values. If the importance of columns is known, the search is weighted by it. */
#include <math.h>
#include <string.h>
#include "kern/fit.h"
#include "kern/ref.h"

enum { RUN = 32, RUNS = KBLOCK / RUN, RUN6 = 16, RUNS6 = KBLOCK / RUN6,
       CODE_MAX = 63 };

/* The parts of a block. */
struct parts { uint16_t d, dmin; uint8_t scale[RUNS], min[RUNS], q[KBLOCK]; };

/* A scale and a minimum for each run, as codes. */
static void fit_runs(struct parts *p, const float *x, const float *importance, int top)
{
    static struct fit_steps const wide = { -1.0f, 0.1f, 20, 0 }, narrow = { -0.5f, 0.1f, 15, 0 }, fine = { -0.9f, 0.05f, 36, 0 };
    const struct fit_steps *steps = importance ? &fine : top == 15 ? &wide : &narrow;
    float scale[RUNS], min[RUNS], sum[RUNS], weight[RUN];
    const float spread = importance ? 2 * fit_sum_of_squares(x, KBLOCK) / KBLOCK : 0;
    for (int j = 0; j < RUNS; j++) {
        const float *v = x + RUN * j, mean = importance ? 0 : sqrtf(fit_sum_of_squares(v, RUN) / RUN);
        sum[j] = 0;
        for (int i = 0; i < RUN; i++) {
            weight[i] = importance ? importance[RUN * j + i] * sqrtf(spread + v[i] * v[i]) : mean + fabsf(v[i]);
            sum[j] += weight[i];
        }
        scale[j] = fit_ranged(p->q + RUN * j, &min[j], v, weight, RUN, top, steps);
    }
    if (importance) {
        p->d = f16_from_f32(fit_scales(p->scale, scale, sum, RUNS, CODE_MAX));
        p->dmin = f16_from_f32(fit_scales(p->min, min, sum, RUNS, CODE_MAX));
        return;
    }
    fit_codes_by_largest(p->scale, &p->d, scale, RUNS, CODE_MAX);
    fit_codes_by_largest(p->min, &p->dmin, min, RUNS, CODE_MAX);
}

static void round_runs(struct parts *p, const float *x, int top)
{
    for (int j = 0; j < RUNS; j++) {
        const float d = f16_to_f32(p->d) * (float)p->scale[j], m = f16_to_f32(p->dmin) * (float)p->min[j];
        if (d == 0) continue;
        for (int i = RUN * j; i < RUN * (j + 1); i++) {
            const int l = fit_round((x[i] + m) / d);
            p->q[i] = (uint8_t)(l < 0 ? 0 : l > top ? top : l);
        }
    }
}

/* Eight scales and eight minima of 6 bits in 12 bytes. */
static void store_codes(uint8_t *s, const struct parts *p)
{
    for (int j = 0; j < 4; j++) {
        s[j] = (uint8_t)(p->scale[j] | p->scale[j + 4] >> 4 << 6);
        s[j + 4] = (uint8_t)(p->min[j] | p->min[j + 4] >> 4 << 6);
        s[j + 8] = (uint8_t)((p->scale[j + 4] & 15) | (p->min[j + 4] & 15) << 4);
    }
}

static void quantize_q45(uint8_t *out, const float *x, const float *importance, int has_fifth)
{
    const int top = has_fifth ? 31 : 15;
    struct parts p;
    fit_runs(&p, x, importance, top);
    round_runs(&p, x, top);
    fit_store_u16(out, p.d);
    fit_store_u16(out + 2, p.dmin);
    store_codes(out + 4, &p);
    uint8_t *fifth = out + 16, *half = out + (has_fifth ? 48 : 16);
    if (has_fifth) memset(fifth, 0, 32);
    for (int e = 0; e < KBLOCK; e++) {
        uint8_t *to = &half[e / 64 * 32 + e % 32];
        if (e / 32 % 2) *to = (uint8_t)(*to | (p.q[e] & 15) << 4);
        else *to = p.q[e] & 15;
        if (has_fifth) fifth[e % 32] = (uint8_t)(fifth[e % 32] | p.q[e] >> 4 << e / 32);
    }
}

/* Nibbles, two more bits, signed scales of runs of 16. */
static void store_q6(uint8_t *out, const uint8_t *q)
{
    memset(out, 0, KBLOCK / 2 + KBLOCK / 4);
    for (int e = 0; e < KBLOCK; e++) {
        uint8_t *half = &out[e / 128 * 64 + e % 64], *more = &out[128 + e / 128 * 32 + e % 32];
        *half = (uint8_t)(*half | (q[e] & 15) << 4 * (e / 64 % 2));
        *more = (uint8_t)(*more | (q[e] >> 4) << 2 * (e % 128 / 32));
    }
}

static void quantize_q6(uint8_t *out, const float *x, const float *importance)
{
    enum { LEVELS = 32, SIZE = 210 };
    float scale[RUNS6], most = 0;
    uint8_t q[KBLOCK];
    int8_t code[RUNS6];
    for (int j = 0; j < RUNS6; j++) {
        scale[j] = fit_signed(q + RUN6 * j, x + RUN6 * j, importance ? importance + RUN6 * j : NULL, RUN6, LEVELS);
        if (fabsf(scale[j]) > fabsf(most)) most = scale[j];
    }
    memset(out, 0, SIZE);
    if (fabsf(most) < 1e-15f) return;
    const float inverse = -128.0f / most;
    const uint16_t half = f16_from_f32(1 / inverse);
    for (int j = 0; j < RUNS6; j++) {
        const int v = fit_round(inverse * scale[j]);
        code[j] = (int8_t)(v > 127 ? 127 : v < -128 ? -128 : v);
        const float d = f16_to_f32(half) * (float)code[j];
        for (int i = RUN6 * j; i < RUN6 * (j + 1) && d != 0; i++) {
            const int l = fit_round(x[i] / d);
            q[i] = (uint8_t)(LEVELS + (l < -LEVELS ? -LEVELS : l >= LEVELS ? LEVELS - 1 : l));
        }
    }
    store_q6(out, q);
    memcpy(out + 192, code, sizeof code);
    fit_store_u16(out + 208, half);
}

void quantize_row_k(uint8_t *p, enum dtype t, const float *x, const float *importance)
{
    if (t == DT_Q6_K) quantize_q6(p, x, importance);
    else quantize_q45(p, x, importance, t == DT_Q5_K);
}

/* steno: numbers become stored types. SPDX-License-Identifier: MIT
 *
 * The inverse of dtype_widen_row, with the rounding of the program that these types come from: a block's scale is taken from its largest
 * value, quants are rounded by the scale before that is rounded to f16. */
#include <math.h>
#include "kern/ref.h"

int dtype_is_narrowed(enum dtype t)
{
    return t <= DT_Q8_0; /* scales of the K types are searched for, which nobody here does */
}

static void store_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

/* Quants as halves of bytes, and the fifth bits, where the type has them, in four bytes of their own. */
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

/* q4_0, q5_0: the value of the largest magnitude, with its sign, becomes the lowest quant. */
static void narrow_signed(uint8_t *p, const float *x, int lowest)
{
    uint8_t q[QBLOCK];
    float most = 0;
    for (int i = 0; i < QBLOCK; i++)
        if (fabsf(x[i]) > fabsf(most)) most = x[i];
    const float d = most / (float)lowest, inverse = d != 0 ? 1 / d : 0;
    const int top = -2 * lowest - 1;
    for (int i = 0; i < QBLOCK; i++) {
        const int v = (int)(x[i] * inverse + ((float)-lowest + 0.5f));
        q[i] = (uint8_t)(v > top ? top : v);
    }
    store_u16(p, f16_from_f32(d));
    store_quants(p + 2, q, lowest == -16);
}

/* q4_1, q5_1: quants from the smallest value to the largest. */
static void narrow_ranged(uint8_t *p, const float *x, int top)
{
    uint8_t q[QBLOCK];
    float lo = x[0], hi = x[0];
    for (int i = 1; i < QBLOCK; i++) {
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    const float d = (hi - lo) / (float)top, inverse = d != 0 ? 1 / d : 0;
    for (int i = 0; i < QBLOCK; i++) {
        const int v = (int)((x[i] - lo) * inverse + 0.5f);
        q[i] = (uint8_t)(v > top ? top : v);
    }
    store_u16(p, f16_from_f32(d));
    store_u16(p + 2, f16_from_f32(lo));
    store_quants(p + 4, q, top == 31);
}

static void narrow_q8(uint8_t *p, const float *x)
{
    float most = 0;
    for (int i = 0; i < QBLOCK; i++) most = fmaxf(most, fabsf(x[i]));
    const float d = most / 127, inverse = d != 0 ? 1 / d : 0;
    store_u16(p, f16_from_f32(d));
    for (int i = 0; i < QBLOCK; i++) p[2 + i] = (uint8_t)(int8_t)roundf(x[i] * inverse);
}

void dtype_narrow_row(void *row, enum dtype t, const float *x, size_t k)
{
    uint8_t *p = row;
    if (t == DT_F32) memcpy(p, x, k * sizeof *x);
    for (size_t i = 0; i < k && (t == DT_F16 || t == DT_BF16); i++)
        store_u16(p + 2 * i, t == DT_F16 ? f16_from_f32(x[i]) : bf16_from_f32(x[i]));
    if (t <= DT_BF16) return;
    for (size_t i = 0; i < k; i += QBLOCK, p += dtype_row_sz(t, QBLOCK)) {
        switch (t) {
        case DT_Q4_0: narrow_signed(p, x + i, -8); break;
        case DT_Q5_0: narrow_signed(p, x + i, -16); break;
        case DT_Q4_1: narrow_ranged(p, x + i, 15); break;
        case DT_Q5_1: narrow_ranged(p, x + i, 31); break;
        default: narrow_q8(p, x + i);
        }
    }
}

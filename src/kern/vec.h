/* steno: functions of vectors. SPDX-License-Identifier: MIT
 *
 * Included by one file per level, after it has defined the vector types and their primitives (x86/vec256.h and the like):
 *
 *   vf                           VF_N lanes of f32
 *   vi                           the same lanes as words of 32 bits of any content
 *   vs                           the same lanes as int32: sums of products
 *
 *   vf_zero set1 load store      load_n store_n: the first n lanes, the rest read as 0      load_some: load_n, n of any size
 *   vf_load_f16 load_bf16 load_i8, store_f16
 *   vf_add sub mul div, fma(a, b, c) = a * b + c, fnma(a, b, c) = c - a * b
 *   vf_fma_once                  a * b + c, rounded once: vf_fma itself if ONE_ROUNDING is 1
 *   vf_min max                   the second operand if the first is NaN
 *   vf_abs, sign(a, s)           |a|; |a| with s's sign
 *   vf_where_ge(x, lo, v)        v where x >= lo, else 0
 *   vf_shl23                     the bits shifted left by 23
 *   vf_sum hmax                  over lanes, in a fixed order
 *   vf_eq_bits, drop             bit i: lane i; dropped lanes become -inf
 *   vf_exponent(x, &m)           e where x = m 2^e, sqrt(1/2) <= m < sqrt(2); x is positive and normal
 *   vf_split(x, &n)              x - the nearest integer; n receives that integer for times_2n
 *   vf_times_2n(a, n)            a * 2^integer; both for x < 127 and 1/2 < a < 2; less than FLT_MIN where x <= -126
 *   vf_transpose                 of VF_N vectors: lane i of vector j and lane j of vector i are exchanged
 *   vi_load_u8, vf_lo4 hi4       nibbles of a byte as f32;  vf_lo5 hi5: the same with a fifth bit per lane
 *   vi_set1, vi_max_abs(m, v)    in each lane the larger of m and the bits of |v|;  vi_hmax: the largest lane
 *   vf_store_halves              the low 16 bits of each lane, side by side
 *   vs_zero set1 load store add times_256, and vf_of_ints, which converts int32 to f32; vf_of_sums: the same for sums of a tile
 *
 * This header has the functions that do not depend on the instruction set. */
#ifndef STENO_KERN_VEC_H
#define STENO_KERN_VEC_H
#include <float.h>
#include <math.h>
#include "kern/knobs.h"
#include "kern/ref.h"

enum { PV = PANEL / VF_N }; /* vectors across a panel */

#if ONE_ROUNDING
INLINE vf vf_fma_once(vf a, vf b, vf c) { return vf_fma(a, b, c); }
#endif

INLINE vf load_weights(enum packed_type t, const void *p, size_t i)
{
    if (t == PK_F16) return vf_load_f16((const uint16_t *)p + i);
    if (t == PK_BF16) return vf_load_bf16((const uint16_t *)p + i);
    return vf_load((const float *)p + i);
}

/* exp to 2 ulp on [-87.3, 88.3], 0 below (and for NaN), saturated above. x = n ln 2 + r with |r| <= ln 2 / 2. Adding 1.5 * 2^23 + 127
 * rounds to the integer n and leaves n + 127, an exponent, in the low bits. ln 2 is subtracted in two parts. */
INLINE vf vf_exp(vf x)
{
    const vf lowest = vf_set1(-87.33654f), magic = vf_set1(12583039.0f);
    const vf c = vf_min(vf_max(x, lowest), vf_set1(88.37f));
    const vf t = vf_fma(c, vf_set1(1.44269504f), magic), n = vf_sub(t, magic);
    const vf r = vf_fma(n, vf_set1(-LN2_REST), vf_fma(n, vf_set1(-LN2_FIRST), c));
    vf p = vf_set1(1.392617589e-03f);
    p = vf_fma(p, r, vf_set1(8.363173343e-03f));
    p = vf_fma(p, r, vf_set1(4.166655615e-02f));
    p = vf_fma(p, r, vf_set1(1.666657776e-01f));
    p = vf_fma(p, r, vf_set1(0.5f));
    p = vf_add(vf_fma(vf_mul(r, r), p, r), vf_set1(1));
    return vf_where_ge(x, lowest, vf_mul(p, vf_shl23(t)));
}

/* 2^x with a relative error of 2^-22 for -126 <= x < 127; 0 below and for NaN. */
INLINE vf vf_exp2(vf x)
{
    vf n, p = vf_set1(1.326472731e-03f);
    const vf r = vf_split(x, &n);
    p = vf_fma(p, r, vf_set1(9.671512991e-03f));
    p = vf_fma(p, r, vf_set1(5.550733581e-02f));
    p = vf_fma(p, r, vf_set1(2.402224243e-01f));
    p = vf_fma(p, r, vf_set1(6.931470037e-01f));
    p = vf_fma(p, r, vf_set1(1));
    return vf_where_ge(x, vf_set1(-126), vf_times_2n(p, n));
}

/* 2^x for results that are rounded to bf16: relative error 2^-18 (2.7e-6) for -126 < x < 127; below, including -inf, a value less than
 * FLT_MIN, which rounding turns into zero. */
INLINE vf vf_exp2_short(vf x)
{
    vf n, p = vf_set1(9.570102207e-03f);
    const vf r = vf_split(x, &n);
    p = vf_fma(p, r, vf_set1(5.591785908e-02f));
    p = vf_fma(p, r, vf_set1(2.402474433e-01f));
    p = vf_fma(p, r, vf_set1(6.931217909e-01f));
    p = vf_fma(p, r, vf_set1(9.999992847e-01f));
    return vf_times_2n(p, n);
}

/* x * (0.5 + 0.5 erf(x / sqrt 2)). Half of erf on [0, 4] is a polynomial of degree 18 in s = |x| / (2 sqrt 2) - 1, interpolated at
 * Chebyshev's points; at s = 1, where erf is 1 in f32, it gives exactly one half. Error of erf: below 2e-7. */
INLINE vf vf_gelu_erf(vf x)
{
    static const float c[19] = {
        4.976611435e-01f, 2.066698670e-02f, -8.266801387e-02f, 1.928917766e-01f, -2.755556107e-01f, 2.094256282e-01f, 1.462241076e-02f,
        -2.162312865e-01f, 2.042515576e-01f, -1.304161083e-02f, -1.371986419e-01f, 1.073679104e-01f, 1.760832220e-02f,
        -6.981833279e-02f, 2.138021030e-02f, 2.162903734e-02f, -1.240562275e-02f, -2.890113974e-03f, 2.304261317e-03f,
    };
    const vf s = vf_min(vf_fma(vf_abs(x), vf_set1(0.353553391f), vf_set1(-1)), vf_set1(1));
    vf p = vf_set1(c[18]);
    UNROLL
    for (int i = 17; i >= 0; i--) p = vf_fma(p, s, vf_set1(c[i]));
    return vf_mul(x, vf_add(vf_sign(p, x), vf_set1(0.5f)));
}

/* 0.5 x (1 + tanh u) = x / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3). */
INLINE vf vf_gelu_tanh(vf x)
{
    const vf u = vf_mul(x, vf_fma(vf_mul(x, x), vf_set1(-2 * 0.044715f * 0.797884561f), vf_set1(-2 * 0.797884561f)));
    return vf_div(x, vf_add(vf_exp(u), vf_set1(1)));
}

INLINE vf vf_sigmoid(vf x) { return vf_div(vf_set1(1), vf_add(vf_exp(vf_sub(vf_zero(), x)), vf_set1(1))); }

/* (1 - e) / (1 + e), e = exp(-2 |x|), with x's sign. */
INLINE vf vf_tanh(vf x)
{
    const vf e = vf_exp(vf_mul(vf_abs(x), vf_set1(-2)));
    return vf_sign(vf_div(vf_sub(vf_set1(1), e), vf_add(vf_set1(1), e)), x);
}

INLINE vf vf_act(vf x, enum act act)
{
    if (act == ACT_GELU_ERF) return vf_gelu_erf(x);
    if (act == ACT_GELU_TANH) return vf_gelu_tanh(x);
    if (act == ACT_RELU) return vf_max(x, vf_zero());
    if (act == ACT_SILU) return vf_div(x, vf_add(vf_exp(vf_sub(vf_zero(), x)), vf_set1(1)));
    if (act == ACT_TANH) return vf_tanh(x);
    if (act == ACT_SIGMOID) return vf_sigmoid(x);
    return x;
}
#endif

/* steno: vectors of 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives, for every level. Every AArch64 processor has these instructions, including the conversions of f16.
 *
 * A vector is a pair of registers. A tile of 6 rows by two vectors then has 24 accumulators, four registers of weights and some broadcasts.
 * These fill the 32 registers and load less per product than 12 rows by half the width would. Sums have the lanes of AVX2, and so its
 * rounding. */
#ifndef STENO_KERN_VEC128_H
#define STENO_KERN_VEC128_H
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include "kern/quantize.h"

#define VF_N 8
#include "kern/knobs.h"

#define PRIM static inline __attribute__((always_inline))
typedef struct { float32x4_t lo, hi; } vf;
typedef struct { uint32x4_t lo, hi; } vi; /* words */
typedef struct { int32x4_t lo, hi; } vs;  /* int32 */

#define EACH(op, a) ((vf) { op((a).lo), op((a).hi) })
#define EACH_2(op, a, b) ((vf) { op((a).lo, (b).lo), op((a).hi, (b).hi) })

/* ---- one register */
PRIM uint32x4_t bits_of(float32x4_t a) { return vreinterpretq_u32_f32(a); }
PRIM float32x4_t floats_of(uint32x4_t a) { return vreinterpretq_f32_u32(a); }
PRIM uint32x4_t lane_bits(void)
{
    static const uint32_t bit[4] = { 1, 2, 4, 8 };
    return vld1q_u32(bit);
}
PRIM uint32x4_t lanes_of(unsigned bits) { return vtstq_u32(vdupq_n_u32(bits), lane_bits()); }
PRIM float32x4_t smaller(float32x4_t a, float32x4_t b) { return vbslq_f32(vcltq_f32(a, b), a, b); } /* vmin would return NaN */
PRIM float32x4_t larger(float32x4_t a, float32x4_t b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
PRIM float32x4_t with_sign(float32x4_t a, float32x4_t s) { return vbslq_f32(vdupq_n_u32(0x80000000u), s, a); }
PRIM float32x4_t masked(uint32x4_t keep, float32x4_t a) { return floats_of(vandq_u32(keep, bits_of(a))); }
PRIM float32x4_t shl23(float32x4_t a) { return floats_of(vshlq_n_u32(bits_of(a), 23)); }
PRIM float32x4_t times_2n(float32x4_t a, float32x4_t n) { return floats_of(vaddq_u32(bits_of(a), bits_of(shl23(n)))); }
PRIM float32x4_t low_nibble(uint32x4_t b) { return vcvtq_f32_u32(vandq_u32(b, vdupq_n_u32(15))); }
PRIM float32x4_t high_nibble(uint32x4_t b) { return vcvtq_f32_u32(vshrq_n_u32(b, 4)); }
PRIM float32x4_t from_f16(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
PRIM uint16x4_t to_f16(float32x4_t a) { return vreinterpret_u16_f16(vcvt_f16_f32(a)); }

PRIM float32x4_t exponent(float32x4_t x, float32x4_t *m)
{
    const uint32x4_t half_root = vdupq_n_u32(0x3f3504f3), d = vsubq_u32(bits_of(x), half_root);
    *m = floats_of(vaddq_u32(vandq_u32(d, vdupq_n_u32(0x007fffff)), half_root));
    return vcvtq_f32_s32(vshrq_n_s32(vreinterpretq_s32_u32(d), 23));
}
PRIM float32x4_t low_pairs(float32x4_t a, float32x4_t b) { return vcombine_f32(vget_low_f32(a), vget_low_f32(b)); }
PRIM float32x4_t high_pairs(float32x4_t a, float32x4_t b) { return vcombine_f32(vget_high_f32(a), vget_high_f32(b)); }
PRIM void transpose_4(float32x4_t *a, float32x4_t *b, float32x4_t *c, float32x4_t *d)
{
    const float32x4x2_t p = vtrnq_f32(*a, *b), q = vtrnq_f32(*c, *d);
    *a = low_pairs(p.val[0], q.val[0]), *b = low_pairs(p.val[1], q.val[1]);
    *c = high_pairs(p.val[0], q.val[0]), *d = high_pairs(p.val[1], q.val[1]);
}

/* ---- pairs */
PRIM vf vf_set1(float x) { return (vf) { vdupq_n_f32(x), vdupq_n_f32(x) }; }
PRIM vf vf_zero(void) { return vf_set1(0); }
PRIM vf vf_load(const float *p) { return (vf) { vld1q_f32(p), vld1q_f32(p + 4) }; }
PRIM void vf_store(float *p, vf v)
{
    vst1q_f32(p, v.lo);
    vst1q_f32(p + 4, v.hi);
}
#include "kern/lanes.h"
PRIM vf vf_load_f16(const uint16_t *p) { return (vf) { from_f16(vld1_u16(p)), from_f16(vld1_u16(p + 4)) }; }
PRIM vf vf_load_bf16(const uint16_t *p)
{
    return (vf) { floats_of(vshll_n_u16(vld1_u16(p), 16)), floats_of(vshll_n_u16(vld1_u16(p + 4), 16)) };
}
PRIM vf vf_load_i8(const int8_t *p)
{
    const int16x8_t v = vmovl_s8(vld1_s8(p));
    return (vf) { vcvtq_f32_s32(vmovl_s16(vget_low_s16(v))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(v))) };
}
PRIM void vf_store_f16(uint16_t *p, vf v)
{
    vst1_u16(p, to_f16(v.lo));
    vst1_u16(p + 4, to_f16(v.hi));
}
PRIM vf vf_add(vf a, vf b) { return EACH_2(vaddq_f32, a, b); }
PRIM vf vf_sub(vf a, vf b) { return EACH_2(vsubq_f32, a, b); }
PRIM vf vf_mul(vf a, vf b) { return EACH_2(vmulq_f32, a, b); }
PRIM vf vf_div(vf a, vf b) { return EACH_2(vdivq_f32, a, b); }
PRIM vf vf_fma(vf a, vf b, vf c) { return (vf) { vfmaq_f32(c.lo, a.lo, b.lo), vfmaq_f32(c.hi, a.hi, b.hi) }; }
PRIM vf vf_fnma(vf a, vf b, vf c) { return (vf) { vfmsq_f32(c.lo, a.lo, b.lo), vfmsq_f32(c.hi, a.hi, b.hi) }; }
PRIM vf vf_min(vf a, vf b) { return EACH_2(smaller, a, b); }
PRIM vf vf_max(vf a, vf b) { return EACH_2(larger, a, b); }
PRIM vf vf_abs(vf a) { return EACH(vabsq_f32, a); }
PRIM vf vf_sign(vf a, vf s) { return EACH_2(with_sign, a, s); }
PRIM vf vf_where_ge(vf x, vf lo, vf v) { return (vf) { masked(vcgeq_f32(x.lo, lo.lo), v.lo), masked(vcgeq_f32(x.hi, lo.hi), v.hi) }; }
PRIM vf vf_shl23(vf a) { return EACH(shl23, a); }
PRIM vf vf_split(vf x, vf *n) /* adding 1.5 * 2^23 leaves the integer in the low bits */
{
    const vf magic = vf_set1(12582912.0f), c = vf_max(x, vf_set1(-126));
    *n = vf_add(c, magic);
    return vf_sub(c, vf_sub(*n, magic));
}
PRIM vf vf_times_2n(vf a, vf n) { return EACH_2(times_2n, a, n); }
PRIM float vf_sum(vf a)
{
    const float32x4_t s = vaddq_f32(a.lo, a.hi);
    const float32x2_t t = vadd_f32(vget_low_f32(s), vget_high_f32(s));
    return vget_lane_f32(t, 0) + vget_lane_f32(t, 1);
}
PRIM float vf_hmax(vf a) { return vmaxvq_f32(larger(a.lo, a.hi)); }
PRIM unsigned vf_eq_bits(vf a, vf b)
{
    const uint32x4_t lo = vandq_u32(vceqq_f32(a.lo, b.lo), lane_bits()), hi = vandq_u32(vceqq_f32(a.hi, b.hi), lane_bits());
    return vaddvq_u32(vorrq_u32(lo, vshlq_n_u32(hi, 4)));
}
PRIM vf vf_drop(vf v, unsigned bits)
{
    const float32x4_t absent = vdupq_n_f32(-__builtin_inff());
    return (vf) { vbslq_f32(lanes_of(bits), absent, v.lo), vbslq_f32(lanes_of(bits >> 4), absent, v.hi) };
}
PRIM vf vf_exponent(vf x, vf *m) { return (vf) { exponent(x.lo, &m->lo), exponent(x.hi, &m->hi) }; }
PRIM void vf_transpose(vf v[VF_N]) /* transpose quarters of the square, and exchange two of them */
{
    for (int i = 0; i < VF_N; i += 4) {
        transpose_4(&v[i].lo, &v[i + 1].lo, &v[i + 2].lo, &v[i + 3].lo);
        transpose_4(&v[i].hi, &v[i + 1].hi, &v[i + 2].hi, &v[i + 3].hi);
    }
    for (int i = 0; i < 4; i++) {
        const float32x4_t hi = v[i].hi;
        v[i].hi = v[i + 4].lo;
        v[i + 4].lo = hi;
    }
}

PRIM vi vi_load_u8(const uint8_t *p)
{
    const uint16x8_t v = vmovl_u8(vld1_u8(p));
    return (vi) { vmovl_u16(vget_low_u16(v)), vmovl_u16(vget_high_u16(v)) };
}
PRIM vf vf_lo4(vi b) { return EACH(low_nibble, b); }
PRIM vf vf_hi4(vi b) { return EACH(high_nibble, b); }
PRIM vf add_16(vf v, unsigned bits)
{
    const float32x4_t v16 = vdupq_n_f32(16);
    return vf_add(v, (vf) { masked(lanes_of(bits), v16), masked(lanes_of(bits >> 4), v16) });
}
PRIM vf vf_lo5(vi b, unsigned bits) { return add_16(vf_lo4(b), bits); }
PRIM vf vf_hi5(vi b, unsigned bits) { return add_16(vf_hi4(b), bits); }

/* ---- words of 32 bits, for low-precision products */
PRIM vi vi_load(const void *p)
{
    const uint32_t *w = p;
    return (vi) { vld1q_u32(w), vld1q_u32(w + 4) };
}
/* Products use w from lane 0 of a register, which a load fills without extra work; hi has it in every lane. */
PRIM vi vi_set1(uint32_t w) { return (vi) { vcombine_u32(vcreate_u32(w), vcreate_u32(w)), vdupq_n_u32(w) }; }
PRIM vs vs_set1(int32_t x) { return (vs) { vdupq_n_s32(x), vdupq_n_s32(x) }; }
PRIM vs vs_zero(void) { return vs_set1(0); }
PRIM vs vs_load(const int32_t *p) { return (vs) { vld1q_s32(p), vld1q_s32(p + 4) }; }
PRIM void vs_store(int32_t *p, vs v)
{
    vst1q_s32(p, v.lo);
    vst1q_s32(p + 4, v.hi);
}
PRIM vs vs_add(vs a, vs b) { return (vs) { vaddq_s32(a.lo, b.lo), vaddq_s32(a.hi, b.hi) }; }
PRIM vs vs_times_256(vs a) { return (vs) { vshlq_n_s32(a.lo, 8), vshlq_n_s32(a.hi, 8) }; }
PRIM vf vf_of_ints(vs a) { return (vf) { vcvtq_f32_s32(a.lo), vcvtq_f32_s32(a.hi) }; }
PRIM vf vf_of_sums(vs a) { return vf_of_ints(a); }
/* bf16, in the order of the twin and so with its bits. both: the even k, the odd k. */
PRIM float32x4_t low_half(uint32x4_t a) { return floats_of(vshlq_n_u32(a, 16)); }
PRIM float32x4_t high_half(uint32x4_t a) { return floats_of(vandq_u32(a, vdupq_n_u32(0xffff0000u))); }
PRIM float32x4_t dot_pair(float32x4_t acc, float32x4_t both, uint32x4_t w)
{
    return vfmaq_laneq_f32(vfmaq_laneq_f32(acc, high_half(w), both, 1), low_half(w), both, 0);
}
PRIM vf vf_dot_pairs(vf acc, vi x, vi w)
{
    const float32x4_t both = floats_of(vshll_n_u16(vreinterpret_u16_u32(vget_low_u32(x.lo)), 16));
    return (vf) { dot_pair(acc.lo, both, w.lo), dot_pair(acc.hi, both, w.hi) };
}
/* int16: even and odd k of the outputs are separated once for all rows of a tile; 16 products then take four instructions, like 16 of
 * f32. */
PRIM vs vs_dot_ints(vs acc, vi x, vi w)
{
    const int16x4_t both = vreinterpret_s16_u32(vget_low_u32(x.lo));
    const int16x8_t lo = vreinterpretq_s16_u32(w.lo), hi = vreinterpretq_s16_u32(w.hi);
    const int16x8_t even = vuzp1q_s16(lo, hi), odd = vuzp2q_s16(lo, hi);
    acc.lo = vmlal_lane_s16(vmlal_lane_s16(acc.lo, vget_low_s16(even), both, 0), vget_low_s16(odd), both, 1);
    acc.hi = vmlal_high_lane_s16(vmlal_high_lane_s16(acc.hi, even, both, 0), odd, both, 1);
    return acc;
}
PRIM uint32x4_t max_of_abs(uint32x4_t max, float32x4_t a) { return vmaxq_u32(max, bits_of(vabsq_f32(a))); }
PRIM vi vi_max_abs(vi max, vf v) { return (vi) { max_of_abs(max.lo, v.lo), max_of_abs(max.hi, v.hi) }; }
PRIM uint32_t vi_hmax(vi a) { return vmaxvq_u32(vmaxq_u32(a.lo, a.hi)); }
PRIM void vf_store_halves(uint32_t *to, vf v)
{
    vst1q_u32(to, vreinterpretq_u32_u16(vuzp1q_u16(vreinterpretq_u16_f32(v.lo), vreinterpretq_u16_f32(v.hi))));
}

/* ---- by blocks */
PRIM uint32x4_t nibbles(uint32x4_t w, int high)
{
    const uint8x16_t b = vreinterpretq_u8_u32(w);
    return vreinterpretq_u32_u8(high ? vshrq_n_u8(b, 4) : vandq_u8(b, vdupq_n_u8(15)));
}
PRIM vi vi_nibbles(vi w, int high) { return (vi) { nibbles(w.lo, high), nibbles(w.hi, high) }; }
/* low, and above it the bits of mask in plane, which is shifted to the left, or to the right (left < 0). */
PRIM uint32x4_t above(uint32x4_t low, uint32x4_t plane, int left, uint32_t mask)
{
    return vorrq_u32(low, vandq_u32(vshlq_u32(plane, vdupq_n_s32(left)), vdupq_n_u32(mask)));
}
PRIM vi vi_above(vi low, vi plane, int left, uint32_t mask)
{
    return (vi) { above(low.lo, plane.lo, left, mask), above(low.hi, plane.hi, left, mask) };
}
PRIM vs ints_joined(vs high, vs low) { return vs_add(vs_times_256(high), low); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { quantize_blocks(to, t, x, k); }
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { quantize_attn_weights(to, x, n); }
#endif

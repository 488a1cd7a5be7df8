/* steno: vectors of 256 bits. SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives with AVX2, FMA and F16C, for every level with such vectors. */
#ifndef STENO_KERN_VEC256_H
#define STENO_KERN_VEC256_H
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include "kern/quantize.h"

#define VF_N 8
#define MM(op) _mm256_##op /* an intrinsic of vectors this wide */
#include "kern/knobs.h"

#define PRIM static inline __attribute__((always_inline))
typedef __m256 vf;
typedef __m256i vi, vs; /* words; int32 */

PRIM __m256i lane_numbers(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
PRIM __m256i first_lanes(size_t n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane_numbers()); }
PRIM __m256i lanes_of(unsigned bits)
{
    const __m256i bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), lane_numbers());
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}
PRIM vf vf_zero(void) { return _mm256_setzero_ps(); }
PRIM vf vf_set1(float x) { return _mm256_set1_ps(x); }
PRIM vf vf_load(const float *p) { return _mm256_loadu_ps(p); }
PRIM void vf_store(float *p, vf v) { _mm256_storeu_ps(p, v); }
PRIM vf vf_load_n(const float *p, size_t n) { return _mm256_maskload_ps(p, first_lanes(n)); }
PRIM vf load_some(const float *p, size_t n) { return n >= VF_N ? vf_load(p) : vf_load_n(p, n); }
PRIM void vf_store_n(float *p, vf v, size_t n) { _mm256_maskstore_ps(p, first_lanes(n), v); }
PRIM vf vf_load_f16(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }
PRIM vf vf_load_bf16(const uint16_t *p)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
}
PRIM vf vf_load_i8(const int8_t *p) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p))); }
PRIM void vf_store_f16(uint16_t *p, vf v)
{
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
PRIM vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
PRIM vf vf_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
PRIM vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
PRIM vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
PRIM vf vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
PRIM vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
PRIM vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
PRIM vf vf_abs(vf a) { return _mm256_andnot_ps(vf_set1(-0.0f), a); }
PRIM vf vf_sign(vf a, vf s) { return _mm256_or_ps(vf_abs(a), _mm256_and_ps(vf_set1(-0.0f), s)); }
PRIM vf vf_where_ge(vf x, vf lo, vf v) { return _mm256_and_ps(_mm256_cmp_ps(x, lo, _CMP_GE_OQ), v); }
PRIM vf vf_shl23(vf a) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23)); }
PRIM vf vf_split(vf x, vf *n) /* adding 1.5 * 2^23 leaves the integer in the low bits */
{
    const vf magic = vf_set1(12582912.0f), c = vf_max(x, vf_set1(-126));
    *n = vf_add(c, magic);
    return vf_sub(c, vf_sub(*n, magic));
}
PRIM vf vf_times_2n(vf a, vf n)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(vf_shl23(n))));
}
PRIM float vf_sum(vf a)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
PRIM float vf_hmax(vf a)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
PRIM unsigned vf_eq_bits(vf a, vf b) { return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
PRIM vf vf_drop(vf v, unsigned bits)
{
    return _mm256_blendv_ps(v, vf_set1(-__builtin_inff()), _mm256_castsi256_ps(lanes_of(bits)));
}

PRIM vf pair_lo(vf a, vf b) { return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))); }
PRIM vf pair_hi(vf a, vf b) { return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b))); }
PRIM void vf_transpose(vf v[VF_N]) /* 4 x 4 in halves of the vectors, then halves are exchanged */
{
    vf t[VF_N];
    for (int i = 0; i < VF_N; i += 4) {
        const vf a = _mm256_unpacklo_ps(v[i], v[i + 1]), b = _mm256_unpacklo_ps(v[i + 2], v[i + 3]);
        const vf c = _mm256_unpackhi_ps(v[i], v[i + 1]), d = _mm256_unpackhi_ps(v[i + 2], v[i + 3]);
        t[i] = pair_lo(a, b), t[i + 1] = pair_hi(a, b), t[i + 2] = pair_lo(c, d), t[i + 3] = pair_hi(c, d);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
        v[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
    }
}

PRIM vi vi_load_u8(const uint8_t *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)); }
PRIM vf vf_lo4(vi b) { return _mm256_cvtepi32_ps(_mm256_and_si256(b, _mm256_set1_epi32(15))); }
PRIM vf vf_hi4(vi b) { return _mm256_cvtepi32_ps(_mm256_srli_epi32(b, 4)); }
PRIM vf add_16(vf v, unsigned bits) { return vf_add(v, _mm256_and_ps(_mm256_castsi256_ps(lanes_of(bits)), vf_set1(16))); }
PRIM vf vf_lo5(vi b, unsigned bits) { return add_16(vf_lo4(b), bits); }
PRIM vf vf_hi5(vi b, unsigned bits) { return add_16(vf_hi4(b), bits); }

PRIM vi vi_load(const void *p) { return _mm256_loadu_si256(p); }
PRIM vi vi_set1(uint32_t w) { return _mm256_set1_epi32((int)w); }
PRIM vi vi_and(vi a, vi b) { return _mm256_and_si256(a, b); }
PRIM vf floats_of(vi a) { return _mm256_castsi256_ps(a); }
PRIM vs vs_zero(void) { return _mm256_setzero_si256(); }
PRIM vs vs_set1(int32_t x) { return _mm256_set1_epi32(x); }
PRIM vs vs_load(const int32_t *p) { return _mm256_loadu_si256((const __m256i *)p); }
PRIM void vs_store(int32_t *p, vs v) { _mm256_storeu_si256((__m256i *)p, v); }
PRIM vs vs_add(vs a, vs b) { return _mm256_add_epi32(a, b); }
PRIM vs vs_times_256(vs a) { return _mm256_slli_epi32(a, 8); }
PRIM vf vf_of_ints(vs a) { return _mm256_cvtepi32_ps(a); }
PRIM vf vf_of_sums(vs a)
{
    __asm__("" : "+x"(a)); /* otherwise gcc 12 keeps all sums of a tile on the stack, in its loop, too */
    return vf_of_ints(a);
}

/* Low-precision products. The first n floats at p, at most eight, times inverse as bytes with 128 added (quantize.h), one per lane. */
PRIM vi vi_bytes(const float *p, size_t n, float inverse)
{
    const vf q = vf_add(vf_mul(load_some(p, n), vf_set1(inverse)), vf_set1(I8_MAGIC));
    return _mm256_and_si256(_mm256_castps_si256(q), _mm256_set1_epi32(255));
}

/* ---- products of int16 */
PRIM vi vi_max_abs(vi max, vf v) { return _mm256_max_epu32(max, _mm256_castps_si256(vf_abs(v))); }
PRIM uint32_t vi_hmax(vi a)
{
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1)));
}
PRIM void vf_store_halves(uint32_t *to, vf v)
{
    const vi halves = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1));
    const vi q = _mm256_shuffle_epi8(_mm256_castps_si256(v), halves);
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(_mm256_permute4x64_epi64(q, 0x08)));
}

/* ---- by blocks */
PRIM vi vi_nibbles(vi w, int high) { return _mm256_and_si256(high ? _mm256_srli_epi32(w, 4) : w, _mm256_set1_epi8(15)); }
/* low, and above it the bits of mask in plane, which is shifted to the left, or to the right (left < 0). */
PRIM vi vi_above(vi low, vi plane, int left, uint32_t mask)
{
    const vi at = left < 0 ? _mm256_srli_epi32(plane, -left) : _mm256_slli_epi32(plane, left);
    return _mm256_or_si256(low, _mm256_and_si256(at, vi_set1(mask)));
}
PRIM uint32_t block_max_abs(const vf v[4]) /* the 32 magnitudes are compared by halves, as integers, until one is left */
{
    const vi a = _mm256_castps_si256(vf_abs(v[0])), b = _mm256_castps_si256(vf_abs(v[2]));
    return vi_hmax(_mm256_max_epu32(vi_max_abs(a, v[1]), vi_max_abs(b, v[3])));
}
PRIM vi in_order(vi packed) { return _mm256_permute4x64_epi64(packed, 0xd8); } /* restores the order after packing in halves */
PRIM vi two_bytes(vf v) { return _mm256_and_si256(_mm256_castps_si256(vf_add(v, vf_set1(I8_MAGIC))), _mm256_set1_epi32(0xffff)); }
PRIM vi block_bytes(const vi q[2], int high)
{
    vi a = q[0], b = q[1];
    if (high) a = _mm256_srli_epi16(a, 8), b = _mm256_srli_epi16(b, 8);
    else a = _mm256_and_si256(a, _mm256_set1_epi16(255)), b = _mm256_and_si256(b, _mm256_set1_epi16(255));
    return in_order(_mm256_packus_epi16(a, b));
}
/* 32 k times inverse as integers of a block. I8_MAGIC leaves q + 128 in 16 bits. sums: of those of each half, in lanes. pairs: integers
 * that may stay in 16 bits do, and of each four the even ones come first. */
PRIM void block_ints(uint32_t *to, vi sums[2], enum packed_type t, vf v[4], vf inverse, const int pairs)
{
    const int two = quad_x_parts(t) == 2;
    const vi ones = _mm256_set1_epi16(1);
    const vi even_odd = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
    vi q[2];
    for (size_t i = 0; i < 2; i++)
        q[i] = in_order(_mm256_packus_epi32(two_bytes(vf_mul(v[2 * i], inverse)), two_bytes(vf_mul(v[2 * i + 1], inverse))));
    if (quad_x_is_wide(t) && pairs) {
        for (size_t i = 0; i < 2; i++)
            _mm256_storeu_si256((__m256i *)(to + 8 * i), _mm256_shuffle_epi8(_mm256_sub_epi16(q[i], _mm256_set1_epi16(128)), even_odd));
    } else {
        if (two) _mm256_storeu_si256((__m256i *)to, block_bytes(q, 1));
        _mm256_storeu_si256((__m256i *)(to + (two ? QBLOCK / 4 : 0)),
                            _mm256_xor_si256(block_bytes(q, 0), _mm256_set1_epi8(INT8_MIN)));
    }
    sums[0] = _mm256_madd_epi16(q[0], ones), sums[1] = _mm256_madd_epi16(q[1], ones);
}
PRIM int sum_of_ints(vi sums)
{
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1)));
}
PRIM void block_put(uint32_t *to, enum packed_type t, vf v[4], const int pairs)
{
    const struct int_scale s = block_scale_of(t, block_max_abs(v));
    vi sums[2];
    block_ints(to, sums, t, v, vf_set1(s.inverse), pairs);
    if (quad_runs(t) == 1) sums[0] = _mm256_add_epi32(sums[0], sums[1]);
    struct block_sums sum = { { sum_of_ints(sums[0]) - 128 * QBLOCK, 0 } };
    if (quad_runs(t) == 2) sum.half[0] += 128 * QBLOCK / 2, sum.half[1] = sum_of_ints(sums[1]) - 128 * QBLOCK / 2;
    block_end(to, t, sum, s.scale);
}
/* Load 32 of n numbers from `at` on. */
PRIM void block_load(vf v[4], const float *x, size_t at, size_t n)
{
    if (at + QBLOCK <= n) {
        for (size_t i = 0; i < 4; i++) v[i] = vf_load(x + at + i * VF_N);
        return;
    }
    for (size_t i = 0; i < 4; i++, at += VF_N) v[i] = at < n ? load_some(x + at, n - at) : vf_zero();
}
PRIM void blocks_put(uint32_t *to, enum packed_type t, const float *x, size_t k, const int pairs)
{
    for (size_t at = 0; at < k; at += QBLOCK, to += block_words(t)) {
        vf v[4];
        block_load(v, x, at, k);
        block_put(to, t, v, pairs);
    }
}
/* As quantize_attn_weights; pairs: as in block_ints. */
PRIM void weights_put(uint32_t *to, const float *x, size_t n, const int pairs)
{
    vi max = vi_set1(0), sums = vi_set1(0), other = max;
    for (size_t i = 0; i < n; i += QBLOCK) {
        vf v[4];
        block_load(v, x, i, n);
        max = vi_max_abs(vi_max_abs(max, v[0]), v[1]), other = vi_max_abs(vi_max_abs(other, v[2]), v[3]);
    }
    max = _mm256_max_epu32(max, other);
    const struct int_scale s = block_scale_of(PK_Q8_QUAD, vi_hmax(max));
    size_t i = 0;
    for (; i < n; i += QBLOCK) {
        vf v[4];
        block_load(v, x, i, n);
        vi of[2];
        block_ints(to + i / QBLOCK * INT_WORDS, of, PK_Q8_QUAD, v, vf_set1(s.inverse), pairs);
        sums = _mm256_add_epi32(sums, _mm256_add_epi32(of[0], of[1]));
    }
    to[INT_START] = (uint32_t)(-quad_offset(PK_Q8_QUAD) * (sum_of_ints(sums) - 128 * (int)i));
    to[INT_SCALE] = bits_of_f32(s.scale);
}
#endif

/* steno: vectors of 256 bits. SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives with AVX2, FMA and F16C, for every level whose vectors are these. */
#ifndef STENO_KERN_VEC256_H
#define STENO_KERN_VEC256_H
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include "kern/inner.h"

enum { VF_N = 8, TILE_ROWS = 6 };
#define TILE_ROWS_12 0
#define FEW_PANELS(rows) ((rows) == 1 ? 2 : 1)

#define PRIM static inline __attribute__((always_inline))
typedef __m256 vf;
typedef __m256i vi;

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

PRIM vi vi_load_u8(const uint8_t *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)); }
PRIM vf vf_lo4(vi b) { return _mm256_cvtepi32_ps(_mm256_and_si256(b, _mm256_set1_epi32(15))); }
PRIM vf vf_hi4(vi b) { return _mm256_cvtepi32_ps(_mm256_srli_epi32(b, 4)); }
PRIM vf add_16(vf v, unsigned bits) { return vf_add(v, _mm256_and_ps(_mm256_castsi256_ps(lanes_of(bits)), vf_set1(16))); }
PRIM vf vf_lo5(vi b, unsigned bits) { return add_16(vf_lo4(b), bits); }
PRIM vf vf_hi5(vi b, unsigned bits) { return add_16(vf_hi4(b), bits); }

PRIM vi vi_load(const void *p) { return _mm256_loadu_si256(p); }
PRIM vi vi_set1(uint32_t w) { return _mm256_set1_epi32((int)w); }
PRIM vf vf_of_ints(vf a) { return _mm256_cvtepi32_ps(_mm256_castps_si256(a)); }
PRIM vf low_half(vi a) { return _mm256_castsi256_ps(_mm256_slli_epi32(a, 16)); }
PRIM vf high_half(vi a) { return _mm256_castsi256_ps(_mm256_and_si256(a, _mm256_set1_epi32((int)0xffff0000))); }
PRIM vf vf_dot_pairs(vf acc, vi x, vi w) { return vf_fma(low_half(x), low_half(w), vf_fma(high_half(x), high_half(w), acc)); }

/* Narrow products. The first n floats at p, at most eight, times inverse as bytes with 128 added (inner.h), one in each lane. */
PRIM vi vi_bytes(const float *p, size_t n, float inverse)
{
    const vf v = n >= VF_N ? vf_load(p) : vf_load_n(p, n);
    const vf q = vf_add(vf_mul(v, vf_set1(inverse)), vf_set1(I8_MAGIC));
    return _mm256_and_si256(_mm256_castps_si256(q), _mm256_set1_epi32(255));
}

/* ---- by blocks. The 32 magnitudes of a block are compared by halves, as integers, until one is left. */
PRIM vi vi_nibbles(vi w, int high) { return _mm256_and_si256(high ? _mm256_srli_epi32(w, 4) : w, _mm256_set1_epi8(15)); }
PRIM uint32_t block_most(const float *x)
{
    const vi magnitude = _mm256_set1_epi32(INT32_MAX);
    vi v[4];
    for (size_t i = 0; i < 4; i++) v[i] = _mm256_and_si256(vi_load(x + i * VF_N), magnitude);
    const vi most = _mm256_max_epu32(_mm256_max_epu32(v[0], v[1]), _mm256_max_epu32(v[2], v[3]));
    __m128i m = _mm_max_epu32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    m = _mm_max_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1)));
}
/* 32 numbers to the bytes nearest them, 128 added, in order; what is left of each, in the second part's steps, stays. */
PRIM vi block_bytes(vf v[4])
{
    const vf magic = vf_set1(I8_MAGIC);
    vi q[4];
    for (size_t i = 0; i < 4; i++) {
        const vf near = vf_add(v[i], magic);
        q[i] = _mm256_and_si256(_mm256_castps_si256(near), _mm256_set1_epi32(255));
        v[i] = vf_mul(vf_sub(v[i], vf_sub(near, magic)), vf_set1(BLOCK_FINE));
    }
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(_mm256_packus_epi32(q[0], q[1]), _mm256_packus_epi32(q[2], q[3])),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
PRIM void row_to_blocks(uint32_t *to, enum dtype t, const float *x, size_t k)
{
    for (; k >= QBLOCK; k -= QBLOCK, x += QBLOCK) {
        const struct i8_scale s = i8_scale_of(block_most(x));
        float scale = s.scale;
        vf v[4];
        for (size_t i = 0; i < 4; i++) v[i] = vf_mul(vf_load(x + i * VF_N), vf_set1(s.inverse));
        for (int part = 0; part < block_parts(t); part++, to += BLOCK_WORDS, scale /= BLOCK_FINE) {
            const vi q = block_bytes(v), sums = _mm256_sad_epu8(q, _mm256_setzero_si256());
            const __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
            const int sum = _mm_cvtsi128_si32(half) + _mm_extract_epi16(half, 4) - 128 * QBLOCK;
            _mm256_storeu_si256((__m256i *)to, _mm256_xor_si256(q, _mm256_set1_epi8(INT8_MIN)));
            to[BLOCK_START] = (uint32_t)(-quad_offset(t) * sum);
            to[BLOCK_SCALE] = bits_of_f32(scale);
        }
    }
    if (k) narrow_block(to, t, x, k);
}
#endif

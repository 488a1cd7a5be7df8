/* steno: vectors of 512 bits. SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives with AVX-512 F, BW, DQ and VL, for every level that has them. */
#ifndef STENO_KERN_VEC512_H
#define STENO_KERN_VEC512_H
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include "kern/quantize.h"

#define VF_N 16
#define MM(op) _mm512_##op /* an intrinsic of vectors this wide */
#include "kern/knobs.h"

#define PRIM static inline __attribute__((always_inline))
typedef __m512 vf;
typedef __m512i vi, vs; /* words; int32 */

PRIM __mmask16 first_lanes(size_t n) { return (__mmask16)((1u << n) - 1u); }
PRIM vf vf_zero(void) { return _mm512_setzero_ps(); }
PRIM vf vf_set1(float x) { return _mm512_set1_ps(x); }
PRIM vf vf_load(const float *p) { return _mm512_loadu_ps(p); }
PRIM void vf_store(float *p, vf v) { _mm512_storeu_ps(p, v); }
PRIM vf vf_load_n(const float *p, size_t n) { return _mm512_maskz_loadu_ps(first_lanes(n), p); }
PRIM vf load_some(const float *p, size_t n) { return n >= VF_N ? vf_load(p) : vf_load_n(p, n); }
PRIM void vf_store_n(float *p, vf v, size_t n) { _mm512_mask_storeu_ps(p, first_lanes(n), v); }
PRIM vf vf_load_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
PRIM vf vf_load_bf16(const uint16_t *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)), 16));
}
PRIM vf vf_load_i8(const int8_t *p) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p))); }
PRIM void vf_store_f16(uint16_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
PRIM vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
PRIM vf vf_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
PRIM vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
PRIM vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
PRIM vf vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
PRIM vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
PRIM vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
PRIM vf vf_abs(vf a) { return _mm512_abs_ps(a); }
PRIM vf vf_sign(vf a, vf s)
{
    const vi bit = _mm512_set1_epi32(INT32_MIN); /* 0xca: s where the bit is set, else a */
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(bit, _mm512_castps_si512(s), _mm512_castps_si512(a), 0xca));
}
PRIM vf vf_where_ge(vf x, vf lo, vf v) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, lo, _CMP_GE_OQ), v); }
PRIM vf vf_shl23(vf a) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a), 23)); }
PRIM vf vf_split(vf x, vf *n)
{
    const vf r = _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT);
    *n = vf_sub(x, r);
    return r;
}
PRIM vf vf_times_2n(vf a, vf n) { return _mm512_scalef_ps(a, n); }
PRIM float vf_sum(vf a) { return _mm512_reduce_add_ps(a); }
PRIM float vf_hmax(vf a) { return _mm512_reduce_max_ps(a); }
PRIM unsigned vf_eq_bits(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
PRIM vf vf_drop(vf v, unsigned bits) { return _mm512_mask_mov_ps(v, (__mmask16)bits, vf_set1(-__builtin_inff())); }

PRIM vf pair_lo(vf a, vf b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); }
PRIM vf pair_hi(vf a, vf b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); }
PRIM void vf_transpose(vf v[VF_N]) /* 4 x 4 in quarters of the vectors, then quarters are exchanged twice */
{
    vf t[VF_N];
    for (int i = 0; i < VF_N; i += 4) {
        const vf a = _mm512_unpacklo_ps(v[i], v[i + 1]), b = _mm512_unpacklo_ps(v[i + 2], v[i + 3]);
        const vf c = _mm512_unpackhi_ps(v[i], v[i + 1]), d = _mm512_unpackhi_ps(v[i + 2], v[i + 3]);
        t[i] = pair_lo(a, b), t[i + 1] = pair_hi(a, b), t[i + 2] = pair_lo(c, d), t[i + 3] = pair_hi(c, d);
    }
    for (int i = 0; i < 4; i++) {
        const vf a = _mm512_shuffle_f32x4(t[i], t[i + 4], 0x88), b = _mm512_shuffle_f32x4(t[i], t[i + 4], 0xdd);
        const vf c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0x88), d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], 0xdd);
        v[i] = _mm512_shuffle_f32x4(a, c, 0x88), v[i + 4] = _mm512_shuffle_f32x4(b, d, 0x88);
        v[i + 8] = _mm512_shuffle_f32x4(a, c, 0xdd), v[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}

PRIM vi vi_load_u8(const uint8_t *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)); }
/* A permutation uses only the low four bits of an index, so a table of 0..15 converts a nibble. */
PRIM vf nibble_table(vi i)
{
    return _mm512_permutexvar_ps(i, _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
PRIM vf vf_lo4(vi b) { return nibble_table(b); }
PRIM vf vf_hi4(vi b) { return nibble_table(_mm512_srli_epi32(b, 4)); }
PRIM vf add_16(vf v, unsigned bits) { return _mm512_mask_add_ps(v, (__mmask16)bits, v, vf_set1(16)); }
PRIM vf vf_lo5(vi b, unsigned bits) { return add_16(vf_lo4(b), bits); }
PRIM vf vf_hi5(vi b, unsigned bits) { return add_16(vf_hi4(b), bits); }

PRIM vi vi_load(const void *p) { return _mm512_loadu_si512(p); }
PRIM vi vi_set1(uint32_t w) { return _mm512_set1_epi32((int)w); }
PRIM vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
PRIM vf floats_of(vi a) { return _mm512_castsi512_ps(a); }
PRIM vs vs_zero(void) { return _mm512_setzero_si512(); }
PRIM vs vs_set1(int32_t x) { return _mm512_set1_epi32(x); }
PRIM vs vs_load(const int32_t *p) { return _mm512_loadu_si512(p); }
PRIM void vs_store(int32_t *p, vs v) { _mm512_storeu_si512(p, v); }
PRIM vs vs_add(vs a, vs b) { return _mm512_add_epi32(a, b); }
PRIM vs vs_times_256(vs a) { return _mm512_slli_epi32(a, 8); }
PRIM vf vf_of_ints(vs a) { return _mm512_cvtepi32_ps(a); }
PRIM vf vf_of_sums(vs a)
{
    __asm__("" : "+v"(a)); /* otherwise gcc 12 keeps all sums of a tile on the stack, in its loop, too */
    return vf_of_ints(a);
}

/* ---- products of int16 */
PRIM vi vi_max_abs(vi max, vf v) { return _mm512_max_epu32(max, _mm512_castps_si512(vf_abs(v))); }
PRIM uint32_t vi_hmax(vi a) { return _mm512_reduce_max_epu32(a); }
PRIM void vf_store_halves(uint32_t *to, vf v) { _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_castps_si512(v))); }

/* ---- low-precision products by blocks */
PRIM vi vi_nibbles(vi w, int high) { return _mm512_and_si512(high ? _mm512_srli_epi32(w, 4) : w, _mm512_set1_epi8(15)); }
/* low, and above it the bits of mask in plane, which is shifted to the left, or to the right (left < 0). 0xca: bits of the second operand
 * where the first has ones, else of the third. */
PRIM vi vi_above(vi low, vi plane, int left, uint32_t mask)
{
    const vi at = left < 0 ? _mm512_srli_epi32(plane, (unsigned)-left) : _mm512_slli_epi32(plane, (unsigned)left);
    return _mm512_ternarylogic_epi32(vi_set1(mask), at, low, 0xca);
}
/* 32 k, v0 and v1, times inverse as integers of a block. I8_MAGIC leaves q + 128 in 16 bits. Returns sums of those in lanes. pairs: for
 * byte weights integers stay in 16 bits, and of each four the even ones come first. */
PRIM vi block_ints(uint32_t *to, enum packed_type t, vf v0, vf v1, vf inverse, const int pairs)
{
    const int two = quad_x_parts(t) == 2;
    const vf magic = vf_set1(I8_MAGIC);
    const vi n0 = _mm512_castps_si512(vf_add(vf_mul(v0, inverse), magic)), n1 = _mm512_castps_si512(vf_add(vf_mul(v1, inverse), magic));
    const vi q = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(n0)), _mm512_cvtepi32_epi16(n1), 1);
    if (quad_x_is_wide(t) && pairs) {
        const vi even_odd = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15));
        _mm512_storeu_si512(to, _mm512_shuffle_epi8(_mm512_sub_epi16(q, _mm512_set1_epi16(128)), even_odd));
    } else {
        if (two) _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi16_epi8(_mm512_srli_epi16(q, 8)));
        _mm256_storeu_si256((__m256i *)(to + (two ? QBLOCK / 4 : 0)),
                            _mm256_xor_si256(_mm512_cvtepi16_epi8(q), _mm256_set1_epi8(INT8_MIN)));
    }
    return _mm512_madd_epi16(q, _mm512_set1_epi16(1));
}
/* Store a block. The magnitudes are compared by halves, as integers, until one is left. */
PRIM void block_put(uint32_t *to, enum packed_type t, vf v0, vf v1, const int pairs)
{
    const struct int_scale s = block_scale_of(t, vi_hmax(vi_max_abs(_mm512_castps_si512(vf_abs(v0)), v1)));
    const vi sums = block_ints(to, t, v0, v1, vf_set1(s.inverse), pairs);
    struct block_sums sum = { { _mm512_reduce_add_epi32(sums) - 128 * QBLOCK, 0 } };
    if (quad_runs(t) == 2) { /* the upper half of the lanes */
        sum.half[1] = _mm512_reduce_add_epi32(_mm512_maskz_compress_epi64(0xf0, sums)) - 128 * QBLOCK / 2;
        sum.half[0] -= sum.half[1];
    }
    block_end(to, t, sum, s.scale);
}
PRIM void blocks_put(uint32_t *to, enum packed_type t, const float *x, size_t k, const int pairs)
{
    for (; k >= QBLOCK; k -= QBLOCK, x += QBLOCK, to += block_words(t)) block_put(to, t, vf_load(x), vf_load(x + VF_N), pairs);
    if (k) block_put(to, t, vf_load_n(x, size_min(k, VF_N)), k > VF_N ? vf_load_n(x + VF_N, k - VF_N) : vf_zero(), pairs);
}
/* As quantize_attn_weights; pairs: as in block_ints. */
PRIM void weights_put(uint32_t *to, const float *x, size_t n, const int pairs)
{
    vi max = vi_set1(0), sums = vi_set1(0);
    for (size_t i = 0; i < n; i += VF_N) max = vi_max_abs(max, load_some(x + i, n - i));
    const struct int_scale s = block_scale_of(PK_Q8_QUAD, vi_hmax(max));
    const vf inverse = vf_set1(s.inverse);
    size_t i = 0;
    for (; i < n; i += QBLOCK) {
        const vf v0 = load_some(x + i, n - i), v1 = i + VF_N < n ? load_some(x + i + VF_N, n - i - VF_N) : vf_zero();
        sums = _mm512_add_epi32(sums, block_ints(to + i / QBLOCK * INT_WORDS, PK_Q8_QUAD, v0, v1, inverse, pairs));
    }
    to[INT_START] = (uint32_t)(-quad_offset(PK_Q8_QUAD) * (_mm512_reduce_add_epi32(sums) - 128 * (int)i));
    to[INT_SCALE] = bits_of_f32(s.scale);
}
#endif

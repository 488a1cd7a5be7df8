/* steno: kernels for SSE4.1. SPDX-License-Identifier: MIT
 *
 * For x86 processors without AVX2: those before 2013, and small later ones. Vectors have four floats. A tile is 6 rows by two vectors.
 * There is no multiply-add that rounds once, so vf_fma rounds twice. Where integers are scaled and added, which every level does with the
 * same bits, vf_fma_once computes in double. f16 conversions, masked loads and a third operand are missing, too.
 *
 * Compiled with: -msse4.1 */
#define TILE_ROWS 6
#define QUAD_STEPS 2
#define QUAD_PARTS 2
#define FEW_PANELS(rows) 1 /* a panel has eight vectors: half of the registers */
#define ONE_ROUNDING 0

#include <smmintrin.h>
#include <stddef.h>
#include <stdint.h>
#include "kern/quantize.h"

#define VF_N 4
#define MM(op) _mm_##op
#include "kern/knobs.h"

#define PRIM static inline __attribute__((always_inline))
typedef __m128 vf;
typedef __m128i vi, vs; /* words; int32 */

PRIM __m128i lanes_of(unsigned bits)
{
    const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
    return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)bits), bit), bit);
}
PRIM vi bits_of(vf a) { return _mm_castps_si128(a); }
PRIM vf floats_of(vi a) { return _mm_castsi128_ps(a); }

PRIM vf vf_zero(void) { return _mm_setzero_ps(); }
PRIM vf vf_set1(float x) { return _mm_set1_ps(x); }
PRIM vf vf_load(const float *p) { return _mm_loadu_ps(p); }
PRIM void vf_store(float *p, vf v) { _mm_storeu_ps(p, v); }
#include "kern/lanes.h"
PRIM vi load_4(const void *p) { return _mm_cvtsi32_si128((int)load_u32(p)); }

/* f16: shifted left by 13 bits, its exponent is 112 too low; multiplying corrects that, also for subnormals. */
PRIM vf vf_load_f16(const uint16_t *p)
{
    const vi h = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)), mag = _mm_and_si128(h, _mm_set1_epi32(0x7fff));
    const vf scaled = _mm_mul_ps(floats_of(_mm_slli_epi32(mag, 13)), vf_set1(0x1p112f));
    const vi sign = _mm_slli_epi32(_mm_xor_si128(h, mag), 16);
    const vi special = _mm_and_si128(_mm_cmpgt_epi32(mag, _mm_set1_epi32(0x7bff)), _mm_set1_epi32(0x7f800000));
    return floats_of(_mm_or_si128(_mm_or_si128(bits_of(scaled), sign), special));
}
PRIM vf vf_load_bf16(const uint16_t *p)
{
    return floats_of(_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(const void *)p)));
}
PRIM vf vf_load_i8(const int8_t *p) { return _mm_cvtepi32_ps(_mm_cvtepi8_epi32(load_4(p))); }

/* Round to nearest even: numbers that are normal as f16 by adding to their bits, others by adding a number whose last bit is f16's last. */
PRIM void vf_store_f16(uint16_t *p, vf v)
{
    const vi mag = _mm_and_si128(bits_of(v), _mm_set1_epi32(0x7fffffff)), sign = _mm_xor_si128(bits_of(v), mag);
    const vi odd = _mm_srai_epi32(_mm_slli_epi32(mag, 31 - 13), 31);
    const vi normal = _mm_srli_epi32(_mm_sub_epi32(_mm_add_epi32(mag, _mm_set1_epi32(0xfff - (112 << 23))), odd), 13);
    const vi unit = _mm_set1_epi32((127 - 15 + 23 - 10 + 1) << 23);
    const vi tiny = _mm_sub_epi32(bits_of(_mm_add_ps(floats_of(mag), floats_of(unit))), unit);
    const vi is_tiny = _mm_cmplt_epi32(mag, _mm_set1_epi32((127 - 14) << 23));
    const vi is_large = _mm_cmpgt_epi32(mag, _mm_set1_epi32(((127 + 16) << 23) - 1));
    const vi nan = _mm_and_si128(_mm_cmpgt_epi32(mag, _mm_set1_epi32(0x7f800000)), _mm_set1_epi32(0x200));
    const vi large = _mm_or_si128(nan, _mm_set1_epi32(0x7c00));
    const vi half = _mm_blendv_epi8(_mm_blendv_epi8(normal, tiny, is_tiny), large, is_large);
    const vi whole = _mm_or_si128(half, _mm_srai_epi32(sign, 16));
    _mm_storel_epi64((__m128i *)(void *)p, _mm_packs_epi32(whole, whole));
}
PRIM vf vf_add(vf a, vf b) { return _mm_add_ps(a, b); }
PRIM vf vf_sub(vf a, vf b) { return _mm_sub_ps(a, b); }
PRIM vf vf_mul(vf a, vf b) { return _mm_mul_ps(a, b); }
PRIM vf vf_div(vf a, vf b) { return _mm_div_ps(a, b); }
PRIM vf vf_fma(vf a, vf b, vf c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
PRIM vf vf_fnma(vf a, vf b, vf c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
PRIM vf vf_min(vf a, vf b) { return _mm_min_ps(a, b); }
PRIM vf vf_max(vf a, vf b) { return _mm_max_ps(a, b); }
PRIM vf vf_abs(vf a) { return _mm_andnot_ps(vf_set1(-0.0f), a); }
PRIM vf vf_sign(vf a, vf s) { return _mm_or_ps(vf_abs(a), _mm_and_ps(vf_set1(-0.0f), s)); }
PRIM vf vf_where_ge(vf x, vf lo, vf v) { return _mm_and_ps(_mm_cmpge_ps(x, lo), v); }
PRIM vf vf_shl23(vf a) { return floats_of(_mm_slli_epi32(bits_of(a), 23)); }

/* a * b + c rounded once. Products are exact in double. Their sum with c is rounded there, and again to f32. That is wrong only if the
 * first result is half-way between two floats, so that its last 28 bits are zeros. The sum's error, which is exact, then decides: the last
 * bit becomes 1 if there was an error (rounding to odd), and the second rounding includes it. */
PRIM __m128d odd_where_lost(__m128d s, __m128d p, __m128d c)
{
    const __m128d of_c = _mm_sub_pd(s, p), lost = _mm_add_pd(_mm_sub_pd(p, _mm_sub_pd(s, of_c)), _mm_sub_pd(c, of_c));
    const __m128i one = _mm_set1_epi64x(1), bits = _mm_castpd_si128(s);
    const __m128i inexact = _mm_castpd_si128(_mm_cmpgt_pd(_mm_andnot_pd(_mm_set1_pd(-0.0), lost), _mm_setzero_pd()));
    const __m128i even = _mm_cmpeq_epi64(_mm_and_si128(bits, one), _mm_setzero_si128());
    const __m128i apart = _mm_srai_epi32(_mm_xor_si128(bits, _mm_castpd_si128(lost)), 31); /* -1: the error makes s smaller */
    const __m128i step = _mm_or_si128(_mm_shuffle_epi32(apart, 0xf5), one);
    return _mm_castsi128_pd(_mm_add_epi64(bits, _mm_and_si128(step, _mm_and_si128(inexact, even))));
}
PRIM vf vf_fma_once(vf a, vf b, vf c)
{
    const __m128d c0 = _mm_cvtps_pd(c), c1 = _mm_cvtps_pd(_mm_movehl_ps(c, c));
    const __m128d p0 = _mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b));
    const __m128d p1 = _mm_mul_pd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b)));
    __m128d s0 = _mm_add_pd(p0, c0), s1 = _mm_add_pd(p1, c1);
    const vi low = bits_of(_mm_shuffle_ps(_mm_castpd_ps(s0), _mm_castpd_ps(s1), 0x88));
    const vi halfway = _mm_cmpeq_epi32(_mm_slli_epi32(low, 4), _mm_setzero_si128());
    if (_mm_movemask_epi8(halfway)) s0 = odd_where_lost(s0, p0, c0), s1 = odd_where_lost(s1, p1, c1);
    return _mm_movelh_ps(_mm_cvtpd_ps(s0), _mm_cvtpd_ps(s1));
}

PRIM vf vf_split(vf x, vf *n) /* adding 1.5 * 2^23 leaves the integer in the low bits */
{
    const vf magic = vf_set1(12582912.0f), c = vf_max(x, vf_set1(-126));
    *n = vf_add(c, magic);
    return vf_sub(c, vf_sub(*n, magic));
}
PRIM vf vf_times_2n(vf a, vf n) { return floats_of(_mm_add_epi32(bits_of(a), bits_of(vf_shl23(n)))); }
PRIM float vf_sum(vf a)
{
    const vf s = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
PRIM float vf_hmax(vf a)
{
    const vf s = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
PRIM unsigned vf_eq_bits(vf a, vf b) { return (unsigned)_mm_movemask_ps(_mm_cmpeq_ps(a, b)); }
PRIM vf vf_drop(vf v, unsigned bits) { return _mm_blendv_ps(v, vf_set1(-__builtin_inff()), floats_of(lanes_of(bits))); }
PRIM vf vf_exponent(vf x, vf *m)
{
    const vi half_root = _mm_set1_epi32(0x3f3504f3), d = _mm_sub_epi32(bits_of(x), half_root);
    *m = floats_of(_mm_add_epi32(_mm_and_si128(d, _mm_set1_epi32(0x007fffff)), half_root));
    return _mm_cvtepi32_ps(_mm_srai_epi32(d, 23));
}
PRIM void vf_transpose(vf v[VF_N]) { _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]); }

PRIM vi vi_load_u8(const uint8_t *p) { return _mm_cvtepu8_epi32(load_4(p)); }
PRIM vf vf_lo4(vi b) { return _mm_cvtepi32_ps(_mm_and_si128(b, _mm_set1_epi32(15))); }
PRIM vf vf_hi4(vi b) { return _mm_cvtepi32_ps(_mm_srli_epi32(b, 4)); }
PRIM vf add_16(vf v, unsigned bits) { return vf_add(v, _mm_and_ps(floats_of(lanes_of(bits)), vf_set1(16))); }
PRIM vf vf_lo5(vi b, unsigned bits) { return add_16(vf_lo4(b), bits); }
PRIM vf vf_hi5(vi b, unsigned bits) { return add_16(vf_hi4(b), bits); }

PRIM vi vi_load(const void *p) { return _mm_loadu_si128(p); }
PRIM vi vi_set1(uint32_t w) { return _mm_set1_epi32((int)w); }
PRIM vi vi_and(vi a, vi b) { return _mm_and_si128(a, b); }
PRIM vs vs_zero(void) { return _mm_setzero_si128(); }
PRIM vs vs_set1(int32_t x) { return _mm_set1_epi32(x); }
PRIM vs vs_load(const int32_t *p) { return _mm_loadu_si128((const __m128i *)p); }
PRIM void vs_store(int32_t *p, vs v) { _mm_storeu_si128((__m128i *)p, v); }
PRIM vf vf_of_ints(vs a) { return _mm_cvtepi32_ps(a); }
PRIM vf vf_of_sums(vs a)
{
    __asm__("" : "+x"(a)); /* as in vec256.h */
    return vf_of_ints(a);
}

/* ---- low-precision products: all by PMADDWD, so bytes are widened to 16 bits, the even and the odd ones of four separately */
PRIM vi vi_quads(const void *w, int odd)
{
    const vi b = vi_load(w);
    return _mm_srai_epi16(odd ? b : _mm_slli_epi16(b, 8), 8);
}
PRIM vs vs_dot_ints(vs acc, vi x, vi w) { return _mm_add_epi32(acc, _mm_madd_epi16(x, w)); }
PRIM vs vs_dot_quads(vs acc, vi x, vi w) { return vs_dot_ints(acc, x, w); }
PRIM vi vi_max_abs(vi max, vf v) { return _mm_max_epu32(max, bits_of(vf_abs(v))); }
PRIM uint32_t vi_hmax(vi a)
{
    const vi m = _mm_max_epu32(a, _mm_shuffle_epi32(a, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(m, _mm_shuffle_epi32(m, 0xb1)));
}
PRIM void vf_store_halves(uint32_t *to, vf v)
{
    const vi halves = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(bits_of(v), halves));
}
PRIM vi vi_nibbles(vi w, int high) { return _mm_and_si128(high ? _mm_srli_epi32(w, 4) : w, _mm_set1_epi8(15)); }
/* low, and above it the bits of mask in plane, which is shifted to the left, or to the right (left < 0). */
PRIM vi vi_above(vi low, vi plane, int left, uint32_t mask)
{
    const vi at = left < 0 ? _mm_srli_epi32(plane, -left) : _mm_slli_epi32(plane, left);
    return _mm_or_si128(low, _mm_and_si128(at, vi_set1(mask)));
}

/* Bytes of a row of x, with 128 added, as words of the even and the odd ones of four. */
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    for (size_t i = 0; i < k; i += VF_N, to += VF_N / 2) {
        const vf q = vf_add(vf_mul(load_some(x + i, k - i), vf_set1(s.inverse)), vf_set1(I8_MAGIC));
        const vi bytes = _mm_and_si128(bits_of(q), _mm_set1_epi32(255));
        _mm_storel_epi64((__m128i *)(void *)to, _mm_or_si128(bytes, _mm_slli_epi32(_mm_shuffle_epi32(bytes, 0xee), 16)));
    }
    return s.scale;
}

/* Integers of a block for byte weights, from quantize.h, become numbers of 16 bits; of each four the even ones come first. */
PRIM void block_widened(uint32_t *to, enum packed_type t)
{
    int8_t high[QBLOCK], low[QBLOCK];
    int16_t q[QBLOCK];
    const int two = quad_x_parts(t) == 2;
    memcpy(low, to + (two ? QBLOCK / 4 : 0), sizeof low);
    memcpy(high, to, sizeof high);
    for (size_t i = 0; i < QBLOCK; i++) q[i] = (int16_t)((two ? 256 * high[i] : 0) + low[i]);
    for (size_t i = 0; i < QBLOCK; i += 8) {
        const vi even_odd = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15);
        _mm_storeu_si128((__m128i *)(void *)(to + i / 2), _mm_shuffle_epi8(vi_load(q + i), even_odd));
    }
}
PRIM void blocks_put(uint32_t *to, enum packed_type t, const float *x, size_t k, const int pairs)
{
    quantize_blocks(to, t, x, k);
    for (size_t i = 0; i < k && pairs && quad_x_is_wide(t); i += QBLOCK, to += block_words(t)) block_widened(to, t);
}
PRIM void weights_put(uint32_t *to, const float *x, size_t n, const int pairs)
{
    quantize_attn_weights(to, x, n);
    for (size_t i = 0; i < n && pairs; i += QBLOCK, to += INT_WORDS) block_widened(to, PK_Q8_QUAD);
}
#include "kern/x86/blocks16.h"
#include "kern/x86/pairs_f32.h"

#include "kern/every.h"

void kern_init_sse41(struct kern *k)
{
    init_every(k);
    k->level = CPU_SSE41;
}

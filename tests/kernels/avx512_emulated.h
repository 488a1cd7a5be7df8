/* steno tests: AVX-512 in instructions of AVX2. SPDX-License-Identifier: MIT
 *
 * The types and intrinsics of AVX-512 that kern/x86 uses, as pairs of vectors of 256 bits. So the files of those levels are compiled and
 * checked on every processor with AVX2. Each result has the bits of the instruction. Sums over lanes take the order that compilers give
 * them. A file includes this before everything else, then a level's file as it is. VDPBF16PS stands in pairs_emulated.h. */
#ifndef STENO_TESTS_KERNELS_AVX512_EMULATED_H
#define STENO_TESTS_KERNELS_AVX512_EMULATED_H
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { __m256 lo, hi; } two_ps;
typedef struct { __m256d lo, hi; } two_pd;
typedef struct { __m256i lo, hi; } two_si;
#define EMU static inline __attribute__((always_inline))

/* A function of one, two or three vectors, or of a vector and a count, half by half. */
#define HALVES_1(to, name, from, op) EMU to emu_##name(from a) { return (to){ op(a.lo), op(a.hi) }; }
#define HALVES_2(to, name, from, op) EMU to emu_##name(from a, from b) { return (to){ op(a.lo, b.lo), op(a.hi, b.hi) }; }
#define HALVES_3(to, name, from, op)                                                                                                       \
    EMU to emu_##name(from a, from b, from c) { return (to){ op(a.lo, b.lo, c.lo), op(a.hi, b.hi, c.hi) }; }
#define HALVES_N(name, op) EMU two_si emu_##name(two_si a, int n) { return (two_si){ op(a.lo, n), op(a.hi, n) }; }

/* ---- floats */
HALVES_2(two_ps, add_ps, two_ps, _mm256_add_ps)
HALVES_2(two_ps, sub_ps, two_ps, _mm256_sub_ps)
HALVES_2(two_ps, mul_ps, two_ps, _mm256_mul_ps)
HALVES_2(two_ps, div_ps, two_ps, _mm256_div_ps)
HALVES_2(two_ps, min_ps, two_ps, _mm256_min_ps)
HALVES_2(two_ps, max_ps, two_ps, _mm256_max_ps)
HALVES_3(two_ps, fmadd_ps, two_ps, _mm256_fmadd_ps)
HALVES_3(two_ps, fnmadd_ps, two_ps, _mm256_fnmadd_ps)
HALVES_2(two_ps, unpacklo_ps, two_ps, _mm256_unpacklo_ps)
HALVES_2(two_ps, unpackhi_ps, two_ps, _mm256_unpackhi_ps)
HALVES_2(two_pd, unpacklo_pd, two_pd, _mm256_unpacklo_pd)
HALVES_2(two_pd, unpackhi_pd, two_pd, _mm256_unpackhi_pd)
HALVES_1(two_ps, cvtepi32_ps, two_si, _mm256_cvtepi32_ps)
HALVES_1(two_si, cvtps_epi32, two_ps, _mm256_cvtps_epi32)
HALVES_1(two_si, castps_si512, two_ps, _mm256_castps_si256)
HALVES_1(two_ps, castsi512_ps, two_si, _mm256_castsi256_ps)
HALVES_1(two_pd, castps_pd, two_ps, _mm256_castps_pd)
HALVES_1(two_ps, castpd_ps, two_pd, _mm256_castpd_ps)
EMU two_ps emu_set1_ps(float x) { return (two_ps){ _mm256_set1_ps(x), _mm256_set1_ps(x) }; }
EMU two_ps emu_setzero_ps(void) { return emu_set1_ps(0); }
EMU two_ps emu_loadu_ps(const float *p) { return (two_ps){ _mm256_loadu_ps(p), _mm256_loadu_ps(p + 8) }; }
EMU void emu_storeu_ps(float *p, two_ps v)
{
    _mm256_storeu_ps(p, v.lo);
    _mm256_storeu_ps(p + 8, v.hi);
}
EMU two_ps emu_cvtph_ps(__m256i h)
{
    return (two_ps){ _mm256_cvtph_ps(_mm256_castsi256_si128(h)), _mm256_cvtph_ps(_mm256_extracti128_si256(h, 1)) };
}
#define emu_cvtps_ph(v, how) _mm256_set_m128i(_mm256_cvtps_ph((v).hi, how), _mm256_cvtps_ph((v).lo, how))
EMU two_ps emu_abs_ps(two_ps a)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return (two_ps){ _mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi) };
}

/* x minus the nearest integer; of an infinity 0. */
EMU __m256 emu_reduce_half(__m256 x)
{
    const __m256 rest = _mm256_sub_ps(x, _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    const __m256 mag = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
    return _mm256_andnot_ps(_mm256_cmp_ps(mag, _mm256_set1_ps(__builtin_inff()), _CMP_EQ_OQ), rest);
}
#define emu_reduce_ps(x, how) ((void)sizeof(char[(how) == _MM_FROUND_TO_NEAREST_INT ? 1 : -1]), emu_reduce_nearest(x))
HALVES_1(two_ps, reduce_nearest, two_ps, emu_reduce_half)

/* a times 2^n for an a that is near 1 and an integer n: in two factors, of which only the last rounds. */
EMU __m256 emu_power_half(__m256i n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)); }
EMU __m256 emu_scale_half(__m256 a, __m256 n)
{
    const __m256i whole = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(n, _mm256_set1_ps(-250)), _mm256_set1_ps(250)));
    const __m256i first = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, emu_power_half(first)), emu_power_half(_mm256_sub_epi32(whole, first)));
}
HALVES_2(two_ps, scalef_ps, two_ps, emu_scale_half)

EMU float emu_reduce_add_ps(two_ps a)
{
    const __m256 four = _mm256_add_ps(a.hi, a.lo);
    const __m128 two = _mm_add_ps(_mm256_extractf128_ps(four, 1), _mm256_castps256_ps128(four));
    const __m128 one = _mm_add_ps(two, _mm_movehl_ps(two, two));
    return _mm_cvtss_f32(_mm_add_ss(one, _mm_movehdup_ps(one)));
}
EMU float emu_reduce_max_ps(two_ps a)
{
    const __m256 four = _mm256_max_ps(a.hi, a.lo);
    const __m128 two = _mm_max_ps(_mm256_extractf128_ps(four, 1), _mm256_castps256_ps128(four));
    const __m128 one = _mm_max_ps(two, _mm_movehl_ps(two, two));
    return _mm_cvtss_f32(_mm_max_ss(one, _mm_movehdup_ps(one)));
}

/* Quarters i and j of a, then k and l of b. */
#define emu_shuffle_f32x4(a, b, imm)                                                                                                       \
    ((two_ps){ _mm256_permute2f128_ps((a).lo, (a).hi, ((imm) & 3) | ((imm) >> 2 & 3) << 4),                                                \
               _mm256_permute2f128_ps((b).lo, (b).hi, ((imm) >> 4 & 3) | ((imm) >> 6 & 3) << 4) })
EMU __m256 emu_look_up(__m256i i, two_ps table)
{
    const __m256 low = _mm256_permutevar8x32_ps(table.lo, i), high = _mm256_permutevar8x32_ps(table.hi, i);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
}
EMU two_ps emu_permutexvar_ps(two_si i, two_ps table) { return (two_ps){ emu_look_up(i.lo, table), emu_look_up(i.hi, table) }; }
#define emu_setr_ps(...) emu_loadu_ps((const float[]){ __VA_ARGS__ })

/* ---- lanes that bits choose */
EMU __m256i emu_lanes(unsigned bits)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}
EMU two_ps emu_maskz_loadu_ps(__mmask16 bits, const float *p)
{
    return (two_ps){ _mm256_maskload_ps(p, emu_lanes(bits)), _mm256_maskload_ps(p + 8, emu_lanes(bits >> 8)) };
}
EMU void emu_mask_storeu_ps(float *p, __mmask16 bits, two_ps v)
{
    _mm256_maskstore_ps(p, emu_lanes(bits), v.lo);
    _mm256_maskstore_ps(p + 8, emu_lanes(bits >> 8), v.hi);
}
EMU two_ps emu_mask_mov_ps(two_ps other, __mmask16 bits, two_ps v)
{
    return (two_ps){ _mm256_blendv_ps(other.lo, v.lo, _mm256_castsi256_ps(emu_lanes(bits))),
                     _mm256_blendv_ps(other.hi, v.hi, _mm256_castsi256_ps(emu_lanes(bits >> 8))) };
}
EMU two_ps emu_maskz_mov_ps(__mmask16 bits, two_ps v) { return emu_mask_mov_ps(emu_setzero_ps(), bits, v); }
EMU two_ps emu_mask_add_ps(two_ps other, __mmask16 bits, two_ps a, two_ps b) { return emu_mask_mov_ps(other, bits, emu_add_ps(a, b)); }
#define emu_cmp_ps_mask(a, b, how)                                                                                                         \
    ((__mmask16)(_mm256_movemask_ps(_mm256_cmp_ps((a).lo, (b).lo, how)) | _mm256_movemask_ps(_mm256_cmp_ps((a).hi, (b).hi, how)) << 8))

/* ---- integers */
HALVES_2(two_si, add_epi32, two_si, _mm256_add_epi32)
HALVES_2(two_si, sub_epi32, two_si, _mm256_sub_epi32)
HALVES_2(two_si, sub_epi16, two_si, _mm256_sub_epi16)
HALVES_2(two_si, madd_epi16, two_si, _mm256_madd_epi16)
HALVES_2(two_si, maddubs_epi16, two_si, _mm256_maddubs_epi16)
HALVES_2(two_si, add_epi16, two_si, _mm256_add_epi16)
HALVES_2(two_si, max_epu32, two_si, _mm256_max_epu32)
HALVES_2(two_si, and_si512, two_si, _mm256_and_si256)
HALVES_2(two_si, or_si512, two_si, _mm256_or_si256)
HALVES_2(two_si, xor_si512, two_si, _mm256_xor_si256)
HALVES_2(two_si, shuffle_epi8, two_si, _mm256_shuffle_epi8)
HALVES_N(slli_epi32, _mm256_slli_epi32)
HALVES_N(srli_epi32, _mm256_srli_epi32)
HALVES_N(srai_epi32, _mm256_srai_epi32)
HALVES_N(slli_epi16, _mm256_slli_epi16)
HALVES_N(srli_epi16, _mm256_srli_epi16)
HALVES_N(srai_epi16, _mm256_srai_epi16)
EMU two_si emu_both(__m256i v) { return (two_si){ v, v }; }
EMU two_si emu_set1_epi32(int x) { return emu_both(_mm256_set1_epi32(x)); }
EMU two_si emu_set1_epi16(int x) { return emu_both(_mm256_set1_epi16((short)x)); }
EMU two_si emu_set1_epi8(int x) { return emu_both(_mm256_set1_epi8((char)x)); }
EMU two_si emu_setzero_si512(void) { return emu_both(_mm256_setzero_si256()); }
EMU two_si emu_broadcast_i32x4(__m128i v) { return emu_both(_mm256_broadcastsi128_si256(v)); }
EMU two_si emu_loadu_si512(const void *p)
{
    return (two_si){ _mm256_loadu_si256(p), _mm256_loadu_si256((const __m256i *)p + 1) };
}
EMU void emu_storeu_si512(void *p, two_si v)
{
    _mm256_storeu_si256(p, v.lo);
    _mm256_storeu_si256((__m256i *)p + 1, v.hi);
}
EMU two_si emu_cvtepu8_epi32(__m128i b) { return (two_si){ _mm256_cvtepu8_epi32(b), _mm256_cvtepu8_epi32(_mm_srli_si128(b, 8)) }; }
EMU two_si emu_cvtepi8_epi32(__m128i b) { return (two_si){ _mm256_cvtepi8_epi32(b), _mm256_cvtepi8_epi32(_mm_srli_si128(b, 8)) }; }
EMU two_si emu_cvtepu16_epi32(__m256i h)
{
    return (two_si){ _mm256_cvtepu16_epi32(_mm256_castsi256_si128(h)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(h, 1)) };
}
#define emu_shuffle_epi32(a, imm) ((two_si){ _mm256_shuffle_epi32((a).lo, imm), _mm256_shuffle_epi32((a).hi, imm) })
EMU __m256i emu_castsi512_si256(two_si a) { return a.lo; }
EMU two_si emu_castsi256_si512(__m256i a) { return (two_si){ a, _mm256_setzero_si256() }; }
#define emu_inserti64x4(a, b, high) ((void)sizeof(char[(high) == 1 ? 1 : -1]), (two_si){ (a).lo, b })

/* Where the first has ones bits of the second, else of the third. */
#define emu_ternarylogic_epi32(a, b, c, what) ((void)sizeof(char[(what) == 0xca ? 1 : -1]), emu_select(a, b, c))
EMU __m256i emu_select_half(__m256i a, __m256i b, __m256i c) { return _mm256_or_si256(_mm256_and_si256(a, b), _mm256_andnot_si256(a, c)); }
HALVES_3(two_si, select, two_si, emu_select_half)

/* The low bits of each lane, side by side; sums of lanes. */
EMU __m256i emu_in_order(__m256i packed) { return _mm256_permute4x64_epi64(packed, 0xd8); }
EMU __m256i emu_cvtepi32_epi16(two_si a)
{
    const __m256i low = _mm256_set1_epi32(0xffff);
    return emu_in_order(_mm256_packus_epi32(_mm256_and_si256(a.lo, low), _mm256_and_si256(a.hi, low)));
}
EMU __m256i emu_cvtepi16_epi8(two_si a)
{
    const __m256i low = _mm256_set1_epi16(255);
    return emu_in_order(_mm256_packus_epi16(_mm256_and_si256(a.lo, low), _mm256_and_si256(a.hi, low)));
}
EMU __m128i emu_cvtepi32_epi8(two_si a)
{
    return _mm256_castsi256_si128(emu_cvtepi16_epi8((two_si){ emu_cvtepi32_epi16(a), _mm256_setzero_si256() }));
}
EMU __m128i emu_cvtusepi32_epi8(two_si a)
{
    const __m256i most = _mm256_set1_epi32(255);
    return emu_cvtepi32_epi8((two_si){ _mm256_min_epu32(a.lo, most), _mm256_min_epu32(a.hi, most) });
}
EMU two_si emu_maskz_compress_epi64(__mmask8 bits, two_si a)
{
    long long from[8], to[8] = { 0 };
    size_t n = 0;
    emu_storeu_si512(from, a);
    for (int i = 0; i < 8; i++)
        if (bits >> i & 1) to[n++] = from[i];
    return emu_loadu_si512(to);
}
EMU uint32_t emu_reduce_max_epu32(two_si a)
{
    uint32_t lane[16], max = 0;
    emu_storeu_si512(lane, a);
    for (int i = 0; i < 16; i++) max = lane[i] > max ? lane[i] : max;
    return max;
}
EMU int emu_reduce_add_epi32(two_si a)
{
    uint32_t lane[16], sum = 0;
    emu_storeu_si512(lane, a);
    for (int i = 0; i < 16; i++) sum += lane[i];
    return (int)sum;
}

/* ---- VNNI: bytes times signed bytes, in numbers of 16 bits, whose products fit */
EMU __m256i emu_dpbusd_half(__m256i sum, __m256i x, __m256i w)
{
    const __m256i even = _mm256_madd_epi16(_mm256_and_si256(x, _mm256_set1_epi16(255)), _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8));
    return _mm256_add_epi32(_mm256_add_epi32(sum, even), _mm256_madd_epi16(_mm256_srli_epi16(x, 8), _mm256_srai_epi16(w, 8)));
}
EMU __m256i emu_dpwssd_half(__m256i sum, __m256i x, __m256i w) { return _mm256_add_epi32(sum, _mm256_madd_epi16(x, w)); }
HALVES_3(two_si, dpbusd_epi32, two_si, emu_dpbusd_half)
HALVES_3(two_si, dpwssd_epi32, two_si, emu_dpwssd_half)

#define __m512 two_ps
#define __m512i two_si
#define __m512d two_pd
#include "names_emulated.h"

/* Barriers of compilers name registers, and change no result. Headers of the system that use them stand above. */
#define __asm__(...) ((void)0)
#endif

/* steno: products of int16 and int8 with vectors of 512 bits. SPDX-License-Identifier: MIT
 *
 * For the levels with AVX512-VNNI. In the time of one f32 multiply-add, VPDPWSSD computes two products of int16, VPDPBUSD four of a byte
 * and a signed byte. */
#ifndef STENO_KERN_INTS512_H
#define STENO_KERN_INTS512_H
#include "kern/x86/vec512.h"

PRIM vs vs_dot_ints(vs acc, vi x, vi w) { return _mm512_dpwssd_epi32(acc, x, w); }
PRIM vs vs_dot_quads(vs acc, vi x, vi w) { return _mm512_dpbusd_epi32(acc, x, w); }

/* ---- attention in int8 */
PRIM vi vf_as_words(vf v) { return _mm512_castps_si512(v); }
PRIM vi vi_flip(vi v) { return _mm512_xor_si512(v, _mm512_set1_epi8(INT8_MIN)); }
PRIM void vf_store_bytes(uint8_t *to, vf v) { _mm_storeu_si128((__m128i *)to, _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(v))); }
/* 0xca: bits of the second operand where the first has ones, else of the third. */
PRIM vi vi_word(vi a, vi b, vi c, vi d)
{
    const vi byte = _mm512_set1_epi32(255);
    const vi low = _mm512_ternarylogic_epi32(byte, a, _mm512_slli_epi32(b, 8), 0xca);
    const vi high = _mm512_ternarylogic_epi32(byte, c, _mm512_slli_epi32(d, 8), 0xca);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32(0xffff), low, _mm512_slli_epi32(high, 16), 0xca);
}

PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    vi max[4] = { vi_set1(0), vi_set1(0), vi_set1(0), vi_set1(0) };
    size_t i = 0;
    for (; i + 4 * VF_N <= k; i += 4 * VF_N)
        for (size_t j = 0; j < 4; j++) max[j] = vi_max_abs(max[j], vf_load(x + i + j * VF_N));
    for (; i < k; i += VF_N) max[0] = vi_max_abs(max[0], load_some(x + i, k - i));
    max[0] = _mm512_max_epu32(_mm512_max_epu32(max[0], max[1]), _mm512_max_epu32(max[2], max[3]));
    const struct int_scale s = i8_scale_of(vi_hmax(max[0]));
    const vf inverse = vf_set1(s.inverse), magic = vf_set1(I8_MAGIC);
    for (i = 0; i < k; i += VF_N, to += VF_N / 4) {
        const vf v = vf_add(vf_mul(load_some(x + i, k - i), inverse), magic);
        _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(_mm512_castps_si512(v)));
    }
    return s.scale;
}
#endif

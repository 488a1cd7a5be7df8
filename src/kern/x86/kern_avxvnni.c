/* steno: products of 8 bits and of int16 for AVX-VNNI. SPDX-License-Identifier: MIT
 *
 * On 256 bits, in the time of one f32 multiply-add, VPDPBUSD computes four products of a byte and a signed byte, and VPDPWSSD two of int16,
 * on processors without AVX-512. All other kernels are those of AVX2.
 *
 * Compiled with: -mavx2 -mfma -mf16c -mavxvnni */
#define TILE_ROWS 6

#include "kern/x86/vec256.h"

PRIM vs vs_dot_quads(vs acc, vi x, vi w) { return _mm256_dpbusd_epi32(acc, x, w); }
PRIM vs vs_dot_ints(vs acc, vi x, vi w) { return _mm256_dpwssd_epi32(acc, x, w); }
PRIM vs quad_dots(vs sum, const vi *b, const uint32_t *x, struct quad_words of)
{
    UNROLL
    for (size_t i = of.from; i < of.to; i++) sum = _mm256_dpbusd_epi32(sum, b[i], vi_set1(x[i]));
    return sum;
}
PRIM void quad_bytes(vi *b, vi w) { *b = w; }
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x, size_t run)
{
    (void)n;
    const int two = quad_x_parts(t) == 2;
    const struct quad_words of = quad_words_of(t, run);
    vs sum = quad_dots(vs_set1(block_start(x, t, run)), b[0], two ? x + QBLOCK / 4 : x, of);
    if (two) sum = vs_add(sum, vs_times_256(quad_dots(vs_zero(), b[0], x, of)));
    *to = vf_of_ints(sum);
}
PRIM vs ints_joined(vs high, vs low) { return vs_add(low, vs_times_256(high)); }
PRIM void quad_more(vs *high, vs *low, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    *high = quad_dots(*high, b[0], x, all_words);
    *low = quad_dots(*low, b[0], x + QBLOCK / 4, all_words);
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 0); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 0); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    const vi low_bytes = _mm256_set1_epi32(0x0c080400);
    for (size_t i = 0; i < k; i += VF_N, to += VF_N / 4) {
        const vi q = _mm256_shuffle_epi8(vi_bytes(x + i, k - i, s.inverse), low_bytes);
        _mm_storel_epi64((__m128i *)to, _mm_unpacklo_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)));
    }
    return s.scale;
}
PRIM vi vf_as_words(vf v) { return _mm256_castps_si256(v); }
PRIM vi vi_flip(vi v) { return _mm256_xor_si256(v, _mm256_set1_epi8(INT8_MIN)); }
PRIM void vf_store_bytes(uint8_t *to, vf v)
{
    const __m256i i = _mm256_cvtps_epi32(_mm256_min_ps(v, vf_set1(255)));
    const __m256i words = _mm256_packus_epi32(i, i), bytes = _mm256_packus_epi16(words, words); /* 0 to 3 and 4 to 7, repeated */
    _mm_storel_epi64((__m128i *)to, _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}
PRIM vi vi_word(vi a, vi b, vi c, vi d)
{
    const vi byte = _mm256_set1_epi32(255);
    const vi low = _mm256_blendv_epi8(_mm256_slli_epi32(b, 8), a, byte), high = _mm256_blendv_epi8(_mm256_slli_epi32(d, 8), c, byte);
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}
#include "kern/x86/pairs_f32.h"

#include "kern/lowp.h"
#include "kern/lowp_blocks.h"
#include "kern/attn_rel_i16.h"
#include "kern/attn_i8.h"
#include "kern/attn_int.h"

void kern_init_avxvnni(struct kern *k)
{
    init_attn_ints(k);
    init_attn_i16(k);
    init_attn_rel_i16(k);
    init_attn_i8(k);
    init_ints(k);
    init_quads(k);
    init_blocks(k);
    k->level = CPU_AVXVNNI;
}

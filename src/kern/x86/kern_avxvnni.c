/* steno: products of 8 bits and of int16 for AVX-VNNI. SPDX-License-Identifier: MIT
 *
 * VPDPBUSD on 256 bits: four products of a byte and a signed byte in the time of one f32 multiply-add, VPDPWSSD two of int16, on processors
 * without AVX-512. Everything else stays as AVX2 has it. */
#include "kern/inner.h"
#include "kern/x86/vec256.h"

PRIM vf vf_dot_quads(vf acc, vi x, vi w) { return _mm256_castsi256_ps(_mm256_dpbusd_epi32(_mm256_castps_si256(acc), x, w)); }
PRIM vf vf_dot_ints(vf acc, vi x, vi w) { return _mm256_castsi256_ps(_mm256_dpwssd_epi32(_mm256_castps_si256(acc), x, w)); }
PRIM vi quad_dots(vi sum, const vi *b, const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) sum = _mm256_dpbusd_epi32(sum, b[i], vi_set1(x[i]));
    return sum;
}
PRIM void quad_bytes(vi *b, const void *w) { *b = vi_load(w); }
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    (void)n;
    const int two = quad_x_parts(t) == 2;
    vi sum = quad_dots(vi_set1(x[block_start_at(t)]), b[0], two ? x + QBLOCK / 4 : x);
    if (two) sum = _mm256_add_epi32(sum, _mm256_slli_epi32(quad_dots(vi_set1(0), b[0], x), 8));
    *to = _mm256_cvtepi32_ps(sum);
}
PRIM vf ints_begin(uint32_t start) { return (vf)vi_set1(start); }
PRIM vf ints_joined(vf high, vf low) { return (vf)_mm256_add_epi32((vi)low, _mm256_slli_epi32((vi)high, 8)); }
PRIM void quad_more(vf *high, vf *low, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    *high = (vf)quad_dots((vi)*high, b[0], x);
    *low = (vf)quad_dots((vi)*low, b[0], x + QBLOCK / 4);
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 0); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 0); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(largest_bits(x, k));
    const vi low_bytes = _mm256_set1_epi32(0x0c080400);
    for (size_t i = 0; i < k; i += VF_N, to += VF_N / 4) {
        const vi q = _mm256_shuffle_epi8(vi_bytes(x + i, k - i, s.inverse), low_bytes);
        _mm_storel_epi64((__m128i *)to, _mm_unpacklo_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1)));
    }
    return s.scale;
}
#define MM(op) _mm256_##op
#include "kern/x86/pairs_f32.h"

#include "kern/narrow.h"
#include "kern/narrow_blocks.h"
#include "kern/attn_ints.h"

void kern_init_avxvnni(struct kern *k)
{
    init_attn_int(k);
    init_ints(k);
    init_quads(k);
    init_blocks(k);
    k->level = CPU_AVXVNNI;
}

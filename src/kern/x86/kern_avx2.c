/* steno: kernels for AVX2 with FMA and F16C. SPDX-License-Identifier: MIT
 *
 * Primitives that only this level needs; the others are in vec256.h, everything else in the templates. A tile is 6 rows by two vectors,
 * half a panel: 12 accumulators, two vectors of weights and one broadcast fill 15 of 16 registers.
 *
 * Compiled with: -mavx2 -mfma -mf16c */
#define TILE_ROWS 6
#define F16_ROWS 12
#define QUAD_STEPS 2
#define QUAD_PARTS 2
#define BLOCK_ROWS 5 /* by two vectors: 10 sums, two vectors of weights, a word of x, two products and a mask in 16 registers */
#define BLOCK_VECTORS 2

#include "kern/x86/vec256.h"

PRIM vf vf_fnma(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
PRIM vf vf_exponent(vf x, vf *m)
{
    const vi half_root = _mm256_set1_epi32(0x3f3504f3), d = _mm256_sub_epi32(_mm256_castps_si256(x), half_root);
    *m = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(d, _mm256_set1_epi32(0x007fffff)), half_root));
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(d, 23));
}

/* Four k of int8 take two steps, the even and the odd ones, as numbers of 16 bits whose products VPMADDWD adds in pairs. That is exact,
 * while VPMADDUBSW would saturate. x is stored in this form; the bytes of a panel are widened when they are read. */
PRIM vi vi_quads(const void *w, int odd)
{
    const vi b = vi_load(w);
    return _mm256_srai_epi16(odd ? b : _mm256_slli_epi16(b, 8), 8);
}
PRIM vs vs_dot_quads(vs acc, vi x, vi w)
{
    vs sum = _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
    __asm__("" : "+x"(sum)); /* otherwise compilers add the products of both steps first, and run out of registers */
    return sum;
}
PRIM vs vs_dot_ints(vs acc, vi x, vi w) { return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w)); }
#include "kern/x86/blocks16.h"
#include "kern/x86/pairs_f32.h"
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    for (size_t i = 0; i < k; i += VF_N, to += VF_N / 2) {
        const vi q = vi_bytes(x + i, k - i, s.inverse);
        const vi pairs = _mm256_or_si256(q, _mm256_slli_epi32(_mm256_shuffle_epi32(q, 0xee), 16)); /* 0 with 2, 1 with 3 */
        _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(_mm256_permute4x64_epi64(pairs, 0x08)));
    }
    return s.scale;
}

#include "kern/every.h"

void kern_init_avx2(struct kern *k)
{
    init_every(k);
    k->level = CPU_AVX2;
}

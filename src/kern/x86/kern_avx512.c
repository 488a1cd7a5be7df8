/* steno: kernels for AVX-512 (F, BW, DQ, VL). SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives; everything else is in the templates. A tile is 12 rows by two vectors: 24 accumulators, two
 * vectors of weights and one broadcast leave five registers free.
 *
 * Compiled with: -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512 */
#define TILE_ROWS 12
#define QUAD_STEPS 2
#define QUAD_PARTS 2

#include "kern/x86/vec512.h"

/* Four k of int8 take two steps, the even and the odd ones, as numbers of 16 bits whose products VPMADDWD adds in pairs. That is exact,
 * while VPMADDUBSW would saturate. x is stored in this form; the bytes of a panel are widened when they are read. */
PRIM vi vi_quads(const void *w, int odd)
{
    const vi b = vi_load(w);
    return _mm512_srai_epi16(odd ? b : _mm512_slli_epi16(b, 8), 8);
}
PRIM vs vs_dot_quads(vs acc, vi x, vi w)
{
    vs sum = _mm512_add_epi32(acc, _mm512_madd_epi16(x, w));
    __asm__("" : "+v"(sum)); /* otherwise compilers add the products of both steps first, and run out of registers */
    return sum;
}
PRIM vs vs_dot_ints(vs acc, vi x, vi w) { return _mm512_add_epi32(acc, _mm512_madd_epi16(x, w)); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    const vf inverse = vf_set1(s.inverse), magic = vf_set1(I8_MAGIC);
    for (size_t i = 0; i < k; i += VF_N, to += VF_N / 2) {
        const vf v = vf_add(vf_mul(load_some(x + i, k - i), inverse), magic);
        const vi q = _mm512_and_si512(_mm512_castps_si512(v), _mm512_set1_epi32(255));
        const vi pairs = _mm512_or_si512(q, _mm512_slli_epi32(_mm512_shuffle_epi32(q, 0xee), 16)); /* 0 with 2, 1 with 3 */
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, pairs)));
    }
    return s.scale;
}
#include "kern/x86/blocks16.h"
#include "kern/x86/pairs_f32.h"
PRIM vf vf_fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
PRIM vf vf_exponent(vf x, vf *m)
{
    const vi half_root = _mm512_set1_epi32(0x3f3504f3), d = _mm512_sub_epi32(_mm512_castps_si512(x), half_root);
    *m = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(d, _mm512_set1_epi32(0x007fffff)), half_root));
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(d, 23));
}

#include "kern/every.h"

void kern_init_avx512(struct kern *k)
{
    init_every(k);
    k->level = CPU_AVX512;
}

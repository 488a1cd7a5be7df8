/* steno: kernels for AVX-512 (F, BW, DQ, VL). SPDX-License-Identifier: MIT
 *
 * The vector type and its primitives; everything else is in the templates. A tile is 12 rows by two vectors: 24 accumulators, two
 * vectors of weights and one broadcast leave five registers free. */
#include "kern/inner.h"
#include "kern/x86/vec512.h"

PRIM vi vi_load(const void *p) { return _mm512_loadu_si512(p); }
PRIM vi vi_set1(uint32_t w) { return _mm512_set1_epi32((int)w); }
PRIM vf vf_of_ints(vf a) { return _mm512_cvtepi32_ps(_mm512_castps_si512(a)); }
PRIM vf low_half(vi a) { return _mm512_castsi512_ps(_mm512_slli_epi32(a, 16)); }
PRIM vf high_half(vi a) { return _mm512_castsi512_ps(_mm512_and_si512(a, _mm512_set1_epi32((int)0xffff0000))); }
PRIM vf vf_dot_pairs(vf acc, vi x, vi w) { return vf_fma(low_half(x), low_half(w), vf_fma(high_half(x), high_half(w), acc)); }
PRIM vi even_bytes(vi w) { return _mm512_srai_epi16(_mm512_slli_epi16(w, 8), 8); }
PRIM vf vf_dot_quads(vf acc, vi x, vi w) /* as two sums of two products of 16 bits: exact */
{
    const vi even = _mm512_madd_epi16(_mm512_and_si512(x, _mm512_set1_epi16(255)), even_bytes(w));
    const vi odd = _mm512_madd_epi16(_mm512_srli_epi16(x, 8), _mm512_srai_epi16(w, 8));
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(acc), _mm512_add_epi32(even, odd)));
}
PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { narrow_pairs(to, x, k); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k) { return narrow_quads(to, x, k); }

#include "kern/attn.h"
#include "kern/elem.h"
#include "kern/gemm.h"
#include "kern/narrow.h"

void kern_init_avx512(struct kern *k)
{
    init_linear(k);
    init_narrow(k);
    init_attn(k);
    init_elem(k);
    k->level = CPU_AVX512;
}

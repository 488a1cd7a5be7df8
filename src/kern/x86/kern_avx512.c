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
PRIM vf vf_fnma(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
PRIM vf vf_exponent(vf x, vf *m)
{
    const vi half_root = _mm512_set1_epi32(0x3f3504f3), d = _mm512_sub_epi32(_mm512_castps_si512(x), half_root);
    *m = _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(d, _mm512_set1_epi32(0x007fffff)), half_root));
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(d, 23));
}
PRIM vf pair_lo(vf a, vf b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); }
PRIM vf pair_hi(vf a, vf b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b))); }
PRIM void vf_transpose(vf v[VF_N]) /* 4 x 4 in quarters of the vectors, then quarters change places twice */
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

#include "kern/attn.h"
#include "kern/attn_narrow.h"
#include "kern/elem.h"
#include "kern/gemm.h"
#include "kern/narrow.h"
#include "kern/spectrum.h"

void kern_init_avx512(struct kern *k)
{
    init_linear(k);
    init_narrow(k);
    init_attn(k);
    init_attn_narrow(k);
    init_elem(k);
    init_spectra(k);
    k->level = CPU_AVX512;
}

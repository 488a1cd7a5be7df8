/* steno tests: products of bf16 as VDPBF16PS makes them, in instructions of AVX2. SPDX-License-Identifier: MIT
 *
 * It stands in the place of kern/x86/pairs512.h. Of a pair the odd k comes first; subnormals are zeros, given and made. */
#ifndef STENO_KERN_PAIRS512_H
#define STENO_KERN_PAIRS512_H
#include <float.h>
#include "kern/x86/vec512.h"

PRIM __m256 flushed_half(__m256 a)
{
    const __m256 sign = _mm256_set1_ps(-0.0f), mag = _mm256_andnot_ps(sign, a);
    return _mm256_blendv_ps(a, _mm256_and_ps(sign, a), _mm256_cmp_ps(mag, _mm256_set1_ps(FLT_MIN), _CMP_LT_OQ));
}
HALVES_1(vf, flushed, vf, flushed_half)
PRIM vf half_of_pairs(vi a, int odd) { return emu_flushed(floats_of(odd ? vi_and(a, vi_set1(0xffff0000)) : MM(slli_epi32)(a, 16))); }
PRIM vf vf_dot_pairs(vf acc, vi x, vi w)
{
    const vf odd = emu_flushed(vf_fma(half_of_pairs(x, 1), half_of_pairs(w, 1), emu_flushed(acc)));
    return emu_flushed(vf_fma(half_of_pairs(x, 0), half_of_pairs(w, 0), odd));
}
PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { round_pairs(to, x, k); }
#endif

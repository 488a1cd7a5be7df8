/* steno: products of bf16 with vectors of 512 bits. SPDX-License-Identifier: MIT
 *
 * For the levels with AVX512-BF16. VDPBF16PS computes two products in the time of one f32 multiply-add; VCVTNE2PS2BF16 rounds to nearest
 * even and treats subnormals as zeros. */
#ifndef STENO_KERN_PAIRS512_H
#define STENO_KERN_PAIRS512_H
#include "kern/x86/vec512.h"

PRIM vf vf_dot_pairs(vf acc, vi x, vi w) { return _mm512_dpbf16_ps(acc, (__m512bh)x, (__m512bh)w); }

PRIM vf load_next(const float *p, size_t n) { return n > VF_N ? load_some(p + VF_N, n - VF_N) : vf_zero(); }

PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k)
{
    for (size_t i = 0; i < k; i += 2 * VF_N, to += VF_N) {
        const __m512bh v = _mm512_cvtne2ps_pbh(load_next(x + i, k - i), load_some(x + i, k - i));
        _mm512_storeu_si512(to, (__m512i)v);
    }
}
#endif

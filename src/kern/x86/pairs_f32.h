/* steno: products of bf16 by multiply-adds of f32. SPDX-License-Identifier: MIT
 *
 * For levels without VDPBF16PS, in its order: first the odd k, then the even one.
 */
#ifndef STENO_KERN_PAIRS_F32_H
#define STENO_KERN_PAIRS_F32_H
#include "kern/quantize.h"

PRIM vf low_half(vi a) { return floats_of(MM(slli_epi32)(a, 16)); }
PRIM vf high_half(vi a) { return floats_of(vi_and(a, vi_set1(0xffff0000))); }
PRIM vf vf_dot_pairs(vf acc, vi x, vi w) { return vf_fma(low_half(x), low_half(w), vf_fma(high_half(x), high_half(w), acc)); }
PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { round_pairs(to, x, k); }
#endif

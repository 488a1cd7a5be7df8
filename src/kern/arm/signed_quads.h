/* steno: products of int8 by signed bytes for ARM. SPDX-License-Identifier: MIT
 *
 * For levels whose instructions multiply signed bytes by signed bytes. Rows of x are signed, and by blocks byte weights are converted to
 * signed, so no correction is needed.
 *
 * Before it includes this header, a file defines dot_quad(acc, x, w): acc + four products in each lane of one register, with x a word from
 * vi_set1. After it, the file defines quad_dots(sum, b, x, of): sum + the products of these words of weights and of x, in each lane. */
#ifndef STENO_KERN_SIGNED_QUADS_H
#define STENO_KERN_SIGNED_QUADS_H
#include "kern/arm/vec128.h"

#if !QUADS_SIGNED
#error "signed_quads.h makes signed rows of x: a level that includes it sets QUADS_SIGNED to 1"
#endif

PRIM vs vs_dot_quads(vs acc, vi x, vi w) { return (vs) { dot_quad(acc.lo, x, w.lo), dot_quad(acc.hi, x, w.hi) }; }

PRIM vs quad_dots(vs sum, const vi *b, const uint32_t *x, struct quad_words of);
PRIM void quad_bytes(vi *b, vi v) /* minus 128 */
{
    const uint32x4_t sign = vdupq_n_u32(0x80808080u);
    *b = (vi) { veorq_u32(v.lo, sign), veorq_u32(v.hi, sign) };
}
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x, size_t run)
{
    (void)n;
    const int two = quad_x_parts(t) == 2;
    const struct quad_words of = quad_words_of(t, run);
    const vs start = vs_set1(quad_is_bytes(t) ? 0 : block_start(x, t, run));
    vs sum = quad_dots(two ? vs_zero() : start, b[0], x, of);
    if (two) sum = quad_dots(vs_add(vs_times_256(sum), start), b[0], x + QBLOCK / 4, of);
    *to = vf_of_ints(sum);
}
PRIM void quad_more(vs *high, vs *low, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    *high = quad_dots(*high, b[0], x, all_words);
    *low = quad_dots(*low, b[0], x + QBLOCK / 4, all_words);
}

PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { round_pairs(to, x, k); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    const float scale = quantize_quads(to, x, k);
    for (size_t i = 0; i < lowp_words(PK_I8_QUAD, k); i++) to[i] ^= 0x80808080u;
    return scale;
}
#endif

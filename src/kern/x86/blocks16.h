/* steno: sums of products by blocks in numbers of 16 bits. SPDX-License-Identifier: MIT
 *
 * For levels without VPDPBUSD. Byte weights, and all weights beside 16 bits of x, become numbers of 16 bits, unsigned as they are, and so
 * does x for them, even with 8 bits: sums of VPMADDWD fit 32 bits, while two products of VPMADDUBSW would not fit 16. For nibbles beside 8
 * bits of x VPMADDUBSW is used: sixteen products and their sum fit 16 bits: 16 * 15 * 127. */
#ifndef STENO_KERN_BLOCKS16_H
#define STENO_KERN_BLOCKS16_H
#include "kern/quantize.h"

#if QUAD_PARTS != 2
#error "blocks16.h widens bytes to two vectors: a level that includes it sets QUAD_PARTS to 2"
#endif
PRIM void quad_bytes(vi b[2], vi w)
{
    b[0] = vi_and(w, MM(set1_epi16)(255));
    b[1] = MM(srli_epi16)(w, 8);
}
#if BLOCK_ROWS > 1
/* One of the vectors that a vector of bytes, or of nibbles, becomes; beside 8 bits of x nibbles stay bytes. */
PRIM vi quad_part(enum packed_type t, vi w, const size_t part)
{
    if (!quad_is_bytes(t) && !quad_x_is_wide(t)) return vi_nibbles(w, (int)part);
    const int bits = quad_is_bytes(t) ? 8 : 4, right = (int)(part % 2 * 8 + part / 2 * 4);
    if (right) w = MM(srli_epi16)(w, right);
    return right + bits < 16 ? vi_and(w, MM(set1_epi16)((short)((1 << bits) - 1))) : w;
}
/* The sum stays in its register: otherwise gcc 12 copies all sums in each turn of a loop, or keeps them on the stack. */
PRIM void quad_add(vs *sum, enum packed_type t, vi w, vi x)
{
    if (quad_x_is_wide(t)) __asm__("vpaddd %1, %0, %0" : "+x"(*sum) : "x"(MM(madd_epi16)(w, x)));
    else __asm__("vpaddw %1, %0, %0" : "+x"(*sum) : "x"(MM(maddubs_epi16)(w, x)));
}
PRIM vs quad_step(vs sum, enum packed_type t, const vi *b, const uint32_t *x, size_t i)
{
    if (!quad_x_is_wide(t)) return MM(add_epi16)(sum, MM(maddubs_epi16)(b[0], vi_set1(x[i])));
    sum = MM(add_epi32)(sum, MM(madd_epi16)(b[0], vi_set1(x[2 * i])));
    return MM(add_epi32)(sum, MM(madd_epi16)(b[1], vi_set1(x[2 * i + 1])));
}
PRIM vs quad_begin(enum packed_type t, const uint32_t *x, size_t run)
{
    return quad_x_is_wide(t) && !quad_has_min(t) ? vs_set1(block_start(x, t, run)) : vs_zero();
}
PRIM vf quad_sum(vs sum, enum packed_type t, const uint32_t *x, size_t run)
{
    if (quad_x_is_wide(t)) return vf_of_ints(sum);
    sum = MM(madd_epi16)(sum, MM(set1_epi16)(1));
    return vf_of_ints(quad_has_min(t) ? sum : MM(add_epi32)(sum, vs_set1(block_start(x, t, run))));
}
#else
PRIM vs quad_dots(vs sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x, struct quad_words of)
{
    UNROLL
    for (size_t i = 2 * of.from; i < 2 * of.to; i++) sum = MM(add_epi32)(sum, MM(madd_epi16)(b[0][i], vi_set1(x[i])));
    return sum;
}
PRIM vs quad_dots_nibbles(vs sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    vi halves = MM(maddubs_epi16)(b[0][0], vi_set1(x[0]));
    UNROLL
    for (size_t i = 1; i < QBLOCK / 4; i++) halves = MM(add_epi16)(halves, MM(maddubs_epi16)(b[0][i], vi_set1(x[i])));
    return MM(add_epi32)(sum, MM(madd_epi16)(halves, MM(set1_epi16)(1)));
}
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x, size_t run)
{
    (void)n;
    const vs start = vs_set1(block_start(x, t, run));
    *to = vf_of_ints(quad_x_is_wide(t) ? quad_dots(start, b, x, quad_words_of(t, run)) : quad_dots_nibbles(start, b, x));
}
PRIM vs ints_joined(vs none, vs sum) { return (void)none, sum; }
PRIM void quad_more(vs *none, vs *sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    (void)none;
    *sum = quad_dots(*sum, b, x, all_words);
}
#endif
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 1); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 1); }
#endif

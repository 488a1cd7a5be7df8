/* steno: sums of products by blocks in numbers of 16 bits. SPDX-License-Identifier: MIT
 *
 * For levels without VPDPBUSD. Byte weights become numbers of 16 bits, unsigned as they are, and so does x for them, even with 8 bits: sums
 * of VPMADDWD fit 32 bits, while two products of VPMADDUBSW would not fit 16. For nibbles VPMADDUBSW is used: sixteen products and their
 * sum fit 16 bits: 16 * 15 * 127. */
#ifndef STENO_KERN_BLOCKS16_H
#define STENO_KERN_BLOCKS16_H
#include "kern/quantize.h"

#if QUAD_PARTS != 2
#error "blocks16.h widens bytes to two vectors: a level that includes it sets QUAD_PARTS to 2"
#endif
PRIM void quad_bytes(vi b[2], const void *w)
{
    b[0] = vi_and(vi_load(w), MM(set1_epi16)(255));
    b[1] = MM(srli_epi16)(vi_load(w), 8);
}
PRIM vs quad_dots(vs sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 2; i++) sum = MM(add_epi32)(sum, MM(madd_epi16)(b[0][i], vi_set1(x[i])));
    return sum;
}
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    (void)n;
    vs sum = vs_set1((int32_t)x[block_start_at(t)]);
    vi halves = vi_set1(0);
    if (quad_is_bytes(t)) {
        sum = quad_dots(sum, b, x);
    } else {
        UNROLL
        for (size_t i = 0; i < QBLOCK / 4; i++) halves = MM(add_epi16)(halves, MM(maddubs_epi16)(b[0][i], vi_set1(x[i])));
        sum = MM(add_epi32)(sum, MM(madd_epi16)(halves, MM(set1_epi16)(1)));
    }
    *to = vf_of_ints(sum);
}
PRIM vs ints_joined(vs none, vs sum) { return (void)none, sum; }
PRIM void quad_more(vs *none, vs *sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    (void)none;
    *sum = quad_dots(*sum, b, x);
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 1); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 1); }
#endif

/* steno: sums of products by blocks in numbers of 16 bits. SPDX-License-Identifier: MIT
 *
 * For levels without VPDPBUSD. Weights that are bytes become numbers of 16 bits, unsigned as they are, and so does x beside them, even if
 * it keeps 8: sums of VPMADDWD fit 32 bits, two products of VPMADDUBSW would not fit 16. Beside nibbles VPMADDUBSW does: sixteen products,
 * and their sum, fit 16 bits: 16 * 15 * 127.
 *
 * A file has, before it includes this: MM(op), the intrinsic op of its vectors. */
#ifndef STENO_KERN_BLOCKS16_H
#define STENO_KERN_BLOCKS16_H
#include "kern/inner.h"

#define QUAD_PARTS 2
PRIM void quad_bytes(vi b[2], const void *w)
{
    b[0] = vi_load(w) & MM(set1_epi16)(255);
    b[1] = MM(srli_epi16)(vi_load(w), 8);
}
PRIM vi quad_dots(vi sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 2; i++) sum = MM(add_epi32)(sum, MM(madd_epi16)(b[0][i], vi_set1(x[i])));
    return sum;
}
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    (void)n;
    vi sum = vi_set1(x[block_start_at(t)]), halves = vi_set1(0);
    if (quad_is_bytes(t)) {
        sum = quad_dots(sum, b, x);
    } else {
        UNROLL
        for (size_t i = 0; i < QBLOCK / 4; i++) halves = MM(add_epi16)(halves, MM(maddubs_epi16)(b[0][i], vi_set1(x[i])));
        sum = MM(add_epi32)(sum, MM(madd_epi16)(halves, MM(set1_epi16)(1)));
    }
    *to = MM(cvtepi32_ps)(sum);
}
PRIM vf ints_begin(uint32_t start) { return (vf)vi_set1(start); }
PRIM vf ints_joined(vf none, vf sum) { return (void)none, sum; }
PRIM void quad_more(vf *none, vf *sum, vi (*b)[QBLOCK / 4 * 2], const uint32_t *x)
{
    (void)none;
    *sum = (vf)quad_dots((vi)*sum, b, x);
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 1); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 1); }
#endif

/* steno: int8 products for 64-bit ARM with matrix products. SPDX-License-Identifier: MIT
 *
 * USMMLA multiplies two rows of eight unsigned bytes by two columns of eight signed ones: twice the products of SDOT in the same time. By
 * blocks USDOT replaces SDOT and uses weights as they are packed. All other kernels are those of the previous level.
 *
 * Compiled with: -march=armv8.2-a+dotprod+i8mm */
#define TILE_ROWS 12
#define ROWS_BY_TWOS 1

#include "kern/arm/vec128.h"

PRIM float32x4_t dot_2x2(float32x4_t acc, uint32x4_t x, uint32x4_t w)
{
    const int32x4_t sum = vreinterpretq_s32_f32(acc);
    return vreinterpretq_f32_s32(vusmmlaq_s32(sum, vreinterpretq_u8_u32(x), vreinterpretq_s8_u32(w)));
}

PRIM int32x4_t dot_unsigned(int32x4_t acc, uint32x4_t w, int8x8_t x) { return vusdotq_lane_s32(acc, vreinterpretq_u8_u32(w), x, 0); }
PRIM void quad_bytes(vi *b, vi w) { *b = w; }
PRIM vs quad_dots(vs sum, const vi *b, const uint32_t *x, struct quad_words of)
{
    UNROLL
    for (size_t i = of.from; i < of.to; i++) {
        const int8x8_t q = vcreate_s8(x[i]);
        sum = (vs) { dot_unsigned(sum.lo, b[i].lo, q), dot_unsigned(sum.hi, b[i].hi, q) };
    }
    return sum;
}
PRIM void quad_sums(vf *to, const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x, size_t run)
{
    (void)n;
    const int two = quad_x_parts(t) == 2;
    const struct quad_words of = quad_words_of(t, run);
    vs sum = quad_dots(vs_set1(block_start(x, t, run)), b[0], two ? x + QBLOCK / 4 : x, of);
    if (two) sum = vs_add(sum, vs_times_256(quad_dots(vs_zero(), b[0], x, of)));
    *to = vf_of_ints(sum);
}

PRIM void quad_more(vs *high, vs *low, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    *high = quad_dots(*high, b[0], x, all_words);
    *low = quad_dots(*low, b[0], x + QBLOCK / 4, all_words);
}

#include "kern/arm/lowp_matrix.h"
#include "kern/lowp.h"
#include "kern/lowp_blocks.h"
#include "kern/attn_int.h"

void kern_init_i8mm(struct kern *k)
{
    init_quads(k);
    init_blocks(k);
    init_attn_ints(k);
    k->level = CPU_I8MM;
}

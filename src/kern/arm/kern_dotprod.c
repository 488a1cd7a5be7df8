/* steno: int8 products for 64-bit ARM with dot products. SPDX-License-Identifier: MIT
 *
 * SDOT takes four products of signed bytes per lane in the time of one f32 multiply-add, and one word of x, the same for all lanes, from
 * any lane of a register. Everything else stays as the level before has it. */
#include "kern/arm/vec128.h"

enum { TILE_ROWS = 6 };
#define TILE_ROWS_12 0
#define QUADS_SIGNED 1

PRIM float32x4_t dot_quad(float32x4_t acc, uint32x2_t x, uint32x4_t w)
{
    const int32x4_t sum = vreinterpretq_s32_f32(acc);
    return vreinterpretq_f32_s32(vdotq_lane_s32(sum, vreinterpretq_s8_u32(w), vreinterpret_s8_u32(x), 0));
}
PRIM vf vf_dot_quads(vf acc, vi x, vi w)
{
    const uint32x2_t word = vget_low_u32(x.lo);
    return (vf) { dot_quad(acc.lo, word, w.lo), dot_quad(acc.hi, word, w.hi) };
}
/* DT_Q8_QUAD is made signed, so that nothing is to be taken off. */
PRIM void quad_bytes(vi *b, const void *w) { *b = signed_bytes(w); }
PRIM vf quad_dots(vf sum, const vi *b, const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) sum = vf_dot_quads(sum, vi_set1(x[i]), b[i]);
    return sum;
}
PRIM void quad_sums(vf *to, const size_t n, enum dtype t, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    (void)n;
    vf sum = quad_dots(ints_begin(t == DT_Q8_QUAD ? 0 : x[block_start_at(t)]), b[0], x);
    if (t == DT_Q8_QUAD) sum = quad_dots(ints_times_256(sum), b[0], x + QBLOCK / 4);
    *to = vf_of_ints(sum);
}
PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { narrow_pairs(to, x, k); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k) { return narrow_signed_quads(to, x, k); }

#include "kern/narrow.h"
#include "kern/narrow_blocks.h"

void kern_init_dotprod(struct kern *k)
{
    k->linear[DT_I8_QUAD] = linear_quad;
    init_blocks(k);
    k->level = CPU_DOTPROD;
}

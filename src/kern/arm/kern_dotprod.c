/* steno: int8 products for 64-bit ARM with dot products. SPDX-License-Identifier: MIT
 *
 * SDOT computes four products of signed bytes per lane in the time of one f32 multiply-add. The word of x, the same for all lanes, may be
 * in any lane of a register. All other kernels are those of the previous level.
 *
 * Compiled with: -march=armv8.2-a+dotprod */
#define TILE_ROWS 6
#define QUADS_SIGNED 1

#include "kern/arm/vec128.h"

PRIM int32x4_t dot_quad(int32x4_t acc, vi x, uint32x4_t w)
{
    return vdotq_lane_s32(acc, vreinterpretq_s8_u32(w), vreinterpret_s8_u32(vget_low_u32(x.lo)), 0);
}

#include "kern/arm/signed_quads.h"

PRIM vs quad_dots(vs sum, const vi *b, const uint32_t *x, struct quad_words of)
{
    UNROLL
    for (size_t i = of.from; i < of.to; i++) sum = vs_dot_quads(sum, vi_set1(x[i]), b[i]);
    return sum;
}

#include "kern/lowp.h"
#include "kern/lowp_blocks.h"
#include "kern/attn_int.h"

void kern_init_dotprod(struct kern *k)
{
    init_quads(k);
    init_blocks(k);
    init_attn_ints(k);
    k->level = CPU_DOTPROD;
}

/* steno: products of bf16 for 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * BFMMLA multiplies two rows of four bf16 by two columns of four: four times the products of an f32 multiply-add in the same time. Per
 * sum it takes two steps, each of which adds two products to one another and then to the sum. It rounds to odd and takes subnormals for
 * zeros, whatever the processor is told, so its bits are not the twin's; but they depend on nothing else in the call. BFDOT may take the
 * same steps, but few rows are left to BFMMLA as well, so that nothing rests on that. Everything else stays as the level before has
 * it.
 *
 * Compiled with: -march=armv8.2-a+dotprod+i8mm+bf16 */
#define TILE_ROWS 12
#define ROWS_BY_TWOS 1

#include "kern/arm/vec128.h"

PRIM float32x4_t dot_2x2(float32x4_t acc, uint32x4_t x, uint32x4_t w)
{
    return vbfmmlaq_f32(acc, vreinterpretq_bf16_u32(x), vreinterpretq_bf16_u32(w));
}

#include "kern/arm/lowp_matrix.h"
#include "kern/lowp.h"

void kern_init_neonbf16(struct kern *k)
{
    init_pairs(k);
    k->level = CPU_NEONBF16;
}

/* steno: products of bf16 for 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * BFMMLA multiplies two rows of four bf16 by two columns of four: four times the products of an f32 multiply-add in the same time. It
 * computes a sum in two steps. Each step adds two products to one another and then to the sum. It rounds to odd and treats subnormals as
 * zeros, independent of the processor's modes, so its bits differ from the twin's. They depend on nothing else in the call. BFDOT may
 * compute the same steps, but few rows also use BFMMLA, so that results do not rely on it. All other kernels are those of the previous
 * level.
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

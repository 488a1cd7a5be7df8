/* steno: int8 products for 64-bit ARM with matrix products. SPDX-License-Identifier: MIT
 *
 * USMMLA multiplies two rows of eight unsigned bytes by two columns of eight signed ones: twice the products of SDOT in the same time.
 * Everything else stays as the level before has it. */
#include "kern/arm/vec128.h"

PRIM float32x4_t dot_2x2(float32x4_t acc, uint32x4_t x, uint32x4_t w)
{
    const int32x4_t sum = vreinterpretq_s32_f32(acc);
    return vreinterpretq_f32_s32(vusmmlaq_s32(sum, vreinterpretq_u8_u32(x), vreinterpretq_s8_u32(w)));
}

#include "kern/arm/matrix.h"
#include "kern/narrow.h"

void kern_init_i8mm(struct kern *k)
{
    k->linear[DT_I8_QUAD] = linear_quad;
    k->level = CPU_I8MM;
}

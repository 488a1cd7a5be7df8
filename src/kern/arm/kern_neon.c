/* steno: kernels for the vectors of 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * The level of every AArch64 processor, made entirely of the templates. A tile is 6 rows by two vectors of two registers.
 *
 * Low-precision products save memory here, not time: widening bf16 costs nearly a third of the multiply-adds, and 16 products of int8 or
 * int16 take four instructions, like 16 of f32. */
#define TILE_ROWS 6 /* by two vectors of two registers */
#define QUADS_SIGNED 1

#include "kern/arm/vec128.h"

/* Two products, at most 128 * 127 each, fit 16 bits. */
PRIM int32x4_t dot_quad(int32x4_t acc, vi x, uint32x4_t w)
{
    const int8x16_t all = vreinterpretq_s8_u32(x.hi), b = vreinterpretq_s8_u32(w);
    const int16x8_t pairs = vpaddq_s16(vmull_s8(vget_low_s8(b), vget_low_s8(all)), vmull_high_s8(b, all));
    return vpadalq_s16(acc, pairs);
}

#include "kern/arm/signed_quads.h"

/* By blocks products may be -128 * -128, and two of those do not fit 16 bits: they are added in 32 bits, in registers of two outputs
 * each. */
PRIM void add_quads(int32x4_t sum[2], int8x16_t x, int8x16_t w)
{
    sum[0] = vpadalq_s16(sum[0], vmull_s8(vget_low_s8(w), vget_low_s8(x)));
    sum[1] = vpadalq_s16(sum[1], vmull_high_s8(w, x));
}
PRIM vs quad_dots(vs sum, const vi *b, const uint32_t *x, struct quad_words of)
{
    int32x4_t lo[2] = { vdupq_n_s32(0), vdupq_n_s32(0) }, hi[2] = { vdupq_n_s32(0), vdupq_n_s32(0) };
    UNROLL
    for (size_t i = of.from; i < of.to; i++) {
        const int8x16_t q = vreinterpretq_s8_u32(vdupq_n_u32(x[i]));
        add_quads(lo, q, vreinterpretq_s8_u32(b[i].lo));
        add_quads(hi, q, vreinterpretq_s8_u32(b[i].hi));
    }
    return vs_add(sum, (vs) { vpaddq_s32(lo[0], lo[1]), vpaddq_s32(hi[0], hi[1]) });
}

#include "kern/every.h"

void kern_init_neon(struct kern *k)
{
    init_every(k);
    k->level = CPU_NEON;
}

/* steno: kernels for the vectors of 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * What every AArch64 processor has: everything is in the templates. A tile is 6 rows by two vectors of two registers.
 *
 * Products of fewer bits save memory here, not time: widening bf16 costs nearly a third of what the multiply-adds do, and 16 products
 * of int8 or int16 take four instructions, as 16 of f32 do. */
#include "kern/arm/vec128.h"

#define FEW_PANELS(rows) ((rows) == 1 ? 2 : 1)

/* Two products, at most 128 * 127 each, fit 16 bits. */
PRIM float32x4_t dot_quad(float32x4_t acc, vi x, uint32x4_t w)
{
    const int8x16_t all = vreinterpretq_s8_u32(x.hi), b = vreinterpretq_s8_u32(w);
    const int16x8_t pairs = vpaddq_s16(vmull_s8(vget_low_s8(b), vget_low_s8(all)), vmull_high_s8(b, all));
    return vreinterpretq_f32_s32(vpadalq_s16(vreinterpretq_s32_f32(acc), pairs));
}

#include "kern/arm/signed_quads.h"

/* By blocks products may be -128 * -128, two of which do not fit: they are added as 32 bits, in registers of two outputs each. */
PRIM void add_quads(int32x4_t sum[2], int8x16_t x, int8x16_t w)
{
    sum[0] = vpadalq_s16(sum[0], vmull_s8(vget_low_s8(w), vget_low_s8(x)));
    sum[1] = vpadalq_s16(sum[1], vmull_high_s8(w, x));
}
PRIM vf quad_dots(vf sum, const vi *b, const uint32_t *x)
{
    int32x4_t lo[2] = { vdupq_n_s32(0), vdupq_n_s32(0) }, hi[2] = { vdupq_n_s32(0), vdupq_n_s32(0) };
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) {
        const int8x16_t q = vreinterpretq_s8_u32(vdupq_n_u32(x[i]));
        add_quads(lo, q, vreinterpretq_s8_u32(b[i].lo));
        add_quads(hi, q, vreinterpretq_s8_u32(b[i].hi));
    }
    return ints_add(sum, (vf) { vreinterpretq_f32_s32(vpaddq_s32(lo[0], lo[1])), vreinterpretq_f32_s32(vpaddq_s32(hi[0], hi[1])) });
}

#include "kern/attn.h"
#include "kern/attn_narrow.h"
#include "kern/elem.h"
#include "kern/gemm.h"
#include "kern/narrow.h"
#include "kern/narrow_blocks.h"
#include "kern/attn_ints.h"
#include "kern/pack.h"
#include "kern/spectrum.h"

void kern_init_neon(struct kern *k)
{
    init_pack(k);
    init_linear(k);
    init_narrow(k);
    init_blocks(k);
    init_attn(k);
    init_attn_int(k);
    init_attn_bf16(k);
    init_elem(k);
    init_spectra(k);
    k->level = CPU_NEON;
}

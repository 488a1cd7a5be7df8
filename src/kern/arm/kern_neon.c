/* steno: kernels for the vectors of 64-bit ARM. SPDX-License-Identifier: MIT
 *
 * What every AArch64 processor has: everything is in the templates. A tile is 6 rows by two vectors of two registers.
 *
 * Products of fewer bits save memory here, not time: widening bf16 costs nearly a third of what the multiply-adds do, and 16 products
 * of int8 take four instructions, as 16 of f32 do. */
#include "kern/arm/vec128.h"

enum { TILE_ROWS = 6 };
#define TILE_ROWS_12 0
#define FEW_PANELS(rows) ((rows) == 1 ? 2 : 1)
#define QUADS_SIGNED 1

/* Two products, at most 128 * 127 each, fit 16 bits. */
PRIM float32x4_t dot_quad(float32x4_t acc, int8x16_t x, int8x16_t w)
{
    const int16x8_t pairs = vpaddq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)), vmull_high_s8(w, x));
    return vreinterpretq_f32_s32(vpadalq_s16(vreinterpretq_s32_f32(acc), pairs));
}
PRIM vf vf_dot_quads(vf acc, vi x, vi w)
{
    const int8x16_t all = vreinterpretq_s8_u32(x.hi);
    return (vf) { dot_quad(acc.lo, all, vreinterpretq_s8_u32(w.lo)), dot_quad(acc.hi, all, vreinterpretq_s8_u32(w.hi)) };
}
/* DT_Q8_QUAD is made signed, so that nothing is to be taken off. */
PRIM vi quad_bytes(const void *w) { return signed_bytes(w); }
PRIM vf quad_sum(enum dtype t, const vi *b, const uint32_t *x)
{
    vf sum = ints_begin(t == DT_Q8_QUAD ? 0 : x[BLOCK_START]);
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) sum = vf_dot_quads(sum, vi_set1(x[i]), b[i]);
    return vf_of_ints(sum);
}
PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k) { narrow_pairs(to, x, k); }
PRIM float row_to_quads(uint32_t *to, const float *x, size_t k) { return narrow_signed_quads(to, x, k); }

#include "kern/attn.h"
#include "kern/attn_narrow.h"
#include "kern/elem.h"
#include "kern/gemm.h"
#include "kern/narrow.h"
#include "kern/narrow_blocks.h"
#include "kern/pack.h"
#include "kern/spectrum.h"

void kern_init_neon(struct kern *k)
{
    init_pack(k);
    init_linear(k);
    init_narrow(k);
    init_blocks(k);
    init_attn(k);
    init_attn_narrow(k);
    init_elem(k);
    init_spectra(k);
    k->level = CPU_NEON;
}

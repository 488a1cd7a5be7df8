/* steno: narrow products for AVX-512 with VNNI and BF16. SPDX-License-Identifier: MIT
 *
 * VDPBF16PS takes two products of bf16, VPDPBUSD four of a byte and a signed byte, in the time of one f32 multiply-add. Everything else
 * stays as the level before has it; attention of KV_BF16 is made of such products too. */
#include "kern/inner.h"
#include "kern/x86/rows512.h"
#include "kern/x86/vec512.h"

PRIM vf vf_dot_quads(vf acc, vi x, vi w) { return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(acc), x, w)); }

PRIM void quad_bytes(vi *b, const void *w) { *b = vi_load(w); }
/* Two vectors of outputs share each word of x: a broadcast costs the load unit as much as a vector. */
#define QUAD_VECTORS 2
PRIM void quad_dots(vi sum[2], vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) {
        const vi q = vi_set1(x[i]);
        sum[0] = _mm512_dpbusd_epi32(sum[0], b[0][i], q);
        sum[1] = _mm512_dpbusd_epi32(sum[1], b[1][i], q);
    }
}
PRIM void quad_sums(vf to[2], enum dtype t, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    const vi start = vi_set1(x[block_start_at(t)]);
    vi low[2] = { start, start }, high[2] = { vi_set1(0), vi_set1(0) };
    if (t == DT_Q8_QUAD) quad_dots(high, b, x);
    quad_dots(low, b, t == DT_Q8_QUAD ? x + QBLOCK / 4 : x);
    UNROLL
    for (int i = 0; i < 2; i++) {
        if (t == DT_Q8_QUAD) low[i] = _mm512_add_epi32(low[i], _mm512_slli_epi32(high[i], 8));
        to[i] = _mm512_cvtepi32_ps(low[i]);
    }
}
PRIM void row_to_blocks(uint32_t *to, enum dtype t, const float *x, size_t k) { blocks_put(to, t, x, k, 0); }

#include "kern/attn_narrow.h"
#include "kern/narrow.h"
#include "kern/narrow_blocks.h"

void kern_init_avx512bf16(struct kern *k)
{
    init_narrow(k);
    init_blocks(k);
    init_attn_narrow(k);
    k->level = CPU_AVX512BF16;
}

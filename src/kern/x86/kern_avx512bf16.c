/* steno: narrow products for AVX-512 with VNNI and BF16. SPDX-License-Identifier: MIT
 *
 * VDPBF16PS takes two products of bf16, VPDPBUSD four of a byte and a signed byte, in the time of one f32 multiply-add. Everything else
 * stays as the level before has it; attention of KV_BF16 is made of such products too. */
#include "kern/inner.h"
#include "kern/x86/rows512.h"
#include "kern/x86/vec512.h"

PRIM vf vf_dot_ints(vf acc, vi x, vi w) { return _mm512_castsi512_ps(_mm512_dpwssd_epi32(_mm512_castps_si512(acc), x, w)); }
PRIM vf vf_dot_quads(vf acc, vi x, vi w) { return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(acc), x, w)); }

PRIM void quad_bytes(vi *b, const void *w) { *b = vi_load(w); }
/* Two vectors of outputs share each word of x, for which there are registers: half the loads. */
#define QUAD_VECTORS 2
PRIM void quad_dots(vi sum[2], const size_t n, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++)
        UNROLL
        for (size_t j = 0; j < n; j++) sum[j] = _mm512_dpbusd_epi32(sum[j], b[j][i], vi_set1(x[i]));
}
PRIM void quad_sums(vf to[2], const size_t n, enum dtype t, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    const vi start = vi_set1(x[block_start_at(t)]);
    vi low[2] = { start, start }, high[2] = { vi_set1(0), vi_set1(0) };
    if (t == DT_Q8_QUAD) quad_dots(high, n, b, x);
    quad_dots(low, n, b, t == DT_Q8_QUAD ? x + QBLOCK / 4 : x);
    UNROLL
    for (size_t j = 0; j < n; j++) {
        if (t == DT_Q8_QUAD) low[j] = _mm512_add_epi32(low[j], _mm512_slli_epi32(high[j], 8));
        to[j] = _mm512_cvtepi32_ps(low[j]);
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

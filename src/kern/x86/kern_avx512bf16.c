/* steno: narrow products for AVX-512 with VNNI and BF16. SPDX-License-Identifier: MIT
 *
 * VDPBF16PS takes two products of bf16, VPDPBUSD four of a byte and a signed byte, in the time of one f32 multiply-add. Everything else
 * stays as the level before has it; attention of KV_BF16 is made of such products too. */
#include "kern/inner.h"
#include "kern/x86/rows512.h"
#include "kern/x86/vec512.h"

PRIM vf vf_dot_quads(vf acc, vi x, vi w) { return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(acc), x, w)); }

PRIM vi quad_bytes(const void *w) { return vi_load(w); }
PRIM vf quad_sum(enum dtype t, const vi *b, const uint32_t *x)
{
    (void)t;
    vi sum = vi_set1(x[BLOCK_START]);
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) sum = _mm512_dpbusd_epi32(sum, b[i], vi_set1(x[i]));
    return _mm512_cvtepi32_ps(sum);
}

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

/* steno: narrow products for AVX-512 with VNNI and BF16. SPDX-License-Identifier: MIT
 *
 * VDPBF16PS takes two products of bf16, VPDPBUSD four of a byte and a signed byte, in the time of one f32 multiply-add. Everything else
 * stays as the level before has it; attention of KV_BF16 is made of such products too. */
#include "kern/inner.h"
#include "kern/x86/rows512.h"
#include "kern/x86/vec512.h"

PRIM vf vf_dot_quads(vf acc, vi x, vi w) { return _mm512_castsi512_ps(_mm512_dpbusd_epi32(_mm512_castps_si512(acc), x, w)); }

#define BLOCK_ROWS 12
PRIM vi vi_nibbles(vi w, int high) { return _mm512_and_si512(high ? _mm512_srli_epi32(w, 4) : w, _mm512_set1_epi8(15)); }
PRIM vi quad_begin(enum dtype t, uint32_t start) { return (void)t, vi_set1(start); }
PRIM vi quad_dot(enum dtype t, vi acc, vi w, vi x) { return (void)t, _mm512_dpbusd_epi32(acc, w, x); }
PRIM vf quad_end(enum dtype t, vi acc, uint32_t start) { return (void)t, (void)start, _mm512_cvtepi32_ps(acc); }

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

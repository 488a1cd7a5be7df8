/* steno: products of integers for AVX-512 with VNNI. SPDX-License-Identifier: MIT
 *
 * Of int16, of int8 and by blocks. Everything else stays as the level before has it; pairs_f32.h is here because narrow.h wants primitives
 * of every type. */
#include "kern/x86/ints512.h"

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
PRIM void quad_sums(vf to[2], const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    const int two = quad_x_parts(t) == 2;
    const vi start = vi_set1(x[block_start_at(t)]);
    vi low[2] = { start, start }, high[2] = { vi_set1(0), vi_set1(0) };
    if (two) quad_dots(high, n, b, x);
    quad_dots(low, n, b, two ? x + QBLOCK / 4 : x);
    UNROLL
    for (size_t j = 0; j < n; j++) {
        if (two) low[j] = _mm512_add_epi32(low[j], _mm512_slli_epi32(high[j], 8));
        to[j] = _mm512_cvtepi32_ps(low[j]);
    }
}
PRIM vf ints_begin(uint32_t start) { return (vf)vi_set1(start); }
PRIM vf ints_joined(vf high, vf low) { return (vf)_mm512_add_epi32((vi)low, _mm512_slli_epi32((vi)high, 8)); }
PRIM void quad_more(vf high[2], vf low[2], vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    vi h[2] = { (vi)high[0], (vi)high[1] }, l[2] = { (vi)low[0], (vi)low[1] };
    quad_dots(h, 2, b, x);
    quad_dots(l, 2, b, x + QBLOCK / 4);
    UNROLL
    for (size_t j = 0; j < 2; j++) high[j] = (vf)h[j], low[j] = (vf)l[j];
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 0); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 0); }
#define MM(op) _mm512_##op
#include "kern/x86/pairs_f32.h"

#include "kern/narrow.h"
#include "kern/narrow_blocks.h"
#include "kern/attn_ints.h"

void kern_init_avx512vnni(struct kern *k)
{
    init_attn_int(k);
    init_ints(k);
    init_quads(k);
    init_blocks(k);
    k->level = CPU_AVX512VNNI;
}

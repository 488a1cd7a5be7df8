/* steno: products of integers for AVX-512 with VNNI. SPDX-License-Identifier: MIT
 *
 * Products of int16, of int8 and by blocks. All other kernels are those of the previous level. pairs_f32.h is included because lowp.h needs
 * primitives of every type.
 *
 * Compiled with: -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma -mf16c -mprefer-vector-width=512 */
#define TILE_ROWS 12
#define QUAD_VECTORS 2 /* two vectors of outputs share each word of x: half the loads */

#include "kern/x86/ints512.h"

PRIM void quad_bytes(vi *b, vi w) { *b = w; }
PRIM void quad_dots(vs sum[2], const size_t n, vi (*b)[QBLOCK / 4], const uint32_t *x, struct quad_words of)
{
    UNROLL
    for (size_t i = of.from; i < of.to; i++)
        UNROLL
        for (size_t j = 0; j < n; j++) sum[j] = _mm512_dpbusd_epi32(sum[j], b[j][i], vi_set1(x[i]));
}
PRIM void quad_sums(vf to[2], const size_t n, enum packed_type t, vi (*b)[QBLOCK / 4], const uint32_t *x, size_t run)
{
    const int two = quad_x_parts(t) == 2;
    const struct quad_words of = quad_words_of(t, run);
    const vs start = vs_set1(block_start(x, t, run));
    vs low[2] = { start, start }, high[2] = { vs_zero(), vs_zero() };
    if (two) quad_dots(high, n, b, x, of);
    quad_dots(low, n, b, two ? x + QBLOCK / 4 : x, of);
    UNROLL
    for (size_t j = 0; j < n; j++) {
        if (two) low[j] = vs_add(low[j], vs_times_256(high[j]));
        to[j] = vf_of_ints(low[j]);
    }
}
PRIM vs ints_joined(vs high, vs low) { return vs_add(low, vs_times_256(high)); }
PRIM void quad_more(vs high[2], vs low[2], vi (*b)[QBLOCK / 4], const uint32_t *x)
{
    quad_dots(high, 2, b, x, all_words);
    quad_dots(low, 2, b, x + QBLOCK / 4, all_words);
}
PRIM void row_to_weights(uint32_t *to, const float *x, size_t n) { weights_put(to, x, n, 0); }
PRIM void row_to_blocks(uint32_t *to, enum packed_type t, const float *x, size_t k) { blocks_put(to, t, x, k, 0); }
#include "kern/x86/pairs_f32.h"

#include "kern/lowp.h"
#include "kern/lowp_blocks.h"
#include "kern/attn_rel_i16.h"
#include "kern/attn_i8.h"
#include "kern/attn_int.h"

void kern_init_avx512vnni(struct kern *k)
{
    init_attn_ints(k);
    init_attn_i16(k);
    init_attn_rel_i16(k);
    init_attn_i8(k);
    init_ints(k);
    init_quads(k);
    init_blocks(k);
    k->level = CPU_AVX512VNNI;
}

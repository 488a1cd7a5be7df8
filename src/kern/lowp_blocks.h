/* steno: linear with products of 8 bits by blocks, over vectors. SPDX-License-Identifier: MIT
 *
 * For decoders, whose few rows are bound by reading weights. A block of weights, 32 k of one vector of outputs, or of two if there are
 * enough registers, is read once. Each row's block of x is multiplied with it. This gives a sum of integers, which is converted to f32,
 * scaled and added to an accumulator in scratch. The code does not depend on the number of rows. A row's sum is one chain, but it does not
 * wait for the chains of other rows and blocks, so processors overlap several. Panels are read from the first byte to the last: one stream
 * is faster here than several panels in parallel.
 *
 * In addition to the primitives of vec.h and vi_load, a file defines, before it includes this header (after lowp.h, if it includes both):
 *   vi_nibbles(w, high)          the low or the high four bits of each byte
 *   quad_bytes(b, w)             b[QUAD_PARTS]: a vector of byte weights in the form of its products
 *   quad_sums(to, n, t, b, x)    to[n]: sums of n <= QUAD_VECTORS blocks b, as f32, with the row's block x and its start value
 *   row_to_blocks(to, t, x, k)   blocks of x as quantize_block computes them, with their integers in the order of quad_sums */
#ifndef STENO_KERN_LOWP_BLOCKS_H
#define STENO_KERN_LOWP_BLOCKS_H
#include "kern/lowp_rows.h"

enum { QUAD_WEIGHTS = QBLOCK / 4 * QUAD_PARTS };

/* Prefetch distances in bytes. Weights are prefetched to the first-level cache. With products of several rows that is too much at a time,
 * and they are prefetched to the second-level cache first. */
enum { BLOCK_AHEAD = 4096, BLOCK_FAR_AHEAD = 16384 };
/* Products per byte of weights from which on vectors are processed in pairs: with fewer products, pairs read more slowly from memory. */
enum { BLOCK_TIMES = 5 };

/* A block in the form of quad_sums: four k after four k. */
INLINE void quad_weights(vi b[QUAD_WEIGHTS], enum packed_type t, const char *w)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) {
        if (quad_is_bytes(t)) quad_bytes(b + i * QUAD_PARTS, w + i * QUAD_W * 4);
        else b[i] = vi_nibbles(vi_load(w + i / 2 * QUAD_W * 4), i % 2);
    }
}

INLINE void prefetch_block(const char *w, size_t rows)
{
    __builtin_prefetch(w + BLOCK_AHEAD);
    if (rows > 1) __builtin_prefetch(w + BLOCK_FAR_AHEAD, 0, 2);
}

/* acc[rows][PANEL] = x times a panel, n vectors of outputs at a time; rows of x are ld words apart. One line is prefetched per row: more at
 * a time would delay the current weights. */
INLINE void block_panel(float *acc, enum packed_type t, const uint32_t *x, size_t ld, size_t rows, const char *w, size_t blocks,
                        const size_t n)
{
    const size_t outputs_sz = (quad_block_sz(t) - 2 * PANEL) / (PANEL / QUAD_W); /* bytes of QUAD_W outputs */
    memset(acc, 0, rows * PANEL * sizeof *acc);
    for (; blocks--; w += quad_block_sz(t), x += block_words(t)) {
        prefetch_block(w, rows);
        UNROLL
        for (size_t c = 0; c < PANEL; c += n * VF_N) {
            const char *quants = w + 2 * PANEL + c / QUAD_W * outputs_sz;
            const size_t lines = c % QUAD_W ? 0 : (n * VF_N + QUAD_W - 1) / QUAD_W * outputs_sz / 64;
            vi b[QUAD_VECTORS][QUAD_WEIGHTS];
            vf d[QUAD_VECTORS];
            UNROLL
            for (size_t i = 0; i < n; i++) {
                const size_t at = c + i * VF_N;
                d[i] = vf_load_f16((const uint16_t *)(const void *)w + at);
                quad_weights(b[i], t, w + 2 * PANEL + at / QUAD_W * outputs_sz + at % QUAD_W * 4);
            }
            for (size_t i = rows; i < lines; i++) prefetch_block(quants + 64 * i, rows);
            const uint32_t *from = x;
            float *to = acc + c;
            for (size_t r = 0; r < rows; r++, from += ld, to += PANEL) {
                if (r < lines) prefetch_block(quants + 64 * r, rows);
                const vf scale = vf_set1(load_f32(from + block_scale_at(t)));
                vf sum[QUAD_VECTORS];
                quad_sums(sum, n, t, b, from);
                UNROLL
                for (size_t i = 0; i < n; i++)
                    vf_store(to + i * VF_N, vf_fma_once(sum[i], vf_mul(d[i], scale), vf_load(to + i * VF_N)));
            }
        }
    }
}

INLINE void block_linear(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct lowp_scratch *s, enum packed_type t)
{
    const size_t blocks = quad_blocks(l->k), sz = panel_sz(t, l->k), ld = x_ld(x_words(t, l->k, QUAD_STEPS));
    const size_t per_byte = (size_t)quad_x_parts(t) * (quad_is_bytes(t) ? 1 : 2); /* products of a row */
    const size_t max = size_min(GEMM_ROWS, LOWP_WORDS / ld);
    for (size_t m = m0; m < m1; m += max) {
        const size_t rows = size_min(max, m1 - m), tiles = (rows + TILE_ROWS_MAX - 1) / TILE_ROWS_MAX, height = (rows + tiles - 1) / tiles;
        const int cached = l->x_cached && rows == m1 - m0;
        for (size_t r = 0; r < rows && !cached; r++) row_to_blocks(s->x + r * ld, t, l->x + (m + r) * l->ld_x, l->k);
        for (size_t p = p0; p < p1; p++)
            for (size_t r = 0; r < rows; r += height) {
                const size_t n = size_min(height, rows - r);
                prefetch_outputs(l, m + r, n, p);
                const char *w = (const char *)l->w + p * sz;
                size_t one = 1;
                __asm__("" : "+r"(one)); /* for a constant, gcc 12 emits code that prefetches in bursts: a fifth slower from memory */
                if (n == 1) block_panel(s->acc, t, s->x + r * ld, ld, one, w, blocks, 1);
                else if (QUAD_VECTORS > 1 && n * per_byte < BLOCK_TIMES) block_panel(s->acc, t, s->x + r * ld, ld, n, w, blocks, 1);
                else block_panel(s->acc, t, s->x + r * ld, ld, n, w, blocks, QUAD_VECTORS);
                for (size_t i = 0; i < n; i += TILE_ROWS) epilogue(l, m + r + i, size_min(TILE_ROWS, n - i), p, s->acc + i * PANEL);
            }
    }
}

static void linear_q8_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    block_linear(l, m0, m1, p0, p1, scratch, PK_Q8_QUAD);
}

static void linear_q8_quad_a8(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    block_linear(l, m0, m1, p0, p1, scratch, PK_Q8_QUAD_A8);
}

static void linear_q4_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    block_linear(l, m0, m1, p0, p1, scratch, PK_Q4_QUAD);
}

INLINE void init_blocks(struct kern *k)
{
    k->linear[PK_Q8_QUAD] = linear_q8_quad;
    k->linear[PK_Q8_QUAD_A8] = linear_q8_quad_a8;
    k->linear[PK_Q4_QUAD] = linear_q4_quad;
}
#endif

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
 *   vi_above(low, plane, left, mask)  low | (plane << left & mask); left < 0: shifted to the right
 *   quad_bytes(b, v)             b[QUAD_PARTS]: a vector of byte weights in the form of its products
 *   quad_sums(to, n, t, b, x, run)  to[n]: sums of a run of n <= QUAD_VECTORS blocks b, as f32, with the row's block x and its start value
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
    enum { LINE = QUAD_W * 4 };
    const size_t bits = quad_bits(t);
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) {
        vi v;
        if (quad_is_bytes(t)) {
            quad_bytes(b + i * QUAD_PARTS, vi_load(w + i * LINE));
            continue;
        }
        v = vi_nibbles(vi_load(w + (bits - 4 + i / 2) * LINE), i % 2);
        if (bits == 5) v = vi_above(v, vi_load(w), 4 - (int)i, 0x10101010u);
        if (bits == 6) v = vi_above(v, vi_load(w + i / 4 * LINE), 4 - 2 * (int)(i % 4), 0x30303030u);
        if (QUAD_PARTS > 1 && quad_x_is_wide(t)) quad_bytes(b + i * QUAD_PARTS, v);
        else b[i] = v;
    }
}

INLINE void prefetch_block(const char *w, size_t rows)
{
    __builtin_prefetch(w + BLOCK_AHEAD);
    if (rows > 1) __builtin_prefetch(w + BLOCK_FAR_AHEAD, 0, 2);
}

/* The scales of n vectors of outputs, and their minima, in each run of a block. scales: those of a K type. */
struct quad_factors { vf d[QUAD_VECTORS][2], m[QUAD_VECTORS][2]; };

INLINE void quad_factors_load(struct quad_factors *f, enum packed_type t, const char *head, const char *scales, size_t c, const size_t n)
{
    UNROLL
    for (size_t i = 0; i < n; i++, c += VF_N)
        UNROLL
        for (size_t run = 0; run < quad_runs(t); run++) {
            f->d[i][run] = vf_load_f16((const uint16_t *)(const void *)head + c);
            if (quad_has_min(t)) f->m[i][run] = vf_load_f16((const uint16_t *)(const void *)head + PANEL + c);
            if (!quad_is_k(t)) continue;
            const int8_t *s = (const int8_t *)scales + run * PANEL + c;
            f->d[i][run] = vf_mul(f->d[i][run], vf_load_i8(s));
            if (quad_has_min(t)) f->m[i][run] = vf_mul(f->m[i][run], vf_load_i8(s + quad_runs(t) * PANEL));
        }
}

/* Add a row's block to n vectors of outputs. */
INLINE void block_row(float *to, enum packed_type t, vi (*b)[QUAD_WEIGHTS], const struct quad_factors *f, const uint32_t *x, const size_t n)
{
    const vf scale = vf_set1(load_f32(x + block_scale_at(t)));
    vf acc[QUAD_VECTORS];
    UNROLL
    for (size_t i = 0; i < n; i++) acc[i] = vf_load(to + i * VF_N);
    UNROLL
    for (size_t run = 0; run < quad_runs(t); run++) {
        vf sum[QUAD_VECTORS];
        quad_sums(sum, n, t, b, x, run);
        UNROLL
        for (size_t i = 0; i < n; i++) acc[i] = vf_fma_once(sum[i], vf_mul(f->d[i][run], scale), acc[i]);
        if (!quad_has_min(t)) continue;
        const vf whole = vf_set1(load_f32(x + block_start_at(t) + run));
        UNROLL
        for (size_t i = 0; i < n; i++) acc[i] = vf_fma_once(f->m[i][run], whole, acc[i]);
    }
    UNROLL
    for (size_t i = 0; i < n; i++) vf_store(to + i * VF_N, acc[i]);
}

/* acc[rows][PANEL] = x times a panel, n vectors of outputs at a time; rows of x are ld words apart. One line is prefetched per row: more at
 * a time would delay the current weights. */
INLINE void block_panel(float *acc, enum packed_type t, const uint32_t *x, size_t ld, size_t rows, const char *w, size_t blocks,
                        const size_t n)
{
    const char *head = w;
    memset(acc, 0, rows * PANEL * sizeof *acc);
    for (size_t at = 0; at < blocks; at++, w += quad_run_sz(t), x += block_words(t)) {
        if (at % quad_per_head(t) == 0) {
            for (size_t i = 0; i < quad_head_sz(t); i += 64) prefetch_block(w + i, rows);
            head = w;
            w += quad_head_sz(t);
        }
        for (size_t i = 0; i < quad_run_head_sz(t); i += 64) prefetch_block(w + i, rows);
        UNROLL
        for (size_t c = 0; c < PANEL; c += n * VF_N) {
            const char *quants = w + quad_run_head_sz(t) + c / QUAD_W * quad_outputs_sz(t);
            const size_t lines = c % QUAD_W ? 0 : (n * VF_N + QUAD_W - 1) / QUAD_W * quad_outputs_sz(t) / 64;
            vi b[QUAD_VECTORS][QUAD_WEIGHTS];
            struct quad_factors f;
            quad_factors_load(&f, t, head, w, c, n);
            UNROLL
            for (size_t i = 0; i < n; i++)
                quad_weights(b[i], t, quants + (c % QUAD_W + i * VF_N) / QUAD_W * quad_outputs_sz(t) + (c + i * VF_N) % QUAD_W * 4);
            for (size_t i = rows; i < lines; i++) prefetch_block(quants + 64 * i, rows);
            const uint32_t *from = x;
            float *to = acc + c;
            for (size_t r = 0; r < rows; r++, from += ld, to += PANEL) {
                if (r < lines) prefetch_block(quants + 64 * r, rows);
                block_row(to, t, b, &f, from, n);
            }
        }
    }
}

INLINE void block_linear(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct lowp_scratch *s, enum packed_type t)
{
    const size_t blocks = quad_blocks(l->k), sz = panel_sz(t, l->k), ld = x_ld(x_words(t, l->k, QUAD_STEPS));
    const size_t per_byte = (size_t)quad_x_parts(t) * 8 / quad_bits(t); /* products of a row */
    const size_t max = size_min(GEMM_ROWS, LOWP_WORDS / ld);
    for (size_t m = m0; m < m1; m += max) {
        const size_t rows = size_min(max, m1 - m), tiles = (rows + TILE_ROWS_MAX - 1) / TILE_ROWS_MAX, height = (rows + tiles - 1) / tiles;
        const int cached = l->x_cached && rows == m1 - m0;
        for (size_t r = 0; r < rows && !cached; r++) row_to_blocks(s->x + r * ld, t, l->x + (m + r) * l->ld_x, l->k);
        for (size_t p = p0; p < p1; p++)
            for (size_t r = 0; r < rows; r += height) {
                size_t n = size_min(height, rows - r);
                prefetch_outputs(l, m + r, n, p);
                const char *w = (const char *)l->w + p * sz;
                const int together = QUAD_VECTORS > 1 && n > 1 && n * per_byte >= BLOCK_TIMES;
                __asm__("" : "+r"(n)); /* for a constant 1, gcc 12 emits code that prefetches in bursts: a fifth slower from memory */
                if (together) block_panel(s->acc, t, s->x + r * ld, ld, n, w, blocks, QUAD_VECTORS);
                else block_panel(s->acc, t, s->x + r * ld, ld, n, w, blocks, 1);
                for (size_t i = 0; i < n; i += TILE_ROWS) epilogue(l, m + r + i, size_min(TILE_ROWS, n - i), p, s->acc + i * PANEL);
            }
    }
}

#define BLOCK_LINEAR(name, t)                                                                                                          \
    static void linear_##name(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)                       \
    {                                                                                                                                  \
        block_linear(l, m0, m1, p0, p1, scratch, t);                                                                                   \
    }
EACH_BLOCKS(BLOCK_LINEAR)
#undef BLOCK_LINEAR

INLINE void init_blocks(struct kern *k)
{
#define SET(name, t) k->linear[t] = linear_##name;
    EACH_BLOCKS(SET)
#undef SET
}
#endif

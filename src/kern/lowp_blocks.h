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
 *   quad_sums(to, n, t, b, x, run)  to[n]: sums of a run of n <= QUAD_VECTORS blocks b, as f32, with the row's block x and its start value;
 *                              with BLOCK_ROWS > 1 instead:
 *   quad_add(sum, t, w, x)       add the products of word x and a vector w of weights to *sum, which stays in its register
 *   quad_part(t, w, part)        of a vector of bytes or nibbles w: the part of its weights that is multiplied with the part of x
 *   quad_step(sum, t, b, x, i)   sum, and products of word i of weights
 *   quad_begin(t, x, run)        what sums of a run begin with
 *   quad_sum(sum, t, x, run)     such a sum as f32
 *   row_to_blocks(to, t, x, k)   blocks of x as quantize_block computes them, with their integers in the order of these products */
#ifndef STENO_KERN_LOWP_BLOCKS_H
#define STENO_KERN_LOWP_BLOCKS_H
#include "kern/lowp_rows.h"

enum { QUAD_WEIGHTS = QBLOCK / 4 * QUAD_PARTS };

/* Prefetch distances in bytes. Weights are prefetched to the first-level cache. With products of several rows that is too much at a time,
 * and they are prefetched to the second-level cache first. */
enum { BLOCK_AHEAD = 4096, BLOCK_FAR_AHEAD = 16384 };
/* Products per byte of weights from which on vectors are processed in pairs: with fewer products, pairs read more slowly from memory. */
enum { BLOCK_TIMES = 5 };

/* Four k of a block in the form of quad_sums: word i of each output. */
INLINE void quad_word(vi b[QUAD_PARTS], enum packed_type t, const char *w, const size_t i)
{
    enum { LINE = QUAD_W * 4 };
    const size_t bits = quad_bits(t);
    if (quad_is_bytes(t)) {
        quad_bytes(b, vi_load(w + i * LINE));
        return;
    }
    vi v = vi_nibbles(vi_load(w + (bits - 4 + i / 2) * LINE), i % 2);
    if (bits == 5) v = vi_above(v, vi_load(w), 4 - (int)i, 0x10101010u);
    if (bits == 6) v = vi_above(v, vi_load(w + i / 4 * LINE), 4 - 2 * (int)(i % 4), 0x30303030u);
    if (QUAD_PARTS > 1 && quad_x_is_wide(t)) quad_bytes(b, v);
    else *b = v;
}

/* Vectors that four k of a vector of outputs become. */
INLINE size_t quad_parts(enum packed_type t) { return quad_is_bytes(t) || quad_x_is_wide(t) ? QUAD_PARTS : 1; }

/* A block: four k after four k. */
INLINE void quad_weights(vi b[QUAD_WEIGHTS], enum packed_type t, const char *w)
{
    UNROLL
    for (size_t i = 0; i < QBLOCK / 4; i++) quad_word(b + i * quad_parts(t), t, w, i);
}

INLINE void prefetch_block(const char *w, size_t rows)
{
    __builtin_prefetch(w + BLOCK_AHEAD);
    if (rows > 1) __builtin_prefetch(w + BLOCK_FAR_AHEAD, 0, 2);
}

/* The scales of n vectors of outputs, and their minima, in each run of a block. scales: those of a K type. */
struct quad_factors { vf d[BLOCK_VECTORS][2], m[BLOCK_VECTORS][2]; };

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

/* The place of a vector of weights from output c on, in those of four k (nibbles: eight). */
INLINE size_t outputs_at(enum packed_type t, size_t c) { return c / QUAD_W * quad_outputs_sz(t) + c % QUAD_W * 4; }

#if BLOCK_ROWS > 1
enum { PANEL_VECTORS = PANEL / VF_N };

/* Add the products of n vectors of weights and of a word of each row; rows are ld words apart. */
INLINE void block_products(vs (*sum)[PANEL_VECTORS], const size_t rows, const size_t n, enum packed_type t, vi *w, const uint32_t *x,
                           size_t ld)
{
    UNROLL
    for (size_t i = 0; i < n; i++) __asm__("" : "+x"(w[i])); /* in a register for all rows */
    UNROLL
    for (size_t r = 0; r < rows; r++) {
        const vi v = vi_set1(x[r * ld]);
        UNROLL
        for (size_t i = 0; i < n; i++) quad_add(&sum[r][i], t, w[i], v);
    }
}

/* The same of some words of a block of bytes or nibbles, which are widened when they are read, once for all rows. */
INLINE void block_narrow(vs (*sum)[PANEL_VECTORS], const size_t rows, const size_t n, enum packed_type t, const char *w, const uint32_t *x,
                         size_t ld, const struct quad_words of)
{
    const size_t step = quad_is_bytes(t) ? 1 : 2; /* two words of nibbles are in the same bytes */
    const size_t parts = step * quad_parts(t);
    w += of.from / step * QUAD_W * 4, x += of.from * quad_parts(t);
#pragma GCC unroll 1
    for (size_t i = of.from; i < of.to; i += step, w += QUAD_W * 4, x += parts)
        UNROLL
        for (size_t part = 0; part < parts; part++) {
            vi b[PANEL_VECTORS];
            UNROLL
            for (size_t j = 0; j < n; j++) b[j] = quad_part(t, vi_load(w + outputs_at(t, j * VF_N)), part);
            block_products(sum, rows, n, t, b, x + part, ld);
        }
}

/* The same of weights that were widened before. */
INLINE void block_wide(vs (*sum)[PANEL_VECTORS], const size_t rows, enum packed_type t, vi (*b)[QUAD_WEIGHTS], const uint32_t *x,
                       size_t ld, const struct quad_words of)
{
    size_t end = of.to * quad_parts(t);
    if (quad_bits(t) == 6) __asm__("" : "+r"(end)); /* gcc 12 unrolls two turns nevertheless, and keeps these sums on the stack */
#pragma GCC unroll 1
    for (size_t i = of.from * quad_parts(t); i < end; i += 4)
        UNROLL
        for (size_t j = 0; j < 4; j++) {
            vi w[BLOCK_VECTORS];
            UNROLL
            for (size_t v = 0; v < BLOCK_VECTORS; v++) w[v] = b[v][i + j];
            block_products(sum, rows, BLOCK_VECTORS, t, w, x + i + j, ld);
        }
}

/* Add what a run of a block makes to a vector of outputs. */
INLINE void block_add(float *to, enum packed_type t, vf sum, vf d, vf m, const uint32_t *x, size_t run)
{
    vf y = vf_fma_once(sum, vf_mul(d, vf_set1(load_f32(x + block_scale_at(t)))), vf_load(to));
    if (quad_has_min(t)) y = vf_fma_once(m, vf_set1(load_f32(x + block_start_at(t) + run)), y);
    vf_store(to, y);
}

/* One row and one vector of outputs: each word of weights is multiplied when it is read. */
INLINE void block_row(float *to, enum packed_type t, const char *quants, const struct quad_factors *f, const uint32_t *x)
{
    UNROLL
    for (size_t run = 0; run < quad_runs(t); run++) {
        const struct quad_words of = quad_words_of(t, run);
        vs sum = quad_begin(t, x, run);
        UNROLL
        for (size_t i = of.from; i < of.to; i++) {
            vi b[QUAD_PARTS];
            quad_word(b, t, quants, i);
            sum = quad_step(sum, t, b, x, i);
        }
        block_add(to, t, quad_sum(sum, t, x, run), f->d[0][run], f->m[0][run], x, run);
    }
}

/* `rows` rows: each word of x is read once for the tile. b: the weights if they were widened before, or NULL. */
INLINE void block_tile(float *to, enum packed_type t, const char *quants, vi (*b)[QUAD_WEIGHTS], struct quad_factors *f,
                       const uint32_t *x, size_t ld, const size_t rows)
{
    UNROLL
    for (size_t run = 0; run < quad_runs(t); run++) {
        vs sum[BLOCK_ROWS][PANEL_VECTORS];
        UNROLL
        for (size_t r = 0; r < rows; r++)
            UNROLL
            for (size_t i = 0; i < BLOCK_VECTORS; i++) sum[r][i] = quad_begin(t, x + r * ld, run);
        if (b) block_wide(sum, rows, t, b, x, ld, quad_words_of(t, run));
        else block_narrow(sum, rows, BLOCK_VECTORS, t, quants, x, ld, quad_words_of(t, run));
        __asm__ volatile("" : "+m"(*f)); /* in memory: else gcc 12 keeps sums on the stack */
        UNROLL
        for (size_t r = 0; r < rows; r++)
            UNROLL
            for (size_t i = 0; i < BLOCK_VECTORS; i++)
                block_add(to + r * PANEL + i * VF_N, t, quad_sum(sum[r][i], t, x + r * ld, run), f->d[i][run], f->m[i][run], x + r * ld,
                          run);
    }
}

/* Whether weights are widened before: those with upper bits, and nibbles for more than two tiles. */
INLINE int block_is_wide(enum packed_type t, size_t rows) { return quad_bits(t) % 4 || (quad_bits(t) == 4 && rows > 2 * BLOCK_ROWS); }

/* Add the blocks of all rows to BLOCK_VECTORS vectors of outputs. */
INLINE void block_tiles(float *to, enum packed_type t, const char *quants, struct quad_factors *f, const uint32_t *x, size_t ld,
                        size_t rows, size_t lines, const int wide)
{
    vi weights[BLOCK_VECTORS][QUAD_WEIGHTS], (*b)[QUAD_WEIGHTS] = wide ? weights : NULL;
    for (size_t i = rows; i < lines; i++) prefetch_block(quants + 64 * i, rows);
    UNROLL
    for (size_t i = 0; wide && i < BLOCK_VECTORS; i++) quad_weights(b[i], t, quants + outputs_at(t, i * VF_N));
    for (size_t r = 0, height; r < rows; r += height, x += height * ld, to += height * PANEL) {
        const size_t left = rows - r;
        height = left <= BLOCK_ROWS ? left : left >= 2 * BLOCK_ROWS ? BLOCK_ROWS : (left + 1) / 2;
        for (size_t i = r; i < r + height && i < lines; i++) prefetch_block(quants + 64 * i, rows);
        if (height == 5) block_tile(to, t, quants, b, f, x, ld, 5);
        else if (height == 4) block_tile(to, t, quants, b, f, x, ld, 4);
        else if (height == 3) block_tile(to, t, quants, b, f, x, ld, 3);
        else block_tile(to, t, quants, b, f, x, ld, 2);
    }
}

/* Add the blocks of all rows to n vectors of outputs. n is 1 for one row. */
INLINE void block_rows(float *to, enum packed_type t, const char *quants, struct quad_factors *f, const uint32_t *x, size_t ld, size_t rows,
                       size_t lines, const size_t n)
{
    if (n > 1 && block_is_wide(t, rows)) block_tiles(to, t, quants, f, x, ld, rows, lines, 1);
    else if (n > 1) block_tiles(to, t, quants, f, x, ld, rows, lines, 0);
    else {
        for (size_t i = 0; i < lines; i++) prefetch_block(quants + 64 * i, rows);
        block_row(to, t, quants, f, x);
    }
}
#else
/* Add a row's block to n vectors of outputs. */
INLINE void block_row(float *to, enum packed_type t, vi (*b)[QUAD_WEIGHTS], const struct quad_factors *f, const uint32_t *x, const size_t n)
{
    const vf scale = vf_set1(load_f32(x + block_scale_at(t)));
    vf acc[BLOCK_VECTORS];
    UNROLL
    for (size_t i = 0; i < n; i++) acc[i] = vf_load(to + i * VF_N);
    UNROLL
    for (size_t run = 0; run < quad_runs(t); run++) {
        vf sum[BLOCK_VECTORS];
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

/* Add the blocks of all rows to n vectors of outputs. */
INLINE void block_rows(float *to, enum packed_type t, const char *quants, const struct quad_factors *f, const uint32_t *x, size_t ld,
                       size_t rows, size_t lines, const size_t n)
{
    vi b[BLOCK_VECTORS][QUAD_WEIGHTS];
    UNROLL
    for (size_t i = 0; i < n; i++) quad_weights(b[i], t, quants + outputs_at(t, i * VF_N));
    for (size_t i = rows; i < lines; i++) prefetch_block(quants + 64 * i, rows);
    for (size_t r = 0; r < rows; r++, x += ld, to += PANEL) {
        if (r < lines) prefetch_block(quants + 64 * r, rows);
        block_row(to, t, b, f, x, n);
    }
}
#endif

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
            const size_t lines = c % QUAD_W ? 0 : (n * VF_N + QUAD_W - 1) / QUAD_W * quad_outputs_sz(t) / 64;
            struct quad_factors f;
            quad_factors_load(&f, t, head, w, c, n);
            block_rows(acc + c, t, w + quad_run_head_sz(t) + outputs_at(t, c), &f, x, ld, rows, lines, n);
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
                const int together = BLOCK_VECTORS > 1 && n > 1 && (BLOCK_ROWS > 1 || n * per_byte >= BLOCK_TIMES);
                __asm__("" : "+r"(n)); /* for a constant 1, gcc 12 emits code that prefetches in bursts: a fifth slower from memory */
                if (together) block_panel(s->acc, t, s->x + r * ld, ld, n, w, blocks, BLOCK_VECTORS);
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

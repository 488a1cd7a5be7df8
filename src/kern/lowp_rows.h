/* steno: rows of x for products of 16 and 8 bits. SPDX-License-Identifier: MIT
 *
 * An item rounds its rows of x once, into words of 32 bits, and multiplies them with all its panels. The number of rows rounded at a time
 * is limited by the second-level cache. Shared by the bodies over vectors (lowp.h) and over tiles (x86/lowp_tiles.h), which define
 * lowp_panels.
 *
 * Before it includes this header, a file defines the primitives of vec.h, and:
 *   row_to_pairs(to, x, k)   a row of x as bf16
 *   row_to_quads(to, x, k)   a row of x as int8; returns the row's scale
 * Both may write whole vectors; only a row's words are used. The knobs are in knobs.h. */
#ifndef STENO_KERN_LOWP_ROWS_H
#define STENO_KERN_LOWP_ROWS_H
#include "kern/epilogue.h"

/* Panels [p0, p1) for rows [m, m + rows), which are in scratch. */
INLINE void lowp_panels(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p0, size_t p1,
                        struct lowp_scratch *s);

/* Words of a rounded row, and between rows. The rest of a row's last line is zeros (not if rows are interleaved in pairs). */
INLINE size_t row_words(enum packed_type t, size_t k) { return x_words(t, k, QUAD_STEPS); }
INLINE size_t lowp_ld(enum packed_type t, size_t k) { return x_ld(row_words(t, k)); }

/* The beginning of row r. Tiles begin at even rows if rows are interleaved in pairs. */
INLINE uint32_t *lowp_row(uint32_t *x, size_t r, size_t ld) { return ROWS_BY_TWOS ? x + (r & ~(size_t)1) * ld + r % 2 * 2 : x + r * ld; }

/* A group of n k as in quantize_group of quantize.h, in whole vectors. */
INLINE void group_to_ints(uint32_t *to, uint32_t *scale, const float *x, size_t n)
{
    vi max = vi_set1(0);
    for (size_t i = 0; i < n; i += VF_N) max = vi_max_abs(max, load_some(x + i, n - i));
    const uint32_t bits = vi_hmax(max);
    const struct int_scale s = i16_scale_of(load_f32(&bits), I16_X_MAX);
    const vf magic = vf_set1(I16_MAGIC), inverse = vf_set1(s.inverse);
    for (size_t i = 0; i < n; i += VF_N) vf_store_halves(to + i / 2, vf_add(vf_mul(load_some(x + i, n - i), inverse), magic));
    *scale = bits_of_f32(s.scale);
}

/* The scales of a row's groups, then its words. Whole groups have a constant length. */
INLINE void row_to_ints(uint32_t *to, const float *x, size_t k)
{
    uint32_t *words = to + i16_head(k);
    for (; k >= I16_GROUP; k -= I16_GROUP, x += I16_GROUP, words += I16_GROUP / 2) group_to_ints(words, to++, x, I16_GROUP);
    if (k) group_to_ints(words, to, x, k);
}

INLINE void lowp_rows(const struct linear *l, enum packed_type t, size_t m, size_t rows, struct lowp_scratch *s)
{
    const size_t words = row_words(t, l->k), ld = lowp_ld(t, l->k);
    for (size_t r = 0; r < rows; r++) {
        const float *x = l->x + (m + r) * l->ld_x;
        uint32_t *to = lowp_row(s->x, r, ld);
        if (t == PK_I8_QUAD) s->scale[r] = row_to_quads(to, x, l->k);
        else if (t == PK_I16_PAIR) row_to_ints(to, x, l->k);
        else row_to_pairs(to, x, l->k);
        for (size_t i = words; i % 16 && !ROWS_BY_TWOS; i++) to[i] = 0;
    }
}

/* Outputs are written once, a few lines of many rows. Their lines, and those of the residual, are prefetched before. */
INLINE void prefetch_row(const struct linear *l, size_t m, size_t p)
{
    const float *y = l->y + m * l->ld_y + p * PANEL, *res = l->res ? l->res + m * l->ld_res + p * PANEL : NULL;
    for (size_t i = 0; i < PANEL + VF_N; i += 16) __builtin_prefetch(y + i, 1);
    for (size_t i = 0; i < PANEL + VF_N && res; i += 16) __builtin_prefetch(res + i);
}

INLINE void prefetch_outputs(const struct linear *l, size_t m, size_t rows, size_t p)
{
    for (size_t r = m; r < m + rows && p * PANEL < l->n_y; r++) prefetch_row(l, r, p);
}

/* acc: the sums of rows [r, r + rows) of scratch and of panel p; m is the first row in scratch. Integers are scaled here and not in the
 * tile, where compilers would run out of registers. */
INLINE void lowp_epilogue(const struct linear *l, enum packed_type t, size_t m, size_t r, size_t rows, size_t p, float *acc,
                          struct lowp_scratch *s)
{
    const float *scale_w = (const float *)(const void *)((const char *)l->w + p * panel_sz(t, l->k));
    for (size_t i = 0; i < rows; i += TILE_ROWS) {
        const struct sums sums = { acc + i * PANEL, scale_w, s->scale + r + i };
        epilogue_of(l, m + r + i, size_min(TILE_ROWS, rows - i), p, &sums, t);
    }
}

INLINE void lowp_linear(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct lowp_scratch *s, enum packed_type t)
{
    if (m0 == m1) return;
    size_t max = size_min(GEMM_ROWS, LOWP_WORDS / lowp_ld(t, l->k));
    if (max > LOWP_TILE_ROWS) max -= max % LOWP_TILE_ROWS;
    else if (ROWS_BY_TWOS) max = max < 2 ? 2 : max & ~(size_t)1;
    const size_t chunks = (m1 - m0 + max - 1) / max;
    size_t step = (m1 - m0 + chunks - 1) / chunks;
    if (max >= LOWP_TILE_ROWS) step = (step + LOWP_TILE_ROWS - 1) / LOWP_TILE_ROWS * LOWP_TILE_ROWS;
    for (size_t m = m0; m < m1; m += step) {
        const size_t rows = size_min(step, m1 - m);
        lowp_rows(l, t, m, rows, s);
        lowp_panels(l, t, m, rows, p0, p1, s);
    }
}

static inline void linear_pair(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    lowp_linear(l, m0, m1, p0, p1, scratch, PK_BF16_PAIR);
}

static inline void linear_ints(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    lowp_linear(l, m0, m1, p0, p1, scratch, PK_I16_PAIR);
}

static inline void linear_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    lowp_linear(l, m0, m1, p0, p1, scratch, PK_I8_QUAD);
}

INLINE void init_pairs(struct kern *k) { k->linear[PK_BF16_PAIR] = linear_pair; }
INLINE void init_ints(struct kern *k) { k->linear[PK_I16_PAIR] = linear_ints; }
INLINE void init_quads(struct kern *k) { k->linear[PK_I8_QUAD] = linear_quad, k->quad_steps = QUAD_STEPS; }
#endif

/* steno: linear with products of 16 and 8 bits over vectors. SPDX-License-Identifier: MIT
 *
 * An item narrows its rows of x once, into words of 32 bits: two bf16 or four int8. A word broadcast against the words of a panel is one
 * step of a register tile of TILE_ROWS rows by two vectors, which walks all of k with its accumulators in registers: two vectors of
 * weights come from the second-level cache in the time of 2 TILE_ROWS products, so nothing has to be blocked by k. As many rows are
 * narrowed at a time as that cache keeps. Few rows take lower tiles of the same steps, so they give the same bits.
 *
 * Beside the primitives of vec.h a file has: vi_load, vi_set1 (one word in every lane), vf_dot_pairs and vf_dot_quads (acc, words of x,
 * words of weights), row_to_pairs(to, x, k) and row_to_quads(to, x, k), which returns the row's scale; both complete the last word.
 * Accumulators of int8 are int32 in a vf (one kind of register, one array); vf_of_ints makes f32 of them.
 *
 * What a file may define before it includes this: QUADS_SIGNED 1, its rows of int8 are signed bytes, so that sums begin with 0;
 * ROWS_BY_TWOS 1, it has a narrow_tile of its own, for rows that lie by twos: two words of the first, two of the second, and so on. A
 * file whose products are of one type takes that type's linear alone; nothing is compiled for the other. */
#ifndef STENO_KERN_NARROW_H
#define STENO_KERN_NARROW_H
#include "kern/finish.h"

#ifndef QUADS_SIGNED
#define QUADS_SIGNED 0
#endif
#ifndef ROWS_BY_TWOS
#define ROWS_BY_TWOS 0
#endif

#if !ROWS_BY_TWOS
/* ---- the register tile: acc[rows, TILE_W] = start + words of x times words of w ---------------------------------------------------------
 * start: what accumulators begin with, rows of ld_start; NULL: zeros. */
INLINE void narrow_tile(float *acc, size_t ld_acc, const uint32_t *x, size_t ld, const float *start, size_t ld_start,
                        const struct words *w, enum dtype t, const int rows)
{
    vf a[TILE_ROWS][2];
    UNROLL
    for (int r = 0; r < rows; r++) {
        a[r][0] = start ? vf_load(start + (size_t)r * ld_start) : vf_zero();
        a[r][1] = start ? vf_load(start + (size_t)r * ld_start + VF_N) : vf_zero();
    }
    const uint32_t *x0 = x, *x3 = x + 3 * ld, *x6 = x + 6 * ld, *x9 = x + 9 * ld;
    const char *ahead = w->ahead;
    const size_t ld_w = w->ld, run_len = w->run_len;
    const uint32_t *const *run = w->run;
    for (size_t left = w->n; left; run++) {
        const size_t n = size_min(left, run_len);
        const uint32_t *at = *run;
        for (size_t k = 0; k < n; k++, at += ld_w, ahead += PANEL * 4) {
            const vi w0 = vi_load(at), w1 = vi_load(at + VF_N);
            __builtin_prefetch(ahead, 0, 2);
            __builtin_prefetch(ahead + 64, 0, 2);
            UNROLL
            for (int r = 0; r < rows; r++) {
                const uint32_t *from = r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9;
                const vi v = vi_set1(from[(size_t)(r % 3) * ld]);
                a[r][0] = t == DT_I8_QUAD ? vf_dot_quads(a[r][0], v, w0) : vf_dot_pairs(a[r][0], v, w0);
                a[r][1] = t == DT_I8_QUAD ? vf_dot_quads(a[r][1], v, w1) : vf_dot_pairs(a[r][1], v, w1);
            }
            x0++, x3++, x6++, x9++;
        }
        left -= n;
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        vf_store(acc + (size_t)r * ld_acc, a[r][0]);
        vf_store(acc + (size_t)r * ld_acc + VF_N, a[r][1]);
    }
}
#endif

typedef void narrow_tile_fn(float *acc, size_t ld_acc, const uint32_t *x, size_t ld, const float *start, size_t ld_start,
                            const struct words *w);
#define TILE(rows, name, t)                                                                                                            \
    static void tile_##name##_##rows(float *acc, size_t ld_acc, const uint32_t *x, size_t ld, const float *start, size_t ld_start,     \
                                     const struct words *w)                                                                            \
    {                                                                                                                                  \
        narrow_tile(acc, ld_acc, x, ld, start, ld_start, w, t, rows);                                                                  \
    }
#define TILES_6(name, t) TILE(1, name, t) TILE(2, name, t) TILE(3, name, t) TILE(4, name, t) TILE(5, name, t) TILE(6, name, t)
TILES_6(pair, DT_BF16_PAIR)
TILES_6(quad, DT_I8_QUAD)
#if TILE_ROWS_12
#define TILES_12(name, t) TILE(7, name, t) TILE(8, name, t) TILE(9, name, t) TILE(10, name, t) TILE(11, name, t) TILE(12, name, t)
TILES_12(pair, DT_BF16_PAIR)
TILES_12(quad, DT_I8_QUAD)
#define TILES_OF(name)                                                                                                                 \
    { NULL, tile_##name##_1, tile_##name##_2, tile_##name##_3, tile_##name##_4, tile_##name##_5, tile_##name##_6, tile_##name##_7,     \
      tile_##name##_8, tile_##name##_9, tile_##name##_10, tile_##name##_11, tile_##name##_12 }
#undef TILES_12
#else
#define TILES_OF(name)                                                                                                                 \
    { NULL, tile_##name##_1, tile_##name##_2, tile_##name##_3, tile_##name##_4, tile_##name##_5, tile_##name##_6 }
#endif
static narrow_tile_fn *const tiles_pair[TILE_ROWS + 1] = TILES_OF(pair);
static narrow_tile_fn *const tiles_quad[TILE_ROWS + 1] = TILES_OF(quad);
#undef TILES_OF
#undef TILES_6
#undef TILE

/* ---- rows ----------------------------------------------------------------------------------------------------------------------- */
/* Words between narrowed rows: whole lines, and never a power of two of them, so that rows do not share cache sets. */
INLINE size_t narrow_ld(enum dtype t, size_t k) { return ((narrow_words(t, k) + 15) & ~(size_t)15) + 16; }

/* Where row r begins. Tiles begin at even rows where rows lie by twos. */
INLINE uint32_t *narrow_row(uint32_t *x, size_t r, size_t ld) { return ROWS_BY_TWOS ? x + (r & ~(size_t)1) * ld + r % 2 * 2 : x + r * ld; }

/* Sums of int8 become f32. Not in the tile, where compilers would run out of registers. */
INLINE void scale_ints(float *acc, const float *scale_x, const float *scale_w, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < PANEL; c += VF_N) {
            const vf scale = vf_mul(vf_set1(scale_x[r]), vf_load(scale_w + c));
            vf_store(acc + r * PANEL + c, vf_mul(vf_of_ints(vf_load(acc + r * PANEL + c)), scale));
        }
}

/* Outputs are written once, a few lines of many rows: their lines come while the tile is computed, and so does the residual. */
INLINE void prefetch_outputs(const struct linear *l, size_t m, size_t rows, size_t p)
{
    if (p * PANEL >= l->n_y) return;
    for (size_t r = m; r < m + rows; r++) {
        const float *y = l->y + r * l->ld_y + p * PANEL;
        for (size_t i = 0; i < PANEL + VF_N; i += 16) __builtin_prefetch(y + i, 1);
        if (!l->res) continue;
        const float *res = l->res + r * l->ld_res + p * PANEL;
        for (size_t i = 0; i < PANEL + VF_N; i += 16) __builtin_prefetch(res + i);
    }
}

/* One panel for rows [m, m + rows), which are in scratch. */
INLINE void narrow_panel(const struct linear *l, enum dtype t, size_t m, size_t rows, size_t p, const char *next,
                         struct narrow_scratch *s)
{
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS; /* 13 rows are 7 and 6, by twos 8 and 5, not 12 and 1 */
    const size_t height = ROWS_BY_TWOS ? ((rows + tiles - 1) / tiles + 1) & ~(size_t)1 : (rows + tiles - 1) / tiles;
    const size_t words = narrow_words(t, l->k), ld = narrow_ld(t, l->k);
    const char *panel = (const char *)l->w + p * panel_sz(t, l->k);
    const float *head = (const float *)(const void *)panel;
    const uint32_t *w = (const uint32_t *)(const void *)(panel + narrow_head_sz(t));
    for (size_t r = 0; r < rows; r += height) {
        const size_t n = size_min(height, rows - r);
        const char *ahead = tiles <= 2 ? (const char *)w + AHEAD : r ? (const char *)w : next;
        prefetch_outputs(l, m + r, n, p);
        for (size_t c = 0; c < PANEL; c += TILE_W) {
            const uint32_t *from = w + c;
            const struct words of = { &from, PANEL, words, words, ahead };
            if (t == DT_I8_QUAD) tiles_quad[n](s->acc + c, PANEL, narrow_row(s->x, r, ld), ld, QUADS_SIGNED ? NULL : head + PANEL + c, 0, &of);
            else tiles_pair[n](s->acc + c, PANEL, narrow_row(s->x, r, ld), ld, NULL, 0, &of);
        }
        if (t == DT_I8_QUAD) scale_ints(s->acc, s->scale + r, head, n);
        finish(l, m + r, n, p, s->acc);
    }
}

INLINE void narrow_linear(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct narrow_scratch *s, enum dtype t)
{
    if (m0 == m1) return;
    const size_t ld = narrow_ld(t, l->k), sz = panel_sz(t, l->k);
    size_t most = size_min(GEMM_ROWS, NARROW_WORDS / ld);
    if (most > TILE_ROWS) most -= most % TILE_ROWS;
    else if (ROWS_BY_TWOS) most = most < 2 ? 2 : most & ~(size_t)1;
    const size_t chunks = (m1 - m0 + most - 1) / most;
    size_t step = (m1 - m0 + chunks - 1) / chunks;
    if (most >= TILE_ROWS) step = (step + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
    for (size_t m = m0; m < m1; m += step) {
        const size_t rows = size_min(step, m1 - m);
        for (size_t r = 0; r < rows; r++) {
            const float *x = l->x + (m + r) * l->ld_x;
            if (t == DT_I8_QUAD) s->scale[r] = row_to_quads(narrow_row(s->x, r, ld), x, l->k);
            else row_to_pairs(narrow_row(s->x, r, ld), x, l->k);
        }
        for (size_t p = p0; p < p1; p++) narrow_panel(l, t, m, rows, p, (const char *)l->w + (p + 1 < p1 ? p + 1 : p0) * sz, s);
    }
}

static inline void linear_pair(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    narrow_linear(l, m0, m1, p0, p1, scratch, DT_BF16_PAIR);
}

static inline void linear_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    narrow_linear(l, m0, m1, p0, p1, scratch, DT_I8_QUAD);
}

static inline void init_narrow(struct kern *k)
{
    k->linear[DT_BF16_PAIR] = linear_pair;
    k->linear[DT_I8_QUAD] = linear_quad;
}
#endif

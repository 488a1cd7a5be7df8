/* steno: linear with products of 16 and 8 bits over vectors. SPDX-License-Identifier: MIT
 *
 * A word of a narrowed row (narrow_rows.h), two bf16 or four int8, broadcast against the words of a panel is one step of a register tile of
 * TILE_ROWS rows by two vectors, which walks all of k with its accumulators in registers: two vectors of weights come from the
 * second-level cache in the time of 2 TILE_ROWS products, so nothing has to be blocked by k. Few rows take lower tiles of the same steps,
 * so they give the same bits.
 *
 * Beside the primitives of narrow_rows.h a file has: vi_load, vi_set1 (one word in every lane), vf_dot_pairs and vf_dot_quads (acc, words
 * of x, words of weights). A file in which four k of int8 take several words of x has vi_quads(words of a panel, step), what the weights
 * are to each of them. */
#ifndef STENO_KERN_NARROW_H
#define STENO_KERN_NARROW_H
enum { NARROW_TILE = TILE_ROWS };
#include "kern/narrow_rows.h"

#if QUAD_STEPS == 1
INLINE vi vi_quads(const void *w, int step) { return (void)step, vi_load(w); }
#endif

/* ---- the register tile ---------------------------------------------------------------------------------------------------------- */
/* One word of each row of x times the words of w that it meets. */
INLINE void narrow_step(vf a[TILE_ROWS][2], const uint32_t *x, size_t ld, const uint32_t *w, enum dtype t, const int step, const int rows)
{
    const vi w0 = t == DT_I8_QUAD ? vi_quads(w, step) : vi_load(w), w1 = t == DT_I8_QUAD ? vi_quads(w + VF_N, step) : vi_load(w + VF_N);
    const uint32_t *x0 = x, *x3 = x + 3 * ld, *x6 = x + 6 * ld, *x9 = x + 9 * ld;
    UNROLL
    for (int r = 0; r < rows; r++) {
        const uint32_t *from = r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9;
        const vi v = vi_set1(from[(size_t)(r % 3) * ld]);
        a[r][0] = t == DT_I8_QUAD ? vf_dot_quads(a[r][0], v, w0) : vf_dot_pairs(a[r][0], v, w0);
        a[r][1] = t == DT_I8_QUAD ? vf_dot_quads(a[r][1], v, w1) : vf_dot_pairs(a[r][1], v, w1);
    }
}

/* acc[rows, TILE_W] = x times w, over `words` words of w. start: what accumulators begin with (int8). ahead: a panel to bring to the
 * second-level cache meanwhile. */
INLINE void narrow_tile(float *acc, const uint32_t *x, size_t ld, const float *start, const uint32_t *w, size_t words,
                        const char *ahead, enum dtype t, const int rows)
{
    vf a[TILE_ROWS][2];
    UNROLL
    for (int r = 0; r < rows; r++) {
        a[r][0] = t == DT_I8_QUAD ? vf_load(start) : vf_zero();
        a[r][1] = t == DT_I8_QUAD ? vf_load(start + VF_N) : vf_zero();
    }
    for (size_t k = 0; k < words; k++, w += PANEL, ahead += PANEL * 4, x += t == DT_I8_QUAD ? QUAD_STEPS : 1) {
        __builtin_prefetch(ahead, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
        narrow_step(a, x, ld, w, t, 0, rows);
        if (t == DT_I8_QUAD && QUAD_STEPS > 1) narrow_step(a, x + 1, ld, w, t, 1, rows);
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        vf_store(acc + r * PANEL, a[r][0]);
        vf_store(acc + r * PANEL + VF_N, a[r][1]);
    }
}

typedef void narrow_tile_fn(float *acc, const uint32_t *x, size_t ld, const float *start, const uint32_t *w,
                            size_t words, const char *ahead);
#define TILE(rows, name, t)                                                                                                            \
    static void tile_##name##_##rows(float *acc, const uint32_t *x, size_t ld, const float *start,                  \
                                     const uint32_t *w, size_t words, const char *ahead)                                               \
    {                                                                                                                                  \
        narrow_tile(acc, x, ld, start, w, words, ahead, t, rows);                                                                \
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

/* ---- panels --------------------------------------------------------------------------------------------------------------------- */
INLINE void narrow_panel(const struct linear *l, enum dtype t, size_t m, size_t rows, size_t p, const char *next,
                         struct narrow_scratch *s)
{
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, height = (rows + tiles - 1) / tiles; /* 13 rows are 7 and 6, not 12 and 1 */
    const size_t words = narrow_words(t, l->k), ld = narrow_ld(t, l->k);
    const char *panel = (const char *)l->w + p * panel_sz(t, l->k);
    const float *head = (const float *)(const void *)panel;
    const uint32_t *w = (const uint32_t *)(const void *)(panel + narrow_head_sz(t));
    for (size_t r = 0; r < rows; r += height) {
        const size_t n = size_min(height, rows - r);
        const char *ahead = tiles <= 2 ? (const char *)w + AHEAD : r ? (const char *)w : next;
        prefetch_outputs(l, m + r, n, p);
        for (size_t c = 0; c < PANEL; c += TILE_W)
            (t == DT_I8_QUAD ? tiles_quad : tiles_pair)[n](s->acc + c, s->x + r * ld, ld, head + PANEL + c, w + c, words, ahead);
        narrow_finish(l, t, m, r, n, p, s);
    }
}

INLINE void narrow_panels(const struct linear *l, enum dtype t, size_t m, size_t rows, size_t p0, size_t p1, struct narrow_scratch *s)
{
    const size_t sz = panel_sz(t, l->k);
    for (size_t p = p0; p < p1; p++) narrow_panel(l, t, m, rows, p, (const char *)l->w + (p + 1 < p1 ? p + 1 : p0) * sz, s);
}

INLINE void init_narrow(struct kern *k)
{
    init_pairs(k);
    init_quads(k);
}
#endif

/* steno: linear with products of bf16 and int8 over tiles. SPDX-License-Identifier: MIT
 *
 * A packed panel is two tiles wide: 16 words of k of 16 outputs are 16 rows of 64 bytes, PANEL words apart. Sixteen rows of rounded x
 * (lowp_rows.h) are a tile, too. Four tiles of sums, two by two, use two tiles of x and two of weights for every 16 words of k, so that
 * a loaded tile serves two products. Any number of rows uses tiles; few rows use lower tiles with the same steps. A row's sums are
 * independent of the other rows, and their order is that of the tile wherever the row is.
 *
 * If the number of words is not a multiple of 16, the last words of the weights are copied and padded with zeros, like rows of x. They
 * cannot be read in place, because other weights, or nothing, follow a panel. Rows that fill up the last tile are whatever scratch
 * contains, and their sums are not stored. */
#ifndef STENO_KERN_LOWP_TILES_H
#define STENO_KERN_LOWP_TILES_H
#include "kern/lowp_rows.h"

enum {
    STEP = 16,            /* words of k in a tile */
    TILE_AHEAD = 4 * AHEAD, /* prefetch distance within a panel: four steps */
    SUM_00 = 0, SUM_01, SUM_10, SUM_11, X_0, X_1, W_0, W_1 /* the tiles */
};

/* Rows of each tile, when the rows are shared evenly by the minimum number of tiles: 17 rows are 9 and 8. */
INLINE size_t tile_height(size_t rows)
{
    const size_t tiles = (rows + LOWP_TILE_ROWS - 1) / LOWP_TILE_ROWS;
    return (rows + tiles - 1) / tiles;
}

/* The tile configuration belongs to the thread, and any call of the system or the application may have changed it; the ABI does not
 * preserve it. While tiles are in use, switching the thread is more expensive. The configuration is therefore loaded for every chunk of
 * rows (in attention for every group) and released after it, at a cost that is negligible beside a chunk. first_w: the first tile of
 * weights; the tiles before it hold rows. */
INLINE void tiles_begin(size_t height, int first_w)
{
    struct tile_config c = { .palette = 1 };
    for (int i = 0; i < 8; i++) c.row_sz[i] = 64, c.rows[i] = i < first_w ? (uint8_t)height : STEP;
    tile_configure(&c);
}

#define DOT(sum, x, w)                                                                                                                  \
    do {                                                                                                                                \
        if (t == PK_I8_QUAD) tile_dot_quads(sum, x, w);                                                                                 \
        else tile_dot_pairs(sum, x, w);                                                                                                 \
    } while (0)

/* 16 words of k. high: there is a second tile of x. */
INLINE void tile_step(const uint32_t *x, size_t ld, size_t height, const uint32_t *w, size_t ld_w, enum packed_type t, const int high)
{
    tile_load(X_0, x, ld * 4);
    tile_load(W_0, w, ld_w * 4);
    DOT(SUM_00, X_0, W_0);
    tile_load(W_1, w + PANEL / 2, ld_w * 4);
    DOT(SUM_01, X_0, W_1);
    if (!high) return;
    tile_load(X_1, x + height * ld, ld * 4);
    DOT(SUM_10, X_1, W_0);
    DOT(SUM_11, X_1, W_1);
}
#undef DOT

INLINE void sums_load(const float *acc, size_t ld, size_t height, const int high)
{
    tile_load(SUM_00, acc, ld * 4);
    tile_load(SUM_01, acc + PANEL / 2, ld * 4);
    if (!high) return;
    tile_load(SUM_10, acc + height * ld, ld * 4);
    tile_load(SUM_11, acc + height * ld + PANEL / 2, ld * 4);
}

/* Initialise every row of sums with the same numbers: rows that are 0 bytes apart. */
INLINE void sums_begin(const float *start, enum packed_type t)
{
    if (t == PK_I8_QUAD) {
        sums_load(start, 0, 0, 1);
    } else {
        tile_zero(SUM_00);
        tile_zero(SUM_01);
        tile_zero(SUM_10);
        tile_zero(SUM_11);
    }
}

INLINE void sums_store(float *acc, size_t ld, size_t height, const int high)
{
    tile_store(acc, ld * 4, SUM_00);
    tile_store(acc + PANEL / 2, ld * 4, SUM_01);
    if (!high) return;
    tile_store(acc + height * ld, ld * 4, SUM_10);
    tile_store(acc + height * ld + PANEL / 2, ld * 4, SUM_11);
}

/* A panel's weights; last: its last words, if they do not fill a tile. */
struct tile_panel {
    const float *start;
    const uint32_t *w, *last;
    size_t words;
};

INLINE void last_words(uint32_t last[STEP * PANEL], const uint32_t *w, size_t words)
{
    const size_t left = words % STEP * PANEL;
    if (!left) return;
    memcpy(last, w + words * PANEL - left, left * sizeof *last);
    memset(last + left, 0, (STEP * PANEL - left) * sizeof *last);
}

/* acc[height or 2 height, PANEL] = x times a panel. ahead: a panel to prefetch to the second-level cache; may be NULL. */
INLINE void tile_sums(float *acc, size_t ld_acc, const uint32_t *x, size_t ld, size_t height, const struct tile_panel *p,
                      const char *ahead, enum packed_type t, const int high)
{
    size_t k = 0;
    sums_begin(p->start, t);
    for (; k + STEP <= p->words; k += STEP) {
        for (size_t i = 0; ahead && i < STEP * PANEL * 4; i += 64) __builtin_prefetch(ahead + k * PANEL * 4 + i, 0, 2);
        tile_step(x + k, ld, height, p->w + k * PANEL, PANEL, t, high);
    }
    if (k < p->words) tile_step(x + k, ld, height, p->last, PANEL, t, high);
    sums_store(acc, ld_acc, height, high);
}

INLINE void panel_by_tiles(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t height, size_t p, const char *next,
                           struct lowp_scratch *s)
{
    _Alignas(64) uint32_t last[STEP * PANEL];
    const size_t words = lowp_words(t, l->k), ld = lowp_ld(t, l->k);
    const char *panel = (const char *)l->w + p * panel_sz(t, l->k);
    const struct tile_panel of = { (const float *)(const void *)panel + PANEL, (const uint32_t *)(const void *)(panel + lowp_head_sz(t)),
                                   last, words };
    last_words(last, of.w, words);
    for (size_t r = 0; r < rows; r += 2 * height) {
        const size_t n = size_min(2 * height, rows - r);
        const char *ahead = rows <= 4 * height ? (const char *)of.w + TILE_AHEAD : r ? NULL : next;
        prefetch_outputs(l, m + r, n, p);
        if (n > height) tile_sums(s->acc, PANEL, s->x + r * ld, ld, height, &of, ahead, t, 1);
        else tile_sums(s->acc, PANEL, s->x + r * ld, ld, height, &of, ahead, t, 0);
        lowp_epilogue(l, t, m, r, n, p, s->acc, s);
    }
}

INLINE void panels_by_tiles(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p0, size_t p1, struct lowp_scratch *s)
{
    const size_t height = tile_height(rows), sz = panel_sz(t, l->k);
    tiles_begin(height, W_0);
    for (size_t p = p0; p < p1; p++) panel_by_tiles(l, t, m, rows, height, p, (const char *)l->w + (p + 1 < p1 ? p + 1 : p0) * sz, s);
    tile_release();
}
#endif

/* steno: linear with products of 8 bits by blocks, over vectors. SPDX-License-Identifier: MIT
 *
 * For decoders, whose few rows are bound by reading weights: a block of weights, 32 k of a panel, is read once for all rows of a tile. Their
 * sums of integers stay in registers for the block; then they are scaled and added to accumulators of f32, which wait in scratch: a load
 * and a store beside eight products. So the tile knows no k beyond the block, and many rows take the same steps as one.
 *
 * Beside the primitives of vec.h, vi_load and vi_set1 a file has, before it includes this (after narrow.h, where it has both):
 *   BLOCK_ROWS                       most rows of a tile
 *   vi_nibbles(w, high)              the low or the high four bits of each byte
 *   quad_begin(t, start)             what integers of a block begin with
 *   quad_dot(t, acc, w, x)           and four k more: w as packed (DT_Q4_QUAD: nibbles), x signed bytes, the same in all lanes
 *   quad_end(t, acc, start)          the sums, as f32
 *   row_to_blocks(to, t, x, k)       blocks of x as narrow_block makes them
 * start: minus the offset of the weights times the sum of the block's x. */
#ifndef STENO_KERN_NARROW_BLOCKS_H
#define STENO_KERN_NARROW_BLOCKS_H
#include "kern/narrow_rows.h"

enum {
    BLOCK_W = 2,          /* vectors of a tile */
    BLOCK_AHEAD = AHEAD,  /* bytes that prefetch runs ahead */
    ONE_ROW = FEW_PANELS(1) /* panels that one row reads side by side */
};

/* ---- the tile -------------------------------------------------------------------------------------------------------------------------
 * acc[rows, BLOCK_W VF_N] += one block of x, rows ld words apart, times one of w; both are where the tile's first output is. */
INLINE void block_tile(float *acc, enum dtype t, const uint32_t *x, size_t ld, const uint16_t *d, const uint8_t *w, const char *ahead,
                       const int rows)
{
    vi a[BLOCK_ROWS][BLOCK_W];
    const uint32_t *const x0 = x, *const x3 = x + 3 * ld, *const x6 = x + 6 * ld, *const x9 = x + 9 * ld;
#define X(r) ((r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9) + (size_t)(r % 3) * ld)
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int v = 0; v < BLOCK_W; v++) a[r][v] = quad_begin(t, X(r)[BLOCK_START]);
    const int halves = t == DT_Q4_QUAD ? 2 : 1;
    for (int k = 0; k < QBLOCK / 4; k += halves, w += PANEL * 4, ahead += PANEL * 4) {
        __builtin_prefetch(ahead);
        if (BLOCK_W * VF_N == PANEL) __builtin_prefetch(ahead + 64);
        UNROLL
        for (int high = 0; high < halves; high++) {
            vi b[BLOCK_W];
            UNROLL
            for (int v = 0; v < BLOCK_W; v++) {
                b[v] = vi_load(w + v * VF_N * 4);
                if (halves == 2) b[v] = vi_nibbles(b[v], high);
            }
            UNROLL
            for (int r = 0; r < rows; r++) {
                const vi q = vi_set1(X(r)[k + high]);
                UNROLL
                for (int v = 0; v < BLOCK_W; v++) a[r][v] = quad_dot(t, a[r][v], b[v], q);
            }
        }
    }
    UNROLL
    for (int v = 0; v < BLOCK_W; v++) {
        const vf scale_w = vf_load_f16(d + v * VF_N);
        UNROLL
        for (int r = 0; r < rows; r++) {
            float *to = acc + r * PANEL + v * VF_N;
            const uint32_t bits = X(r)[BLOCK_SCALE];
            const vf scale = vf_mul(scale_w, vf_set1(load_f32(&bits)));
            vf_store(to, vf_fma(quad_end(t, a[r][v], X(r)[BLOCK_START]), scale, vf_load(to)));
        }
    }
#undef X
}

/* acc[streams][rows][PANEL] = x times panels that lie one behind the other from w on. jump: from a panel's end to where its stream goes on. */
INLINE void block_panels(float *acc, enum dtype t, const uint32_t *x, size_t ld, const char *w, size_t blocks, size_t jump, const int rows,
                         const int streams)
{
    const size_t sz = quad_block_sz(t), panel = blocks * sz;
    for (size_t i = 0; i < (size_t)(streams * rows) * PANEL; i += VF_N) vf_store(acc + i, vf_zero());
    for (size_t b = 0; b < blocks; b++, w += sz, x += BLOCK_WORDS) {
        const size_t ahead = (b + 1) * sz + BLOCK_AHEAD > panel ? BLOCK_AHEAD + jump : BLOCK_AHEAD;
        UNROLL
        for (int g = 0; g < streams; g++) {
            const char *at = w + (size_t)g * panel;
            __builtin_prefetch(at + ahead);
            for (size_t c = 0; c < PANEL; c += BLOCK_W * VF_N)
                block_tile(acc + (size_t)(g * rows) * PANEL + c, t, x, ld, (const uint16_t *)(const void *)at + c,
                           (const uint8_t *)at + 2 * PANEL + 4 * c, at + ahead + 2 * PANEL + 4 * c, rows);
        }
    }
}

typedef void block_panel_fn(float *acc, const uint32_t *x, size_t ld, const char *w, size_t blocks, size_t jump);
#define TILE(rows, name, t)                                                                                                            \
    static void blocks_##name##_##rows(float *acc, const uint32_t *x, size_t ld, const char *w, size_t blocks, size_t jump)            \
    {                                                                                                                                  \
        block_panels(acc, t, x, ld, w, blocks, jump, rows, 1);                                                                         \
    }
#define TILES(name, t)                                                                                                                 \
    static void blocks_##name##_streams(float *acc, const uint32_t *x, size_t ld, const char *w, size_t blocks, size_t jump)           \
    {                                                                                                                                  \
        block_panels(acc, t, x, ld, w, blocks, jump, 1, ONE_ROW);                                                                      \
    }                                                                                                                                  \
    TILE(1, name, t) TILE(2, name, t) TILE(3, name, t) TILE(4, name, t) TILE(5, name, t) TILE(6, name, t)
TILES(q8, DT_Q8_QUAD)
TILES(q4, DT_Q4_QUAD)
#if BLOCK_ROWS == 12
#define TILES_12(name, t) TILE(7, name, t) TILE(8, name, t) TILE(9, name, t) TILE(10, name, t) TILE(11, name, t) TILE(12, name, t)
TILES_12(q8, DT_Q8_QUAD)
TILES_12(q4, DT_Q4_QUAD)
#define TILES_OF(name)                                                                                                                 \
    { blocks_##name##_streams, blocks_##name##_1, blocks_##name##_2, blocks_##name##_3, blocks_##name##_4, blocks_##name##_5,          \
      blocks_##name##_6, blocks_##name##_7, blocks_##name##_8, blocks_##name##_9, blocks_##name##_10, blocks_##name##_11,              \
      blocks_##name##_12 }
#undef TILES_12
#else
#define TILES_OF(name)                                                                                                                 \
    { blocks_##name##_streams, blocks_##name##_1, blocks_##name##_2, blocks_##name##_3, blocks_##name##_4, blocks_##name##_5,          \
      blocks_##name##_6 }
#endif
/* By rows; [0]: one row, ONE_ROW panels. */
static block_panel_fn *const blocks_q8[BLOCK_ROWS + 1] = TILES_OF(q8);
static block_panel_fn *const blocks_q4[BLOCK_ROWS + 1] = TILES_OF(q4);
#undef TILES_OF
#undef TILES
#undef TILE

/* ---- panels --------------------------------------------------------------------------------------------------------------------- */
/* All rows [m, m + rows), which are in scratch, of panel p. last: it is the last one. Of many rows the first tile brings the next panel to
 * the second-level cache, the others find theirs there. */
INLINE void block_panel(const struct linear *l, enum dtype t, size_t m, size_t rows, size_t p, size_t ld, int last, struct narrow_scratch *s)
{
    const size_t tiles = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS, height = (rows + tiles - 1) / tiles, sz = panel_sz(t, l->k);
    for (size_t r = 0; r < rows; r += height) {
        const size_t n = size_min(height, rows - r);
        (void)last;
        prefetch_outputs(l, m + r, n, p);
        (t == DT_Q8_QUAD ? blocks_q8 : blocks_q4)[n](s->acc, s->x + r * ld, ld, (const char *)l->w + p * sz, quad_blocks(l->k), 0);
        finish(l, m + r, n, p, s->acc);
    }
}

INLINE void block_linear(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, struct narrow_scratch *s, enum dtype t)
{
    const size_t blocks = quad_blocks(l->k), sz = panel_sz(t, l->k), ld = ((blocks * BLOCK_WORDS + 15) & ~(size_t)15) + 16;
    size_t step = size_min(GEMM_ROWS, NARROW_WORDS / ld);
    if (step > BLOCK_ROWS) step -= step % BLOCK_ROWS;
    for (size_t m = m0; m < m1; m += step) {
        const size_t rows = size_min(step, m1 - m);
        size_t p = p0;
        for (size_t r = 0; r < rows; r++) row_to_blocks(s->x + r * ld, t, l->x + (m + r) * l->ld_x, l->k);
        for (; rows == 1 && p + ONE_ROW <= p1; p += ONE_ROW) {
            (t == DT_Q8_QUAD ? blocks_q8 : blocks_q4)[0](s->acc, s->x, ld, (const char *)l->w + p * sz, blocks, (ONE_ROW - 1) * sz);
            for (size_t g = 0; g < ONE_ROW; g++) finish(l, m, 1, p + g, s->acc + g * PANEL);
        }
        for (; p < p1; p++) block_panel(l, t, m, rows, p, ld, p + 1 == p1, s);
    }
}

static void linear_q8_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    block_linear(l, m0, m1, p0, p1, scratch, DT_Q8_QUAD);
}

static void linear_q4_quad(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)
{
    block_linear(l, m0, m1, p0, p1, scratch, DT_Q4_QUAD);
}

INLINE void init_blocks(struct kern *k)
{
    k->linear[DT_Q8_QUAD] = linear_q8_quad;
    k->linear[DT_Q4_QUAD] = linear_q4_quad;
}
#endif

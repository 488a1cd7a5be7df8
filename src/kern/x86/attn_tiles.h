/* steno: attention with products of bf16 over tiles. SPDX-License-Identifier: MIT
 *
 * Keys and values of KV_BF16 are stored in the layout of tiles (lowp_tiles.h): a block of keys is a panel of pairs of d, and a block of
 * values has 16 pairs of positions, those of one tile, by d. The steps are therefore those of linear: two tiles of rows by two of keys, or
 * of d.
 *
 * Any number of rows uses tiles. A step processes all positions of a block. If a row's keys end within one, weights past the end are
 * zeros. The values are then a copy with zeros there, too, because the stored ones may be infinite. Rows with different keys stay together
 * for the blocks that all of them attend to. Then each continues alone, as all rows of a tile at once. */
#ifndef STENO_KERN_ATTN_TILES_H
#define STENO_KERN_ATTN_TILES_H
#include "kern/attn_pairs.h"
#include "kern/x86/lowp_tiles.h"

static void queries_tiles(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows)
{
    tiles_begin(tile_height(rows), W_0);
    queries_bf16(s, a, r0, rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = a->d_head / 2; i % STEP; i++) s->q[r * Q_LD + i] = 0;
}

static void scores_tiles(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0)
{
    _Alignas(64) uint32_t last[STEP * PANEL];
    const size_t words = b->d_head / 2, height = tile_height(b->rows);
    (void)a, (void)r0;
    for (size_t i = 0; i * KV_BLOCK < b->max; i++) {
        const struct tile_panel of = { NULL, key_words(b, i), last, words };
        last_words(last, of.w, words);
        for (size_t r = 0; r < b->rows; r += 2 * height) {
            float *score = s->score + r * SCORE_LD + i * KV_BLOCK;
            const uint32_t *q = s->q + r * Q_LD;
            if (b->rows - r > height) tile_sums(score, SCORE_LD, q, Q_LD, height, &of, NULL, PK_BF16_PAIR, 1);
            else tile_sums(score, SCORE_LD, q, Q_LD, height, &of, NULL, PK_BF16_PAIR, 0);
        }
    }
}

/* After n, zeros fill the last block. */
static vf exps_tiles(struct attn_scratch *s, size_t r, float unit, float max, size_t n)
{
    const vf sum = exps_bf16(s, r, unit, max, n);
    for (size_t i = (n + 2 * VF_N - 1) / (2 * VF_N) * VF_N; i % STEP; i++) s->weight[r * WEIGHT_LD + i] = 0;
    return sum;
}

/* The first n positions of a block of values, columns [d, d + PANEL), as two tiles, ld words between pairs: the stored ones, or a copy
 * padded with zeros. */
INLINE const uint32_t *value_tiles(uint32_t copy[STEP * PANEL], size_t *ld, const struct key_block *b, size_t block, size_t n, size_t d)
{
    const uint32_t *v = value_words(b, block * STEP) + d;
    const size_t columns = size_min(PANEL, b->d_head - d);
    *ld = b->d_head;
    if (n == KV_BLOCK && columns == PANEL) return v;
    *ld = PANEL;
    memset(copy, 0, STEP * PANEL * sizeof *copy);
    for (size_t i = 0; i < (n + 1) / 2; i++) memcpy(copy + i * PANEL, v + i * b->d_head, columns * sizeof *copy);
    for (size_t i = 0; i < PANEL && n % 2; i++) copy[n / 2 * PANEL + i] &= 0xffffu;
    return copy;
}

/* out += weights times the values of keys [k0, k1), k0 the first of a block, for the rows of one tile or of two (high), ld_out and ld_w
 * apart. */
INLINE void weigh_keys(float *out, size_t ld_out, const uint32_t *w, size_t ld_w, size_t height, const struct key_block *b, size_t k0,
                       size_t k1, const int high)
{
    _Alignas(64) uint32_t copy[STEP * PANEL];
    _Alignas(64) float last[2 * LOWP_TILE_ROWS * PANEL]; /* used if a head has fewer columns than two tiles: a partial's sums follow it */
    const size_t rows = ld_out ? (high ? 2 : 1) * height : 1;
    for (size_t d = 0; d < b->d_head && k0 < k1; d += PANEL) {
        const size_t columns = size_min(PANEL, b->d_head - d), ld_sums = columns == PANEL ? ld_out : ld_out ? PANEL : 0;
        float *const sums = columns == PANEL ? out + d : last;
        for (size_t r = 0; r < rows && sums == last; r++) {
            memset(last + r * PANEL, 0, PANEL * sizeof *last);
            memcpy(last + r * PANEL, out + r * ld_out + d, columns * sizeof *last);
        }
        sums_load(sums, ld_sums, height, high);
        for (size_t k = k0; k < k1; k += KV_BLOCK) {
            size_t ld;
            const uint32_t *v = value_tiles(copy, &ld, b, k / KV_BLOCK, size_min(KV_BLOCK, k1 - k), d);
            tile_step(w + k / 2, ld_w, height, v, ld, PK_BF16_PAIR, high);
        }
        sums_store(sums, ld_sums, height, high);
        for (size_t r = 0; r < rows && sums == last; r++) memcpy(out + r * ld_out + d, last + r * PANEL, columns * sizeof *last);
    }
}

static void weigh_tiles(struct attn_scratch *s, const struct key_block *b)
{
    const size_t height = tile_height(b->rows);
    for (size_t r = 0; r < b->rows; r++) clear_values(b->out + r * OUT_LD, 0, b->d_head);
    for (size_t r = 0; r < b->rows; r += 2 * height) {
        const size_t rows = size_min(2 * height, b->rows - r);
        float *out = b->out + r * OUT_LD;
        const uint32_t *w = s->weight + r * WEIGHT_LD;
        size_t min = ATTN_KEYS, max = 0;
        for (size_t i = 0; i < rows; i++) {
            min = size_min(min, b->seen[r + i]);
            if (b->seen[r + i] > max) max = b->seen[r + i];
        }
        const size_t common = min == max ? max : min / KV_BLOCK * KV_BLOCK;
        if (rows > height) weigh_keys(out, OUT_LD, w, WEIGHT_LD, height, b, 0, common, 1);
        else weigh_keys(out, OUT_LD, w, WEIGHT_LD, height, b, 0, common, 0);
        for (size_t i = 0; i < rows; i++) weigh_keys(out + i * OUT_LD, 0, w + i * WEIGHT_LD, 0, height, b, common, b->seen[r + i], 0);
    }
}

static const struct attn_body body_tiles = { queries_tiles, scores_tiles, exps_tiles, weigh_tiles };
static void attn_tiles(const struct attn *a, void *scratch)
{
    attn_any(a, scratch, &body_tiles);
    tile_release();
}
static void attn_partial_tiles(const struct attn *a, size_t b, float *partial, size_t ld_partial, void *scratch)
{
    attn_partial_any(a, b, partial, ld_partial, scratch, &body_tiles);
    tile_release();
}
static void attn_weights_tiles(const struct attn *a, void *scratch)
{
    attn_weights_any(a, scratch, &body_tiles);
    tile_release();
}

static void init_attn_tiles(struct kern *k)
{
    k->attn_weights[KV_BF16] = attn_weights_tiles;
    k->attn[KV_BF16] = attn_tiles;
    k->attn_partial[KV_BF16] = attn_partial_tiles;
}
#endif

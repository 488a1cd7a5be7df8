/* steno: low-precision products by matrix instructions of ARM. SPDX-License-Identifier: MIT
 *
 * The register tile and its row layout, for instructions that multiply two rows by two outputs, two words of k of each: a 2 x 2 block of
 * sums per register. A file defines dot_2x2(acc, x, w), where x is [2 rows][2 words], w is [2 outputs][2 words] and acc is [2 rows][2
 * outputs], before it includes this header, and includes lowp.h after it.
 *
 * The packed weights need no change: the words of two k, interleaved, are pairs of outputs. Rows are stored in scratch in pairs with their
 * words interleaved in the same way, so that one load gives an operand. A tile of 12 rows by 8 outputs has 24 accumulators, four registers
 * of weights and one of x. It spends four instructions on interleaving, where 6 rows by 16 would spend eight. With an odd number of rows,
 * the second half of the last operand is whatever scratch contains, and the resulting sums are not stored. */
#ifndef STENO_KERN_LOWP_MATRIX_H
#define STENO_KERN_LOWP_MATRIX_H
#include "kern/arm/vec128.h"

#if !ROWS_BY_TWOS || TILE_ROWS != 12
#error "lowp_matrix.h is a tile of 12 rows that lie by twos: set TILE_ROWS to 12 and ROWS_BY_TWOS to 1"
#endif
enum { PART_W = 8 };
#include "kern/epilogue.h"

/* One step of the tile: two words of k. next: 1 if there is a second word; otherwise it is zeros. */
PRIM void matrix_step(float32x4_t a[TILE_ROWS / 2][PART_W / 2], const uint32_t *x, size_t ld, const uint32_t *w, int next,
                      const int pairs)
{
    uint32x4_t b[PART_W / 2];
    UNROLL
    for (int c = 0; c < PART_W / 4; c++) {
        const uint32x4_t first = vld1q_u32(w + 4 * c), second = next ? vld1q_u32(w + PANEL + 4 * c) : vdupq_n_u32(0);
        b[2 * c] = vzip1q_u32(first, second), b[2 * c + 1] = vzip2q_u32(first, second);
    }
    UNROLL
    for (int r = 0; r < pairs; r++) {
        const uint32x4_t v = vld1q_u32(x + (size_t)(2 * r) * ld);
        UNROLL
        for (int c = 0; c < PART_W / 2; c++) a[r][c] = dot_2x2(a[r][c], v, b[c]);
    }
}

/* PART_W outputs of the tile. ahead: prefetch two lines per step. */
PRIM void matrix_part(float *acc, const uint32_t *x, size_t ld, const float *start, const uint32_t *w, size_t words, const char *ahead,
                      enum packed_type t, const int rows)
{
    const int pairs = (rows + 1) / 2;
    float32x4_t a[TILE_ROWS / 2][PART_W / 2];
    UNROLL
    for (int c = 0; c < PART_W / 2; c++) {
        const float32x2_t two = t == PK_I8_QUAD ? vld1_f32(start + 2 * c) : vdup_n_f32(0);
        UNROLL
        for (int r = 0; r < pairs; r++) a[r][c] = vcombine_f32(two, two);
    }
    for (; words >= 2; words -= 2, x += 4, w += 2 * PANEL, ahead += 4 * 64) {
        __builtin_prefetch(ahead, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
        matrix_step(a, x, ld, w, 1, pairs);
    }
    if (words) matrix_step(a, x, ld, w, 0, pairs);
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int c = 0; c < PART_W / 4; c++) {
            const float32x4_t left = a[r / 2][2 * c], right = a[r / 2][2 * c + 1];
            vst1q_f32(acc + r * PANEL + 4 * c, r % 2 ? high_pairs(left, right) : low_pairs(left, right));
        }
}

/* The register tile of lowp.h: TILE_W outputs of a panel, which is one run. */
PRIM void lowp_tile(void *acc, size_t ld_acc, const uint32_t *x, size_t ld, const int32_t *start, size_t ld_start,
                    const struct weight_words *w, enum packed_type t, const int rows)
{
    (void)ld_acc, (void)ld_start; /* PANEL, and 0: all rows begin with the same values */
    for (size_t c = 0; c < TILE_W; c += PART_W)
        matrix_part((float *)acc + c, x, ld, start ? (const float *)(const void *)start + c : NULL, *w->run + c, w->n, w->ahead + c * 16,
                    t, rows);
}

/* ---- rows: pairs of words, each followed by room for the pair of the other row ---------------------------------------------------- */
enum { SPREAD = 64 }; /* words at a time */

/* words[n] is written, too. */
PRIM void spread(uint32_t *to, uint32_t words[SPREAD + 1], size_t n)
{
    words[n] = 0;
    for (size_t i = 0; i < n; i += 2) vst1_u32(to + 2 * i, vld1_u32(words + i));
}

PRIM void row_to_pairs(uint32_t *to, const float *x, size_t k)
{
    uint32_t words[SPREAD + 1];
    for (size_t i = 0; i < k; i += 2 * SPREAD) {
        const size_t n = size_min(2 * SPREAD, k - i);
        round_pairs(words, x + i, n);
        spread(to + i, words, lowp_words(PK_BF16_PAIR, n));
    }
}

PRIM float row_to_quads(uint32_t *to, const float *x, size_t k)
{
    uint32_t words[SPREAD + 1];
    const struct int_scale s = i8_scale_of(max_abs_bits(x, k));
    for (size_t i = 0; i < k; i += 4 * SPREAD) {
        const size_t n = size_min(4 * SPREAD, k - i);
        quantize_bytes((uint8_t *)words, x + i, n, s.inverse);
        spread(to + i / 2, words, lowp_words(PK_I8_QUAD, n));
    }
    return s.scale;
}
#endif

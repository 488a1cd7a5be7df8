/* steno: linear with products of 16 and 8 bits over vectors. SPDX-License-Identifier: MIT
 *
 * A word of a rounded row (lowp_rows.h) holds two bf16, two int16 or four int8. Broadcast against the words of a panel, it is one step of a
 * register tile of TILE_ROWS rows by two vectors. The tile walks all of k with its accumulators in registers. Two vectors of weights arrive
 * from the second-level cache in the time of 2 TILE_ROWS products, so k needs no blocking. Few rows use lower tiles with the same steps, so
 * they give the same bits. For int16 a tile walks one group of k after another; after each group, its integers are scaled and added.
 *
 * In addition to the primitives of lowp_rows.h, a file defines vi_load, vi_set1 (one word in every lane), and products of an accumulator,
 * words of x and words of weights: vf_dot_pairs of bf16, vs_dot_ints of int16, vs_dot_quads of int8. If QUAD_STEPS is more than 1, it also
 * defines vi_quads(words of a panel, step), the weights for each word of x. If ROWS_BY_TWOS is 1, it defines its own lowp_tile. A file with
 * products of only one type uses that type's linear alone; nothing is compiled for the other. */
#ifndef STENO_KERN_LOWP_H
#define STENO_KERN_LOWP_H
#include "kern/lowp_rows.h"

#if !ROWS_BY_TWOS
#if QUAD_STEPS == 1
INLINE vi vi_quads(const void *w, int step) { return (void)step, vi_load(w); }
#endif

INLINE vs vs_dot(vs acc, enum packed_type t, vi x, vi w) { return t == PK_I8_QUAD ? vs_dot_quads(acc, x, w) : vs_dot_ints(acc, x, w); }

/* ---- the register tile: acc[rows, TILE_W] = start + words of x times words of w ---------------------------------------------------------
 * acc and start are f32 for pairs of bf16, else int32. start: initial accumulators, rows of ld_start; NULL: zeros. Of the two accumulator
 * arrays declared here, the compiler removes the one that t does not use. */
INLINE void lowp_tile(void *acc, size_t ld_acc, const uint32_t *x, size_t ld, const int32_t *start, size_t ld_start,
                      const struct weight_words *w, enum packed_type t, const int rows)
{
    const int floats = t == PK_BF16_PAIR, quads = t == PK_I8_QUAD, steps = quads ? QUAD_STEPS : 1;
    vf f[TILE_ROWS][2];
    vs s[TILE_ROWS][2];
    UNROLL
    for (int r = 0; r < rows; r++) {
        f[r][0] = f[r][1] = vf_zero();
        s[r][0] = start ? vs_load(start + (size_t)r * ld_start) : vs_zero();
        s[r][1] = start ? vs_load(start + (size_t)r * ld_start + VF_N) : vs_zero();
    }
    const uint32_t *x0 = x, *x3 = x + 3 * ld, *x6 = x + 6 * ld, *x9 = x + 9 * ld;
    const char *ahead = w->ahead;
    const size_t ld_w = w->ld, run_len = w->run_len;
    const uint32_t *const *run = w->run;
    for (size_t left = w->n; left; run++) {
        const size_t n = size_min(left, run_len);
        const uint32_t *at = *run;
        for (size_t k = 0; k < n; k++, at += ld_w, ahead += PANEL * 4) {
            __builtin_prefetch(ahead, 0, 2);
            __builtin_prefetch(ahead + 64, 0, 2);
            UNROLL
            for (int step = 0; step < steps; step++) {
                const vi w0 = quads ? vi_quads(at, step) : vi_load(at), w1 = quads ? vi_quads(at + VF_N, step) : vi_load(at + VF_N);
                UNROLL
                for (int r = 0; r < rows; r++) {
                    const uint32_t *from = r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9;
                    const vi v = vi_set1(from[(size_t)(r % 3) * ld]);
                    if (floats) f[r][0] = vf_dot_pairs(f[r][0], v, w0), f[r][1] = vf_dot_pairs(f[r][1], v, w1);
                    else s[r][0] = vs_dot(s[r][0], t, v, w0), s[r][1] = vs_dot(s[r][1], t, v, w1);
                }
                x0++, x3++, x6++, x9++;
            }
        }
        left -= n;
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        float *to = (float *)acc + (size_t)r * ld_acc;
        if (floats) vf_store(to, f[r][0]), vf_store(to + VF_N, f[r][1]);
        else vs_store((int32_t *)(void *)to, s[r][0]), vs_store((int32_t *)(void *)to + VF_N, s[r][1]);
    }
}
#endif

typedef void lowp_tile_fn(void *acc, size_t ld_acc, const uint32_t *x, size_t ld, const int32_t *start, size_t ld_start,
                          const struct weight_words *w);
#define TILE(rows, name, t)                                                                                                            \
    static void tile_##name##_##rows(void *acc, size_t ld_acc, const uint32_t *x, size_t ld, const int32_t *start, size_t ld_start,    \
                                     const struct weight_words *w)                                                                     \
    {                                                                                                                                  \
        lowp_tile(acc, ld_acc, x, ld, start, ld_start, w, t, rows);                                                                  \
    }
#define TILES_6(name, t) TILE(1, name, t) TILE(2, name, t) TILE(3, name, t) TILE(4, name, t) TILE(5, name, t) TILE(6, name, t)
TILES_6(pair, PK_BF16_PAIR)
TILES_6(ints, PK_I16_PAIR)
TILES_6(quad, PK_I8_QUAD)
#if TILE_ROWS == 12
#define TILES_12(name, t) TILE(7, name, t) TILE(8, name, t) TILE(9, name, t) TILE(10, name, t) TILE(11, name, t) TILE(12, name, t)
TILES_12(pair, PK_BF16_PAIR)
TILES_12(ints, PK_I16_PAIR)
TILES_12(quad, PK_I8_QUAD)
#define TILES_OF(name)                                                                                                                 \
    { NULL, tile_##name##_1, tile_##name##_2, tile_##name##_3, tile_##name##_4, tile_##name##_5, tile_##name##_6, tile_##name##_7,     \
      tile_##name##_8, tile_##name##_9, tile_##name##_10, tile_##name##_11, tile_##name##_12 }
#undef TILES_12
#else
#define TILES_OF(name)                                                                                                                 \
    { NULL, tile_##name##_1, tile_##name##_2, tile_##name##_3, tile_##name##_4, tile_##name##_5, tile_##name##_6 }
#endif
static lowp_tile_fn *const tiles_pair[TILE_ROWS + 1] = TILES_OF(pair);
static lowp_tile_fn *const tiles_ints[TILE_ROWS + 1] = TILES_OF(ints);
static lowp_tile_fn *const tiles_quad[TILE_ROWS + 1] = TILES_OF(quad);
#undef TILES_OF
#undef TILES_6
#undef TILE

/* acc[rows, PANEL] (rows of ld_acc) = start (the same for all rows; NULL: zeros) + words of x (rows of ld) times words of w. */
INLINE void panel_sums(void *acc, size_t ld_acc, enum packed_type t, const uint32_t *x, size_t ld, const int32_t *start, const uint32_t *w,
                       size_t words, size_t rows, const char *ahead)
{
    lowp_tile_fn *const sums = (t == PK_I8_QUAD ? tiles_quad : t == PK_I16_PAIR ? tiles_ints : tiles_pair)[rows];
    for (size_t c = 0; c < PANEL; c += TILE_W) {
        const uint32_t *from = w + c;
        const struct weight_words of = { &from, PANEL, words, words, ahead };
        sums((float *)acc + c, ld_acc, x, ld, start ? start + c : NULL, 0, &of);
    }
}

/* ---- int16, group by group ------------------------------------------------------------------------------------------------------
 * acc (+)= the integers of a group times the group's scale in each row of x, rows of ld. */
INLINE void add_ints(float *acc, const int32_t *ints, const uint32_t *scale_x, size_t ld, size_t rows, int fresh)
{
    for (size_t r = 0; r < rows; r++, acc += PANEL, ints += PANEL) {
        const vf scale = vf_set1(load_f32(scale_x + r * ld));
        UNROLL
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(acc + c, vf_fma_once(vf_of_ints(vs_load(ints + c)), scale, fresh ? vf_zero() : vf_load(acc + c)));
    }
}

/* Sum k in groups of `group`. x: the scales, then the words. */
INLINE void int_groups(float *acc, int32_t *ints, const uint32_t *x, size_t ld, const uint32_t *w, size_t k, size_t group, size_t rows,
                       const char *ahead)
{
    const size_t words = lowp_words(PK_I16_PAIR, k), head = scales_room((k + group - 1) / group);
    for (size_t g = 0, at = 0; at < words; g++, at += group / 2) {
        panel_sums(ints, PANEL, PK_I16_PAIR, x + head + at, ld, NULL, w + at * PANEL, size_min(words - at, group / 2), rows,
                   ahead + at * PANEL * 4);
        add_ints(acc, ints, x + g, ld, rows, g == 0);
    }
}

/* ---- panels --------------------------------------------------------------------------------------------------------------------- */
INLINE void lowp_panel(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p, const char *next,
                       struct lowp_scratch *s)
{
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS; /* 13 rows become 7 and 6, in pairs 8 and 5, not 12 and 1 */
    const size_t height = ROWS_BY_TWOS ? ((rows + tiles - 1) / tiles + 1) & ~(size_t)1 : (rows + tiles - 1) / tiles;
    const size_t ld = lowp_ld(t, l->k);
    const char *panel = (const char *)l->w + p * panel_sz(t, l->k);
    const int32_t *start = t == PK_I8_QUAD && !QUADS_SIGNED ? (const int32_t *)(const void *)panel + PANEL : NULL;
    const uint32_t *w = (const uint32_t *)(const void *)(panel + lowp_head_sz(t));
    for (size_t r = 0; r < rows; r += height) {
        const size_t n = size_min(height, rows - r);
        const char *ahead = tiles <= 2 ? (const char *)w + AHEAD : r ? (const char *)w : next;
        prefetch_outputs(l, m + r, n, p);
        const uint32_t *x = lowp_row(s->x, r, ld);
        if (t == PK_I16_PAIR) int_groups(s->acc, s->ints, x, ld, w, l->k, I16_GROUP, n, ahead);
        else panel_sums(s->acc, PANEL, t, x, ld, start, w, lowp_words(t, l->k), n, ahead);
        lowp_epilogue(l, t, m, r, n, p, s->acc, s);
    }
}

INLINE void lowp_panels(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p0, size_t p1, struct lowp_scratch *s)
{
    const size_t sz = panel_sz(t, l->k);
    for (size_t p = p0; p < p1; p++) lowp_panel(l, t, m, rows, p, (const char *)l->w + (p + 1 < p1 ? p + 1 : p0) * sz, s);
}

INLINE void init_lowp(struct kern *k)
{
    init_pairs(k);
    init_ints(k);
    init_quads(k);
}
#endif

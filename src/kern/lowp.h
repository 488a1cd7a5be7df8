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
 * acc and start are f32 for pairs of bf16, else int32. start: initial accumulators, rows of ld_start; NULL: zeros. Of the two arrays of
 * accumulators, the compiler removes the one that t does not use. Lines of outputs are prefetched row by row: all at once they would delay
 * reads of weights and of x. */
struct tile_x { const uint32_t *row[4]; /* rows 0, 3, 6 and 9: then few registers are enough */ };

/* Words at a time, between which `per` rows of outputs are prefetched. */
enum { TILE_WORDS = 32 };
struct tile_lines { size_t m, end, per; };

INLINE struct tile_lines tile_lines_of(const struct weight_words *w, int rows)
{
    return (struct tile_lines){ w->m, w->l ? w->m + (size_t)rows : 0, w->l ? (size_t)rows * TILE_WORDS / w->n + 1 : 0 };
}

INLINE void tile_prefetch(struct tile_lines *t, const struct weight_words *w)
{
    for (const size_t end = size_min(t->m + t->per, t->end); t->m < end; t->m++) prefetch_row(w->l, t->m, w->p);
}

/* n words: those of w begin at `at`. */
INLINE void tile_words(vf f[TILE_ROWS][2], vs s[TILE_ROWS][2], struct tile_x *x, size_t ld, const uint32_t *at, size_t ld_w,
                       const char *ahead, size_t n, enum packed_type t, const int rows)
{
    const int floats = t == PK_BF16_PAIR, quads = t == PK_I8_QUAD, steps = quads ? QUAD_STEPS : 1;
    const uint32_t *x0 = x->row[0], *x3 = x->row[1], *x6 = x->row[2], *x9 = x->row[3];
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
    *x = (struct tile_x){ { x0, x3, x6, x9 } };
}

INLINE void lowp_tile(void *acc, size_t ld_acc, const uint32_t *x, size_t ld, const int32_t *start, size_t ld_start,
                      const struct weight_words *w, enum packed_type t, const int rows)
{
    vf f[TILE_ROWS][2];
    vs s[TILE_ROWS][2];
    UNROLL
    for (int r = 0; r < rows; r++) {
        f[r][0] = f[r][1] = vf_zero();
        s[r][0] = start ? vs_load(start + (size_t)r * ld_start) : vs_zero();
        s[r][1] = start ? vs_load(start + (size_t)r * ld_start + VF_N) : vs_zero();
    }
    struct tile_x at_x = { { x, x + 3 * ld, x + 6 * ld, x + 9 * ld } };
    const char *ahead = w->ahead;
    const size_t step = w->l ? TILE_WORDS : w->run_len;
    struct tile_lines lines = tile_lines_of(w, rows);
    const uint32_t *const *run = w->run, *at = *run;
    for (size_t left = w->n, n; left; left -= n, ahead += n * PANEL * 4) {
        n = size_min(left, step);
        tile_prefetch(&lines, w);
        tile_words(f, s, &at_x, ld, at, w->ld, ahead, n, t, rows);
        if (w->l) at += n * w->ld;
        else if (left > n) at = *++run;
    }
    if (t != PK_BF16_PAIR && w->scale) {
        const vf s0 = vf_load(w->scale), s1 = vf_load(w->scale + VF_N);
        UNROLL
        for (int r = 0; r < rows; r++) {
            float *to = (float *)acc + (size_t)r * ld_acc;
            vf_store(to, vf_mul(vf_of_sums(s[r][0]), s0)), vf_store(to + VF_N, vf_mul(vf_of_sums(s[r][1]), s1));
        }
        return;
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        float *to = (float *)acc + (size_t)r * ld_acc;
        if (t == PK_BF16_PAIR) vf_store(to, f[r][0]), vf_store(to + VF_N, f[r][1]);
        else vs_store((int32_t *)(void *)to, s[r][0]), vs_store((int32_t *)(void *)to + VF_N, s[r][1]);
    }
}

/* ---- int16, group by group: acc[rows, TILE_W], rows of PANEL, = the integers of each group times the group's scale in each row of x, one
 * group after the other. A row of x is the scales, then at `head` the words. */
struct int_groups { const uint32_t *x; size_t ld, head, group; };

INLINE void ints_tile(float *acc, const struct int_groups *g, const struct weight_words *w, const int rows)
{
    const uint32_t *x = g->x + g->head, *scale = g->x, *at = *w->run;
    const size_t ld = g->ld, step = w->l ? TILE_WORDS : g->group;
    struct tile_lines lines = tile_lines_of(w, rows);
    struct tile_x at_x = { { x, x + 3 * ld, x + 6 * ld, x + 9 * ld } };
    const char *ahead = w->ahead;
    for (size_t left = w->n; left; scale++) {
        const int fresh = left == w->n;
        vs s[TILE_ROWS][2];
        UNROLL
        for (int r = 0; r < rows; r++) s[r][0] = s[r][1] = vs_zero();
        for (size_t of = size_min(left, g->group), n; of; of -= n, left -= n, at += n * PANEL, ahead += n * PANEL * 4) {
            n = size_min(of, step);
            tile_prefetch(&lines, w);
            tile_words(NULL, s, &at_x, ld, at, PANEL, ahead, n, PK_I16_PAIR, rows);
        }
        UNROLL
        for (int r = 0; r < rows; r++) {
            const vf by = vf_set1(load_f32(scale + (size_t)r * ld));
            float *to = acc + r * PANEL;
            UNROLL
            for (int c = 0; c < 2; c++, to += VF_N) vf_store(to, vf_fma_once(vf_of_sums(s[r][c]), by, fresh ? vf_zero() : vf_load(to)));
        }
    }
}

typedef void ints_tile_fn(float *acc, const struct int_groups *g, const struct weight_words *w);
#define INTS(rows)                                                                                                                     \
    static void ints_tile_##rows(float *acc, const struct int_groups *g, const struct weight_words *w) { ints_tile(acc, g, w, rows); }
INTS(1) INTS(2) INTS(3) INTS(4) INTS(5) INTS(6)
#if TILE_ROWS == 12
INTS(7) INTS(8) INTS(9) INTS(10) INTS(11) INTS(12)
#endif
static ints_tile_fn *const ints_tiles[TILE_ROWS + 1] = {
    NULL, ints_tile_1, ints_tile_2, ints_tile_3, ints_tile_4, ints_tile_5, ints_tile_6,
#if TILE_ROWS == 12
    ints_tile_7, ints_tile_8, ints_tile_9, ints_tile_10, ints_tile_11, ints_tile_12,
#endif
};
#undef INTS

/* acc[rows, PANEL] = sums over k in groups of `group`. x: the scales, then the words. more: what to prefetch. */
INLINE void int_sums(float *acc, const uint32_t *x, size_t ld, const uint32_t *w, size_t k, size_t group, size_t rows,
                     const struct weight_words *more)
{
    const struct int_groups g = { x, ld, scales_room((k + group - 1) / group), group / 2 };
    const size_t words = lowp_words(PK_I16_PAIR, k);
    for (size_t c = 0; c < PANEL; c += TILE_W) {
        const uint32_t *from = w + c;
        const struct weight_words of = { &from, PANEL, words, words, more->ahead, NULL, c ? NULL : more->l, more->m, more->p };
        ints_tiles[rows](acc + c, &g, &of);
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
                       size_t words, size_t rows, const struct weight_words *more)
{
    lowp_tile_fn *const sums = (t == PK_I8_QUAD ? tiles_quad : t == PK_I16_PAIR ? tiles_ints : tiles_pair)[rows];
    for (size_t c = 0; c < PANEL; c += TILE_W) {
        const uint32_t *from = w + c;
        const struct weight_words of = { &from, PANEL, words, words, more->ahead, more->scale ? more->scale + c : NULL, c ? NULL : more->l,
                                         more->m, more->p };
        sums((float *)acc + c, ld_acc, x, ld, start ? start + c : NULL, 0, &of);
    }
}

/* ---- panels --------------------------------------------------------------------------------------------------------------------- */
/* Sums of rows of x and a panel. more: what to prefetch. */
INLINE void lowp_sums(struct lowp_scratch *s, enum packed_type t, const uint32_t *x, size_t ld, const char *panel, size_t k, size_t rows,
                      const struct weight_words *more)
{
    const int32_t *start = t == PK_I8_QUAD && !QUADS_SIGNED ? (const int32_t *)(const void *)panel + PANEL : NULL;
    const uint32_t *w = (const uint32_t *)(const void *)(panel + lowp_head_sz(t));
#if ROWS_BY_TWOS
    if (more->l) prefetch_outputs(more->l, more->m, rows, more->p);
#else
    if (t == PK_I16_PAIR) {
        int_sums(s->acc, x, ld, w, k, I16_GROUP, rows, more);
        return;
    }
#endif
    panel_sums(s->acc, PANEL, t, x, ld, start, w, lowp_words(t, k), rows, more);
}

INLINE void lowp_panel(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p, const char *next,
                       struct lowp_scratch *s)
{
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS; /* 13 rows become 7 and 6, in pairs 8 and 5, not 12 and 1 */
    const size_t height = ROWS_BY_TWOS ? ((rows + tiles - 1) / tiles + 1) & ~(size_t)1 : (rows + tiles - 1) / tiles;
    const size_t ld = lowp_ld(t, l->k);
    const char *panel = (const char *)l->w + p * panel_sz(t, l->k), *w = panel + lowp_head_sz(t);
    for (size_t r = 0; r < rows; r += height) {
        const size_t n = size_min(height, rows - r);
        const char *ahead = tiles <= 2 ? w + AHEAD : r ? w : next;
        const struct weight_words more = { .ahead = ahead, .l = p * PANEL < l->n_y ? l : NULL, .m = m + r, .p = p };
        lowp_sums(s, t, lowp_row(s->x, r, ld), ld, panel, l->k, n, &more);
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

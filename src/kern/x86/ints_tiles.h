/* steno: linear with products of int16 over tiles of bytes. SPDX-License-Identifier: MIT
 *
 * An integer is 256 times its high byte, which is signed, plus its low byte, which is unsigned. A product is therefore four products of
 * bytes: 2^16 high high + 2^8 (high low + low high) + low low. Tiles sum each kind exactly, and the sums of a group give the same integer
 * as products of int16: the bits are those of every level.
 *
 * A step is 64 k: STEP words of low bytes and STEP words of high ones. Word j of them holds the bytes of words j and j + STEP of pairs, in
 * weights and in x, so that two shifts and two masks suffice. A row of x is split in place. Weights are split into a block that all rows of
 * a chunk use, while the sums of the rows are kept. Both are in scratch (struct ints_panel): they are larger than the stack that the
 * library promises to need. */
#ifndef STENO_KERN_INTS_TILES_H
#define STENO_KERN_INTS_TILES_H
#include "kern/x86/lowp_tiles.h"

_Static_assert(CUT == 2 * STEP, "a step is a tile of low bytes and one of high ones");
enum {
    GROUP_STEPS = I16_GROUP / 2 / CUT,        /* steps of a group */
    HIGH_0 = 0, HIGH_1, MID_0, MID_1, LOW_0, LOW_1, X_BYTES, W_BYTES /* the tiles */
};

/* Split words a and b: low bytes go to low, high ones to high. */
INLINE void cut_words(uint32_t *low, uint32_t *high, const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t even = a[i], odd = b[i];
        low[i] = cut_low(even, odd), high[i] = cut_high(even, odd);
    }
}

/* Split the words of a row of x, padded with zeros to whole steps. */
INLINE void cut_row(uint32_t *x, size_t words)
{
    for (size_t i = words; i % CUT; i++) x[i] = 0;
    for (size_t i = 0; i < words; i += CUT) {
        uint32_t low[STEP], high[STEP];
        cut_words(low, high, x + i, x + i + STEP, STEP);
        memcpy(x + i, low, sizeof low);
        memcpy(x + i + STEP, high, sizeof high);
    }
}

/* Split n words of k of a panel, at most CUT_WORDS, into whole steps: STEP rows of low bytes, then of high ones. */
INLINE void cut_panel(uint32_t *to, const uint32_t *w, size_t n)
{
    _Alignas(64) uint32_t last[CUT * PANEL];
    for (size_t i = 0; i < n; i += CUT) {
        const uint32_t *from = w + i * PANEL;
        if (n - i < CUT) {
            memset(last, 0, sizeof last);
            memcpy(last, from, (n - i) * PANEL * sizeof *last);
            from = last;
        }
        for (size_t j = 0; j < STEP; j++) {
            uint32_t *row = to + (i + j) * PANEL;
            cut_words(row, row + STEP * PANEL, from + j * PANEL, from + (j + STEP) * PANEL, PANEL);
        }
    }
}

INLINE void ints_step(const uint32_t *x, size_t ld, const uint32_t *low)
{
    const uint32_t *high = low + STEP * PANEL;
    tile_load(X_BYTES, x, ld * 4);
    tile_load(W_BYTES, low, PANEL * 4);
    tile_dot_bytes_uu(LOW_0, X_BYTES, W_BYTES);
    tile_load(W_BYTES, low + PANEL / 2, PANEL * 4);
    tile_dot_bytes_uu(LOW_1, X_BYTES, W_BYTES);
    tile_load(W_BYTES, high, PANEL * 4);
    tile_dot_quads(MID_0, X_BYTES, W_BYTES);
    tile_load(W_BYTES, high + PANEL / 2, PANEL * 4);
    tile_dot_quads(MID_1, X_BYTES, W_BYTES);
    tile_load(X_BYTES, x + STEP, ld * 4);
    tile_dot_bytes_ss(HIGH_1, X_BYTES, W_BYTES);
    tile_load(W_BYTES, high, PANEL * 4);
    tile_dot_bytes_ss(HIGH_0, X_BYTES, W_BYTES);
    tile_load(W_BYTES, low, PANEL * 4);
    tile_dot_bytes_su(MID_0, X_BYTES, W_BYTES);
    tile_load(W_BYTES, low + PANEL / 2, PANEL * 4);
    tile_dot_bytes_su(MID_1, X_BYTES, W_BYTES);
}

_Static_assert(LOWP_TILE_ROWS <= INT_TILE_ROWS, "the sums of a tile");

INLINE void ints_begin(void)
{
    tile_zero(HIGH_0);
    tile_zero(HIGH_1);
    tile_zero(MID_0);
    tile_zero(MID_1);
    tile_zero(LOW_0);
    tile_zero(LOW_1);
}

INLINE void ints_store(struct ints_sums *s)
{
    tile_store(s->high, PANEL * 4, HIGH_0);
    tile_store(s->high + PANEL / 2, PANEL * 4, HIGH_1);
    tile_store(s->mid, PANEL * 4, MID_0);
    tile_store(s->mid + PANEL / 2, PANEL * 4, MID_1);
    tile_store(s->low, PANEL * 4, LOW_0);
    tile_store(s->low + PANEL / 2, PANEL * 4, LOW_1);
}

/* The integers of VF_N outputs. */
INLINE vs ints_joined_at(const struct ints_sums *s, size_t at)
{
    const vs upper = vs_add(vs_times_256(vs_load(s->high + at)), vs_load(s->mid + at));
    return vs_add(vs_times_256(upper), vs_load(s->low + at));
}

/* acc[rows, PANEL] (+)= the integers of a group times the group's scale in each row of x, rows of ld. */
INLINE void ints_add(float *acc, const struct ints_sums *s, const uint32_t *scale_x, size_t ld, size_t rows, int fresh)
{
    for (size_t r = 0, at = 0; r < rows; r++) {
        const vf scale = vf_set1(load_f32(scale_x + r * ld));
        for (size_t c = 0; c < PANEL; c += VF_N, at += VF_N) {
            const vf sum = vf_of_ints(ints_joined_at(s, at));
            vf_store(acc + at, vf_fma_once(sum, scale, fresh ? vf_zero() : vf_load(acc + at)));
        }
    }
}

/* acc[n, PANEL] (+)= rows of split x times words [from, from + words) of a panel, split in to->w; from: a multiple of CUT_WORDS. */
INLINE void ints_block(struct ints_panel *to, float *acc, const uint32_t *x, size_t ld, size_t n, size_t from, size_t words, size_t head)
{
    for (size_t at = 0; at < words;) {
        const size_t group = (from + at) / (I16_GROUP / 2);
        ints_begin();
        for (int i = 0; i < GROUP_STEPS && at < words; i++, at += CUT) ints_step(x + head + from + at, ld, to->w + at * PANEL);
        ints_store(&to->sums);
        ints_add(acc, &to->sums, x + group, ld, n, group == 0);
    }
}

INLINE void ints_panel(const struct linear *l, size_t m, size_t rows, size_t height, size_t p, struct lowp_scratch *s)
{
    const size_t words = lowp_words(PK_I16_PAIR, l->k), ld = lowp_ld(PK_I16_PAIR, l->k), head = i16_head(l->k);
    const char *panel = (const char *)l->w + p * panel_sz(PK_I16_PAIR, l->k);
    const uint32_t *from = (const uint32_t *)(const void *)(panel + lowp_head_sz(PK_I16_PAIR));
    struct ints_panel *to = (struct ints_panel *)(void *)(s->x + ints_panel_at(rows * ld));
    for (size_t k = 0; k < words; k += CUT_WORDS) {
        const size_t n = size_min(CUT_WORDS, words - k);
        cut_panel(to->w, from + k * PANEL, n);
        if (k + n == words) prefetch_outputs(l, m, rows, p);
        for (size_t r = 0; r < rows; r += height)
            ints_block(to, to->acc + r * PANEL, s->x + r * ld, ld, size_min(height, rows - r), k, n, head);
    }
    lowp_epilogue(l, PK_I16_PAIR, m, 0, rows, p, to->acc, s);
}

INLINE void ints_panels(const struct linear *l, size_t m, size_t rows, size_t p0, size_t p1, struct lowp_scratch *s)
{
    const size_t height = tile_height(rows);
    for (size_t r = 0; r < rows; r++) cut_row(s->x + r * lowp_ld(PK_I16_PAIR, l->k) + i16_head(l->k), lowp_words(PK_I16_PAIR, l->k));
    tiles_begin(height, W_BYTES);
    for (size_t p = p0; p < p1; p++) ints_panel(l, m, rows, height, p, s);
    tile_release();
}

INLINE void init_int_tiles(struct kern *k)
{
    init_ints(k);
    k->ints_panel_sz = sizeof(struct ints_panel);
}

INLINE void lowp_panels(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p0, size_t p1, struct lowp_scratch *s)
{
    if (t == PK_I16_PAIR) ints_panels(l, m, rows, p0, p1, s);
    else panels_by_tiles(l, t, m, rows, p0, p1, s);
}
#endif

/* steno: linear over vectors. SPDX-License-Identifier: MIT
 *
 * y = act(x w^T + bias) + res with one accumulator per output, walked in ascending k, in two shapes that give the same bits:
 *
 *   few rows   weights are widened in registers and streamed once for all rows; for one or two rows several panels run in parallel,
 *              because one panel has too few accumulators to hide the latency of a multiply-add;
 *   many rows  one panel's block of k is widened into scratch, and register tiles of TILE_ROWS rows by two vectors run over it.
 *              Accumulators are kept in scratch between blocks of k (a store and a load of f32 change nothing), never in y, because y
 *              may be the residual.
 *
 * With F16_ROWS a few rows of f16 use tiles like these, which convert weights when they multiply them.
 *
 * All leave sums in scratch; epilogue() adds bias, activation and residual and stores, or writes outputs to keys and values. */
#ifndef STENO_KERN_GEMM_H
#define STENO_KERN_GEMM_H
#include "kern/epilogue.h"

enum {
    ROWS_FEW = 16,        /* up to this number, weights are streamed: k in small blocks, panels one by one */
    K_FEW = 64            /* k widened at once for them */
};

/* ---- the register tile ------------------------------------------------------------------------------------------------------------
 * acc[rows, halves * TILE_W] (+)= x[rows, n] w[n, halves * TILE_W]. w comes in runs of `run` k; run i of half h begins at w[i * halves +
 * h], with ld_w elements between k. Rows are addressed from one pointer per three rows, so that few registers are enough. w of f16 is
 * widened on loading. ahead may be NULL; otherwise, from ahead[i * halves + h] on, the number of bytes that the run reads is prefetched to
 * the second-level cache, a line at a time so that prefetches never queue. */
INLINE void tile(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w, size_t run, size_t n,
                 int fresh, const void *const *ahead, enum packed_type t, const int rows, const int halves)
{
    const size_t elem = t == PK_F32 ? 4 : 2;
    vf a[TILE_ROWS][4];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int c = 0; c < 2 * halves; c++) a[r][c] = fresh ? vf_zero() : vf_load(acc + (size_t)r * ld_acc + (size_t)c * VF_N);
    const float *x0 = x, *x3 = x + 3 * ld_x, *x6 = x + 6 * ld_x, *x9 = x + 9 * ld_x;
    for (; n; w += halves) {
        const size_t kc = size_min(n, run);
        const char *wk[2] = { w[0], w[halves - 1] }, *next[2] = { NULL, NULL };
        if (ahead) next[0] = ahead[0], next[1] = ahead[halves - 1], ahead += halves;
        for (size_t k = 0; k < kc; k++) {
            vf v[4];
            UNROLL
            for (int h = 0; h < halves; h++) {
                v[2 * h] = load_weights(t, wk[h], 0), v[2 * h + 1] = load_weights(t, wk[h], VF_N);
                if (ahead) __builtin_prefetch(next[h] + k * TILE_W * elem, 0, 2);
                wk[h] += ld_w * elem;
            }
            UNROLL
            for (int r = 0; r < rows; r++) {
                const float *from = r < 3 ? x0 : r < 6 ? x3 : r < 9 ? x6 : x9;
                const vf b = vf_set1(from[(size_t)(r % 3) * ld_x]);
                UNROLL
                for (int c = 0; c < 2 * halves; c++) a[r][c] = vf_fma(b, v[c], a[r][c]);
            }
            x0++, x3++, x6++, x9++;
        }
        n -= kc;
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
        for (int c = 0; c < 2 * halves; c++) vf_store(acc + (size_t)r * ld_acc + (size_t)c * VF_N, a[r][c]);
}

typedef void tile_fn(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w, size_t run, size_t n,
                     int fresh);
#define TILE(rows)                                                                                                                   \
    static void tile_##rows(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w, size_t run,   \
                            size_t n, int fresh)                                                                                     \
    {                                                                                                                                \
        tile(acc, ld_acc, x, ld_x, w, ld_w, run, n, fresh, NULL, PK_F32, rows, 1);                                                   \
    }
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
#if TILE_ROWS == 12
TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)
#endif
#undef TILE

static tile_fn *const tile_of[TILE_ROWS + 1] = {
    NULL, tile_1, tile_2, tile_3, tile_4, tile_5, tile_6,
#if TILE_ROWS == 12
    tile_7, tile_8, tile_9, tile_10, tile_11, tile_12,
#endif
};

/* ---- few rows of f16 ------------------------------------------------------------------------------------------------------------
 * Vectors of weights, or of keys and values, are widened when they are multiplied, and the next ones are prefetched. If accumulators leave
 * room, a tile is two halves wide: a conversion takes longer than a multiply-add, and overlaps with many of them. */
enum { FEW_TILE = 6, FEW_ROWS_MAX = 2 * FEW_TILE, HALVES = TILE_ROWS == 12 ? 2 : 1 };

typedef void few_fn(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w, size_t run, size_t n,
                    const void *const *ahead);
#define FEW(rows, halves)                                                                                                           \
    static void few_##rows##_##halves(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w,     \
                                      size_t run, size_t n, const void *const *ahead)                                               \
    {                                                                                                                               \
        tile(acc, ld_acc, x, ld_x, w, ld_w, run, n, 1, ahead, PK_F16, rows, halves);                                                \
    }
FEW(2, 1) FEW(3, 1) FEW(4, 1) FEW(5, 1) FEW(6, 1)
#if TILE_ROWS == 12
FEW(2, 2) FEW(3, 2) FEW(4, 2) FEW(5, 2) FEW(6, 2)
#endif
#undef FEW

static few_fn *const few_of[HALVES][FEW_TILE + 1] = {
    { NULL, NULL, few_2_1, few_3_1, few_4_1, few_5_1, few_6_1 },
#if TILE_ROWS == 12
    { NULL, NULL, few_2_2, few_3_2, few_4_2, few_5_2, few_6_2 },
#endif
};

/* One tile, or two: 7 rows become 4 and 3. Only the first prefetches. */
static void few_tiles(float *acc, size_t ld_acc, const float *x, size_t ld_x, const void *const *w, size_t ld_w, size_t run, size_t n,
                      const void *const *ahead, size_t rows, size_t halves)
{
    const size_t first = rows <= FEW_TILE ? rows : (rows + 1) / 2;
    few_of[halves - 1][first](acc, ld_acc, x, ld_x, w, ld_w, run, n, ahead);
    if (first < rows) few_of[halves - 1][rows - first](acc + first * ld_acc, ld_acc, x + first * ld_x, ld_x, w, ld_w, run, n, NULL);
}

/* ---- weights, widened in registers ---------------------------------------------------------------------------------------------- */
struct panel_scales { vf d[PV], m[PV]; };

/* Read the scales of the run that begins at k and return the position after them. value = fma(d, q, m) with q unsigned: for the symmetric
 * types m is -4 d, -8 d or -16 d, and the sum is exact. */
INLINE const uint8_t *run_scales(struct panel_scales *s, enum packed_type t, const uint8_t *panel, size_t k)
{
    const uint8_t *head = panel + k / block_len(t) * panel_block_sz(t);
    const uint8_t *p = head + block_head_sz(t) + k % block_len(t) / run_len(t) * run_sz(t);
    UNROLL
    for (int c = 0; c < PV; c++) {
        if (packed_has_wide(t)) {
            s->d[c] = vf_load((const float *)(const void *)head + c * VF_N);
            s->m[c] = vf_load((const float *)(const void *)head + PANEL + c * VF_N);
            continue;
        }
        s->d[c] = vf_load_f16((const uint16_t *)(const void *)head + c * VF_N);
        if (packed_has_min(t)) s->m[c] = vf_load_f16((const uint16_t *)(const void *)head + PANEL + c * VF_N);
        if (packed_is_k(t)) s->d[c] = vf_mul(s->d[c], vf_load_i8((const int8_t *)p + c * VF_N));
        if (packed_is_k(t) && packed_has_min(t)) s->m[c] = vf_mul(s->m[c], vf_load_i8((const int8_t *)p + PANEL + c * VF_N));
        if (packed_offset(t)) s->m[c] = vf_mul(s->d[c], vf_set1((float)-packed_offset(t)));
    }
    return p + run_head_sz(t);
}

/* Weights of k = 2 pair and 2 pair + 1 for vector c of a panel. */
INLINE void block_pair(vf w[2], const struct panel_scales *s, enum packed_type t, const uint8_t *q, size_t pair, int c)
{
    if (packed_has_wide(t)) {
        vf n[2];
        const vi b = vi_load_u8(q + pair * (packed_is_byte(t) ? 2 : 1) * PANEL + c * VF_N);
        if (packed_is_byte(t)) {
            const vi next = vi_load_u8(q + (2 * pair + 1) * PANEL + c * VF_N);
            n[0] = vf_fma(vf_hi4(b), vf_set1(16), vf_lo4(b));
            n[1] = vf_fma(vf_hi4(next), vf_set1(16), vf_lo4(next));
        } else {
            n[0] = vf_lo4(b), n[1] = vf_hi4(b);
        }
        w[0] = vf_add(vf_mul(s->d[c], n[0]), s->m[c]);
        w[1] = vf_add(vf_mul(s->d[c], n[1]), s->m[c]);
    } else if (packed_is_byte(t)) {
        const int8_t *v = (const int8_t *)q + 2 * pair * PANEL + c * VF_N;
        w[0] = vf_mul(s->d[c], vf_load_i8(v));
        w[1] = vf_mul(s->d[c], vf_load_i8(v + PANEL));
    } else if (packed_has_fifth(t)) {
        const vi b = vi_load_u8(q + QBLOCK * 4 + pair * PANEL + c * VF_N);
        w[0] = vf_fma(s->d[c], vf_lo5(b, load_u32(q + 8 * pair) >> c * VF_N), s->m[c]);
        w[1] = vf_fma(s->d[c], vf_hi5(b, load_u32(q + 8 * pair + 4) >> c * VF_N), s->m[c]);
    } else {
        const vi b = vi_load_u8(q + pair * PANEL + c * VF_N);
        w[0] = vf_fma(s->d[c], vf_lo4(b), s->m[c]);
        w[1] = vf_fma(s->d[c], vf_hi4(b), s->m[c]);
    }
}

/* k in [k0, k0 + kc) of a panel as f32 [kc][PANEL]; f32 panels are used in place. */
INLINE const float *widen_panel(float *wide, enum packed_type t, const uint8_t *panel, size_t k0, size_t kc)
{
    if (t == PK_F32) return (const float *)(const void *)panel + k0 * PANEL;
    if (t == PK_F16 || t == PK_BF16) {
        const uint16_t *from = (const uint16_t *)(const void *)panel + k0 * PANEL;
        for (size_t i = 0; i < kc * PANEL; i += PANEL)
            UNROLL
            for (size_t c = 0; c < PANEL; c += VF_N) vf_store(wide + i + c, load_weights(t, from, i + c));
        return wide;
    }
    for (size_t k = 0; k < kc; k += run_len(t)) {
        struct panel_scales s;
        const uint8_t *q = run_scales(&s, t, panel, k0 + k);
        for (size_t pair = 0; pair < run_len(t) / 2; pair++)
            UNROLL
            for (int c = 0; c < PV; c++) {
                vf w[2];
                float *to = wide + (k + 2 * pair) * PANEL + c * VF_N;
                block_pair(w, &s, t, q, pair, c);
                vf_store(to, w[0]);
                vf_store(to + PANEL, w[1]);
            }
    }
    return wide;
}

/* ---- few rows ------------------------------------------------------------------------------------------------------------------- */
enum { FEW_MAX = 8, STREAMS_MAX = 4 }; /* of the largest bodies */

/* level: 3 to the first-level cache, 2 to the second. */
INLINE void prefetch_lines(const char *p, size_t n, const int level)
{
    for (size_t i = 0; i < n; i += 64) {
        if (level == 3) __builtin_prefetch(p + i);
        else __builtin_prefetch(p + i, 0, 2);
    }
}

/* Streams of plain types. Prefetch addresses are only hints and may pass the end. */
INLINE void few_plain(vf a[FEW_MAX][STREAMS_MAX][PV], enum packed_type t, const float *x, size_t ld_x, const char *const w[], size_t n,
                      size_t ahead, const int level, const int rows, const int streams)
{
    const size_t elem = t == PK_F32 ? 4 : 2;
    for (size_t k = 0; k < n; k++) {
        vf b[FEW_MAX];
        UNROLL
        for (int r = 0; r < rows; r++) b[r] = vf_set1(x[(size_t)r * ld_x + k]);
        UNROLL
        for (int g = 0; g < streams; g++) {
            const char *wk = w[g] + k * PANEL * elem;
            prefetch_lines(wk + ahead, PANEL * elem, level);
            UNROLL
            for (int c = 0; c < PV; c++) {
                const vf v = load_weights(t, wk, (size_t)c * VF_N);
                UNROLL
                for (int r = 0; r < rows; r++) a[r][g][c] = vf_fma(b[r], v, a[r][g][c]);
            }
        }
    }
}

INLINE void few_blocks(vf a[FEW_MAX][STREAMS_MAX][PV], enum packed_type t, const float *x, size_t ld_x, const char *const w[], size_t n,
                       const int rows, const int streams)
{
    for (size_t k = 0; k < n; k += run_len(t)) {
        struct panel_scales s[STREAMS_MAX];
        const uint8_t *q[STREAMS_MAX];
        UNROLL
        for (int g = 0; g < streams; g++) {
            prefetch_lines(w[g] + panel_sz(t, k) + AHEAD, panel_sz(t, run_len(t)), 3);
            q[g] = run_scales(&s[g], t, (const uint8_t *)w[g], k);
        }
        for (size_t pair = 0; pair < run_len(t) / 2; pair++) {
            const float *xk = x + k + 2 * pair;
            UNROLL
            for (int g = 0; g < streams; g++)
                UNROLL
                for (int c = 0; c < PV; c++) {
                    vf v[2];
                    block_pair(v, &s[g], t, q[g], pair, c);
                    UNROLL
                    for (int r = 0; r < rows; r++) {
                        a[r][g][c] = vf_fma(vf_set1(xk[(size_t)r * ld_x]), v[0], a[r][g][c]);
                        a[r][g][c] = vf_fma(vf_set1(xk[(size_t)r * ld_x + 1]), v[1], a[r][g][c]);
                    }
                }
        }
    }
}

/* acc[streams][rows][PANEL] = x times the panels that begin at w[0 .. streams). ahead, level: prefetch distance and cache level for plain
 * types. */
INLINE void few(float *acc, enum packed_type t, const float *x, size_t ld_x, const char *const w[], size_t n, size_t ahead, const int level,
                const int rows, const int streams)
{
    vf a[FEW_MAX][STREAMS_MAX][PV];
    UNROLL
    for (int g = 0; g < streams; g++)
        UNROLL
        for (int r = 0; r < rows; r++)
            UNROLL
            for (int c = 0; c < PV; c++) a[r][g][c] = vf_zero();
    if (t == PK_F32 || t == PK_F16 || t == PK_BF16) few_plain(a, t, x, ld_x, w, n, ahead, level, rows, streams);
    else few_blocks(a, t, x, ld_x, w, n, rows, streams);
    UNROLL
    for (int g = 0; g < streams; g++)
        UNROLL
        for (int r = 0; r < rows; r++)
            UNROLL
            for (int c = 0; c < PV; c++) vf_store(acc + (size_t)(g * rows + r) * PANEL + c * VF_N, a[r][g][c]);
}

/* ---- the two shapes ------------------------------------------------------------------------------------------------------------- */
/* All of a panel's k for rows [m, m + rows), with a constant number of rows. Returns the first panel not computed. */
INLINE size_t few_rows(const struct linear *l, enum packed_type t, size_t m, size_t p0, size_t p1, float *acc, const int rows,
                       const int streams)
{
    const size_t sz = panel_sz(t, l->k);
    for (; p0 + (size_t)streams <= p1; p0 += (size_t)streams) {
        const char *w[STREAMS_MAX];
        UNROLL
        for (int g = 0; g < streams; g++) w[g] = (const char *)l->w + (p0 + (size_t)g) * sz;
        few(acc, t, l->x + m * l->ld_x, l->ld_x, w, l->k, AHEAD, 3, rows, streams);
        for (size_t g = 0; g < (size_t)streams; g++) epilogue(l, m, (size_t)rows, p0 + g, acc + g * (size_t)rows * PANEL);
    }
    return p0;
}

INLINE void few_rows_all(const struct linear *l, enum packed_type t, size_t m, size_t p0, size_t p1, float *acc, const int rows)
{
    p0 = few_rows(l, t, m, p0, p1, acc, rows, FEW_PANELS(rows));
    if (FEW_PANELS(rows) > 1) few_rows(l, t, m, p0, p1, acc, rows, 1);
}

/* One panel's k-block for all rows of a chunk. acc: [rows][PANEL]. Between tiles the next weights, [next, next + next_sz), are prefetched
 * to the second-level cache, a few lines at a time so that they never queue. */
static void tiles_run(float *acc, const float *x, size_t ld_x, const float *wide, size_t kc, size_t rows, int fresh, const char *next,
                      size_t next_sz)
{
    const size_t tiles = (rows + TILE_ROWS - 1) / TILE_ROWS, height = (rows + tiles - 1) / tiles; /* 13 rows become 7 and 6, not 12 and 1 */
    const size_t share = (next_sz / tiles + 64) & ~(size_t)63;
    for (size_t r = 0, at = 0; r < rows; r += height) {
        for (const size_t end = size_min(next_sz, at + share); at < end; at += 64) __builtin_prefetch(next + at, 0, 2);
        for (size_t c = 0; c < PANEL; c += TILE_W) {
            const void *w = wide + c;
            tile_of[size_min(height, rows - r)](acc + r * PANEL + c, PANEL, x + r * ld_x, ld_x, &w, PANEL, kc, kc, fresh);
        }
    }
}

INLINE void many_rows(const struct linear *l, enum packed_type t, size_t m, size_t rows, size_t p0, size_t p1, float *sums)
{
    const size_t sz = panel_sz(t, l->k), step = rows <= ROWS_FEW ? K_FEW : K_BLOCK;
    for (size_t k0 = 0; k0 < l->k; k0 += step) {
        const size_t kc = size_min(step, l->k - k0), kc_sz = panel_sz(t, kc);
        for (size_t p = p0; p < p1; p++) {
            const uint8_t *panel = (const uint8_t *)l->w + p * sz;
            const float *wide = widen_panel(sums + linear_acc_floats(rows), t, panel, k0, kc);
            const char *next = (const char *)panel + panel_sz(t, k0);
            if (rows <= ROWS_FEW) next += AHEAD;
            else next = p + 1 < p1 ? next + sz : (const char *)l->w + p0 * sz + panel_sz(t, k0) + kc_sz;
            float *acc = sums + (p - p0) * rows * PANEL;
            tiles_run(acc, l->x + m * l->ld_x + k0, l->ld_x, wide, kc, rows, k0 == 0, next, kc_sz);
            if (k0 + kc < l->k) continue;
            for (size_t r = 0; r < rows; r += TILE_ROWS) epilogue(l, m + r, size_min(TILE_ROWS, rows - r), p, acc + r * PANEL);
        }
    }
}

/* Rows of f16 that two tiles compute, half a panel after the other. Their first tile prefetches the next panel. */
INLINE void f16_rows(const struct linear *l, size_t m, size_t rows, size_t p0, size_t p1, float *acc)
{
    const size_t sz = panel_sz(PK_F16, l->k);
    for (size_t p = p0; p < p1; p++) {
        const char *panel = (const char *)l->w + p * sz;
        for (size_t c = 0; c < PANEL; c += TILE_W) {
            const void *w = panel + c * sizeof(uint16_t), *ahead = panel + sz + c * l->k * sizeof(uint16_t);
            few_tiles(acc + c, PANEL, l->x + m * l->ld_x, l->ld_x, &w, PANEL, l->k, l->k, &ahead, rows, 1);
        }
        for (size_t r = 0; r < rows; r += TILE_ROWS) epilogue(l, m + r, size_min(TILE_ROWS, rows - r), p, acc + r * PANEL);
    }
}

INLINE void linear_any(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, float *sums, enum packed_type t)
{
    switch (m1 - m0) {
    case 0: return;
    case 1: few_rows_all(l, t, m0, p0, p1, sums, 1); return;
    case 2: few_rows_all(l, t, m0, p0, p1, sums, 2); return;
    case 3: few_rows_all(l, t, m0, p0, p1, sums, 3); return;
#if TILE_ROWS == 12
    case 4: few_rows_all(l, t, m0, p0, p1, sums, 4); return;
    case 5: few_rows_all(l, t, m0, p0, p1, sums, 5); return;
    case 6: few_rows_all(l, t, m0, p0, p1, sums, 6); return;
    case 7: few_rows_all(l, t, m0, p0, p1, sums, 7); return;
    case 8: few_rows_all(l, t, m0, p0, p1, sums, 8); return;
#endif
    default: break;
    }
    if (t == PK_F16 && m1 - m0 <= F16_ROWS) {
        f16_rows(l, m0, m1 - m0, p0, p1, sums);
        return;
    }
    for (size_t m = m0; m < m1; m += GEMM_ROWS) {
        const size_t rows = size_min(GEMM_ROWS, m1 - m), group = rows <= ROWS_FEW ? 1 : PANEL_GROUP;
        for (size_t p = p0; p < p1; p += group) many_rows(l, t, m, rows, p, size_min(p1, p + group), sums);
    }
}

#define TYPED(name, t)                                                                                              \
    static void linear_##name(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)    \
    {                                                                                                               \
        linear_any(l, m0, m1, p0, p1, scratch, t);                                                                  \
    }
EACH_STORED(TYPED)
#undef TYPED

static void init_linear(struct kern *k)
{
#define SET(name, t) k->linear[t] = linear_##name;
    EACH_STORED(SET)
#undef SET
}
#endif

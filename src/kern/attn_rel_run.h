/* steno: attention with relative positions over packed keys. SPDX-License-Identifier: MIT
 *
 * Keys and distances are panels of weights, so both products of a score are register tiles. A panel of distances gives a diagonal band of
 * scores: each row adds its part of the band one key further. Groups of REL_ROWS rows share each panel. The weights of int16 are here; the
 * products are in attn_rel_i16.h and x86/attn_i16_tiles.h, and f32 is in attn_rel_f32.h. */
#ifndef STENO_KERN_ATTN_REL_RUN_H
#define STENO_KERN_ATTN_REL_RUN_H
#include "kern/attn_i16_row.h"

enum { REL_Q_LD = HEAD_MAX + 16 };
enum rel_with { WITH_U, WITH_V };

/* Rows of a tile of scores. */
enum { REL_TILE = LOWP_TILE_ROWS };
_Static_assert(REL_MARGIN >= PANEL + REL_TILE && REL_ROWS % REL_TILE == 0, "a band stays within the margins");

/* A group of rows: its scores, rows of ld words that begin with the scales of the weights; keys [base, to). */
struct rel_group { size_t first, rows, base, to, ld, head; };

/* The functions of a type. */
struct rel_body {
    enum packed_type t;
    void (*query)(struct attn_rel_run_scratch *s, enum rel_with with, size_t r, const float *x, size_t d_head, float scale);
    /* to[rows, PANEL] = parts of scores, of rows from r on and a panel. */
    void (*sums)(float *to, size_t ld, struct attn_rel_run_scratch *s, enum rel_with with, const char *panel, size_t d_head, size_t r,
                 size_t rows);
    /* Turn the scores of row r into weights of keys that it sees. */
    void (*weights)(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r, struct key_span sees);
    void (*outputs)(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g);
};

INLINE uint32_t *rel_row(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r) { return s->score + r * g->ld; }
INLINE float *rel_scores_of(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r)
{
    return (float *)(void *)(rel_row(s, g, r) + g->head + REL_MARGIN);
}

INLINE void rel_queries(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g,
                        const struct rel_body *body)
{
    float with[2][HEAD_MAX];
    for (size_t r = 0; r < g->rows; r++) {
        const float *q = a->q + (g->first + r) * a->ld_q;
        for (size_t d = 0; d < a->d_head; d++) with[WITH_U][d] = q[d] + a->u[d], with[WITH_V][d] = q[d] + a->v[d];
        for (int i = WITH_U; i <= WITH_V; i++) body->query(s, (enum rel_with)i, r, with[i], a->d_head, a->scale);
    }
}

INLINE void rel_contents(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g,
                         const struct rel_body *body)
{
    const size_t sz = panel_sz(body->t, a->d_head);
    for (size_t p = g->base / PANEL; p * PANEL < g->to; p++)
        for (size_t r = 0; r < g->rows; r += REL_TILE)
            body->sums(rel_scores_of(s, g, r) + p * PANEL - g->base, g->ld, s, WITH_U, (const char *)a->keys + p * sz, a->d_head, r,
                       size_min(REL_TILE, g->rows - r));
}

/* Add a tile of a panel of distances, whose row 0 of PANEL belongs to key `key` - base of its first row. */
INLINE void rel_add_band(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r, size_t rows, ptrdiff_t key)
{
    for (size_t i = 0; i < rows; i++) {
        float *to = rel_scores_of(s, g, r + i) + key + (ptrdiff_t)i;
        UNROLL
        for (size_t c = 0; c < PANEL; c += VF_N) vf_store(to + c, vf_add(vf_load(to + c), vf_load(s->acc + i * PANEL + c)));
    }
}

INLINE void rel_distances(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g, size_t from,
                          const struct rel_body *body)
{
    const size_t sz = panel_sz(body->t, a->d_head), low = a->at + from - g->first, high = a->at + g->to - 1 - g->first; /* of row 0 */
    for (size_t p = (low + 1 - g->rows) / PANEL; p <= high / PANEL; p++)
        for (size_t r = 0; r < g->rows; r += REL_TILE) {
            const size_t rows = size_min(REL_TILE, g->rows - r);
            if (p < (low - (r + rows - 1)) / PANEL || p > (high - r) / PANEL) continue;
            body->sums(s->acc, PANEL, s, WITH_V, (const char *)a->distances + p * sz, a->d_head, r, rows);
            rel_add_band(s, g, r, rows, (ptrdiff_t)(p * PANEL + g->first + r) - (ptrdiff_t)(a->at + g->base));
        }
}

INLINE void attn_rel_run_any(const struct attn_rel_run *a, struct attn_rel_run_scratch *s, const struct rel_body *body)
{
    for (size_t first = 0; first < a->rows; first += REL_ROWS) {
        struct key_span all = a->sees[first];
        struct rel_group g = { .first = first, .rows = size_min(REL_ROWS, a->rows - first) };
        for (size_t r = 1; r < g.rows; r++) {
            const struct key_span one = a->sees[first + r];
            all.from = one.from < all.from ? one.from : all.from;
            all.to = one.to > all.to ? one.to : all.to;
        }
        g.base = all.from / RUN_GROUP * RUN_GROUP;
        g.to = all.to;
        g.head = run_head(body->t, g.to - g.base);
        g.ld = rel_run_ld(body->t, g.to - g.base);
        rel_queries(s, a, &g, body);
        rel_contents(s, a, &g, body);
        rel_distances(s, a, &g, all.from, body);
        for (size_t r = 0; r < g.rows; r++) body->weights(s, &g, r, a->sees[first + r]);
        body->outputs(s, a, &g);
    }
}

/* Store outputs of a panel of values, from d0 on, for rows from r of the group. */
INLINE void rel_store(const struct attn_rel_run *a, const float *acc, size_t row, size_t rows, size_t d0)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < PANEL && d0 + c < a->d_head; c += VF_N)
            vf_store_n(a->out + (row + i) * a->ld_out + d0 + c, vf_load(acc + i * PANEL + c), size_min(VF_N, a->d_head - d0 - c));
}

/* ---- int16 -------------------------------------------------------------------------------------------------------------------------- */
INLINE void rel_query_i16(struct attn_rel_run_scratch *s, enum rel_with with, size_t r, const float *x, size_t d_head, float scale)
{
    s->unit[with][r] = i16_query(s->q[with] + r * REL_Q_LD, x, d_head) * (scale * RUN_LOG2_E);
}

/* Lanes of the vector from i on that are outside [from, to), as bits. */
INLINE unsigned rel_outside(size_t i, size_t from, size_t to)
{
    const unsigned before = from <= i ? 0 : from - i >= VF_N ? ~0u : (1u << (from - i)) - 1;
    return before | (to >= i + VF_N ? 0 : to <= i ? ~0u : ~0u << (to - i));
}

INLINE vf rel_seen(const float *score, size_t i, size_t from, size_t to)
{
    const unsigned outside = rel_outside(i, from, to);
    return outside ? vf_drop(vf_load(score + i), outside) : vf_load(score + i);
}

/* The highest of scores [from, to) of [i, end). none: NaN if one is not finite. */
INLINE float rel_top(const float *score, size_t i, size_t end, size_t from, size_t to, vf *none)
{
    vf top = vf_set1(-INFINITY);
    for (; i < end; i += VF_N) {
        const unsigned outside = rel_outside(i, from, to);
        const vf v = vf_load(score + i);
        if (!outside) *none = vf_fma(v, vf_zero(), *none);
        for (size_t c = 0; c < VF_N && outside; c++)
            if (!(outside >> c & 1)) *none = vf_add(*none, vf_set1(score[i + c] * 0));
        top = vf_max(outside ? vf_drop(v, outside) : v, top);
    }
    return vf_hmax(top);
}

INLINE void rel_weights_i16(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r, struct key_span sees)
{
    const size_t n = g->to - g->base, groups = run_groups(n), from = sees.from - g->base, to = sees.to - g->base;
    const float *score = rel_scores_of(s, g, r);
    float *const scale = (float *)(void *)rel_row(s, g, r), highest = -INFINITY;
    uint32_t *const words = rel_row(s, g, r) + g->head;
    vf sum = vf_zero(), none = vf_zero();
    for (size_t i = 0; i < groups; i++) {
        s->top[i] = rel_top(score, i * RUN_GROUP, size_min(n, (i + 1) * RUN_GROUP), from, to, &none);
        highest = s->top[i] > highest ? s->top[i] : highest;
    }
    for (size_t i = 0; i < groups; i += VF_N)
        vf_store(scale + i, vf_exp2(vf_sub(load_some(s->top + i, groups - i), vf_set1(highest))));
    for (size_t i = 0; i < groups; i++) {
        const size_t end = size_min(n, (i + 1) * RUN_GROUP);
        const vf most = vf_set1(s->top[i] == -INFINITY ? 0 : RUN_LOG2_I16 - s->top[i]), magic = vf_set1(I16_MAGIC);
        vf ints = vf_zero();
        for (size_t j = i * RUN_GROUP; j < end; j += VF_N) {
            const vf w = vf_add(vf_exp2_short(vf_add(rel_seen(score, j, from, to), most)), magic);
            vf_store_halves(words + j / 2, w);
            ints = vf_add(ints, vf_sub(w, magic));
        }
        sum = vf_fma(ints, vf_set1(scale[i]), sum);
    }
    s->share[r] = vf_sum(none) == 0 ? 1 / vf_sum(sum) : NAN;
}

/* acc[rows, PANEL]: times 1 / the sum of a row's weights, and times the scales of values. */
INLINE void rel_scale(float *acc, const float *share, const float *scale, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(acc + i * PANEL + c, vf_mul(vf_load(acc + i * PANEL + c), vf_mul(vf_set1(share[i]), vf_load(scale + c))));
}
#endif

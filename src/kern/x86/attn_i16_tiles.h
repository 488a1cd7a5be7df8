/* steno: attention in int16 over tiles of bytes. SPDX-License-Identifier: MIT
 *
 * Keys, values and distances are panels that packing has cut into bytes, and rows of q and of weights are cut here: both products are
 * those of ints_tiles.h. A step is 64 k, which are also the RUN_GROUP keys that share a scale. Up to RUN_TILE_ROWS rows share each panel,
 * one tile of them after another.
 *
 * The sums of a tile are stored and joined while the next one is computed: nothing but memory leads from tiles to vectors. If the number of
 * words is not a multiple of CUT, a panel's last words are cut when they are read, because a whole step would not fit the panel. */
#ifndef STENO_KERN_ATTN_I16_TILES_H
#define STENO_KERN_ATTN_I16_TILES_H
#include "kern/attn_i16_row.h"
#include "kern/attn_rel_run.h"
#include "kern/x86/ints_tiles.h"

_Static_assert(2 * CUT == RUN_GROUP, "a step is a group");

/* A panel's words, cut but for the last ones, which are in a copy. */
struct cut_panel { const uint32_t *w, *last; size_t words; };

INLINE struct cut_panel cut_panel_of(const uint32_t *w, size_t words, struct int_tiles *s)
{
    const size_t rest = words % CUT;
    if (rest) cut_panel(s->last, w + (words - rest) * PANEL, rest);
    return (struct cut_panel){ w, s->last, words };
}

/* The step from word k on. */
INLINE const uint32_t *cut_step(const struct cut_panel *p, size_t k) { return k + CUT <= p->words ? p->w + k * PANEL : p->last; }

INLINE const uint32_t *run_words(const char *panel) { return (const uint32_t *)(const void *)(panel + lowp_head_sz(PK_I16_PAIR)); }

/* Ask for n words a step before they are read. */
INLINE void prefetch_words(const uint32_t *w, size_t n)
{
    for (size_t i = 0; i < n; i += 16) __builtin_prefetch(w + i);
}

/* Sums of a tile of rows of q, which are cut, and a panel. */
INLINE void query_dots(const uint32_t *q, size_t ld, const struct cut_panel *p)
{
    ints_begin();
    for (size_t k = 0; k < p->words; k += CUT) ints_step(q + k, ld, cut_step(p, k));
}

/* ---- weights times values: acc[rows, PANEL] */
struct weighing {
    float *acc;
    struct int_tiles *tiles;
    const uint32_t *scale, *weight; /* of row 0: scales of groups; weights, which are cut */
    size_t ld, rows, height;        /* words between rows; height: of a tile */
};

/* Sums that are not added yet: of rows from r on. */
struct late_sums { const struct ints_sums *sums; size_t r, group; };

INLINE void weighing_add(const struct weighing *o, const struct late_sums *l)
{
    if (!l->sums) return;
    ints_add(o->acc + l->r * PANEL, l->sums, o->scale + l->r * o->ld + l->group, o->ld, size_min(o->height, o->rows - l->r), !l->group);
}

/* groups: how many; p: the words of values from the first one on */
INLINE void weigh_groups(const struct weighing *o, const struct cut_panel *p, size_t groups)
{
    struct late_sums late = { NULL, 0, 0 };
    size_t at = 0;
    for (size_t g = 0; g < groups; g++)
        for (size_t r = 0; r < o->rows; r += o->height, at ^= 1) {
            const uint32_t *x = o->weight + r * o->ld + g * CUT;
            ints_begin();
            ints_step(x, o->ld, cut_step(p, g * CUT));
            if (!r) prefetch_words(p->w + (g + 1) * CUT * PANEL, CUT * PANEL);
            for (size_t i = 0; i < o->height; i++) prefetch_words(x + i * o->ld + CUT, CUT);
            weighing_add(o, &late);
            ints_store(&o->tiles->sums[at]);
            late = (struct late_sums){ &o->tiles->sums[at], r, g };
        }
    weighing_add(o, &late);
}

/* ---- over the keys of a run */

/* Rows of a call that share the panels: rows of tiles of `height`, words between rows of scores. */
struct run_rows { struct attn_run_tiles_scratch *s; const struct attn_run *a; size_t r0, rows, height, ld; };

/* Scores of a tile and of panel l->group, in steps of the query. */
INLINE void run_scores_store(const struct run_rows *g, const struct late_sums *l)
{
    if (!l->sums) return;
    const float *scale = (const float *)(const void *)run_keys_at(g->a, PK_I16_PAIR, l->group);
    float *to = (float *)(void *)g->s->score + l->r * g->ld + run_head(PK_I16_PAIR, g->a->n_keys) + l->group * PANEL;
    for (size_t r = 0; r < size_min(g->height, g->rows - l->r); r++)
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(to + r * g->ld + c, vf_mul(vf_of_ints(ints_joined_at(l->sums, r * PANEL + c)), vf_load(scale + c)));
}

INLINE void run_scores_tiles(const struct run_rows *g)
{
    struct int_tiles *const tiles = &g->s->tiles;
    const size_t words = lowp_words(PK_I16_PAIR, g->a->d_head);
    struct late_sums late = { NULL, 0, 0 };
    size_t at = 0;
    for (size_t p = 0; p * PANEL < g->a->n_keys; p++) {
        const struct cut_panel of = cut_panel_of(run_words(run_keys_at(g->a, PK_I16_PAIR, p)), words, tiles);
        for (size_t r = 0; r < g->rows; r += g->height, at ^= 1) {
            query_dots(g->s->q + r * RUN_Q_LD, RUN_Q_LD, &of);
            if (!r) prefetch_words(of.w + words * PANEL, (words + 1) * PANEL);
            run_scores_store(g, &late);
            ints_store(&tiles->sums[at]);
            late = (struct late_sums){ &tiles->sums[at], r, p };
        }
    }
    run_scores_store(g, &late);
}

INLINE void run_outputs_tiles(const struct run_rows *g)
{
    struct attn_run_tiles_scratch *const s = g->s;
    const struct attn_run *const a = g->a;
    const size_t n = a->n_keys, sz = panel_sz(PK_I16_PAIR, n), head = run_head(PK_I16_PAIR, n);
    const struct weighing o = { s->acc, &s->tiles, s->score, s->score + head, g->ld, g->rows, g->height };
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const char *panel = (const char *)a->values + d0 / PANEL * sz;
        const float *scale = (const float *)(const void *)panel;
        const struct cut_panel of = cut_panel_of(run_words(panel), lowp_words(PK_I16_PAIR, n), &s->tiles);
        weigh_groups(&o, &of, run_groups(n));
        for (size_t r = 0; r < g->rows; r++)
            for (size_t c = 0; c < PANEL && d0 + c < a->d_head; c += VF_N) {
                const vf v = vf_mul(vf_load(s->acc + r * PANEL + c), vf_mul(vf_set1(s->share[r]), vf_load(scale + c)));
                vf_store_n(a->out + (g->r0 + r) * a->ld_out + d0 + c, v, size_min(VF_N, a->d_head - d0 - c));
            }
    }
}

static void attn_i16_tiles(const struct attn_run *a, void *scratch)
{
    const size_t n = a->n_keys, most = run_tile_rows(PK_I16_PAIR, n), head = run_head(PK_I16_PAIR, n);
    struct run_rows g = { .s = scratch, .a = a, .ld = run_score_ld(PK_I16_PAIR, n) };
    struct attn_run_tiles_scratch *const s = scratch;
    const int are_numbers = run_keys_are_numbers(a, PK_I16_PAIR);
    for (; g.r0 < a->rows; g.r0 += g.rows) {
        g.rows = size_min(most, a->rows - g.r0), g.height = tile_height(g.rows);
        tiles_begin(g.height, W_BYTES);
        for (size_t r = 0; r < g.rows; r++) {
            uint32_t *q = s->q + r * RUN_Q_LD;
            s->unit[r] = i16_query(q, a->q + (g.r0 + r) * a->ld_q, a->d_head) * (a->scale * RUN_LOG2_E);
            cut_row(q, lowp_words(PK_I16_PAIR, a->d_head));
        }
        run_scores_tiles(&g);
        for (size_t r = 0; r < g.rows; r++) {
            uint32_t *row = s->score + r * g.ld;
            s->share[r] = i16_row_weights(s->top, row, n, are_numbers ? s->unit[r] : NAN);
            cut_row(row + head, lowp_words(PK_I16_PAIR, n));
        }
        run_outputs_tiles(&g);
    }
    tile_release();
}

/* ---- with relative positions */

static void rel_query_tiles(struct attn_rel_run_scratch *s, enum rel_with with, size_t r, const float *x, size_t d_head, float scale)
{
    rel_query_i16(s, with, r, x, d_head, scale);
    cut_row(s->q[with] + r * REL_Q_LD, lowp_words(PK_I16_PAIR, d_head));
}

static void rel_sums_tiles(float *to, size_t ld, struct attn_rel_run_scratch *s, enum rel_with with, const char *panel, size_t d_head,
                           size_t r, size_t rows)
{
    const float *scale = (const float *)(const void *)panel;
    struct ints_sums *const sums = s->tiles.sums;
    const struct cut_panel of = cut_panel_of(run_words(panel), lowp_words(PK_I16_PAIR, d_head), &s->tiles);
    query_dots(s->q[with] + r * REL_Q_LD, REL_Q_LD, &of);
    ints_store(sums);
    for (size_t i = 0; i < rows; i++) {
        const vf unit = vf_set1(s->unit[with][r + i]);
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(to + i * ld + c, vf_mul(vf_of_ints(ints_joined_at(sums, i * PANEL + c)), vf_mul(unit, vf_load(scale + c))));
    }
}

static void rel_weights_tiles(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r, struct key_span sees)
{
    rel_weights_i16(s, g, r, sees);
    cut_row(rel_row(s, g, r) + g->head, lowp_words(PK_I16_PAIR, g->to - g->base));
}

static void rel_outputs_tiles(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g)
{
    const size_t n = g->to - g->base, sz = panel_sz(PK_I16_PAIR, a->n_keys), before = g->base / 2;
    const struct weighing o = { s->acc, &s->tiles, s->score, s->score + g->head, g->ld, g->rows, REL_TILE };
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const char *panel = (const char *)a->values + d0 / PANEL * sz;
        const struct cut_panel of =
            cut_panel_of(run_words(panel) + before * PANEL, lowp_words(PK_I16_PAIR, a->n_keys) - before, &s->tiles);
        weigh_groups(&o, &of, run_groups(n));
        rel_scale(s->acc, s->share, (const float *)(const void *)panel, g->rows);
        rel_store(a, s->acc, g->first, g->rows, d0);
    }
}

static const struct rel_body rel_body_tiles = { PK_I16_PAIR, rel_query_tiles, rel_sums_tiles, rel_weights_tiles, rel_outputs_tiles };
static void attn_rel_i16_tiles(const struct attn_rel_run *a, void *scratch)
{
    tiles_begin(REL_TILE, W_BYTES);
    attn_rel_run_any(a, scratch, &rel_body_tiles);
    tile_release();
}

/* ---- packing */

static void pack_keys_cut(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    pack_keys_i16(panel, x, ld, n, d_head, less);
    panel_cut((uint32_t *)panel + PANEL, lowp_words(PK_I16_PAIR, d_head));
}

static void pack_values_cut(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    pack_values_i16(panel, x, ld, n, n_d);
    panel_cut((uint32_t *)panel + PANEL, lowp_words(PK_I16_PAIR, n));
}

INLINE void init_attn_i16_tiles(struct kern *k)
{
    *kern_run(k, KV_I16) = (struct run_kern){ attn_i16_tiles, attn_rel_i16_tiles, pack_keys_cut, pack_values_cut };
    k->i16_is_cut = 1;
}
#endif

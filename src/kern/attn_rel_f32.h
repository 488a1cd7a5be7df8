/* steno: attention with relative positions in f32 over packed keys. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_ATTN_REL_F32_H
#define STENO_KERN_ATTN_REL_F32_H
#include "kern/attn_rel_run.h"
#include "kern/gemm.h"
#include "kern/softmax.h"

static void rel_query_f32(struct attn_rel_run_scratch *s, enum rel_with with, size_t r, const float *x, size_t d_head, float scale)
{
    float *to = (float *)(void *)(s->q[with] + r * REL_Q_LD);
    for (size_t d = 0; d < d_head; d++) to[d] = x[d] * scale;
}

/* to[rows, PANEL] = x[rows, n] w[n, PANEL] */
INLINE void rel_tile(float *to, size_t ld, const float *x, size_t ld_x, const float *panel, size_t n, size_t rows)
{
    for (size_t c = 0; c < PANEL; c += TILE_W) {
        const void *w = panel + c;
        tile_of[rows](to + c, ld, x, ld_x, &w, PANEL, n, n, 1);
    }
}

static void rel_sums_f32(float *to, size_t ld, struct attn_rel_run_scratch *s, enum rel_with with, const char *panel, size_t d_head,
                         size_t r, size_t rows)
{
    const float *x = (const float *)(const void *)(s->q[with] + r * REL_Q_LD);
    rel_tile(to, ld, x, REL_Q_LD, (const float *)(const void *)panel, d_head, rows);
}

static void rel_weights_f32(struct attn_rel_run_scratch *s, const struct rel_group *g, size_t r, struct key_span sees)
{
    float *score = rel_scores_of(s, g, r);
    const size_t from = sees.from - g->base, to = sees.to - g->base;
    softmax(score + from, score + from, to - from);
    memset(score, 0, from * sizeof *score);
    memset(score + to, 0, (g->to - g->base - to) * sizeof *score);
}

static void rel_outputs_f32(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g)
{
    const size_t n = g->to - g->base, sz = panel_sz(PK_F32, a->n_keys);
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const float *w = (const float *)(const void *)((const char *)a->values + d0 / PANEL * sz) + g->base * PANEL;
        for (size_t r = 0; r < g->rows; r += REL_TILE) {
            const size_t rows = size_min(REL_TILE, g->rows - r);
            rel_tile(s->acc, PANEL, rel_scores_of(s, g, r), g->ld, w, n, rows);
            rel_store(a, s->acc, g->first + r, rows, d0);
        }
    }
}

static const struct rel_body rel_body_f32 = { PK_F32, rel_query_f32, rel_sums_f32, rel_weights_f32, rel_outputs_f32 };
static void attn_rel_f32(const struct attn_rel_run *a, void *scratch) { attn_rel_run_any(a, scratch, &rel_body_f32); }

/* Pack a panel of keys; d and keys are transposed. */
static void pack_keys_f32(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    float *to = panel, rest[VF_N * PANEL];
    const size_t whole = d_head / VF_N * VF_N;
    for (size_t d = 0; d < whole; d += VF_N) turn_keys(to + d * PANEL, x, ld, n, d_head, less, d);
    if (whole == d_head) return;
    turn_keys(rest, x, ld, n, d_head, less, whole);
    memcpy(to + whole * PANEL, rest, (d_head - whole) * PANEL * sizeof *rest);
}

static void pack_values_f32(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    float *to = panel;
    for (size_t i = 0; i < n; i++, to += PANEL)
        for (size_t c = 0; c < PANEL; c += VF_N) vf_store(to + c, c < n_d ? load_some(x + i * ld + c, n_d - c) : vf_zero());
}

INLINE void init_attn_rel_f32(struct kern *k)
{
    *kern_run(k, KV_PANELS) = (struct run_kern){ NULL, attn_rel_f32, pack_keys_f32, pack_values_f32 };
}
#endif

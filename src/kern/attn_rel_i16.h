/* steno: attention with relative positions in int16 over vectors. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_ATTN_REL_I16_H
#define STENO_KERN_ATTN_REL_I16_H
#include "kern/attn_i16.h"
#include "kern/attn_rel_run.h"

static void rel_sums_i16(float *to, size_t ld, struct attn_rel_run_scratch *s, enum rel_with with, const char *panel, size_t d_head,
                         size_t r, size_t rows)
{
    const float *scale = (const float *)(const void *)panel;
    const char *w = panel + lowp_head_sz(PK_I16_PAIR), *next = panel + panel_sz(PK_I16_PAIR, d_head);
    panel_sums(s->ints, PANEL, PK_I16_PAIR, s->q[with] + r * REL_Q_LD, REL_Q_LD, NULL, (const uint32_t *)(const void *)w,
               lowp_words(PK_I16_PAIR, d_head), rows, &(struct weight_words){ .ahead = next });
    for (size_t i = 0; i < rows; i++) {
        const vf unit = vf_set1(s->unit[with][r + i]);
        UNROLL
        for (size_t c = 0; c < PANEL; c += VF_N)
            vf_store(to + i * ld + c, vf_mul(vf_of_ints(vs_load(s->ints + i * PANEL + c)), vf_mul(unit, vf_load(scale + c))));
    }
}

static void rel_outputs_i16(struct attn_rel_run_scratch *s, const struct attn_rel_run *a, const struct rel_group *g)
{
    const size_t n = g->to - g->base, sz = panel_sz(PK_I16_PAIR, a->n_keys);
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const char *panel = (const char *)a->values + d0 / PANEL * sz;
        const uint32_t *w = (const uint32_t *)(const void *)(panel + lowp_head_sz(PK_I16_PAIR)) + g->base / 2 * PANEL;
        for (size_t r = 0; r < g->rows; r += REL_TILE) {
            const size_t rows = size_min(REL_TILE, g->rows - r);
            int_sums(s->acc, rel_row(s, g, r), g->ld, w, n, RUN_GROUP, rows, &(struct weight_words){ .ahead = panel + sz });
            rel_scale(s->acc, s->share + r, (const float *)(const void *)panel, rows);
            rel_store(a, s->acc, g->first + r, rows, d0);
        }
    }
}

static const struct rel_body rel_body_i16 = { PK_I16_PAIR, rel_query_i16, rel_sums_i16, rel_weights_i16, rel_outputs_i16 };
static void attn_rel_i16(const struct attn_rel_run *a, void *scratch) { attn_rel_run_any(a, scratch, &rel_body_i16); }

INLINE void init_attn_rel_i16(struct kern *k) { kern_run(k, KV_I16)->attn_rel = attn_rel_i16; }
#endif

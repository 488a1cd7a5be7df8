/* steno: attention in int16 over vectors. SPDX-License-Identifier: MIT */
#ifndef STENO_KERN_ATTN_I16_H
#define STENO_KERN_ATTN_I16_H
#include "kern/attn_i16_row.h"
#include "kern/attn_run.h"

static float i16_weights(struct attn_run_scratch *s, uint32_t *row, const struct attn_run *a, float unit)
{
    return i16_row_weights(s->top, row, a->n_keys, unit);
}

static void i16_outputs(struct attn_run_scratch *s, const struct attn_run *a, size_t r0, size_t rows, size_t ld)
{
    const size_t n = a->n_keys, sz = panel_sz(PK_I16_PAIR, n);
    for (size_t d0 = 0; d0 < a->d_head; d0 += PANEL) {
        const char *panel = (const char *)a->values + d0 / PANEL * sz;
        const float *scale = (const float *)(const void *)panel;
        int_sums(s->acc, s->score, ld, (const uint32_t *)(const void *)(panel + lowp_head_sz(PK_I16_PAIR)), n, RUN_GROUP, rows,
                 &(struct weight_words){ .ahead = panel + sz });
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < PANEL && d0 + c < a->d_head; c += VF_N) {
                const vf v = vf_mul(vf_load(s->acc + r * PANEL + c), vf_mul(vf_set1(s->share[r]), vf_load(scale + c)));
                vf_store_n(a->out + (r0 + r) * a->ld_out + d0 + c, v, size_min(VF_N, a->d_head - d0 - c));
            }
    }
}

static const struct run_body run_body_i16 = { i16_query, i16_weights, i16_outputs };
static void attn_i16(const struct attn_run *a, void *scratch) { attn_run_any(a, scratch, PK_I16_PAIR, &run_body_i16); }

INLINE void init_attn_i16(struct kern *k) { *kern_run(k, KV_I16) = (struct run_kern){ attn_i16, NULL, pack_keys_i16, pack_values_i16 }; }
#endif

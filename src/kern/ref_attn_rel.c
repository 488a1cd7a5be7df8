/* steno: attention with relative positions in plain C. SPDX-License-Identifier: MIT */
#include <math.h>
#include "kern/ref.h"

size_t kern_attn_rel_scratch(size_t n_keys)
{
    return sizeof(struct attn_rel_scratch) + ATTN_REL_ROWS * rel_score_ld(n_keys) * sizeof(float);
}

static double rel_score_of(const struct attn_rel *a, size_t i, size_t j)
{
    const float *q = a->q + i * a->ld_q, *key = a->keys + j * a->ld_kv;
    const float *r = a->r + ((ptrdiff_t)a->first + (ptrdiff_t)i - (ptrdiff_t)j) * a->ld_r;
    double sum = 0;
    for (size_t d = 0; d < a->d_head; d++)
        sum += ((double)q[d] + (double)a->u[d]) * (double)key[d] + ((double)q[d] + (double)a->v[d]) * (double)r[d];
    return sum * (double)a->scale;
}

static void attn_rel_c(const struct attn_rel *a, void *scratch)
{
    float *score = ((struct attn_rel_scratch *)scratch)->score;
    for (size_t i = 0; i < a->rows; i++) {
        const struct key_span own = a->sees[i];
        double max = -INFINITY, sum = 0, out[HEAD_MAX] = { 0 };
        for (size_t j = own.from; j < own.to; j++) {
            score[j] = (float)rel_score_of(a, i, j);
            max = fmax(max, (double)score[j]);
        }
        for (size_t j = own.from; j < own.to; j++) {
            const double weight = exp((double)score[j] - max);
            sum += weight;
            for (size_t d = 0; d < a->d_head; d++) out[d] += weight * (double)a->values[j * a->ld_kv + d];
        }
        for (size_t d = 0; d < a->d_head; d++) a->out[i * a->ld_out + d] = (float)(out[d] / sum);
    }
}

/* ---- over packed keys */

static float panel_number(const void *panels, size_t row, size_t k, size_t n_k)
{
    return ((const float *)panels)[(row / PANEL * n_k + k) * PANEL + row % PANEL];
}

static double rel_run_score(const struct attn_rel_run *a, size_t i, size_t j)
{
    const float *q = a->q + i * a->ld_q;
    double sum = 0;
    for (size_t d = 0; d < a->d_head; d++) {
        sum += ((double)q[d] + (double)a->u[d]) * (double)panel_number(a->keys, j, d, a->d_head);
        sum += ((double)q[d] + (double)a->v[d]) * (double)panel_number(a->distances, a->at + j - i, d, a->d_head);
    }
    return sum * (double)a->scale;
}

static void attn_rel_f32_c(const struct attn_rel_run *a, void *scratch)
{
    double *score = scratch;
    for (size_t i = 0; i < a->rows; i++) {
        const struct key_span own = a->sees[i];
        double max = -INFINITY, sum = 0, out[HEAD_MAX] = { 0 };
        for (size_t j = own.from; j < own.to; j++) max = fmax(max, score[j] = rel_run_score(a, i, j));
        for (size_t j = own.from; j < own.to; j++) {
            const double weight = exp(score[j] - max);
            sum += weight;
            for (size_t d = 0; d < a->d_head; d++) out[d] += weight * (double)panel_number(a->values, d, j, a->n_keys);
        }
        for (size_t d = 0; d < a->d_head; d++) a->out[i * a->ld_out + d] = (float)(out[d] / sum);
    }
}

static void pack_keys_c(void *panel, const float *x, size_t ld, size_t n, size_t d_head, const float *less)
{
    float *to = panel;
    for (size_t d = 0; d < d_head; d++)
        for (size_t i = 0; i < PANEL; i++) to[d * PANEL + i] = i < n ? x[i * ld + d] - less[d] : 0;
}

static void pack_values_c(void *panel, const float *x, size_t ld, size_t n, size_t n_d)
{
    float *to = panel;
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < PANEL; d++) to[i * PANEL + d] = d < n_d ? x[i * ld + d] : 0;
}

void kern_init_attn_rel_c(struct kern *k)
{
    *kern_run(k, KV_PANELS) = (struct run_kern){ NULL, attn_rel_f32_c, pack_keys_c, pack_values_c };
    k->attn_rel = attn_rel_c;
}

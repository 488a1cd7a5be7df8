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

void kern_init_attn_rel_c(struct kern *k)
{
    k->attn_rel = attn_rel_c;
}

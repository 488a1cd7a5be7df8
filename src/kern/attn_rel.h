/* steno: attention with relative positions, over vectors. SPDX-License-Identifier: MIT
 *
 * Scores are products of rows: both products of a score go to one vector of sums, whose lanes are added at the end. Two keys and up to four
 * query rows share the loads. Keys that only some of the rows see have the weight 0 for the others. */
#ifndef STENO_KERN_ATTN_REL_H
#define STENO_KERN_ATTN_REL_H
#include "kern/softmax.h"

INLINE vf rel_load(const float *x, size_t lanes) { return lanes == VF_N ? vf_load(x) : vf_load_n(x, lanes); }

/* A vector of products of each row with each key, from d on. */
INLINE void rel_products(vf acc[ATTN_REL_ROWS][2], const struct attn_rel *a, const struct attn_rel_scratch *s, size_t j, size_t d,
                         size_t lanes, const size_t rows, const size_t keys)
{
    const float *r = a->r + ((ptrdiff_t)a->first - (ptrdiff_t)j) * a->ld_r + d;
    UNROLL
    for (size_t i = 0; i < rows; i++) {
        const vf u = rel_load(s->with_u + i * HEAD_MAX + d, lanes), v = rel_load(s->with_v + i * HEAD_MAX + d, lanes);
        UNROLL
        for (size_t k = 0; k < keys; k++) {
            acc[i][k] = vf_fma(u, rel_load(a->keys + (j + k) * a->ld_kv + d, lanes), acc[i][k]);
            acc[i][k] = vf_fma(v, rel_load(r + ((ptrdiff_t)i - (ptrdiff_t)k) * a->ld_r, lanes), acc[i][k]);
        }
    }
}

INLINE void rel_scores(const struct attn_rel *a, struct attn_rel_scratch *s, size_t ld, size_t j, const size_t rows, const size_t keys)
{
    vf acc[ATTN_REL_ROWS][2];
    size_t d = 0;
    UNROLL
    for (size_t i = 0; i < rows; i++) acc[i][0] = acc[i][1] = vf_zero();
    for (; d + VF_N <= a->d_head; d += VF_N) rel_products(acc, a, s, j, d, VF_N, rows, keys);
    if (d < a->d_head) rel_products(acc, a, s, j, d, a->d_head - d, rows, keys);
    UNROLL
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < keys; k++) s->score[i * ld + j + k] = a->scale * vf_sum(acc[i][k]);
}

/* Outputs [d, d + 2 vectors) of the rows: sums over the keys [from, to) in ascending order. */
INLINE void rel_values(const struct attn_rel *a, const struct attn_rel_scratch *s, size_t ld, struct key_span all, size_t d, size_t lanes,
                       const size_t rows, const size_t vectors)
{
    vf acc[ATTN_REL_ROWS][2];
    UNROLL
    for (size_t i = 0; i < rows; i++) acc[i][0] = acc[i][1] = vf_zero();
    for (size_t j = all.from; j < all.to; j++) {
        const float *value = a->values + j * a->ld_kv + d;
        UNROLL
        for (size_t i = 0; i < rows; i++) {
            const vf weight = vf_set1(s->score[i * ld + j]);
            UNROLL
            for (size_t c = 0; c < vectors; c++) acc[i][c] = vf_fma(weight, rel_load(value + c * VF_N, lanes), acc[i][c]);
        }
    }
    UNROLL
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < vectors; c++) {
            float *out = a->out + i * a->ld_out + d + c * VF_N;
            if (lanes == VF_N) vf_store(out, acc[i][c]);
            else vf_store_n(out, acc[i][c], lanes);
        }
}

/* Up to ATTN_REL_ROWS rows. */
INLINE void rel_rows(const struct attn_rel *a, struct attn_rel_scratch *s, const size_t rows)
{
    struct key_span all = a->sees[0];
    size_t d = 0;
    for (size_t i = 0; i < rows; i++) {
        if (a->sees[i].from < all.from) all.from = a->sees[i].from;
        if (a->sees[i].to > all.to) all.to = a->sees[i].to;
        for (size_t c = 0; c < a->d_head; c++) {
            s->with_u[i * HEAD_MAX + c] = a->q[i * a->ld_q + c] + a->u[c];
            s->with_v[i * HEAD_MAX + c] = a->q[i * a->ld_q + c] + a->v[c];
        }
    }
    const size_t ld = rel_score_ld(all.to);
    size_t j = all.from;
    for (; j + 2 <= all.to; j += 2) rel_scores(a, s, ld, j, rows, 2);
    if (j < all.to) rel_scores(a, s, ld, j, rows, 1);
    for (size_t i = 0; i < rows; i++) {
        float *row = s->score + i * ld;
        const struct key_span own = a->sees[i];
        softmax(row + own.from, row + own.from, own.to - own.from);
        for (size_t k = all.from; k < own.from; k++) row[k] = 0;
        for (size_t k = own.to; k < all.to; k++) row[k] = 0;
    }
    for (; d + 2 * VF_N <= a->d_head; d += 2 * VF_N) rel_values(a, s, ld, all, d, VF_N, rows, 2);
    for (; d < a->d_head; d += VF_N) rel_values(a, s, ld, all, d, size_min(VF_N, a->d_head - d), rows, 1);
}

static void attn_rel(const struct attn_rel *a, void *scratch)
{
    struct attn_rel some = *a;
    for (uint32_t left = a->rows; left;) {
        const uint32_t n = left < ATTN_REL_ROWS ? left : ATTN_REL_ROWS;
        switch (n) {
        case 1: rel_rows(&some, scratch, 1); break;
        case 2: rel_rows(&some, scratch, 2); break;
        case 3: rel_rows(&some, scratch, 3); break;
        default: rel_rows(&some, scratch, ATTN_REL_ROWS);
        }
        left -= n;
        some.first += n;
        some.sees += n;
        some.q += n * some.ld_q;
        some.out += n * some.ld_out;
    }
}

static void init_attn_rel(struct kern *k)
{
    k->attn_rel = attn_rel;
}
#endif

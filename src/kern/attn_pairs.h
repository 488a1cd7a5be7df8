/* steno: attention's words of two bf16. SPDX-License-Identifier: MIT
 *
 * Keys and values of KV_BF16. Queries are rounded once per group of rows, and weights when they are computed, so both products use words as
 * stored. Shared by the bodies over vectors (attn_bf16.h) and over tiles (x86/attn_tiles.h). Before it includes this header, a file defines
 * row_to_pairs (lowp_rows.h) and vf_dot_pairs (lowp.h). */
#ifndef STENO_KERN_ATTN_PAIRS_H
#define STENO_KERN_ATTN_PAIRS_H
#include "kern/attn_group.h"

INLINE const uint32_t *key_words(const struct key_block *b, size_t block) { return (const uint32_t *)(const void *)b->kv[block]; }

INLINE const uint32_t *value_words(const struct key_block *b, size_t pair)
{
    return key_words(b, pair / (KV_BLOCK / 2)) + (KV_BLOCK / 2 + pair % (KV_BLOCK / 2)) * b->d_head;
}

static void queries_bf16(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows)
{
    for (size_t r = 0; r < rows; r++) row_to_pairs(s->q + r * Q_LD, a->q + (r0 + r) * a->ld_q, a->d_head);
}

/* Two vectors at a time become one of words, and the sum is that of the words. After n, zeros fill the last vector. */
static vf exps_bf16(struct attn_scratch *s, size_t r, float unit, float max, size_t n)
{
    const float *score = s->score + r * SCORE_LD;
    uint32_t *weight = s->weight + r * WEIGHT_LD;
    const vi ones = vi_set1(0x3f803f80);
    vf sum = vf_zero();
    for (size_t i = 0; i < n; i += 2 * VF_N) {
        float e[2 * VF_N];
        vf a = vf_fma(vf_load(score + i), vf_set1(unit), vf_set1(-max));
        vf b = vf_fma(vf_load(score + i + VF_N), vf_set1(unit), vf_set1(-max));
        if (n - i < 2 * VF_N) {
            a = first_or_absent(a, n - i);
            b = first_or_absent(b, n - i > VF_N ? n - i - VF_N : 0);
        }
        vf_store(e, vf_exp2_short(a));
        vf_store(e + VF_N, vf_exp2_short(b));
        row_to_pairs(weight + i / 2, e, 2 * VF_N);
        sum = vf_dot_pairs(sum, ones, vi_load(weight + i / 2));
    }
    return sum;
}
#endif

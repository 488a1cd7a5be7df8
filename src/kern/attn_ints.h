/* steno: attention over keys and values of integers. SPDX-License-Identifier: MIT
 *
 * Keys of a block of positions, and values of all blocks of a partial, become words of two int16 in scratch, KV_INT_D d at a time, where
 * all rows of a group meet them in the register tile of narrow.h. What stands in memory is read once, and while keys are taken apart their
 * values come nearer, while values are the keys that are read after them.
 *
 * Beside the primitives of narrow.h, vf_load_bf16 and vi_load a file has, before it includes this:
 *   vi_words(p)                   2 VF_N signed bytes as words of two int16
 *   vi_words_12(to, a, b, low)    to[2]: 2 VF_N times 16 a, 16 b plus the low and the high nibbles of `low` */
#ifndef STENO_KERN_ATTN_INTS_H
#define STENO_KERN_ATTN_INTS_H
#include "kern/attn_group.h"
#include "kern/narrow.h"

enum { PART_WORDS = KV_BLOCK * KV_INT_D / 2, WORDS_BYTES = 2 * VF_N };

/* Lines [i, i + 1) of n that `bytes` bytes at p are shared into. */
INLINE void bring(const char *p, size_t bytes, size_t i, size_t n)
{
    for (size_t at = bytes * i / n / 64 * 64; at < bytes * (i + 1) / n; at += 64) __builtin_prefetch(p + at, 0, 2);
}

/* Part of a block's keys as words of two d: [KV_INT_D / 2][KV_BLOCK]. */
static void words_of_keys(uint32_t *to, const char *part, const char *ahead)
{
    const char *line = part + 2 * KV_BLOCK;
    for (size_t d = 0; d < KV_INT_D; d += 4, line += 3 * KEY_LINE, to += 2 * KV_BLOCK) {
        bring(ahead, VALUE_PART, d / 4, KV_INT_D / 4);
        UNROLL
        for (size_t i = 0; i < KEY_LINE; i += WORDS_BYTES) {
            vi w[2];
            vi_words_12(w, line + i, line + KEY_LINE + i, line + 2 * KEY_LINE + i);
            vi_store(to + i / 2, w[0]);
            vi_store(to + KV_BLOCK + i / 2, w[1]);
        }
    }
}

/* Part of a block's values as words of two positions: [KV_BLOCK / 2][KV_INT_D]. */
static void words_of_values(uint32_t *to, const char *part, const char *ahead)
{
    for (size_t i = 0; i < KV_BLOCK / 2; i++) {
        bring(ahead, KEY_PART, i, KV_BLOCK / 2);
        UNROLL
        for (size_t c = 0; c < 2 * KV_INT_D; c += WORDS_BYTES)
            vi_store(to + i * KV_INT_D + c / 2, vi_words(part + 2 * KV_BLOCK + i * 2 * KV_INT_D + c));
    }
}

static void queries_int(struct attn_scratch *s, const struct attn *a, size_t r0, size_t rows)
{
    for (size_t r = 0; r < rows; r++) row_to_ints(s->q + r * Q_LD, a->q + (r0 + r) * a->ld_q, a->d_head);
}

static void scores_int(struct attn_scratch *s, const struct key_block *b, const struct attn *a, size_t r0)
{
    float ints[TILE_ROWS * PANEL];
    (void)a, (void)r0;
    for (size_t i = 0; i * KV_BLOCK < b->most; i++)
        for (size_t d = 0; d < b->d_head; d += KV_INT_D) {
            const char *part = b->kv[i] + key_part_at(d);
            const uint16_t *scale_k = (const uint16_t *)(const void *)part;
            words_of_keys(s->words, part, b->kv[i] + value_part_at(d, b->d_head));
            for (size_t r = 0; r < b->rows; r += TILE_ROWS) {
                const uint32_t *q = s->q + r * Q_LD;
                const size_t rows = size_min(TILE_ROWS, b->rows - r);
                panel_sums(ints, DT_I16_PAIR, q + i16_head(b->d_head) + d / 2, Q_LD, NULL, s->words, KV_INT_D / 2, rows,
                           (const char *)s->words);
                for (size_t n = 0; n < rows; n++) {
                    const vf scale_q = vf_set1(load_f32(q + n * Q_LD + d / I16_GROUP));
                    float *score = s->score + (r + n) * SCORE_LD + i * KV_BLOCK;
                    UNROLL
                    for (size_t c = 0; c < KV_BLOCK; c += VF_N) {
                        const vf scale = vf_mul(scale_q, vf_load_bf16(scale_k + c));
                        vf_store(score + c, vf_fma(vf_of_ints(vf_load(ints + n * PANEL + c)), scale, d ? vf_load(score + c) : vf_zero()));
                    }
                }
            }
        }
}

/* A score that is no number makes the first weight one, and with it all values. */
static vf exps_int(struct attn_scratch *s, size_t r, float unit, float max, size_t n)
{
    vf powers;
    const vf sum = exps_in_place(s, r, unit, max, n, &powers);
    if (isnan(vf_sum(powers))) s->score[r * SCORE_LD] = NAN;
    return sum;
}

/* Weights of row r for values that scale belongs to, as words, and behind them their scale; zeros up to a whole block. */
INLINE void weights_to_ints(uint32_t *to, const float *weight, const float *scale, size_t n, size_t most)
{
    float w[ATTN_KEYS];
    for (size_t i = 0; i < n; i += VF_N) vf_store(w + i, vf_mul(vf_load(weight + i), vf_load(scale + i)));
    group_to_ints(to, to + ATTN_KEYS / 2, w, n);
    for (size_t i = (n + VF_N - 1) / VF_N * VF_N / 2; i < most / 2; i++) to[i] = 0;
}

static void weigh_int(struct attn_scratch *s, const struct key_block *b)
{
    const size_t n = (b->most + KV_BLOCK - 1) / KV_BLOCK;
    float scale[ATTN_KEYS], ints[TILE_ROWS * PANEL];
    for (size_t r = 0; r < b->rows; r++) /* not passed over, though no score may be above -infinity */
        if (b->seen[r] && isnan(s->score[r * SCORE_LD])) b->out[r * OUT_LD + part_max_at(b->d_head)] = 0;
    for (size_t d = 0; d < b->d_head; d += KV_INT_D) {
        for (size_t i = 0; i < n; i++) {
            const char *part = b->kv[i] + value_part_at(d, b->d_head);
            for (size_t c = 0; c < KV_BLOCK; c += VF_N)
                vf_store(scale + i * KV_BLOCK + c, vf_load_bf16((const uint16_t *)(const void *)part + c));
            words_of_values(s->words + i * PART_WORDS, part, b->next[i] + key_part_at(d));
        }
        for (size_t r = 0; r < b->rows; r++)
            weights_to_ints(s->weight + r * WEIGHT_LD, s->score + r * SCORE_LD, scale, b->seen[r], n * KV_BLOCK);
        for (size_t r = 0; r < b->rows; r += TILE_ROWS) {
            const size_t rows = size_min(TILE_ROWS, b->rows - r);
            const uint32_t *w = s->weight + r * WEIGHT_LD;
            panel_sums(ints, DT_I16_PAIR, w, WEIGHT_LD, NULL, s->words, n * KV_BLOCK / 2, rows, (const char *)s->words);
            for (size_t m = 0; m < rows; m++) {
                const vf unit = vf_set1(load_f32(w + m * WEIGHT_LD + ATTN_KEYS / 2));
                UNROLL
                for (size_t c = 0; c < KV_INT_D; c += VF_N)
                    vf_store(b->out + (r + m) * OUT_LD + d + c, vf_mul(vf_of_ints(vf_load(ints + m * PANEL + c)), unit));
            }
        }
    }
}

static const struct attn_body body_int = { queries_int, scores_int, exps_int, weigh_int };
static void attn_int(const struct attn *a, void *scratch) { attn_any(a, scratch, &body_int); }
static void attn_part_int(const struct attn *a, size_t b, float *part, size_t ld_part, void *scratch)
{
    attn_part_any(a, b, part, ld_part, scratch, &body_int);
}
static void attn_weights_int(const struct attn *a, void *scratch) { attn_weights_any(a, scratch, &body_int); }

static void init_attn_ints(struct kern *k)
{
    k->attn_weights[KV_INT] = attn_weights_int;
    k->attn[KV_INT] = attn_int;
    k->attn_part[KV_INT] = attn_part_int;
}
#endif

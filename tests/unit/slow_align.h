/* steno tests: slow reference for alignment. SPDX-License-Identifier: MIT
 *
 * Computes the averaged matrix from cross-attention weights, in double precision and head by head. It follows the description of
 * openai-whisper's find_alignment: softmax over frames, standardisation over tokens, median of seven frames, mean over heads. */
#ifndef STENO_TESTS_SLOW_ALIGN_H
#define STENO_TESTS_SLOW_ALIGN_H
#include "slow_whisper.h"

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Softmax of the scores x[rows, n]; then each column is reduced by its mean and divided by its standard deviation, 0 if that is 0. */
static inline void slow_standardise(double *x, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++) {
        double max = -INFINITY, sum = 0;
        for (size_t j = 0; j < n; j++) max = fmax(max, x[r * n + j]);
        for (size_t j = 0; j < n; j++) sum += x[r * n + j] = exp(x[r * n + j] - max);
        for (size_t j = 0; j < n; j++) x[r * n + j] /= sum;
    }
    for (size_t j = 0; j < n; j++) {
        double mean = 0, var = 0;
        for (size_t r = 0; r < rows; r++) mean += x[r * n + j] / (double)rows;
        for (size_t r = 0; r < rows; r++) var += (x[r * n + j] - mean) * (x[r * n + j] - mean) / (double)rows;
        const double first = x[j];
        int same = 1;
        for (size_t r = 0; r < rows; r++) same = same && x[r * n + j] == first;
        for (size_t r = 0; r < rows; r++) x[r * n + j] = same ? 0 : (x[r * n + j] - mean) / sqrt(var);
    }
}

/* sum += median of seven neighbours, mirrored at the ends; rows of at most three values are unchanged. */
static inline void slow_median(double *sum, const double *x, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        for (long j = 0; j < (long)n; j++) {
            double near[7];
            for (long i = -3; i <= 3; i++) {
                const long at = labs(j + i) < (long)n ? labs(j + i) : 2 * (long)n - 2 - (j + i);
                near[i + 3] = n > 3 ? x[(long)(r * n) + at] : x[(long)(r * n) + j];
            }
            qsort(near, 7, sizeof *near, by_value);
            sum[r * n + (size_t)j] += near[3];
        }
}

/* Scaled scores [rows, n] of one head: q[rows, d], k[keys, d]. */
static inline double *slow_scores(struct slow *s, const double *q, const double *k, size_t rows, size_t n, size_t d, size_t heads,
                                  size_t head)
{
    const size_t dh = d / heads;
    double *x = slow_new(s, rows * n);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < dh; i++) x[r * n + j] += q[r * d + head * dh + i] * k[j * d + head * dh + i] / sqrt((double)dh);
    return x;
}

struct slow_head { int layer; size_t head; };

/* The matrix [n, n_ctx] of heads[n_heads] for tokens[n], given the encoder's output. */
static inline double *slow_align(struct slow *s, const double *enc, const int32_t *tokens, size_t n, size_t n_ctx,
                                 const struct slow_head *heads, size_t n_heads)
{
    const size_t d = (size_t)s->d->n_text_state, h = (size_t)s->d->n_text_head, ctx = (size_t)s->d->n_audio_ctx;
    double *x = slow_embed(s, tokens, n), *out = slow_new(s, n * n_ctx);
    for (int i = 0; i < s->d->n_text_layer; i++) {
        char block[64];
        snprintf(block, sizeof block, "decoder.blocks.%d.", i);
        slow_attention(s, block, "attn", x, n, NULL, h, 1);
        for (size_t k = 0; k < n_heads; k++) {
            if (heads[k].layer != i) continue;
            const double *q = slow_linear(s, block, "cross_attn.query", 1, slow_norm(s, block, "cross_attn_ln", x, n, d), n, d, d);
            double *w = slow_scores(s, q, slow_linear(s, block, "cross_attn.key", 0, enc, ctx, d, d), n, n_ctx, d, h, heads[k].head);
            slow_standardise(w, n, n_ctx);
            slow_median(out, w, n, n_ctx);
        }
        slow_attention(s, block, "cross_attn", x, n, &(struct slow_rows){ enc, ctx }, h, 0);
        slow_mlp(s, block, x, n);
    }
    for (size_t i = 0; i < n * n_ctx; i++) out[i] /= (double)n_heads;
    return out;
}
#endif

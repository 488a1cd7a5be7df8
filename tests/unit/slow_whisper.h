/* steno tests: slow reference for Whisper. SPDX-License-Identifier: MIT
 *
 * The whole network in double precision, written from Radford et al. 2022 and Vaswani et al. 2017. Every sequence is computed from its
 * start, without caches and fused operations. Weights are read from the file by name. */
#ifndef STENO_TESTS_SLOW_WHISPER_H
#define STENO_TESTS_SLOW_WHISPER_H
#include "api/random_model.h"
#include "stored_dims.h"

struct slow {
    struct file file;
    struct weights w;
    struct arena mem;
    struct whisper_dims dims;
    const struct whisper_dims *d;
    int by_tanh; /* 1: GELU by tanh */
};

static inline void slow_open(struct slow *s, struct bytes b)
{
    steno_error e;
    arena_init(&s->mem);
    file_from_memory(&s->file, "slow", b.p, b.n);
    if (weights_open(&s->w, &s->file, &e)) fail_msg("%s", e.text);
    s->dims = stored_dims(&s->w);
    s->d = &s->dims;
    s->by_tanh = 0;
}

static inline void slow_close(struct slow *s)
{
    weights_close(&s->w);
    arena_free(&s->mem);
}

static inline double *slow_new(struct slow *s, size_t n)
{
    double *p = arena_array(&s->mem, n, sizeof *p);
    assert_non_null(p);
    return p;
}

static inline double *slow_weight(struct slow *s, const char *prefix, const char *name)
{
    char full[256];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    const struct tensor *t = weights_find(&s->w, full);
    if (!t) fail_msg("no tensor %s", full);
    const size_t n = (size_t)(t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]);
    float *f = arena_array(&s->mem, n, sizeof *f);
    double *x = slow_new(s, n);
    assert_int_equal(tensor_read_f32(t, f, NULL), 0);
    for (size_t i = 0; i < n; i++) x[i] = (double)f[i];
    return x;
}

static inline double slow_gelu(const struct slow *s, double x)
{
    if (s->by_tanh) return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    return 0.5 * x * (1 + erf(x / sqrt(2.0)));
}

/* y[rows, n] = x[rows, k] w^T + b */
static inline double *slow_linear(struct slow *s, const char *block, const char *name, int bias, const double *x, size_t rows, size_t n,
                                  size_t k)
{
    char part[80];
    snprintf(part, sizeof part, "%s.weight", name);
    const double *w = slow_weight(s, block, part);
    snprintf(part, sizeof part, "%s.bias", name);
    const double *b = bias ? slow_weight(s, block, part) : NULL;
    double *y = slow_new(s, rows * n);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) {
            double sum = b ? b[i] : 0;
            for (size_t j = 0; j < k; j++) sum += x[r * k + j] * w[i * k + j];
            y[r * n + i] = sum;
        }
    return y;
}

static inline double *slow_norm(struct slow *s, const char *block, const char *name, const double *x, size_t rows, size_t d)
{
    char part[64];
    snprintf(part, sizeof part, "%s.weight", name);
    const double *g = slow_weight(s, block, part);
    snprintf(part, sizeof part, "%s.bias", name);
    const double *b = slow_weight(s, block, part);
    double *y = slow_new(s, rows * d);
    for (size_t r = 0; r < rows; r++) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < d; i++) mean += x[r * d + i] / (double)d;
        for (size_t i = 0; i < d; i++) var += (x[r * d + i] - mean) * (x[r * d + i] - mean) / (double)d;
        for (size_t i = 0; i < d; i++) y[r * d + i] = (x[r * d + i] - mean) / sqrt(var + 1e-5) * g[i] + b[i];
    }
    return y;
}

struct slow_shape { size_t rows, keys, d, heads; int causal; };

/* Each row of q attends to keys 0..its own index (causal) or to all keys; heads are side by side. */
static inline double *slow_softmax_attention(struct slow *s, const double *q, const double *k, const double *v, const struct slow_shape *a)
{
    const size_t rows = a->rows, keys = a->keys, d = a->d, heads = a->heads, dh = d / heads;
    double *out = slow_new(s, rows * d), *p = slow_new(s, keys);
    for (size_t h = 0; h < heads; h++)
        for (size_t r = 0; r < rows; r++) {
            const size_t n = a->causal ? r + 1 : keys;
            double max = -INFINITY, sum = 0;
            for (size_t j = 0; j < n; j++) {
                p[j] = 0;
                for (size_t i = 0; i < dh; i++) p[j] += q[r * d + h * dh + i] * k[j * d + h * dh + i] / sqrt((double)dh);
                if (p[j] > max) max = p[j];
            }
            for (size_t j = 0; j < n; j++) sum += p[j] = exp(p[j] - max);
            for (size_t j = 0; j < n; j++)
                for (size_t i = 0; i < dh; i++) out[r * d + h * dh + i] += p[j] / sum * v[j * d + h * dh + i];
        }
    return out;
}

struct slow_rows { const double *x; size_t n; };

/* x += attention(norm(x), from); from NULL means norm(x) itself. */
static inline void slow_attention(struct slow *s, const char *block, const char *attn, double *x, size_t rows, const struct slow_rows *from,
                                  size_t heads, int causal)
{
    const size_t d = (size_t)s->d->n_audio_state;
    char name[4][48];
    static const char *const part[] = { "query", "key", "value", "out" };
    for (int i = 0; i < 4; i++) snprintf(name[i], sizeof name[i], "%s.%s", attn, part[i]);
    char ln[64];
    snprintf(ln, sizeof ln, "%s_ln", attn);
    const double *normed = slow_norm(s, block, ln, x, rows, d);
    const struct slow_rows of = from ? *from : (struct slow_rows){ normed, rows };
    const struct slow_shape shape = { rows, of.n, d, heads, causal };
    const double *q = slow_linear(s, block, name[0], 1, normed, rows, d, d), *k = slow_linear(s, block, name[1], 0, of.x, of.n, d, d);
    const double *v = slow_linear(s, block, name[2], 1, of.x, of.n, d, d), *a = slow_softmax_attention(s, q, k, v, &shape);
    const double *y = slow_linear(s, block, name[3], 1, a, rows, d, d);
    for (size_t i = 0; i < rows * d; i++) x[i] += y[i];
}

static inline void slow_mlp(struct slow *s, const char *block, double *x, size_t rows)
{
    const size_t d = (size_t)s->d->n_audio_state;
    double *wide = slow_linear(s, block, "mlp.0", 1, slow_norm(s, block, "mlp_ln", x, rows, d), rows, 4 * d, d);
    for (size_t i = 0; i < rows * 4 * d; i++) wide[i] = slow_gelu(s, wide[i]);
    const double *y = slow_linear(s, block, "mlp.2", 1, wide, rows, d, 4 * d);
    for (size_t i = 0; i < rows * d; i++) x[i] += y[i];
}

/* GELU of a convolution of width 3, zero-padded at both ends: x[frames, channels] -> [frames / stride, n] */
static inline double *slow_conv(struct slow *s, const char *name, const double *x, size_t frames, size_t channels, size_t n, size_t stride)
{
    char part[64];
    snprintf(part, sizeof part, "%s.weight", name);
    const double *w = slow_weight(s, "encoder.", part);
    snprintf(part, sizeof part, "%s.bias", name);
    const double *b = slow_weight(s, "encoder.", part);
    double *y = slow_new(s, frames / stride * n);
    for (size_t r = 0; r < frames / stride; r++)
        for (size_t o = 0; o < n; o++) {
            double sum = b[o];
            for (size_t t = 0; t < 3; t++) {
                const size_t f = r * stride + t; /* one more than the frame read */
                for (size_t c = 0; f >= 1 && f <= frames && c < channels; c++)
                    sum += x[(f - 1) * channels + c] * w[(o * channels + c) * 3 + t];
            }
            y[r * n + o] = slow_gelu(s, sum);
        }
    return y;
}

/* Intermediate results of the encoder for mel[2 ctx, n_mels]. */
struct slow_encoder { double *conv1, *conv2, *layer[4], *out; };

static inline struct slow_encoder slow_encode(struct slow *s, const float *mel)
{
    const size_t ctx = (size_t)s->d->n_audio_ctx, d = (size_t)s->d->n_audio_state, mels = (size_t)s->d->n_mels;
    struct slow_encoder e;
    double *in = slow_new(s, 2 * ctx * mels), *x = slow_new(s, ctx * d);
    for (size_t i = 0; i < 2 * ctx * mels; i++) in[i] = (double)mel[i];
    e.conv1 = slow_conv(s, "conv1", in, 2 * ctx, mels, d, 1);
    e.conv2 = slow_conv(s, "conv2", e.conv1, 2 * ctx, d, d, 2);
    const double *pos = slow_weight(s, "encoder.", "positional_embedding");
    for (size_t i = 0; i < ctx * d; i++) x[i] = e.conv2[i] += pos[i];
    for (int i = 0; i < s->d->n_audio_layer && i < 4; i++) {
        char block[64];
        snprintf(block, sizeof block, "encoder.blocks.%d.", i);
        slow_attention(s, block, "attn", x, ctx, NULL, (size_t)s->d->n_audio_head, 0);
        slow_mlp(s, block, x, ctx);
        e.layer[i] = slow_new(s, ctx * d);
        memcpy(e.layer[i], x, ctx * d * sizeof *x);
    }
    e.out = slow_norm(s, "encoder.", "ln_post", x, ctx, d);
    return e;
}

/* Sum of the token's row and the position's row. */
static inline double *slow_embed(struct slow *s, const int32_t *tokens, size_t n)
{
    const size_t d = (size_t)s->d->n_text_state;
    const double *e = slow_weight(s, "decoder.", "token_embedding.weight"), *pos = slow_weight(s, "decoder.", "positional_embedding");
    double *x = slow_new(s, n * d);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < d; i++) x[r * d + i] = e[(size_t)tokens[r] * d + i] + pos[r * d + i];
    return x;
}

/* Logits [n, n_vocab] after each of tokens[n], given the encoder's output. */
static inline double *slow_decode(struct slow *s, const double *enc, const int32_t *tokens, size_t n)
{
    const size_t d = (size_t)s->d->n_text_state, vocab = (size_t)s->d->n_vocab;
    const struct slow_rows frames = { enc, (size_t)s->d->n_audio_ctx };
    double *x = slow_embed(s, tokens, n);
    for (int i = 0; i < s->d->n_text_layer; i++) {
        char block[64];
        snprintf(block, sizeof block, "decoder.blocks.%d.", i);
        slow_attention(s, block, "attn", x, n, NULL, (size_t)s->d->n_text_head, 1);
        slow_attention(s, block, "cross_attn", x, n, &frames, (size_t)s->d->n_text_head, 0);
        slow_mlp(s, block, x, n);
    }
    return slow_linear(s, "decoder.", "token_embedding", 0, slow_norm(s, "decoder.", "ln", x, n, d), n, vocab, d);
}
#endif

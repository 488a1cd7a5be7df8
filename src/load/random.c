/* steno: a model file that exists only as a rule. SPDX-License-Identifier: MIT */
#include "load/random.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/ggml_type.h"

enum { N_BINS = 201, MAX_BLOCK = 256, NAME_MAX_LEN = 96 };

/* SplitMix64 of one counter: any weight can be made alone. */
static uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint16_t half_of(float x)
{
    return f16_from_f32(x);
}

static void put_half(uint8_t *p, float x)
{
    const uint16_t h = half_of(x);
    memcpy(p, &h, 2);
}

/* The scales of a K type's block whose other bytes are random. sigma: how many times wider than uniform numbers in +-1 its weights are
 * with d = 1, by standard deviation; ratio: dmin / d that puts their mean at 0. */
static void scale_k_block(uint8_t *out, const struct random_piece *p)
{
    static const struct { float sigma, ratio; uint8_t d_at, min_at; } k_type[DT_COUNT] = {
        [DT_Q2_K] = { 24, 1.5f, 80, 82 }, [DT_Q3_K] = { 75, 0, 108, 0 },   [DT_Q4_K] = { 447, 7.5f, 0, 2 },
        [DT_Q5_K] = { 913, 15.5f, 0, 2 }, [DT_Q6_K] = { 2366, 0, 208, 0 },
    };
    const float d = p->spread / k_type[p->type].sigma;
    put_half(out + k_type[p->type].d_at, d);
    if (k_type[p->type].min_at) put_half(out + k_type[p->type].min_at, d * k_type[p->type].ratio);
}

/* Block or element number i of a piece. Quants are uniform; the scale makes the largest one mean + spread. */
static void make_block(uint8_t *out, const struct random_piece *p, uint64_t seed, uint64_t i, size_t sz)
{
    const uint64_t base = p->off + i * MAX_BLOCK;
    const float u = (float)(mix(seed, base) >> 40) * 0x1p-23f - 1;
    const float x = p->mean + p->spread * u;
    if (p->type == DT_F32) {
        memcpy(out, &x, 4);
    } else if (p->type == DT_F16 || p->type == DT_BF16) {
        const uint16_t h = p->type == DT_F16 ? half_of(x) : bf16_from_f32(x);
        memcpy(out, &h, 2);
    } else {
        static const uint8_t top[DT_COUNT] = { [DT_Q4_0] = 8, [DT_Q4_1] = 15, [DT_Q5_0] = 16, [DT_Q5_1] = 31, [DT_Q8_0] = 127 };
        const int offset = p->type == DT_Q4_1 || p->type == DT_Q5_1;
        const uint16_t scale = half_of((offset ? 2 : 1) * p->spread / (float)top[p->type]), low = half_of(p->mean - p->spread);
        for (size_t at = 0; at < sz; at += 8) {
            const uint64_t z = mix(seed, base + 1 + at);
            memcpy(out + at, &z, sz - at < 8 ? sz - at : 8);
        }
        if (dtype_block(p->type) == KBLOCK) {
            scale_k_block(out, p);
            return;
        }
        memcpy(out, &scale, 2);
        if (offset) memcpy(out + 2, &low, 2);
    }
}

static void make_range(const struct random_piece *p, uint64_t seed, uint64_t from, uint8_t *dst, size_t n)
{
    const size_t sz = dtype_row_sz(p->type, (size_t)dtype_block(p->type));
    uint8_t block[MAX_BLOCK];
    while (n) {
        const size_t skip = (size_t)(from % sz), take = sz - skip < n ? sz - skip : n;
        make_block(block, p, seed, from / sz, sz);
        memcpy(dst, block + skip, take);
        dst += take;
        from += take;
        n -= take;
    }
}

static int random_read(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    (void)e;
    const struct random_file *r = user;
    uint32_t lo = 0, hi = r->n; /* the last piece that begins at or before off */
    while (hi - lo > 1) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (r->piece[mid].off <= off) lo = mid;
        else hi = mid;
    }
    uint8_t *out = dst;
    for (uint32_t i = lo; n && i < r->n; i++) {
        const struct random_piece *p = &r->piece[i];
        const uint64_t from = off - p->off;
        const size_t take = p->size - from < n ? (size_t)(p->size - from) : n;
        if (p->bytes) memcpy(out, p->bytes + from, take);
        else make_range(p, r->seed, from, out, take);
        out += take;
        off += take;
        n -= take;
    }
    return STENO_OK;
}

/* ---- writing the description ---- */

static void add_piece(struct random_file *r, struct random_piece p)
{
    if (!r->piece || r->n == r->cap || !p.size) return;
    p.off = r->size;
    r->piece[r->n++] = p;
    r->size += p.size;
}

static uint8_t *put_i32(uint8_t *p, int32_t v)
{
    memcpy(p, &v, 4);
    return p + 4;
}

enum { BLOCK_LAYOUTS = 2000 /* version 2 of quantised blocks, in thousands of ftype */ };

static int32_t ftype_of(enum dtype t)
{
    return ggml_ftype_code(t) + (dtype_block(t) > 1 ? BLOCK_LAYOUTS : 0);
}

struct name { char s[NAME_MAX_LEN]; };

static struct name join(const char *prefix, const char *part)
{
    struct name n;
    if (snprintf(n.s, sizeof n.s, "%s.%s", prefix, part) >= (int)sizeof n.s) n.s[0] = 0; /* never: names are ours */
    return n;
}

/* Dimensions slowest first, as PyTorch; stored the other way round. */
static void add_tensor(struct random_file *r, const char *name, enum dtype type, float mean, float spread, int n_dims,
                       const uint64_t *dim)
{
    const size_t len = strlen(name);
    uint8_t *head = arena_alloc(r->arena, 12 + 4 * (size_t)n_dims + len), *p = head;
    if (!head) {
        r->piece = NULL; /* reported at the end */
        return;
    }
    uint64_t n = 1;
    p = put_i32(put_i32(put_i32(p, n_dims), (int32_t)len), ggml_type_code(type));
    for (int i = n_dims - 1; i >= 0; i--) {
        p = put_i32(p, (int32_t)dim[i]);
        n *= dim[i];
    }
    memcpy(p, name, len);
    add_piece(r, (struct random_piece){ .bytes = head, .size = 12 + 4 * (uint64_t)n_dims + len });
    add_piece(r, (struct random_piece){ .type = type, .mean = mean, .spread = spread, .size = dtype_row_sz(type, (size_t)n) });
}

static void add_named(struct random_file *r, const char *prefix, const char *part, enum dtype type, float mean, float spread, uint64_t d0,
                      uint64_t d1)
{
    const struct name name = join(prefix, part);
    add_tensor(r, name.s, type, mean, spread, d1 ? 2 : 1, (const uint64_t[]){ d0, d1 });
}

static void add_norm(struct random_file *r, const char *prefix, const char *part, uint64_t d)
{
    const struct name name = join(prefix, part);
    add_named(r, name.s, "weight", DT_F32, 1, 0.1f, d, 0);
    add_named(r, name.s, "bias", DT_F32, 0, 0.1f, d, 0);
}

/* spread 1/sqrt(k) keeps the size of activations through the layers */
static void add_linear(struct random_file *r, const char *prefix, const char *part, enum dtype type, int bias, uint64_t n, uint64_t k)
{
    const struct name name = join(prefix, part);
    add_named(r, name.s, "weight", type, 0, 1 / sqrtf((float)k), n, k);
    if (bias) add_named(r, name.s, "bias", DT_F32, 0, 0.02f, n, 0);
}

static void add_attention(struct random_file *r, const char *prefix, const char *part, enum dtype type, uint64_t d)
{
    const struct name name = join(prefix, part);
    add_linear(r, name.s, "query", type, 1, d, d);
    add_linear(r, name.s, "key", type, 0, d, d);
    add_linear(r, name.s, "value", type, 1, d, d);
    add_linear(r, name.s, "out", type, 1, d, d);
}

static void add_block(struct random_file *r, const char *side, int32_t i, int cross, enum dtype type, uint64_t d)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof name, "%s.blocks.%d", side, (int)i);
    add_norm(r, name, "attn_ln", d);
    add_attention(r, name, "attn", type, d);
    if (cross) {
        add_norm(r, name, "cross_attn_ln", d);
        add_attention(r, name, "cross_attn", type, d);
    }
    add_norm(r, name, "mlp_ln", d);
    add_linear(r, name, "mlp.0", type, 1, 4 * d, d);
    add_linear(r, name, "mlp.2", type, 1, d, 4 * d);
}

static void add_header(struct random_file *r, const struct model_dims *d, uint32_t n_entries, enum dtype type)
{
    const size_t filters = (size_t)d->n_mels * N_BINS;
    const size_t sz = 56 + 4 * filters + 4 + (size_t)n_entries * 16;
    uint8_t *head = arena_alloc(r->arena, sz), *p = head;
    if (!head) {
        r->piece = NULL;
        return;
    }
    const int32_t h[] = { 0x67676d6c, d->n_vocab, d->n_audio_ctx, d->n_audio_state, d->n_audio_head, d->n_audio_layer, d->n_text_ctx,
                          d->n_text_state, d->n_text_head, d->n_text_layer, d->n_mels, ftype_of(type), d->n_mels, N_BINS };
    for (size_t i = 0; i < sizeof h / sizeof *h; i++) p = put_i32(p, h[i]);
    for (size_t i = 0; i < filters; i++, p += 4) { /* each filter sees a couple of bins */
        const float w = i % N_BINS * (size_t)d->n_mels / N_BINS == i / N_BINS ? 0.02f : 0;
        memcpy(p, &w, 4);
    }
    p = put_i32(p, (int32_t)n_entries);
    for (uint32_t i = 0; i < n_entries; i++) {
        char word[12];
        const int n = i < 256 ? (word[0] = (char)i, 1) : snprintf(word, sizeof word, " w%u", (unsigned)i);
        p = put_i32(p, n);
        memcpy(p, word, (size_t)n);
        p += n;
    }
    add_piece(r, (struct random_piece){ .bytes = head, .size = (uint64_t)(p - head) });
}

int random_model_file(struct random_file *r, struct file *f, struct arena *a, const struct model_dims *d, uint32_t n_vocab_entries,
                      enum dtype type, uint64_t seed, steno_error *e)
{
    const uint64_t s = (uint64_t)d->n_audio_state;
    if (s % (uint64_t)dtype_block(type) || type == DT_BF16)
        return err_set(e, STENO_EARG, "weights of type %s come in blocks of %d and cannot fill rows of %d; choose another type",
                       dtype_name(type), dtype_block(type), (int)d->n_audio_state);
    const uint32_t cap = 2 * (11 + 15 * (uint32_t)d->n_audio_layer + 24 * (uint32_t)d->n_text_layer) + 16;
    *r = (struct random_file){ .piece = arena_array(a, cap, sizeof *r->piece), .cap = cap, .seed = seed, .arena = a };
    const enum dtype conv = type == DT_F32 ? DT_F32 : DT_F16;

    add_header(r, d, n_vocab_entries, type);
    add_named(r, "encoder", "positional_embedding", DT_F32, 0, 0.5f, (uint64_t)d->n_audio_ctx, s);
    add_tensor(r, "encoder.conv1.weight", conv, 0, 0.05f, 3, (const uint64_t[]){ s, (uint64_t)d->n_mels, 3 });
    add_named(r, "encoder", "conv1.bias", DT_F32, 0, 0.02f, s, 1);
    add_tensor(r, "encoder.conv2.weight", conv, 0, 0.05f, 3, (const uint64_t[]){ s, s, 3 });
    add_named(r, "encoder", "conv2.bias", DT_F32, 0, 0.02f, s, 1);
    for (int32_t i = 0; i < d->n_audio_layer; i++) add_block(r, "encoder", i, 0, type, s);
    add_norm(r, "encoder", "ln_post", s);
    add_named(r, "decoder", "positional_embedding", DT_F32, 0, 0.02f, (uint64_t)d->n_text_ctx, s);
    for (int32_t i = 0; i < d->n_text_layer; i++) add_block(r, "decoder", i, 1, type, s);
    add_norm(r, "decoder", "ln", s);
    add_named(r, "decoder", "token_embedding.weight", type, 0, 0.05f, (uint64_t)d->n_vocab, s);
    if (!r->piece) return err_nomem(e, cap * sizeof *r->piece, "random model");
    *f = (struct file){ .name = "random model", .size = r->size, .fd = -1, .read = random_read, .user = r };
    return STENO_OK;
}

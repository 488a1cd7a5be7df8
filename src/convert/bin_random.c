/* steno: .bin files with random weights. SPDX-License-Identifier: MIT
 *
 * Whisper and Silero VAD in whisper.cpp's forms. */
#include "convert/bin_random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/tensor_write.h"
#include "load/ggml.h"
#include "model/silero.h"
#include "model/whisper_dims.h"

/* ---- Whisper ---------------------------------------------------------------------------------------------------------------------- */

enum { N_BINS = 201 };

static uint8_t *put_i32(uint8_t *p, int32_t v)
{
    memcpy(p, &v, 4);
    return p + 4;
}

struct tensor_name { char s[NAME_MAX_LEN]; };

static struct tensor_name join(const char *prefix, const char *part)
{
    struct tensor_name n;
    if (snprintf(n.s, sizeof n.s, "%s.%s", prefix, part) >= (int)sizeof n.s) n.s[0] = 0; /* cannot happen: all names are short */
    return n;
}

/* Dimensions are slowest first, as in PyTorch, and are stored in the opposite order. */
static void add_tensor(struct random_file *r, const char *name, enum dtype type, float mean, float spread, int n_dims,
                       const uint64_t *dim)
{
    const size_t len = strlen(name);
    uint8_t *p = random_file_bytes(r, 12 + 4 * (size_t)n_dims + len);
    if (!p) return;
    uint64_t n = 1;
    p = put_i32(put_i32(put_i32(p, n_dims), (int32_t)len), ggml_type_code(type));
    for (int i = n_dims - 1; i >= 0; i--) {
        p = put_i32(p, (int32_t)dim[i]);
        n *= dim[i];
    }
    memcpy(p, name, len);
    random_file_weights(r, type, mean, spread, n);
}

static void add_named(struct random_file *r, const char *prefix, const char *part, enum dtype type, float mean, float spread, uint64_t d0,
                      uint64_t d1)
{
    const struct tensor_name name = join(prefix, part);
    add_tensor(r, name.s, type, mean, spread, d1 ? 2 : 1, (const uint64_t[]){ d0, d1 });
}

static void add_norm(struct random_file *r, const char *prefix, const char *part, uint64_t d)
{
    const struct tensor_name name = join(prefix, part);
    add_named(r, name.s, "weight", DT_F32, 1, 0.1f, d, 0);
    add_named(r, name.s, "bias", DT_F32, 0, 0.1f, d, 0);
}

/* A spread of 1/sqrt(k) keeps the size of activations through the layers. */
static void add_linear(struct random_file *r, const char *prefix, const char *part, enum dtype type, int bias, uint64_t n, uint64_t k)
{
    const struct tensor_name name = join(prefix, part);
    add_named(r, name.s, "weight", type, 0, 1 / sqrtf((float)k), n, k);
    if (bias) add_named(r, name.s, "bias", DT_F32, 0, 0.02f, n, 0);
}

static void add_attention(struct random_file *r, const char *prefix, const char *part, enum dtype type, uint64_t d)
{
    const struct tensor_name name = join(prefix, part);
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

static void add_header(struct random_file *r, const struct whisper_dims *d, uint32_t n_entries, enum dtype type)
{
    const size_t filters = (size_t)d->n_mels * N_BINS;
    const size_t sz = 56 + 4 * filters + 4 + (size_t)n_entries * 16;
    uint8_t *head = random_file_bytes(r, sz), *p = head;
    if (!head) return;
    const int32_t h[] = { 0x67676d6c, d->n_vocab, d->n_audio_ctx, d->n_audio_state, d->n_audio_head, d->n_audio_layer, d->n_text_ctx,
                          d->n_text_state, d->n_text_head, d->n_text_layer, d->n_mels, ggml_ftype_written(type), d->n_mels, N_BINS };
    for (size_t i = 0; i < sizeof h / sizeof *h; i++) p = put_i32(p, h[i]);
    for (size_t i = 0; i < filters; i++, p += 4) { /* each filter covers two bins */
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
    random_file_shorten(r, (size_t)(p - head));
}

int whisper_random_file(struct random_file *r, struct file *f, struct arena *a, const struct whisper_dims *d, enum dtype type,
                        uint64_t seed, steno_error *e)
{
    const uint64_t s = (uint64_t)d->n_audio_state;
    if (s % (uint64_t)dtype_block(type) || type == DT_BF16)
        return err_set(e, STENO_EARG, "weights of type %s come in blocks of %d and cannot fill rows of %d; choose another type",
                       dtype_name(type), dtype_block(type), (int)d->n_audio_state);
    const uint32_t cap = 2 * (11 + 15 * (uint32_t)d->n_audio_layer + 24 * (uint32_t)d->n_text_layer) + 16;
    random_file_init(r, a, cap, seed);
    const enum dtype conv = type == DT_F32 ? DT_F32 : DT_F16;

    add_header(r, d, (uint32_t)d->n_vocab - WHISPER_SPECIAL, type);
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
    /* The name distinguishes large-v2 from large-v1, which has the same shape. */
    return random_file_end(r, f, strcmp(whisper_shape_name(d), "large-v2") ? "random model" : "random large-v2", e);
}

/* ---- Silero VAD ------------------------------------------------------------------------------------------------------------------- */

/* dim: fastest first, 0 after the last. */
static void put_record(struct random_file *r, const char *name, enum dtype type, const int32_t dim[4], float spread)
{
    const size_t len = strlen(name);
    int32_t n_dims = 0;
    uint64_t n = 1;
    while (dim[n_dims]) n *= (uint64_t)dim[n_dims++];
    uint8_t *p = random_file_bytes(r, 12 + 4 * (size_t)n_dims + len);
    if (p) {
        p = put_i32(p, n_dims);
        p = put_i32(p, (int32_t)len);
        p = put_i32(p, type == DT_F16);
        for (int i = 0; i < n_dims; i++) p = put_i32(p, dim[i]);
        memcpy(p, name, len);
    }
    random_file_weights(r, type, 0, spread, n);
}

static void put_silero_header(struct random_file *r)
{
    static const uint8_t first[] = { 'l', 'm', 'g', 'g', 10, 0, 0, 0, 's', 'i', 'l', 'e', 'r', 'o', '-', '1', '6', 'k' };
    const int32_t behind[] = { SILERO_CELLS, SILERO_CELLS, SILERO_CELLS, 1 };
    const int32_t before[] = { 6, 2, 0, SILERO_FRAME, SILERO_MARGIN, SILERO_CONVS };
    uint8_t *p = random_file_bytes(r, sizeof first + sizeof before + sizeof behind + 12 * SILERO_CONVS);
    if (!p) return;
    memcpy(p, first, sizeof first);
    p += sizeof first;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) p = put_i32(p, before[i]);
    for (int i = 0; i < SILERO_CONVS; i++) p = put_i32(put_i32(put_i32(p, silero_conv[i].in), silero_conv[i].out), SILERO_TAPS);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) p = put_i32(p, behind[i]);
}

int silero_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e)
{
    static const char *const of_cell[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };
    char name[64];
    if (type != DT_F32 && type != DT_F16)
        return err_set(e, STENO_EARG, "weights for voice activity are f32 or f16, not %s", dtype_name(type));
    random_file_init(r, a, 2 * (3 + 2 * SILERO_CONVS + 4) + 1, seed);
    put_silero_header(r);
    for (int i = 0; i < SILERO_CONVS; i++) {
        snprintf(name, sizeof name, "_model.encoder.%d.reparam_conv.weight", i);
        put_record(r, name, type, (int32_t[4]){ SILERO_TAPS, silero_conv[i].in, silero_conv[i].out, 0 }, 0.1f);
        snprintf(name, sizeof name, "_model.encoder.%d.reparam_conv.bias", i);
        put_record(r, name, DT_F32, (int32_t[4]){ silero_conv[i].out, 0 }, 0.1f);
    }
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "_model.decoder.rnn.%s", of_cell[i]);
        const int32_t cells = SILERO_CELLS;
        put_record(r, name, DT_F32, i < 2 ? (int32_t[4]){ cells, 4 * cells, 0, 0 } : (int32_t[4]){ 4 * cells, 0, 0, 0 }, 0.1f);
    }
    put_record(r, "_model.decoder.decoder.2.weight", type, (int32_t[4]){ SILERO_CELLS, 0 }, 0.2f);
    put_record(r, "_model.decoder.decoder.2.bias", DT_F32, (int32_t[4]){ 0 }, 0.1f);
    put_record(r, "_model.stft.forward_basis_buffer", type, (int32_t[4]){ SILERO_STFT, 1, 2 * SILERO_BINS, 0 }, 1);
    return random_file_end(r, f, "random model", e);
}

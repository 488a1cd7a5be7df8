/* steno tests: custom whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * The list of a model's tensors is written a second time here, from openai/whisper's modules. So the test does not depend on the
 * library's list. */
#ifndef STENO_TESTS_WHISPER_FILE_H
#define STENO_TESTS_WHISPER_FILE_H
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "model/whisper_dims.h"

typedef void shape_fn(void *user, const char *name, const uint64_t dim[4]);

static void shape_give(shape_fn *fn, void *user, const char *prefix, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    char full[128];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    fn(user, full, (const uint64_t[4]) { a, b, c, 0 });
}

static void shape_attention(shape_fn *fn, void *user, const char *block, const char *attn, uint64_t d)
{
    static const char *const part[] = { ".query", ".key", ".value", ".out" };
    char name[64];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s.weight", attn, part[i]);
        shape_give(fn, user, block, name, d, d, 0);
        snprintf(name, sizeof name, "%s%s.bias", attn, part[i]);
        if (i != 1) shape_give(fn, user, block, name, d, 0, 0);
    }
    snprintf(name, sizeof name, "%s_ln.weight", attn);
    shape_give(fn, user, block, name, d, 0, 0);
    snprintf(name, sizeof name, "%s_ln.bias", attn);
    shape_give(fn, user, block, name, d, 0, 0);
}

static void shape_block(shape_fn *fn, void *user, const char *side, int layer, uint64_t d, int cross)
{
    char block[64];
    snprintf(block, sizeof block, "%s.blocks.%d.", side, layer);
    shape_attention(fn, user, block, "attn", d);
    if (cross) shape_attention(fn, user, block, "cross_attn", d);
    shape_give(fn, user, block, "mlp.0.weight", 4 * d, d, 0);
    shape_give(fn, user, block, "mlp.0.bias", 4 * d, 0, 0);
    shape_give(fn, user, block, "mlp.2.weight", d, 4 * d, 0);
    shape_give(fn, user, block, "mlp.2.bias", d, 0, 0);
    shape_give(fn, user, block, "mlp_ln.weight", d, 0, 0);
    shape_give(fn, user, block, "mlp_ln.bias", d, 0, 0);
}

/* Call fn for every tensor of a Whisper model of these dimensions, with shapes as PyTorch prints them. */
static void shape_each(shape_fn *fn, void *user, const struct whisper_dims *m)
{
    const uint64_t d = (uint64_t)m->n_audio_state;
    shape_give(fn, user, "encoder.", "positional_embedding", (uint64_t)m->n_audio_ctx, d, 0);
    shape_give(fn, user, "encoder.", "conv1.weight", d, (uint64_t)m->n_mels, 3);
    shape_give(fn, user, "encoder.", "conv1.bias", d, 0, 0);
    shape_give(fn, user, "encoder.", "conv2.weight", d, d, 3);
    shape_give(fn, user, "encoder.", "conv2.bias", d, 0, 0);
    for (int i = 0; i < m->n_audio_layer; i++) shape_block(fn, user, "encoder", i, d, 0);
    shape_give(fn, user, "encoder.", "ln_post.weight", d, 0, 0);
    shape_give(fn, user, "encoder.", "ln_post.bias", d, 0, 0);
    shape_give(fn, user, "decoder.", "positional_embedding", (uint64_t)m->n_text_ctx, d, 0);
    shape_give(fn, user, "decoder.", "token_embedding.weight", (uint64_t)m->n_vocab, d, 0);
    for (int i = 0; i < m->n_text_layer; i++) shape_block(fn, user, "decoder", i, d, 1);
    shape_give(fn, user, "decoder.", "ln.weight", d, 0, 0);
    shape_give(fn, user, "decoder.", "ln.bias", d, 0, 0);
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

/* Type numbers in the header and in a record, and the size of a block. */
static const struct { int32_t ftype, record; uint32_t block, block_sz; } stored_type[DT_COUNT] = {
    [DT_F32] = { 0, 0, 1, 4 },        [DT_F16] = { 1, 1, 1, 2 },        [DT_BF16] = { -1, 30, 1, 2 },
    [DT_Q4_0] = { 2002, 2, 32, 18 },  [DT_Q4_1] = { 2003, 3, 32, 20 },  [DT_Q5_0] = { 2008, 6, 32, 22 },
    [DT_Q5_1] = { 2009, 7, 32, 24 },  [DT_Q8_0] = { 2007, 8, 32, 34 },
    [DT_Q2_K] = { 2010, 10, 256, 84 }, [DT_Q3_K] = { 2011, 11, 256, 110 }, [DT_Q4_K] = { 2012, 12, 256, 144 },
    [DT_Q5_K] = { 2013, 13, 256, 176 }, [DT_Q6_K] = { 2014, 14, 256, 210 },
    [DT_IQ4_XS] = { 2022, 23, 256, 136 },
};

static void put_i32(struct buf *b, int64_t v)
{
    const uint32_t u = (uint32_t)v;
    buf_add(b, (const uint8_t[4]) { (uint8_t)u, (uint8_t)(u >> 8), (uint8_t)(u >> 16), (uint8_t)(u >> 24) }, 4);
}

/* One record: extents fastest first, then n weights, all 0.5 (block types: scales and minima 0.5, quants 0x11; K types: any bits). */
static void put_tensor(struct buf *b, const char *name, enum dtype t, const uint64_t *dim, int n_dims)
{
    uint64_t n = 1;
    put_i32(b, n_dims);
    put_i32(b, (int64_t)strlen(name));
    put_i32(b, stored_type[t].record);
    for (int i = n_dims - 1; i >= 0; n *= dim[i--]) put_i32(b, (int64_t)dim[i]);
    buf_str(b, name);
    uint8_t block[210];
    memset(block, 0x11, sizeof block);
    memcpy(block, t == DT_F32 ? "\0\0\0\x3f" : "\0\x38\0\x38", t == DT_F32 || t == DT_Q4_1 || t == DT_Q5_1 ? 4 : 2);
    for (uint64_t i = 0; i < n / stored_type[t].block; i++) buf_add(b, block, stored_type[t].block_sz);
}

struct file_writer { struct buf *b; enum dtype type; };

static void file_writer_tensor(void *user, const char *name, const uint64_t dim[4])
{
    const struct file_writer *fw = user;
    const int conv_bias = strstr(name, "conv") && dim[1] == 0;
    const int rank = dim[2] ? 3 : dim[1] ? 2 : 1, kept = rank == 1 || strstr(name, "positional");
    const enum dtype t = kept ? DT_F32 : rank == 3 && fw->type != DT_F32 ? DT_F16 : fw->type;
    put_tensor(fw->b, name, t, conv_bias ? (const uint64_t[4]) { dim[0], 1, 0, 0 } : dim, conv_bias ? 2 : rank);
}

static void put_header(struct buf *b, const struct whisper_dims *m, enum dtype type)
{
    const int32_t h[] = { m->n_vocab, m->n_audio_ctx, m->n_audio_state, m->n_audio_head, m->n_audio_layer, m->n_text_ctx, m->n_text_state,
                          m->n_text_head, m->n_text_layer, m->n_mels, stored_type[type].ftype };
    buf_str(b, "lmgg");
    for (size_t i = 0; i < sizeof h / sizeof *h; i++) put_i32(b, h[i]);
}

static inline void put_model(struct buf *b, const struct whisper_dims *m, enum dtype type)
{
    static const uint8_t zero[201 * 4];
    put_header(b, m, type);
    put_i32(b, m->n_mels);
    put_i32(b, 201);
    for (int i = 0; i < m->n_mels; i++) buf_add(b, zero, sizeof zero);
    put_i32(b, 3);
    for (int i = 0; i < 3; i++) {
        put_i32(b, i);
        buf_add(b, "ab", (size_t)i);
    }
    shape_each(file_writer_tensor, &(struct file_writer) { b, type }, m);
}
#endif

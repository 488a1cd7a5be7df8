/* steno: GGUF models of known shapes with random weights. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/funasr.h"
#include "convert/gguf_random.h"
#include "model/nano.h"
#include "model/paraformer.h"
#include "model/sensevoice.h"

/* ---- language models -------------------------------------------------------------------------------------------------------------- */

/* Sizes are those of the models' config.json. In all of them the embedding is also the output matrix. */

enum { PREFIX_SZ = 32, KEY_SZ = 64 };

struct lm_shape {
    const char *name, *architecture;
    uint32_t layers, d, d_ff, heads, kv_heads, d_head, n_vocab, ctx, window;
    float eps, rope_base;
    int has_qk_norm, has_post_norms;
};

static const struct lm_shape shapes[] = {
    { "qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 0, 1e-6f, 1e6f, 1, 0 },
    { "qwen3-1.7b", "qwen3", 28, 2048, 6144, 16, 8, 128, 151936, 40960, 0, 1e-6f, 1e6f, 1, 0 },
    { "llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 0, 1e-5f, 5e5f, 0, 0 },
    { "gemma-3-1b", "gemma3", 26, 1152, 6912, 4, 1, 256, 262144, 32768, 512, 1e-6f, 1e6f, 1, 1 },
};
const char lm_shape_names[] = "qwen3-0.6b, qwen3-1.7b, llama-3.2-1b, gemma-3-1b";

const struct lm_shape *lm_shape_find(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i].name, name)) return &shapes[i];
    return NULL;
}

static void put_settings(struct gguf_writer *g, const struct lm_shape *s)
{
    const struct { const char *key; uint32_t v; } whole[] = {
        { "block_count", s->layers }, { "embedding_length", s->d }, { "feed_forward_length", s->d_ff }, { "context_length", s->ctx },
        { "attention.head_count", s->heads }, { "attention.head_count_kv", s->kv_heads }, { "attention.key_length", s->d_head },
        { "attention.value_length", s->d_head }, { "attention.sliding_window", s->window }, { "vocab_size", s->n_vocab },
    };
    char key[KEY_SZ];
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        snprintf(key, sizeof key, "%s.%s", s->architecture, whole[i].key);
        if (whole[i].v) gguf_put_u32(g, key, whole[i].v);
    }
    snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", s->architecture);
    gguf_put_f32(g, key, s->eps);
    snprintf(key, sizeof key, "%s.rope.freq_base", s->architecture);
    gguf_put_f32(g, key, s->rope_base);
}

static void add_layer(struct funasr_random *w, const struct lm_shape *s, uint32_t i)
{
    const uint64_t q = (uint64_t)s->heads * s->d_head, kv = (uint64_t)s->kv_heads * s->d_head;
    char at[PREFIX_SZ];
    snprintf(at, sizeof at, "blk.%u", (unsigned)i);
    random_scale(w, at, "attn_norm", s->d);
    random_plain(w, at, "attn_q", q, s->d);
    random_plain(w, at, "attn_k", kv, s->d);
    random_plain(w, at, "attn_v", kv, s->d);
    if (s->has_qk_norm) random_scale(w, at, "attn_q_norm", s->d_head);
    if (s->has_qk_norm) random_scale(w, at, "attn_k_norm", s->d_head);
    random_plain(w, at, "attn_output", s->d, q);
    if (s->has_post_norms) random_scale(w, at, "post_attention_norm", s->d);
    random_scale(w, at, "ffn_norm", s->d);
    random_plain(w, at, "ffn_gate", s->d_ff, s->d);
    random_plain(w, at, "ffn_up", s->d_ff, s->d);
    random_plain(w, at, "ffn_down", s->d, s->d_ff);
    if (s->has_post_norms) random_scale(w, at, "post_ffw_norm", s->d);
}

void lm_random_add(struct funasr_random *w, const struct lm_shape *s)
{
    put_settings(&w->g, s);
    random_plain(w, "", "token_embd", s->n_vocab, s->d);
    for (uint32_t i = 0; i < s->layers; i++) add_layer(w, s, i);
    random_scale(w, "", "output_norm", s->d);
}

int lm_random_file(struct random_file *r, struct file *f, struct arena *a, const struct lm_shape *s, enum dtype type, uint64_t seed,
                   steno_error *e)
{
    struct funasr_random w;
    funasr_random_begin(&w, r, a, s->architecture, type, seed, e);
    lm_random_add(&w, s);
    return funasr_random_end(&w, f, e);
}

/* ---- Fun-ASR-Nano ----------------------------------------------------------------------------------------------------------------- */

static void add_block(struct funasr_random *w, int32_t i, uint64_t d)
{
    static const char *const part[] = { "self_attn.linear_q", "self_attn.linear_k", "self_attn.linear_v", "self_attn.linear_out" };
    char prefix[NAME_MAX_LEN];
    snprintf(prefix, sizeof prefix, "audio_adaptor.blocks.%d", (int)i);
    random_norm(w, prefix, "norm1", d);
    for (int k = 0; k < 4; k++) random_matrix(w, prefix, part[k], d, d);
    random_norm(w, prefix, "norm2", d);
    random_matrix(w, prefix, "feed_forward.w_1", d / 4, d);
    random_matrix(w, prefix, "feed_forward.w_2", d, d / 4);
}

int nano_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e)
{
    const struct nano_shape s = {
        .enc = { .d = 512, .heads = 4, .d_ff = 2048, .layers = 50, .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6, .width = 560 },
        .more_layers = 20, .adp = { .d_in = 512, .d = 1024, .d_ff = 2048, .layers = 2, .heads = 8, .downsample = 1 },
    };
    const struct random_sanm dims = { 512, 2048, 11 };
    struct funasr_random w;
    funasr_random_begin(&w, r, a, nano_architecture, type, seed, e);
    funasr_put_settings(&w.g, &s, &nano_settings);
    random_sanm_encoder(&w, &dims, 560, s.enc.layers, s.more_layers);
    random_matrix(&w, "audio_adaptor", "linear1", 2048, 512);
    random_matrix(&w, "audio_adaptor", "linear2", 1024, 2048);
    for (int32_t i = 0; i < s.adp.layers; i++) add_block(&w, i, 1024);
    lm_random_add(&w, lm_shape_find("qwen3-0.6b"));
    return funasr_random_end(&w, f, e);
}

/* ---- SenseVoice ------------------------------------------------------------------------------------------------------------------- */

int sensevoice_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e)
{
    struct sensevoice_shape s = *(const struct sensevoice_shape *)sensevoice_settings.usual;
    s.enc.d = 512, s.enc.heads = 4, s.enc.layers = 50, s.enc.width = 560, s.more_layers = 20, s.n_vocab = 25055;
    const struct random_sanm dims = { 512, 2048, 11 };
    struct funasr_random w;
    funasr_random_begin(&w, r, a, sensevoice_architecture, type, seed, e);
    funasr_put_settings(&w.g, &s, &sensevoice_settings);
    funasr_random_vocab(&w, "sv.vocab", (uint32_t)s.n_vocab);
    random_cmvn(&w, 560);
    random_tensor(&w, "embed.weight", (const uint64_t[]){ SENSEVOICE_QUERIES, 560 }, 2, (struct random_fill){ 0, 1 });
    random_sanm_encoder(&w, &dims, 560, s.enc.layers, s.more_layers);
    random_matrix(&w, "ctc", "ctc_lo", (uint64_t)s.n_vocab, dims.d);
    return funasr_random_end(&w, f, e);
}

/* ---- Paraformer ------------------------------------------------------------------------------------------------------------------- */

static void paraformer_decoder(struct funasr_random *w, const struct paraformer_shape *s, const struct random_sanm *d)
{
    char prefix[NAME_MAX_LEN];
    for (int32_t i = 0; i <= s->layers; i++) { /* the last one has no attention */
        snprintf(prefix, sizeof prefix, i < s->layers ? "decoder.decoders.%d" : "decoder.decoders3.0", (int)i);
        random_norm(w, prefix, "norm1", d->d);
        random_matrix(w, prefix, "feed_forward.w_1", d->d_ff, d->d);
        random_norm(w, prefix, "feed_forward.norm", d->d_ff);
        random_plain(w, prefix, "feed_forward.w_2", d->d, d->d_ff);
        if (i == s->layers) break;
        random_norm(w, prefix, "norm2", d->d);
        random_filter(w, prefix, "self_attn.fsmn_block", d->d, d->taps);
        random_norm(w, prefix, "norm3", d->d);
        random_matrix(w, prefix, "src_attn.linear_q", d->d, d->d);
        random_matrix(w, prefix, "src_attn.linear_k_v", 2 * d->d, d->d);
        random_matrix(w, prefix, "src_attn.linear_out", d->d, d->d);
    }
    random_norm(w, "decoder", "after_norm", d->d);
    random_matrix(w, "decoder", "output_layer", (uint64_t)s->n_vocab, d->d);
}

int paraformer_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e)
{
    static struct random_fill const fill = { 0, 0.02f };
    struct paraformer_shape s = *(const struct paraformer_shape *)paraformer_settings.usual;
    s.enc.d = 512, s.enc.heads = s.heads = 4, s.enc.layers = 50, s.layers = s.attending = 16, s.n_vocab = 8404;
    const struct random_sanm dims = { 512, 2048, 11 };
    const uint64_t one = 1;
    struct funasr_random w;
    funasr_random_begin(&w, r, a, paraformer_architecture, type, seed, e);
    funasr_put_settings(&w.g, &s, &paraformer_settings);
    funasr_random_vocab(&w, "pf.vocab", (uint32_t)s.n_vocab);
    random_cmvn(&w, 560);
    random_sanm_encoder(&w, &dims, 560, s.enc.layers, 0);
    random_tensor(&w, "predictor.cif_conv1d.weight", (const uint64_t[]){ dims.d, dims.d, 3 }, 3, fill);
    random_tensor(&w, "predictor.cif_conv1d.bias", &dims.d, 1, fill);
    random_tensor(&w, "predictor.cif_output.weight", (const uint64_t[]){ 1, dims.d }, 2, fill);
    random_tensor(&w, "predictor.cif_output.bias", &one, 1, (struct random_fill){ -1, 0 });
    paraformer_decoder(&w, &s, &dims);
    return funasr_random_end(&w, f, e);
}

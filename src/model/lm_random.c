/* steno: language models with random weights. SPDX-License-Identifier: MIT
 *
 * Sizes are those of the models' config.json. In all of them the embedding is also the output matrix. */
#include "model/lm_random.h"
#include <stdio.h>
#include <string.h>

enum { PREFIX_SZ = 32, KEY_SZ = 64 };

struct lm_shape {
    const char *name, *architecture;
    uint32_t layers, d, d_ff, heads, kv_heads, d_head, n_vocab, ctx, window;
    float eps, rope_base;
    int has_qk_norm, has_post_norms;
};

static const struct lm_shape shapes[] = {
    { "qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, 0, 1e-6f, 1e6f, 1, 0 },
    { "llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, 0, 1e-5f, 5e5f, 0, 0 },
    { "gemma-3-1b", "gemma3", 26, 1152, 6912, 4, 1, 256, 262144, 32768, 512, 1e-6f, 1e6f, 1, 1 },
};
const char lm_shape_names[] = "qwen3-0.6b, llama-3.2-1b, gemma-3-1b";

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

/* steno: Qwen3-ASR models of the published sizes with random weights. SPDX-License-Identifier: MIT
 *
 * Settings and tensors have the names of the original files; those of the language model are GGUF's. There is no tokenizer. */
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/gguf_random.h"

enum { MELS = 128, CHANNELS = 480, STEM_COLUMNS = MELS / 8, HALF_CHUNK = 50, WINDOW = 800, AUDIO_TOKEN = 151676, PREFIX_SZ = 64 };

struct qwen3_asr_size {
    const char *name, *lm;
    uint32_t d, layers, heads, d_out;
};

static const struct qwen3_asr_size sizes[] = {
    { "qwen3-asr-0.6b", "qwen3-0.6b", 896, 18, 14, 1024 },
    { "qwen3-asr-1.7b", "qwen3-1.7b", 1024, 24, 16, 2048 },
};
const char qwen3_asr_size_names[] = "qwen3-asr-0.6b, qwen3-asr-1.7b";

const struct qwen3_asr_size *qwen3_asr_size_find(const char *name)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(sizes[i].name, name)) return &sizes[i];
    return NULL;
}

static void put_settings(struct gguf_writer *g, const struct qwen3_asr_size *s)
{
    const struct { const char *key; uint32_t v; } whole[] = {
        { "audio_config.d_model", s->d }, { "audio_config.encoder_layers", s->layers },
        { "audio_config.encoder_attention_heads", s->heads },
        { "audio_config.encoder_ffn_dim", 4 * s->d }, { "audio_config.num_mel_bins", MELS },
        { "audio_config.downsample_hidden_size", CHANNELS }, { "audio_config.output_dim", s->d_out },
        { "audio_config.n_window", HALF_CHUNK }, { "audio_config.n_window_infer", WINDOW }, { "audio_token_id", AUDIO_TOKEN },
    };
    gguf_put_text(g, "model_type", "qwen3_asr");
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) gguf_put_u32(g, whole[i].key, whole[i].v);
}

/* NAME.weight [CHANNELS, k, 3, 3] and NAME.bias. */
static void add_squares(struct funasr_random *w, const char *name, uint64_t k)
{
    const uint64_t dim[] = { CHANNELS, k, 3, 3 };
    char full[PREFIX_SZ];
    snprintf(full, sizeof full, "audio_tower.%s.weight", name);
    random_tensor(w, full, dim, 4, (struct random_fill){ 0, k == 1 ? 0.5f : 0.02f });
    snprintf(full, sizeof full, "audio_tower.%s.bias", name);
    random_tensor(w, full, dim, 1, (struct random_fill){ 0, 0.1f });
}

static void add_layer(struct funasr_random *w, const struct qwen3_asr_size *s, uint32_t i)
{
    static const char *const linear[] = { "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj" };
    char layer[PREFIX_SZ];
    snprintf(layer, sizeof layer, "audio_tower.layers.%u", (unsigned)i);
    random_norm(w, layer, "self_attn_layer_norm", s->d);
    for (int k = 0; k < 4; k++) random_matrix(w, layer, linear[k], s->d, s->d);
    random_norm(w, layer, "final_layer_norm", s->d);
    random_matrix(w, layer, "fc1", 4 * s->d, s->d);
    random_matrix(w, layer, "fc2", s->d, 4 * s->d);
}

int qwen3_asr_random_file(struct random_file *r, struct file *f, struct arena *a, const struct qwen3_asr_size *s, enum dtype type,
                          uint64_t seed, steno_error *e)
{
    struct funasr_random w;
    funasr_random_begin(&w, r, a, "qwen3-asr", type, seed, e);
    put_settings(&w.g, s);
    add_squares(&w, "conv2d1", 1);
    add_squares(&w, "conv2d2", CHANNELS);
    add_squares(&w, "conv2d3", CHANNELS);
    random_plain(&w, "audio_tower", "conv_out", s->d, CHANNELS * STEM_COLUMNS);
    for (uint32_t i = 0; i < s->layers; i++) add_layer(&w, s, i);
    random_norm(&w, "audio_tower", "ln_post", s->d);
    random_matrix(&w, "audio_tower", "proj1", s->d, s->d);
    random_matrix(&w, "audio_tower", "proj2", s->d_out, s->d);
    lm_random_add(&w, lm_shape_find(s->lm));
    return funasr_random_end(&w, f, e);
}

/* steno: Parakeet models of NVIDIA's sizes with random weights. SPDX-License-Identifier: MIT
 *
 * In NVIDIA's GGUF form; models of streams have the settings of a Hugging Face folder. The sizes are those of the models' files. */
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/gguf_random.h"
#include "load/weights.h"

enum { CHANNELS = 256, TAPS = 9, HEADS = 8, PRED = 640, DURATIONS = 5, PREFIX_SZ = 64 };

struct parakeet_size {
    const char *name, *head;
    uint32_t d, layers, mels, pieces, lstms;
    int is_plain; /* neither biases nor a scaled input */
    uint32_t behind, prompts;        /* models of streams: rows of earlier chunks, 0: not such a model; prompts for languages */
    uint32_t lookahead[4];           /* the first one is the model's default */
};

static const struct parakeet_size sizes[] = {
    { "parakeet-tdt-0.6b-v3", "tdt", 1024, 24, 128, 8192, 2, 1, 0, 0, { 0 } },
    { "parakeet-tdt-0.6b-v2", "tdt", 1024, 24, 128, 1024, 2, 1, 0, 0, { 0 } },
    { "parakeet-tdt-1.1b", "tdt", 1024, 42, 80, 1024, 2, 0, 0, 0, { 0 } },
    { "parakeet-tdt_ctc-110m", "tdt", 512, 17, 80, 1024, 1, 0, 0, 0, { 0 } },
    { "parakeet-rnnt-0.6b", "rnnt", 1024, 24, 80, 1024, 2, 0, 0, 0, { 0 } },
    { "parakeet-rnnt-1.1b", "rnnt", 1024, 42, 80, 1024, 2, 0, 0, 0, { 0 } },
    { "parakeet-ctc-0.6b", "ctc", 1024, 24, 80, 1024, 0, 0, 0, 0, { 0 } },
    { "parakeet-ctc-1.1b", "ctc", 1024, 42, 80, 1024, 0, 0, 0, 0, { 0 } },
    { "nemotron-speech-streaming-en-0.6b", "rnnt", 1024, 24, 128, 1024, 2, 1, 70, 0, { 13, 6, 1, 0 } },
    { "nemotron-3.5-asr-streaming-0.6b", "rnnt", 1024, 24, 128, 13087, 2, 1, 56, 128, { 3, 0, 6, 13 } },
};
const char parakeet_size_names[] = "parakeet-tdt-0.6b-v3, parakeet-tdt-0.6b-v2, parakeet-tdt-1.1b, parakeet-tdt_ctc-110m, "
                                   "parakeet-rnnt-0.6b, parakeet-rnnt-1.1b, parakeet-ctc-0.6b, parakeet-ctc-1.1b, "
                                   "nemotron-speech-streaming-en-0.6b, nemotron-3.5-asr-streaming-0.6b";

const struct parakeet_size *parakeet_size_find(const char *name)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!strcmp(sizes[i].name, name)) return &sizes[i];
    return NULL;
}

static void put_settings(struct gguf_writer *g, const struct parakeet_size *s)
{
    static const int32_t durations[DURATIONS] = { 0, 1, 2, 3, 4 };
    const struct { const char *key; uint32_t v; } whole[] = {
        { "asr.encoder.d_model", s->d }, { "asr.encoder.n_layers", s->layers }, { "asr.encoder.n_heads", HEADS },
        { "asr.encoder.d_ff", 4 * s->d }, { "asr.encoder.conv_kernel_size", TAPS }, { "asr.encoder.subsampling_factor", 8 },
        { "asr.encoder.subsampling_conv_channels", CHANNELS }, { "asr.encoder.feat_in", s->mels },
        { "asr.preprocessor.features", s->mels }, { "asr.preprocessor.sample_rate", 16000 }, { "asr.preprocessor.n_fft", 512 },
    };
    const struct { const char *key; uint32_t v; } transducer[] = {
        { "asr.rnnt.vocab_size", s->pieces + 1 }, { "asr.rnnt.blank_id", s->pieces }, { "asr.rnnt.pred_embed_dim", PRED },
        { "asr.rnnt.pred_hidden", PRED }, { "asr.rnnt.pred_num_layers", s->lstms }, { "asr.rnnt.joint_dim", PRED },
        { "asr.rnnt.max_symbols_per_step", 10 },
    };
    gguf_put_text(g, "asr.head_type", s->head);
    gguf_put_bool(g, "asr.encoder.xscaling", !s->is_plain);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) gguf_put_u32(g, whole[i].key, whole[i].v);
    for (size_t i = 0; i < sizeof transducer / sizeof *transducer && s->lstms; i++) gguf_put_u32(g, transducer[i].key, transducer[i].v);
    if (!s->lstms) gguf_put_u32(g, "asr.ctc.num_classes", s->pieces);
    if (!strcmp(s->head, "tdt")) gguf_put_i32s(g, "asr.tdt.durations", durations, DURATIONS);
}

static void put_stream_settings(struct gguf_writer *g, const struct parakeet_size *s)
{
    const struct { const char *key; uint32_t v; } whole[] = {
        { "encoder_config.hidden_size", s->d }, { "encoder_config.num_hidden_layers", s->layers },
        { "encoder_config.num_attention_heads", HEADS }, { "encoder_config.intermediate_size", 4 * s->d },
        { "encoder_config.conv_kernel_size", TAPS }, { "encoder_config.num_mel_bins", s->mels },
        { "encoder_config.subsampling_conv_channels", CHANNELS }, { "encoder_config.sliding_window", s->behind + 1 },
        { "encoder_config.default_num_lookahead_tokens", s->lookahead[0] }, { "vocab_size", s->pieces + 1 },
        { "blank_token_id", s->pieces }, { "decoder_hidden_size", PRED }, { "num_decoder_layers", s->lstms },
    };
    char key[PREFIX_SZ];
    gguf_put_text(g, "model_type", s->prompts ? "nemotron3_5_asr" : "nemotron_asr_streaming");
    gguf_put_bool(g, "encoder_config.scale_input", !s->is_plain);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) gguf_put_u32(g, whole[i].key, whole[i].v);
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "encoder_config.supported_num_lookahead_tokens.%d", i);
        gguf_put_u32(g, key, s->lookahead[i]);
    }
    if (!s->prompts) return;
    gguf_put_u32(g, "num_prompts", s->prompts);
    gguf_put_u32(g, "processor.prompt_dictionary.en-US", 0);
    gguf_put_u32(g, "processor.prompt_dictionary.auto", s->prompts - 1);
}

/* A matrix, with a bias if the model has biases. */
static void add_linear(struct funasr_random *w, const struct parakeet_size *s, const char *prefix, const char *name, uint64_t n, uint64_t k)
{
    if (s->is_plain) random_plain(w, prefix, name, n, k);
    else random_matrix(w, prefix, name, n, k);
}

static void add_named(struct funasr_random *w, const char *prefix, const char *name, const uint64_t *dim, int n_dims,
                      struct random_fill fill)
{
    char full[NAME_MAX_LEN];
    snprintf(full, sizeof full, "%s.%s", prefix, name);
    random_tensor(w, full, dim, n_dims, fill);
}

/* NAME.weight [n, k, side, side] and NAME.bias. */
static void add_filter(struct funasr_random *w, const char *name, uint64_t k, uint64_t side)
{
    const uint64_t dim[] = { CHANNELS, k, side, side };
    add_named(w, name, "weight", dim, 4, (struct random_fill){ 0, k == 1 ? 0.5f : 0.1f });
    add_named(w, name, "bias", dim, 1, (struct random_fill){ 0, 0.1f });
}

static void add_stem(struct funasr_random *w, const struct parakeet_size *s)
{
    add_filter(w, "encoder.pre_encode.conv.0", 1, 3);
    add_filter(w, "encoder.pre_encode.conv.2", 1, 3);
    add_filter(w, "encoder.pre_encode.conv.3", CHANNELS, 1);
    add_filter(w, "encoder.pre_encode.conv.5", 1, 3);
    add_filter(w, "encoder.pre_encode.conv.6", CHANNELS, 1);
    random_matrix(w, "encoder.pre_encode", "out", s->d, CHANNELS * (uint64_t)(s->mels / 8 + (s->behind != 0)));
}

static void add_attention(struct funasr_random *w, const struct parakeet_size *s, const char *layer)
{
    static const char *const linear[] = { "self_attn.linear_q", "self_attn.linear_k", "self_attn.linear_v", "self_attn.linear_out" };
    const uint64_t head[] = { HEADS, s->d / HEADS };
    for (int i = 0; i < 4; i++) add_linear(w, s, layer, linear[i], s->d, s->d);
    random_plain(w, layer, "self_attn.linear_pos", s->d, s->d);
    add_named(w, layer, "self_attn.pos_bias_u", head, 2, (struct random_fill){ 0, 0.1f });
    add_named(w, layer, "self_attn.pos_bias_v", head, 2, (struct random_fill){ 0, 0.1f });
}

static void add_convolution(struct funasr_random *w, const struct parakeet_size *s, const char *layer)
{
    const uint64_t d = s->d, taps[] = { d, 1, TAPS };
    add_linear(w, s, layer, "conv.pointwise_conv1", 2 * d, d);
    add_named(w, layer, "conv.depthwise_conv.weight", taps, 3, (struct random_fill){ 0, 0.3f });
    if (!s->is_plain) add_named(w, layer, "conv.depthwise_conv.bias", &d, 1, (struct random_fill){ 0, 0.1f });
    random_norm(w, layer, "conv.batch_norm", d);
    if (!s->behind) add_named(w, layer, "conv.batch_norm.running_mean", &d, 1, (struct random_fill){ 0, 0.1f });
    if (!s->behind) add_named(w, layer, "conv.batch_norm.running_var", &d, 1, (struct random_fill){ 1, 0.3f });
    add_linear(w, s, layer, "conv.pointwise_conv2", d, d);
}

static void add_layer(struct funasr_random *w, const struct parakeet_size *s, uint32_t i)
{
    static const char *const norm[] = { "norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out" };
    char layer[PREFIX_SZ];
    snprintf(layer, sizeof layer, "encoder.layers.%u", (unsigned)i);
    for (size_t k = 0; k < sizeof norm / sizeof *norm; k++) random_norm(w, layer, norm[k], s->d);
    add_linear(w, s, layer, "feed_forward1.linear1", 4 * s->d, s->d);
    add_linear(w, s, layer, "feed_forward1.linear2", s->d, 4 * s->d);
    add_attention(w, s, layer);
    add_convolution(w, s, layer);
    add_linear(w, s, layer, "feed_forward2.linear1", 4 * s->d, s->d);
    add_linear(w, s, layer, "feed_forward2.linear2", s->d, 4 * s->d);
}

static void add_transducer(struct funasr_random *w, const struct parakeet_size *s)
{
    const uint64_t outputs = s->pieces + 1 + (strcmp(s->head, "tdt") ? 0 : DURATIONS);
    random_plain(w, "decoder.prediction", "embed", s->pieces + 1, PRED);
    for (uint32_t i = 0; i < s->lstms; i++) {
        char name[16];
        snprintf(name, sizeof name, "ih_l%u", (unsigned)i);
        random_matrix(w, "decoder.prediction.dec_rnn.lstm", name, 4 * PRED, PRED);
        snprintf(name, sizeof name, "hh_l%u", (unsigned)i);
        random_matrix(w, "decoder.prediction.dec_rnn.lstm", name, 4 * PRED, PRED);
    }
    random_matrix(w, "joint", "pred", PRED, PRED);
    random_matrix(w, "joint", "enc", PRED, s->d);
    random_matrix(w, "joint.joint_net", "2", outputs, PRED);
}

int parakeet_random_file(struct random_file *r, struct file *f, struct arena *a, const struct parakeet_size *s, enum dtype type,
                         uint64_t seed, steno_error *e)
{
    struct funasr_random w;
    funasr_random_begin(&w, r, a, s->behind ? "nemotron" : "asr", type, seed, e);
    (s->behind ? put_stream_settings : put_settings)(&w.g, s);
    funasr_random_vocab(&w, "asr.tokenizer.vocab", s->pieces);
    add_stem(&w, s);
    for (uint32_t i = 0; i < s->layers; i++) add_layer(&w, s, i);
    if (s->prompts) random_matrix(&w, "prompt_kernel", "0", 2 * s->d, s->d + s->prompts);
    if (s->prompts) random_matrix(&w, "prompt_kernel", "2", s->d, 2 * s->d);
    if (s->lstms) add_transducer(&w, s);
    else random_matrix(&w, "decoder.decoder_layers", "0", s->pieces + 1, s->d);
    return funasr_random_end(&w, f, e);
}

/* steno tests: small Parakeet models with random weights. SPDX-License-Identifier: MIT
 *
 * Folders as transformers writes them (safetensors, config.json, tokenizer.json) with each head, made when a test needs them. Texts mean
 * nothing. The transducers have biases and scale their input; the CTC model and the model of streams have neither. */
#ifndef STENO_TESTS_PARAKEET_MODEL_H
#define STENO_TESTS_PARAKEET_MODEL_H
#include "funasr_model.h"

enum { PK_D = 16, PK_HEADS = 2, PK_LAYERS = 2, PK_FF = 32, PK_TAPS = 9, PK_MELS = 16, PK_CHANNELS = 4, PK_PRED = 8, PK_JOINT = 20,
       PK_PIECES = 40, PK_COLUMNS = 2 /* bins behind the stem; of a stream one more */, PK_PROMPTS = 4, PK_BEHIND = 8 };

enum pk_head { PK_CTC, PK_TDT, PK_RNNT, PK_STREAM };

struct pk_shape { int n, dim[4]; };

static inline void pk_tensor(struct st_writer *w, const char *name, struct pk_shape s, float mean, float scale)
{
    const size_t begin = w->data.len;
    int n = 1;
    for (int i = 0; i < s.n; i++) n *= s.dim[i];
    for (int i = 0; i < n; i++) {
        const float x = mean + scale * noise(&w->noise);
        buf_add(&w->data, &x, sizeof x);
    }
    buf_fmt(&w->head, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[", w->head.len > 1 ? "," : "", name);
    for (int i = 0; i < s.n; i++) buf_fmt(&w->head, "%s%d", i ? "," : "", s.dim[i]);
    buf_fmt(&w->head, "],\"data_offsets\":[%zu,%zu]}", begin, w->data.len);
}

static inline void pk_linear(struct st_writer *w, const char *name, struct pk_shape s, float scale, int has_bias)
{
    char full[160];
    snprintf(full, sizeof full, "%.128s.weight", name);
    pk_tensor(w, full, s, 0, scale);
    snprintf(full, sizeof full, "%.128s.bias", name);
    if (has_bias) pk_tensor(w, full, (struct pk_shape){ 1, { s.dim[0] } }, 0, 0.1f);
}

static inline void pk_norm(struct st_writer *w, const char *name)
{
    char full[160];
    snprintf(full, sizeof full, "%.128s.weight", name);
    pk_tensor(w, full, (struct pk_shape){ 1, { PK_D } }, 1, 0.2f);
    snprintf(full, sizeof full, "%.128s.bias", name);
    pk_tensor(w, full, (struct pk_shape){ 1, { PK_D } }, 0, 0.1f);
}

static inline void pk_layer(struct st_writer *w, int layer, enum pk_head head)
{
    static const struct { const char *name; struct pk_shape s; } linear[] = {
        { "feed_forward1.linear1", { 2, { PK_FF, PK_D } } }, { "feed_forward1.linear2", { 2, { PK_D, PK_FF } } },
        { "feed_forward2.linear1", { 2, { PK_FF, PK_D } } }, { "feed_forward2.linear2", { 2, { PK_D, PK_FF } } },
        { "self_attn.q_proj", { 2, { PK_D, PK_D } } }, { "self_attn.k_proj", { 2, { PK_D, PK_D } } },
        { "self_attn.v_proj", { 2, { PK_D, PK_D } } }, { "self_attn.o_proj", { 2, { PK_D, PK_D } } },
        { "conv.pointwise_conv1", { 3, { 2 * PK_D, PK_D, 1 } } }, { "conv.depthwise_conv", { 3, { PK_D, 1, PK_TAPS } } },
        { "conv.pointwise_conv2", { 3, { PK_D, PK_D, 1 } } },
    };
    static const char *const norm[] = { "norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out", "conv.norm" };
    char name[128];
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
        snprintf(name, sizeof name, "encoder.layers.%d.%s", layer, linear[i].name);
        pk_linear(w, name, linear[i].s, 0.4f, head == PK_TDT || head == PK_RNNT);
    }
    for (size_t i = 0; i < sizeof norm / sizeof *norm; i++) {
        snprintf(name, sizeof name, "encoder.layers.%d.%s", layer, norm[i]);
        pk_norm(w, name);
    }
    static const struct { const char *name; struct pk_shape s; float mean, scale; } other[] = {
        { "self_attn.relative_k_proj.weight", { 2, { PK_D, PK_D } }, 0, 0.4f },
        { "self_attn.bias_u", { 2, { PK_HEADS, PK_D / PK_HEADS } }, 0, 0.3f },
        { "self_attn.bias_v", { 2, { PK_HEADS, PK_D / PK_HEADS } }, 0, 0.3f },
        { "conv.norm.running_mean", { 1, { PK_D } }, 0, 0.2f }, { "conv.norm.running_var", { 1, { PK_D } }, 1, 0.5f },
    };
    const size_t n_others = sizeof other / sizeof *other - (head == PK_STREAM ? 2 : 0); /* whose norm is of a layer */
    for (size_t i = 0; i < n_others; i++) {
        snprintf(name, sizeof name, "encoder.layers.%d.%s", layer, other[i].name);
        pk_tensor(w, name, other[i].s, other[i].mean, other[i].scale);
    }
}

static inline void pk_encoder(struct st_writer *w, enum pk_head head)
{
    const int columns = PK_COLUMNS + (head == PK_STREAM);
    const struct { const char *name; struct pk_shape s; } stem[] = {
        { "layers.0", { 4, { PK_CHANNELS, 1, 3, 3 } } }, { "layers.2", { 4, { PK_CHANNELS, 1, 3, 3 } } },
        { "layers.3", { 4, { PK_CHANNELS, PK_CHANNELS, 1, 1 } } }, { "layers.5", { 4, { PK_CHANNELS, 1, 3, 3 } } },
        { "layers.6", { 4, { PK_CHANNELS, PK_CHANNELS, 1, 1 } } }, { "linear", { 2, { PK_D, PK_CHANNELS * columns } } },
    };
    char name[64];
    for (size_t i = 0; i < sizeof stem / sizeof *stem; i++) {
        snprintf(name, sizeof name, "encoder.subsampling.%s", stem[i].name);
        pk_linear(w, name, stem[i].s, 0.6f, 1);
    }
    for (int i = 0; i < PK_LAYERS; i++) pk_layer(w, i, head);
    if (head != PK_STREAM) return;
    pk_linear(w, "prompt_projector.linear_1", (struct pk_shape){ 2, { 2 * PK_D, PK_D + PK_PROMPTS } }, 0.4f, 1);
    pk_linear(w, "prompt_projector.linear_2", (struct pk_shape){ 2, { PK_D, 2 * PK_D } }, 0.4f, 1);
}

static inline void pk_transducer(struct st_writer *w, int n_durations)
{
    pk_tensor(w, "decoder.embedding.weight", (struct pk_shape){ 2, { PK_PIECES + 1, PK_PRED } }, 0, 1);
    for (int i = 0; i < 2; i++) {
        static const char *const part[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };
        for (int k = 0; k < 4; k++) {
            char name[64];
            snprintf(name, sizeof name, "decoder.lstm.%s_l%d", part[k], i);
            pk_tensor(w, name, (struct pk_shape){ k < 2 ? 2 : 1, { 4 * PK_PRED, PK_PRED } }, 0, 0.7f);
        }
    }
    pk_linear(w, "decoder.decoder_projector", (struct pk_shape){ 2, { PK_JOINT, PK_PRED } }, 1, 1);
    pk_linear(w, "encoder_projector", (struct pk_shape){ 2, { PK_JOINT, PK_D } }, 0.3f, 1);
    const int n = PK_PIECES + 1 + n_durations;
    pk_linear(w, "joint.head", (struct pk_shape){ 2, { n, PK_JOINT } }, 0.5f, 0);
    pk_tensor(w, "joint.head.bias", (struct pk_shape){ 1, { n } }, 0, 0.1f);
    float *bias = (float *)(void *)(w->data.p + w->data.len) - n;
    bias[0] = bias[1] = bias[2] = bias[PK_PIECES] = -2; /* so that every clip has text, and few have two sentences */
}

/* Letters with and without a space before them, two marks, and pieces that are not text. */
static inline void pk_tokenizer(const struct folder *d)
{
    struct buf b = { 0 };
    buf_str(&b, "{\"version\":\"1.0\",\"added_tokens\":[{\"id\":0,\"content\":\"<unk>\",\"special\":true},{\"id\":1,\"content\":\"<pad>\","
                "\"special\":true}],\"decoder\":{\"type\":\"Metaspace\",\"replacement\":\"\xe2\x96\x81\",\"prepend_scheme\":\"always\"},"
                "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"byte_fallback\":true,\"merges\":[],\"vocab\":{\"<unk>\":0,"
                "\"<pad>\":1,\".\":2,\",\":3");
    for (int i = 4; i < PK_PIECES; i++) buf_fmt(&b, ",\"%s%c\":%d", i % 2 ? "" : "\xe2\x96\x81", 'a' + (i - 4) / 2, i);
    buf_str(&b, "}}}\n");
    folder_put(d, "tokenizer.json", b.p, b.len);
    buf_free(&b);
}

static inline void pk_config(struct buf *b, enum pk_head head)
{
    static const char *const type[] = { "parakeet_ctc", "parakeet_tdt", "parakeet_rnnt", "nemotron3_5_asr" };
    buf_fmt(b, "{\"model_type\": \"%s\", \"vocab_size\": %d, \"encoder_config\": {\"hidden_size\": %d, \"num_hidden_layers\": %d,"
               " \"num_attention_heads\": %d, \"intermediate_size\": %d, \"conv_kernel_size\": %d, \"num_mel_bins\": %d,"
               " \"subsampling_conv_channels\": %d, \"subsampling_factor\": 8, \"subsampling_conv_kernel_size\": 3,"
               " \"subsampling_conv_stride\": 2, \"hidden_act\": \"silu\", \"scale_input\": %s",
            type[head], PK_PIECES + 1, PK_D, PK_LAYERS, PK_HEADS, PK_FF, PK_TAPS, PK_MELS, PK_CHANNELS,
            head == PK_TDT || head == PK_RNNT ? "true" : "false");
    if (head == PK_STREAM) buf_fmt(b, ", \"sliding_window\": %d, \"default_num_lookahead_tokens\": 1", PK_BEHIND + 1);
    buf_str(b, "}");
    if (head == PK_STREAM) buf_fmt(b, ", \"num_prompts\": %d, \"default_prompt_id\": 2", PK_PROMPTS);
    if (head) buf_fmt(b, ", \"decoder_hidden_size\": %d, \"num_decoder_layers\": 2, \"blank_token_id\": %d, \"hidden_act\": \"relu\","
                         " \"max_symbols_per_step\": 3", PK_PRED, PK_PIECES);
    if (head == PK_TDT) buf_str(b, ", \"durations\": [0, 1, 2, 4]");
    buf_str(b, "}\n");
}

/* Clips of 120 s, rows of 80 ms; a stream has no clips. */
static inline struct folder pk_folder(enum pk_head head)
{
    const struct folder d = folder_new();
    struct st_writer w = st_begin(20 + head);
    struct buf config = { 0 };
    pk_encoder(&w, head);
    if (head == PK_CTC) pk_linear(&w, "ctc_head", (struct pk_shape){ 3, { PK_PIECES + 1, PK_D, 1 } }, 0.6f, 1);
    else pk_transducer(&w, head == PK_TDT ? 4 : 0);
    st_end(&w, &d);
    pk_config(&config, head);
    folder_put(&d, "config.json", config.p, config.len);
    buf_free(&config);
    pk_tokenizer(&d);
    if (head == PK_STREAM)
        folder_text(&d, "processor_config.json", "{ \"supported_num_lookahead_tokens\": [3, 1, 0], \"prompt_dictionary\": "
                                                 "{ \"en-US\": 0, \"de-DE\": 1, \"auto\": 2 } }");
    return d;
}

static inline struct folder pk_ctc_folder(void) { return pk_folder(PK_CTC); }
static inline struct folder pk_tdt_folder(void) { return pk_folder(PK_TDT); }
static inline struct folder pk_rnnt_folder(void) { return pk_folder(PK_RNNT); }
static inline struct folder pk_stream_folder(void) { return pk_folder(PK_STREAM); }

/* Of all segments. */
static inline int pk_tokens(const steno_session *s)
{
    int n = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(s, i, &g); i++) n += g.n_tokens;
    return n;
}
#endif

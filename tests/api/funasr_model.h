/* steno tests: small FunASR models with random weights. SPDX-License-Identifier: MIT
 *
 * Folders of SenseVoice, of Paraformer and of FSMN-VAD as other programs write them - safetensors, config.json, am.mvn, tokens.json - so
 * small that a test makes them when it needs them. Texts mean nothing; the VAD's weights are such that loud is speech. */
#ifndef STENO_TESTS_FUNASR_MODEL_H
#define STENO_TESTS_FUNASR_MODEL_H
#include "base/buf.h"
#include "folder.h"
#include "shipped.h"
#include "tap.h"

enum { FUNASR_MELS = 8, CTC_LFR = 7, CTC_WIDTH = CTC_LFR * FUNASR_MELS, CTC_D = 16, CTC_HEADS = 2, CTC_FF = 32, CTC_TAPS = 11,
       CTC_VOCAB = 40, CTC_QUERIES = 16 };
enum { VAD_LFR = 5, VAD_IN = VAD_LFR * FUNASR_MELS, VAD_AFFINE = 12, VAD_LINEAR = 20, VAD_PROJ = 16, VAD_LAYERS = 2, VAD_TAPS = 20,
       VAD_OUT = 4 };

struct st_writer { struct buf head, data; uint32_t noise; }; /* a safetensors file */

/* A tensor of values mean + scale noise. */
static inline void st_tensor(struct st_writer *w, const char *name, int rows, int cols, float mean, float scale)
{
    const size_t begin = w->data.len;
    for (int i = 0; i < rows * (cols ? cols : 1); i++) {
        const float x = mean + scale * noise(&w->noise);
        buf_add(&w->data, &x, sizeof x);
    }
    buf_fmt(&w->head, "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%d", w->head.len > 1 ? "," : "", name, rows);
    if (cols && strstr(name, "conv1d")) buf_fmt(&w->head, ",%d,3", cols / 3);
    else if (cols) buf_fmt(&w->head, strstr(name, "fsmn_block") ? ",1,%d" : ",%d", cols);
    buf_fmt(&w->head, "],\"data_offsets\":[%zu,%zu]}", begin, w->data.len);
}

/* NAME.weight and NAME.bias */
static inline void st_pair(struct st_writer *w, const char *prefix, const char *name, int rows, int cols, float mean, float scale)
{
    char full[192];
    snprintf(full, sizeof full, "%s%s.weight", prefix, name);
    st_tensor(w, full, rows, cols, mean, scale);
    snprintf(full, sizeof full, "%s%s.bias", prefix, name);
    st_tensor(w, full, rows, 0, 0, 0.1f);
}

static inline struct st_writer st_begin(uint32_t seed)
{
    struct st_writer w = { .noise = seed };
    buf_str(&w.head, "{");
    return w;
}

static inline void st_end(struct st_writer *w, const struct folder *d)
{
    struct buf file = { 0 };
    buf_str(&w->head, "}");
    while (w->head.len % 8) buf_str(&w->head, " ");
    for (int i = 0; i < 8; i++) buf_add(&file, &(uint8_t) { (uint8_t)(w->head.len >> 8 * i) }, 1);
    buf_add(&file, w->head.p, w->head.len);
    buf_add(&file, w->data.p, w->data.len);
    folder_put(d, "model.safetensors", file.p, file.len);
    buf_free(&file);
    buf_free(&w->head);
    buf_free(&w->data);
}

/* Features of width n: (x + shift) * scale. */
static inline void mvn_put(const struct folder *d, int n, double shift, double scale)
{
    struct buf b = { 0 };
    buf_fmt(&b, "<Nnet>\n<Splice> %d %d\n[ 0 ]\n", n, n);
    for (int k = 0; k < 2; k++) {
        buf_fmt(&b, "%s %d %d\n<LearnRateCoef> 0 [", k ? "<Rescale>" : "<AddShift>", n, n);
        for (int i = 0; i < n; i++) buf_fmt(&b, " %.3f", k ? scale : shift);
        buf_str(&b, " ]\n");
    }
    buf_str(&b, "</Nnet>\n");
    folder_put(d, "am.mvn", b.p, b.len);
    buf_free(&b);
}

/* ---- SenseVoice ---------------------------------------------------------------------------------------------------------------- */

static inline void ctc_layer(struct st_writer *w, const char *prefix, int d_in)
{
    char fsmn[96];
    st_pair(w, prefix, ".norm1", d_in, 0, 1, 0.2f);
    st_pair(w, prefix, ".norm2", CTC_D, 0, 1, 0.2f);
    st_pair(w, prefix, ".self_attn.linear_q_k_v", 3 * CTC_D, d_in, 0, 0.4f);
    st_pair(w, prefix, ".self_attn.linear_out", CTC_D, CTC_D, 0, 0.4f);
    snprintf(fsmn, sizeof fsmn, "%s.self_attn.fsmn_block.weight", prefix);
    st_tensor(w, fsmn, CTC_D, CTC_TAPS, 0, 0.3f);
    st_pair(w, prefix, ".feed_forward.w_1", CTC_FF, CTC_D, 0, 0.4f);
    st_pair(w, prefix, ".feed_forward.w_2", CTC_D, CTC_FF, 0, 0.4f);
}

static inline void ctc_tokens(const struct folder *d)
{
    static const char *const first[] = { "<unk>", "<s>", "</s>", "<|zh|>", "<|en|>", "<|HAPPY|>", "<|EMO_UNKNOWN|>", "<|Speech|>",
                                         "<|woitn|>", "<|withitn|>" };
    enum { N = sizeof first / sizeof *first };
    struct buf b = { 0 };
    for (int i = 0; i < CTC_VOCAB; i++) {
        buf_str(&b, i ? ",\n" : "[");
        if (i < N) buf_fmt(&b, "\"%s\"", first[i]);
        else buf_fmt(&b, i % 3 ? "\"%c\"" : "\"\xe2\x96\x81%c\"", i % 26 + 'a'); /* every third begins a word */
    }
    buf_str(&b, "]\n");
    folder_put(d, "tokens.json", b.p, b.len);
    buf_free(&b);
}

/* Clips of 30 s, rows of 60 ms. */
static inline struct folder ctc_folder(void)
{
    const struct folder d = folder_new();
    struct st_writer w = st_begin(5);
    ctc_layer(&w, "encoder.encoders0.0", CTC_WIDTH);
    ctc_layer(&w, "encoder.encoders.0", CTC_D);
    ctc_layer(&w, "encoder.tp_encoders.0", CTC_D);
    st_pair(&w, "encoder", ".after_norm", CTC_D, 0, 1, 0.2f);
    st_pair(&w, "encoder", ".tp_norm", CTC_D, 0, 1, 0.2f);
    st_pair(&w, "ctc", ".ctc_lo", CTC_VOCAB, CTC_D, 0, 1);
    st_tensor(&w, "embed.weight", CTC_QUERIES, CTC_WIDTH, 0, 1);
    st_end(&w, &d);
    mvn_put(&d, CTC_WIDTH, -8, 0.2);
    ctc_tokens(&d);
    struct buf b = { 0 };
    buf_fmt(&b, "{\"model\": \"SenseVoiceSmall\", \"encoder_conf\": {\"output_size\": %d, \"attention_heads\": %d, \"linear_units\": %d,"
                " \"num_blocks\": 2, \"tp_blocks\": 1, \"kernel_size\": %d, \"sanm_shfit\": 0},"
                " \"frontend_conf\": {\"fs\": 16000, \"n_mels\": %d, \"lfr_m\": %d, \"lfr_n\": 6, \"cmvn_file\": null}}\n",
            CTC_D, CTC_HEADS, CTC_FF, CTC_TAPS, FUNASR_MELS, CTC_LFR);
    folder_put(&d, "config.json", b.p, b.len);
    buf_free(&b);
    return d;
}

/* ---- Paraformer ---------------------------------------------------------------------------------------------------------------- */

static inline void cif_ffn(struct st_writer *w, const char *prefix)
{
    char name[96];
    st_pair(w, prefix, ".norm1", CTC_D, 0, 1, 0.2f);
    st_pair(w, prefix, ".feed_forward.w_1", CTC_FF, CTC_D, 0, 0.4f);
    st_pair(w, prefix, ".feed_forward.norm", CTC_FF, 0, 1, 0.2f);
    snprintf(name, sizeof name, "%s.feed_forward.w_2.weight", prefix);
    st_tensor(w, name, CTC_D, CTC_FF, 0, 0.4f);
}

static inline void cif_decoder(struct st_writer *w)
{
    static const char layer[] = "decoder.decoders.0";
    cif_ffn(w, layer);
    st_pair(w, layer, ".norm2", CTC_D, 0, 1, 0.2f);
    st_tensor(w, "decoder.decoders.0.self_attn.fsmn_block.weight", CTC_D, CTC_TAPS, 0, 0.3f);
    st_pair(w, layer, ".norm3", CTC_D, 0, 1, 0.2f);
    st_pair(w, layer, ".src_attn.linear_q", CTC_D, CTC_D, 0, 0.4f);
    st_pair(w, layer, ".src_attn.linear_k_v", 2 * CTC_D, CTC_D, 0, 0.4f);
    st_pair(w, layer, ".src_attn.linear_out", CTC_D, CTC_D, 0, 0.4f);
    cif_ffn(w, "decoder.decoders3.0");
    st_pair(w, "decoder", ".after_norm", CTC_D, 0, 1, 0.2f);
    st_pair(w, "decoder", ".output_layer", CTC_VOCAB, CTC_D, 0, 1);
}

/* A token every few frames. streams: the same, which decodes them chunk by chunk */
static inline struct folder cif_folder_of(int streams)
{
    const struct folder d = folder_new();
    struct st_writer w = st_begin(6);
    ctc_layer(&w, "encoder.encoders0.0", CTC_WIDTH);
    ctc_layer(&w, "encoder.encoders.0", CTC_D);
    st_pair(&w, "encoder", ".after_norm", CTC_D, 0, 1, 0.2f);
    st_pair(&w, "predictor", ".cif_conv1d", CTC_D, 3 * CTC_D, 0, 0.4f);
    st_pair(&w, "predictor", ".cif_output", 1, CTC_D, -0.2f, 0.5f);
    cif_decoder(&w);
    st_end(&w, &d);
    mvn_put(&d, CTC_WIDTH, -8, 0.2);
    ctc_tokens(&d);
    struct buf b = { 0 };
    buf_fmt(&b, "{\"model\": \"Paraformer%s\", \"encoder_conf\": {\"output_size\": %d, \"attention_heads\": %d, \"linear_units\": %d,"
                " \"num_blocks\": 2, \"kernel_size\": %d, \"sanm_shfit\": 0}, \"decoder_conf\": {\"attention_heads\": %d,"
                " \"linear_units\": %d, \"num_blocks\": 1, \"att_layer_num\": 1, \"kernel_size\": %d, \"sanm_shfit\": %d},"
                " \"frontend_conf\": {\"fs\": 16000, \"n_mels\": %d, \"lfr_m\": %d, \"lfr_n\": 6, \"cmvn_file\": null}}\n",
            streams ? "Streaming" : "", CTC_D, CTC_HEADS, CTC_FF, CTC_TAPS, CTC_HEADS, CTC_FF, CTC_TAPS, streams ? CTC_TAPS / 2 : 0,
            FUNASR_MELS, CTC_LFR);
    folder_put(&d, "config.json", b.p, b.len);
    buf_free(&b);
    return d;
}

static inline struct folder cif_folder(void) { return cif_folder_of(0); }
static inline struct folder live_folder(void) { return cif_folder_of(1); }

/* ---- FSMN-VAD ------------------------------------------------------------------------------------------------------------------ */

/* The more energy, the larger every activation and the less likely silence; below the shift of am.mvn all of them are zero. */
static inline void vad_tensors(struct st_writer *w)
{
    char name[96];
    st_pair(w, "encoder", ".in_linear1.linear", VAD_AFFINE, VAD_IN, 0.05f, 0.04f);
    st_pair(w, "encoder", ".in_linear2.linear", VAD_LINEAR, VAD_AFFINE, 0.1f, 0.05f);
    for (int i = 0; i < VAD_LAYERS; i++) {
        snprintf(name, sizeof name, "encoder.fsmn.%d.linear.linear.weight", i);
        st_tensor(w, name, VAD_PROJ, VAD_LINEAR, 0.1f, 0.05f);
        snprintf(name, sizeof name, "encoder.fsmn.%d.fsmn_block.conv_left.weight", i);
        st_tensor(w, name, VAD_PROJ, VAD_TAPS, 0.02f, 0.02f);
        snprintf(name, sizeof name, "encoder.fsmn.%d", i);
        st_pair(w, name, ".affine.linear", VAD_LINEAR, VAD_PROJ, 0.1f, 0.05f);
    }
    st_pair(w, "encoder", ".out_linear1.linear", VAD_OUT, VAD_LINEAR, 0.2f, 0.05f);
    const float sign[VAD_OUT] = { -2, 1, 1, 1 }, bias[VAD_OUT] = { 4, 0, 0, 0 };
    const size_t begin = w->data.len;
    for (int i = 0; i < VAD_OUT; i++)
        for (int k = 0; k < VAD_OUT; k++) buf_add(&w->data, &sign[i], sizeof *sign);
    const size_t end = w->data.len;
    buf_add(&w->data, bias, sizeof bias);
    buf_fmt(&w->head, ",\"encoder.out_linear2.linear.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[%zu,%zu]}", VAD_OUT,
            VAD_OUT, begin, end);
    buf_fmt(&w->head, ",\"encoder.out_linear2.linear.bias\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%zu,%zu]}", VAD_OUT, end,
            w->data.len);
}

static inline struct folder vad_folder(void)
{
    const struct folder d = folder_new();
    struct st_writer w = st_begin(9);
    vad_tensors(&w);
    st_end(&w, &d);
    mvn_put(&d, VAD_IN, -6, 0.2);
    struct buf b = { 0 };
    buf_fmt(&b, "{\"model\": \"FsmnVADStreaming\", \"encoder_conf\": {\"input_dim\": %d, \"input_affine_dim\": %d, \"fsmn_layers\": %d,"
                " \"linear_dim\": %d, \"proj_dim\": %d, \"lorder\": %d, \"output_affine_dim\": %d, \"output_dim\": %d},"
                " \"frontend_conf\": {\"n_mels\": %d, \"lfr_m\": %d, \"lfr_n\": 1, \"cmvn_file\": null}}\n",
            VAD_IN, VAD_AFFINE, VAD_LAYERS, VAD_LINEAR, VAD_PROJ, VAD_TAPS, VAD_OUT, VAD_OUT, FUNASR_MELS, VAD_LFR);
    folder_put(&d, "config.json", b.p, b.len);
    buf_free(&b);
    return d;
}

/* ---- use ----------------------------------------------------------------------------------------------------------------------- */

static inline steno_model *folder_open(struct folder d, const char *level)
{
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = level;
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, d.path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

/* The model in a folder that is made for it and taken away again. */
static inline steno_model *funasr_open(struct folder (*make)(void), const char *level)
{
    const struct folder d = make();
    steno_model *m = folder_open(d, level);
    folder_remove(&d);
    return m;
}

/* Bursts of noise of one to one and a half seconds with pauses of two and a half between them. */
static inline struct audio bursts(int64_t n)
{
    struct audio a = { malloc((size_t)(n ? n : 1) * sizeof(float)), n };
    assert_non_null(a.pcm);
    uint32_t state = 7;
    for (int64_t i = 0; i < n; i++) {
        const int64_t part = i / (RATE / 2), phase = part % 8;
        a.pcm[i] = phase < 2 ? 0.3f * noise(&state) : phase == 2 && part % 16 < 8 ? 0.2f * noise(&state) : 0;
    }
    return a;
}

static inline uint64_t spans_digest(const steno_session *s)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < steno_span_count(s); i++) {
        steno_span v = { .size = sizeof v };
        steno_span_get(s, i, &v);
        h = ((h ^ (uint64_t)v.t0_ms) * 1099511628211u ^ (uint64_t)v.t1_ms) * 1099511628211u;
    }
    return h;
}
#endif

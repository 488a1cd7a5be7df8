/* steno: Parakeet models as NVIDIA's GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys, names, extents and types are those of NeMo-Speech.cpp's converter, which has one type for matrices, f16 for filters and f32 for the
 * rest. A setting that it has no key for gets one here, which other programs ignore. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "convert/families.h"
#include "convert/gguf_file.h"
#include "convert/parakeet.h"
#include "load/base64.h"
#include "load/vocab.h"

enum { POSITIONS_USUAL = 5000, POSITIONS_MAX = 1 << 20, LANGUAGE_SZ = 80 };

/* ---- settings ---------------------------------------------------------------------------------------------------------------------- */

static uint32_t at_least_0(int32_t n) { return n > 0 ? (uint32_t)n : 0; }

static void put_encoder(struct gguf_writer *g, const struct parakeet_model *m, int32_t positions)
{
    const struct parakeet_shape *s = &m->s;
    const int32_t ahead = s->is_causal ? m->stream.usual : s->ahead;
    const struct { const char *key; int32_t v; } whole[] = {
        { "asr.encoder.d_model", s->d }, { "asr.encoder.n_layers", s->layers }, { "asr.encoder.n_heads", s->heads },
        { "asr.encoder.d_ff", s->d_ff }, { "asr.encoder.conv_kernel_size", s->taps }, { "asr.encoder.subsampling_factor", PARAKEET_STACK },
        { "asr.encoder.subsampling_conv_channels", s->channels }, { "asr.encoder.feat_in", s->n_mels },
        { "asr.encoder.pos_emb_max_len", positions },
    };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) gguf_put_u32(g, whole[i].key, (uint32_t)whole[i].v);
    gguf_put_bool(g, "asr.encoder.xscaling", s->scales_input);
    gguf_put_bool(g, "asr.encoder.use_bias", s->has_biases);
    gguf_put_text(g, "asr.encoder.q8_layout", "block_q8_0");
    gguf_put_text(g, "asr.encoder.qkv_q8_layout", "block_q8_0");
    gguf_put_bool(g, "asr.encoder.cache_supported", s->is_causal);
    gguf_put_u32(g, "asr.encoder.train_left_ctx", at_least_0(s->behind));
    gguf_put_u32(g, "asr.encoder.train_right_ctx", at_least_0(ahead));
    gguf_put_i32(g, "asr.encoder.offline_left_ctx", s->behind);
    gguf_put_i32(g, "asr.encoder.offline_right_ctx", ahead);
    gguf_put_text(g, "asr.encoder.conv_norm", s->has_layer_norm ? "layer_norm" : "batch_norm");
    gguf_put_text(g, "asr.encoder.conv_context", s->is_causal ? "causal" : "None");
    gguf_put_text(g, "asr.encoder.att_context_style", s->is_causal ? "chunked_limited" : "regular");
    if (s->is_causal) gguf_put_i32s(g, parakeet_gguf_lookaheads, m->stream.lookahead, (uint32_t)m->stream.n_lookaheads);
}

static void put_front(struct gguf_writer *g, const struct parakeet_shape *s)
{
    gguf_put_u32(g, "asr.preprocessor.sample_rate", 16000);
    gguf_put_f32(g, "asr.preprocessor.window_size", 0.025f);
    gguf_put_f32(g, "asr.preprocessor.window_stride", 0.01f);
    gguf_put_u32(g, "asr.preprocessor.n_fft", FBANK_FFT);
    gguf_put_u32(g, "asr.preprocessor.features", (uint32_t)s->n_mels);
    gguf_put_text(g, "asr.preprocessor.normalize", s->is_causal ? "NA" : "per_feature");
    gguf_put_f32(g, "asr.preprocessor.preemph", 0.97f);
    gguf_put_f32(g, "asr.preprocessor.dither", 1e-5f); /* of training */
    gguf_put_bool(g, "asr.preprocessor.stft_center_window", 1);
    gguf_put_bool(g, "asr.preprocessor.hann_periodic", 0);
    gguf_put_bool(g, "asr.preprocessor.mask_invalid_frames", 1);
}

/* "de-DE:2", one for each language. */
static int put_prompts(struct gguf_writer *g, const struct parakeet_model *m, steno_error *e)
{
    const struct transducer_stream *t = &m->stream;
    const uint32_t n = (uint32_t)t->n_prompts;
    struct vocab_entry *line = arena_array(&m->w->arena, (size_t)n + 1, sizeof *line);
    for (uint32_t i = 0; i <= n; i++) {
        const struct stream_prompt p = i < n ? t->prompt[i] : (struct stream_prompt){ "auto", t->automatic };
        char text[LANGUAGE_SZ];
        const int len = snprintf(text, sizeof text, "%s:%d", p.language, (int)p.id);
        if (len >= (int)sizeof text) return err_set(e, STENO_EUNSUPPORTED, "%s: a language's name is too long", m->w->name);
        const char *copy = line ? arena_strdup(&m->w->arena, text, (size_t)len) : NULL;
        if (!copy) return err_nomem(e, sizeof text, "prompts");
        line[i] = (struct vocab_entry){ .s = (const uint8_t *)copy, .n = (uint32_t)len };
    }
    gguf_put_vocab(g, "asr.rnnt.prompt_dictionary", line, n + 1);
    return STENO_OK;
}

static int put_head(struct gguf_writer *g, const struct parakeet_model *m, steno_error *e)
{
    const struct parakeet_shape *s = &m->s;
    const struct { const char *key; int32_t v; } transducer[] = {
        { "asr.rnnt.vocab_size", s->n_vocab + 1 }, { "asr.rnnt.blank_id", s->n_vocab }, { "asr.rnnt.pred_embed_dim", s->pred },
        { "asr.rnnt.pred_hidden", s->pred }, { "asr.rnnt.pred_num_layers", s->pred_layers }, { "asr.rnnt.joint_dim", s->joint },
        { "asr.rnnt.max_symbols_per_step", s->max_symbols }, { "asr.rnnt.num_prompts", s->prompts },
    };
    if (m->head == PARAKEET_CTC) {
        gguf_put_u32(g, "asr.ctc.num_classes", (uint32_t)s->n_vocab);
        gguf_put_u32(g, "asr.ctc.blank_id", (uint32_t)s->n_vocab);
        return STENO_OK;
    }
    for (size_t i = 0; i < sizeof transducer / sizeof *transducer; i++) gguf_put_u32(g, transducer[i].key, (uint32_t)transducer[i].v);
    if (s->n_durations) gguf_put_i32s(g, "asr.tdt.durations", s->duration, (uint32_t)s->n_durations);
    return s->prompts ? put_prompts(g, m, e) : STENO_OK;
}

/* ---- the tokenizer ----------------------------------------------------------------------------------------------------------------- */

static void put_varint(struct buf *b, uint32_t v)
{
    for (; v >= 0x80; v >>= 7) buf_add(b, (const uint8_t[1]){ (uint8_t)(v | 0x80) }, 1);
    buf_add(b, (const uint8_t[1]){ (uint8_t)v }, 1);
}

/* A SentencePiece model (load/sentencepiece.c) of pieces from another file. There the order of pieces is that of their merges. */
static void put_model(struct buf *b, const struct parakeet_model *m)
{
    enum { PIECE = 1 << 3 | 2, SCORE = 2 << 3 | 5, TYPE = 3 << 3, TRAINER = 2 << 3 | 2, MODEL_TYPE = 3 << 3, BPE = 2, NORMAL = 1 };
    static uint8_t const type[] = { [VOCAB_NORMAL] = NORMAL, [VOCAB_UNKNOWN] = 2, [VOCAB_CONTROL] = 3, [VOCAB_USER_DEFINED] = 4,
                                    [VOCAB_UNUSED] = 5, [VOCAB_BYTE] = 6 };
    for (int32_t i = 0; i < m->s.n_vocab; i++) {
        const struct vocab_entry *it = &m->piece[i];
        const float score = it->type == VOCAB_NORMAL ? -(float)i : 0;
        struct buf one = { 0 };
        put_varint(&one, PIECE);
        put_varint(&one, it->n);
        buf_add(&one, it->s, it->n);
        put_varint(&one, SCORE);
        buf_add(&one, &score, sizeof score);
        if (type[it->type] != NORMAL) put_varint(&one, TYPE), put_varint(&one, type[it->type]);
        put_varint(b, PIECE);
        put_varint(b, (uint32_t)one.len);
        buf_add(b, one.p, one.len);
        b->err |= one.err;
        buf_free(&one);
    }
    put_varint(b, TRAINER);
    put_varint(b, 2);
    put_varint(b, MODEL_TYPE);
    put_varint(b, BPE);
}

static int put_tokenizer(struct gguf_writer *g, const struct parakeet_model *m, steno_error *e)
{
    struct buf bytes = { 0 }, text = { 0 };
    const struct file *f = m->w->sentencepiece;
    const char *stored = NULL;
    int rc = STENO_OK;
    if (f) rc = file_text(f, VOCAB_FILE, &m->w->arena, &stored, e);
    else put_model(&bytes, m);
    if (!rc) base64_put(&text, f ? (const uint8_t *)stored : (const uint8_t *)bytes.p, f ? (size_t)f->size : bytes.len);
    buf_add(&text, "", 1);
    if (!rc && (bytes.err || text.err)) rc = err_nomem(e, text.len, "a SentencePiece model");
    if (!rc) {
        gguf_put_text(g, "asr.tokenizer.type", "sentencepiece_bpe");
        gguf_put_vocab(g, "asr.tokenizer.vocab", m->piece, (uint32_t)m->s.n_vocab);
        gguf_put_text(g, "asr.tokenizer.spm_model", text.p);
    }
    buf_free(&bytes);
    buf_free(&text);
    return rc;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------------------------- */

static int name_of(const char *name, char *out, size_t n)
{
    static const char lstm[] = "decoder.prediction.dec_rnn.lstm.";
    char what[8], way[4];
    int layer = 0;
    if (!parakeet_is_written(name)) return 0;
    if (sscanf(name, "decoder.prediction.dec_rnn.lstm.%7[a-z]_%2[a-z]_l%4d", what, way, &layer) == 3)
        return snprintf(out, n, "%s%s_l%d.%s", lstm, way, layer, what) < (int)n;
    return snprintf(out, n, "%s", name) < (int)n;
}

static enum dtype type_of(const struct type_mix *mix, const struct mix_tensor *t, enum dtype *requested)
{
    const enum dtype base = (enum dtype)mix->base, filters = base == DT_F32 ? DT_F32 : DT_F16;
    const enum parakeet_part part = parakeet_part_of(t->name);
    *requested = part == PARAKEET_MATRIX ? base : part == PARAKEET_FILTER ? filters : DT_F32;
    return part == PARAKEET_MATRIX && t->k % (uint64_t)dtype_block(base) ? DT_F16 : *requested;
}

/* The table of positions, which other programs read from the file: from the largest distance to its negative. */
struct position_table { uint64_t n, d; };

static int read_positions(const void *user, uint64_t off, void *dst, size_t n, steno_error *e)
{
    const struct position_table *p = user;
    float *out = dst;
    (void)e;
    for (size_t i = 0; i < n / sizeof *out; i++) {
        const uint64_t at = off / sizeof *out + i, column = at % p->d;
        const double distance = (double)p->n - 1 - (double)(at / p->d);
        const double angle = distance * exp(-log(10000) * (double)(column - column % 2) / (double)p->d);
        out[i] = (float)(column % 2 ? cos(angle) : sin(angle));
    }
    return STENO_OK;
}

/* Tensors beside those of the network. */
struct additions { struct parakeet_front front; struct position_table positions; struct file table; struct tensor more[3]; uint32_t n; };

static int add_tensors(struct additions *a, const struct parakeet_model *m, int32_t positions, steno_error *e)
{
    const uint64_t d = (uint64_t)m->s.d, n = (uint64_t)positions;
    const int rc = parakeet_front_find(&a->front, m, e);
    if (rc) return rc;
    a->positions = (struct position_table){ n, d };
    a->table = (struct file){ .name = m->w->name, .size = (2 * n - 1) * d * sizeof(float), .fd = -1, .read = read_positions,
                              .user = &a->positions };
    a->more[0] = (struct tensor){ .name = "encoder.pos_enc.pe", .type = DT_F32, .n_dims = 2, .dim = { 2 * n - 1, d, 1, 1 },
                                  .file = &a->table, .size = a->table.size };
    a->more[1] = *a->front.filters;
    a->more[1].name = "preprocessor.fb";
    a->n = 2;
    if (!a->front.window) return STENO_OK;
    a->more[a->n] = *a->front.window;
    a->more[a->n++].name = "preprocessor.window";
    return STENO_OK;
}

static int extents_of(const char *name, uint64_t dim[4], int n_dims)
{
    const int is_window = !strcmp(name, "preprocessor.window");
    if (!is_window && strcmp(name, "preprocessor.fb") != 0) return parakeet_extents(name, dim, n_dims);
    const uint64_t last = dim[n_dims - 1], n = dim[0] * dim[1] * dim[2] * dim[3];
    memcpy(dim, (const uint64_t[4]){ is_window ? n : n / last, is_window ? 1 : last, 1, 1 }, 4 * sizeof *dim);
    return is_window ? 1 : 2;
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------------- */

static int write_model(struct gguf_writer *g, const struct parakeet_model *m, const struct convert_order *o, steno_error *e)
{
    static const char *const heads[] = { [PARAKEET_CTC] = "ctc", [PARAKEET_RNNT] = "rnnt", [PARAKEET_TDT] = "tdt" };
    static const char *const limits[] = { "asr.encoder.pos_emb_max_len", "encoder.pos_emb_max_len",
                                          "encoder_config.max_position_embeddings" };
    struct additions more = { .n = 0 };
    int32_t positions = POSITIONS_USUAL;
    int rc = STENO_OK;
    for (size_t i = 0; i < sizeof limits / sizeof *limits && !rc; i++)
        rc = meta_int(&m->w->meta, m->w->name, limits[i], 1, POSITIONS_MAX, 1, &positions, e);
    if (!rc) rc = add_tensors(&more, m, positions, e);
    if (rc) return rc;
    gguf_put_text(g, "asr.head_type", heads[m->head]);
    put_encoder(g, m, positions);
    put_front(g, &m->s);
    rc = put_head(g, m, e);
    if (!rc) rc = put_tokenizer(g, m, e);
    const struct gguf_file f = { .name = name_of, .extents = extents_of, .type = type_of, .more = more.more, .n_more = more.n };
    return rc ? rc : gguf_file_write(g, m->w, &f, o);
}

static int to_gguf(enum parakeet_head head, int is_stream, struct weights *w, const struct convert_order *o, const struct model_sink *to,
                   steno_error *e)
{
    struct parakeet_model m;
    struct gguf_writer g;
    int rc = parakeet_model_read(&m, head, is_stream, w, e);
    if (rc) return rc;
    gguf_file_begin(&g, "asr", w, to, e);
    rc = write_model(&g, &m, o, e);
    gguf_end(&g);
    return rc;
}

int parakeet_ctc_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    return to_gguf(PARAKEET_CTC, 0, w, o, to, e);
}

int parakeet_transducer_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    return to_gguf(PARAKEET_RNNT, 0, w, o, to, e);
}

int parakeet_stream_to_gguf(struct weights *w, const struct convert_order *o, const struct model_sink *to, steno_error *e)
{
    return to_gguf(PARAKEET_RNNT, 1, w, o, to, e);
}

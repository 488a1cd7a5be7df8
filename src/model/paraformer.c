/* steno: Paraformer as data. SPDX-License-Identifier: MIT
 *
 * Gao et al. 2022: a SAN-M encoder, a predictor and a decoder. The predictor gives each frame a weight, by which frames are summed to
 * tokens (continuous integrate-and-fire). The decoder sees all tokens at once, attends to all frames, and chooses an id for each token.
 * Reference: FunASR 1.4, funasr/models/paraformer (CifPredictorV2, ParaformerSANMDecoder). */
#include "model/paraformer.h"
#include "model/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "load/vocab.h"
#include "model/funasr.h"
#include "model/sanm_encoder.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/lstm.h"

enum {
    WINDOW_ROWS = 1000, /* 60 s of rows every 60 ms */
    CHUNK_ROWS = 256,   /* of a stream: most rows of a chunk, including those around it */
    PAST_ROWS = 1024,   /* and of the look-back: 61 s */
    HEAD_ROWS = 64,     /* tokens with logits at a time */
    HOT_MAX = 50       /* most hot words that are attended to; more words are scored first */
};
static float const norm_eps = 1e-12f;

const char paraformer_architecture[] = "paraformer";

static char const streaming[] = "pf.streaming"; /* in GGUF files of streaming models only */

static int paraformer_match(const struct weights *w)
{
    static const char *const model[] = { "Paraformer", "BiCifParaformer", "SeacoParaformer", "ContextualParaformer" };
    for (size_t i = 0; i < sizeof model / sizeof *model; i++)
        if (funasr_match(w, model[i], paraformer_architecture)) return !meta_find(&w->meta, streaming);
    return 0;
}

static int online_match(const struct weights *w)
{
    return funasr_match(w, "ParaformerStreaming", paraformer_architecture) && (!funasr_is_gguf(w) || meta_find(&w->meta, streaming));
}

#define AT(field) offsetof(struct paraformer_shape, field)

static const struct funasr_setting setting[] = {
    { "encoder_conf.output_size", "pf.enc.output_size", 4, 8192, 0, AT(enc.d) },
    { "encoder_conf.attention_heads", "pf.enc.attention_heads", 1, 256, 0, AT(enc.heads) },
    { "encoder_conf.linear_units", NULL, 1, 65536, 0, AT(enc.d_ff) },
    { "encoder_conf.num_blocks", "pf.enc.num_blocks", 1, 256, 0, AT(enc.layers) },
    { "encoder_conf.kernel_size", "pf.enc.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(enc.taps) },
    { "encoder_conf.sanm_shfit", NULL, 0, 0, FUNASR_CONFIG, AT(enc.shift) }, /* spelled as in FunASR */
    { "frontend_conf.n_mels", "pf.n_mels", 1, SPECTRUM_BANDS, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.n_mels) },
    { "frontend_conf.lfr_m", "pf.lfr_m", 1, FBANK_LFR_MAX, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.lfr_m) },
    { "frontend_conf.lfr_n", "pf.lfr_n", 1, FBANK_LFR_MAX, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.lfr_n) },
    { "decoder_conf.attention_heads", "pf.dec.attention_heads", 1, 256, 0, AT(heads) },
    { "decoder_conf.linear_units", NULL, 1, 65536, 0, AT(d_ff) },
    { "decoder_conf.num_blocks", "pf.dec.num_blocks", 1, 256, 0, AT(layers) },
    { "decoder_conf.att_layer_num", "pf.dec.att_layer_num", 1, 256, 0, AT(attending) },
    { NULL, "pf.dec.decoders3", 1, 1, 0, AT(more_layers) },
    { "decoder_conf.kernel_size", "pf.dec.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(taps) },
    { "decoder_conf.sanm_shfit", "pf.dec.sanm_shift", 0, FSMN_TAPS, FUNASR_CONFIG | FUNASR_GGUF, AT(shift) },
    { NULL, streaming, 0, 1, FUNASR_GGUF, AT(enc.streams) },
};
#undef AT
static const struct paraformer_shape usual = { .enc = { .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6 }, .more_layers = 1, .taps = 11 };
const struct funasr_settings paraformer_settings = { setting, sizeof setting / sizeof *setting, &usual };

/* The length of a bias, 0: there is none. */
static int32_t length_of(struct weights *w, const char *name, uint64_t max)
{
    const struct tensor *t = weights_find(w, name);
    return t && t->n_dims == 1 && t->dim[0] <= max ? (int32_t)t->dim[0] : 0;
}

/* Checks the class of a part, which a folder names. */
static int check_class(const struct weights *w, const char *key, const char *want, steno_error *e)
{
    const char *is = meta_text(&w->meta, key, want);
    return !strcmp(is, want) ? STENO_OK : err_set(e, STENO_EUNSUPPORTED, "%s: %s: %.80s is not served, %s is", w->name, key, is, want);
}

int paraformer_read_shape(struct paraformer_shape *s, struct weights *w, steno_error *e)
{
    *s = usual;
    s->enc.eps = norm_eps;
    s->enc.streams = online_match(w);
    int rc = check_class(w, "encoder", s->enc.streams ? "SANMEncoderChunkOpt" : "SANMEncoder", e);
    if (!rc) rc = hot_read(&s->hot, w, e);
    if (!rc) rc = check_class(w, "decoder", s->hot.kind == CIF_HOT_WITHIN ? "ContextualParaformerDecoder" : "ParaformerSANMDecoder", e);
    if (!rc) rc = funasr_read_settings(s, &paraformer_settings, w, e);
    if (!rc) rc = sanm_encoder_check(&s->enc, w, e);
    if (!rc) rc = predictor_read(&s->predictor, w, e);
    if (rc) return rc;
    if (s->enc.streams && (s->predictor.fine || s->hot.kind || s->enc.width == s->enc.d))
        return err_set(e, STENO_EUNSUPPORTED, "%s: streams with times or hot words of their own, or rows as wide as their layers, are not "
                       "served", w->name);
    if (s->layers != s->attending)
        return err_set(e, STENO_EUNSUPPORTED, "%s: %d of %d layers of the decoder attend to frames; this version knows decoders where all "
                       "do", w->name, (int)s->attending, (int)s->layers);
    if (s->shift != (s->enc.streams ? s->taps / 2 : 0))
        return err_set(e, STENO_EUNSUPPORTED, "%s: the decoder's memory is shifted by %d of %d taps; this version knows %s", w->name,
                       (int)s->shift, (int)s->taps, s->enc.streams ? "streams whose tokens see those before them alone" : "none that is");
    if (s->enc.d % s->heads || s->enc.d / s->heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %d heads do not divide a width of %d into parts of up to %d", w->name, (int)s->heads,
                       (int)s->enc.d, HEAD_MAX);
    if (!s->d_ff) s->d_ff = length_of(w, "decoder.decoders.0.feed_forward.w_1.bias", 65536);
    s->n_vocab = length_of(w, "decoder.output_layer.bias", 1 << 20);
    if (s->d_ff && s->n_vocab > 2) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: tensor decoder.%s.bias is missing or of no use: its length is a width of the model", w->name,
                   s->d_ff ? "output_layer" : "decoders.0.feed_forward.w_1");
}

/* Frames, and the predictor's output for each. */
static struct predictor_slots build_frames(struct build *b, const struct paraformer_shape *s)
{
    const uint32_t d = (uint32_t)s->enc.d;
    const uint16_t x = sanm_encoder_build(b, &s->enc), frames = build_slot_padded(b, b->plan.max_rows, d);
    struct op *op = emit(b, OP_NORM, "encoder.after_norm", frames, x,
                         bind_norm(b, "encoder.after_norm.weight", "encoder.after_norm.bias", d, norm_eps));
    if (op) op->flags = OPF_PADDED;
    const struct precision rows = b->p.precision;
    b->p.precision = (struct precision){ 0 }; /* the number of tokens depends on sums of all weights */
    const struct predictor_slots p = predictor_build(b, frames, d);
    b->p.precision = rows;
    return p;
}

/* Sums of frames. In a stream, a state holds the previous remainder, with which struct cif_token 0 begins. */
static void build_cif(struct build *b, const struct paraformer_shape *s, const char *name, uint16_t x, uint16_t frames, uint16_t width)
{
    struct op *op = emit(b, OP_CIF, name, x, frames, width);
    if (op && s->enc.streams) op->state = STATE_MEMORY, op->layer = (uint16_t)s->layers;
}

static uint16_t build_sums(struct build *b, const struct paraformer_shape *s, uint16_t frames)
{
    const uint16_t x = build_slot(b, (uint32_t)s->enc.d), first = b->plan.n_ops, width = bind_scale(b, 1, NULL, (uint64_t)s->enc.d);
    build_cif(b, s, "predictor.cif", x, frames, width);
    if (s->enc.streams) { /* the remainder of the current token */
        build_phase(b, "rest");
        const uint16_t rest = build_slot(b, (uint32_t)s->enc.d);
        build_cif(b, s, "predictor.rest", rest, frames, width);
        struct op *op = emit(b, OP_SHIFT_STATE, "predictor.keep", NO_SLOT, rest, width);
        if (op) op->state = STATE_MEMORY, op->layer = (uint16_t)s->layers;
    }
    emit_rows(b, first, ROWS_TABLE);
    return x;
}

static struct sub_dims decoder_dims(const struct paraformer_shape *s)
{
    struct sub_dims dims = sanm_encoder_dims(&s->enc);
    dims.n_heads = dims.n_kv_heads = (uint32_t)s->heads;
    dims.d_head = dims.d / dims.n_heads;
    dims.d_ff = (uint32_t)s->d_ff;
    dims.taps = (uint32_t)s->taps;
    dims.shift = (uint32_t)s->shift;
    if (s->enc.streams) dims.memory = STATE_MEMORY + 1, dims.past = STATE_CROSS_PAST + 1;
    return dims;
}

static void build_tokens(struct build *b, const struct paraformer_shape *s, uint16_t frames)
{
    static struct sub const memory = { NULL, "norm1", "feed_forward", "self_attn", 0 }, cross = { NULL, "norm3", "src_attn", NULL, 0 };
    struct sub_dims dims = decoder_dims(s);
    const uint16_t x = build_sums(b, s, frames);
    const int32_t layers = s->layers - (s->hot.kind == CIF_HOT_WITHIN); /* that kind's last layer is different */
    if (s->enc.streams) build_phase(b, "tokens");
    if (s->hot.kind == CIF_HOT_BESIDE) hot_build_sums(b, &dims, frames);
    for (int32_t i = 0; i < layers && !b->status; i++) {
        dims.layer = (uint16_t)i;
        char name[NAME_MAX_LEN];
        snprintf(name, sizeof name, "decoder.decoders.%d", (int)i);
        b->prefix = name;
        sub_sanm_tokens(b, &dims, &memory, "norm2", x);
        sub_cross_rows(b, &dims, &cross, x, frames);
        b->prefix = "";
    }
    b->plan.output = x;
    if (s->hot.kind == CIF_HOT_WITHIN) {
        hot_build_last(b, &dims, x, frames);
        return;
    }
    b->plan.output = build_slot(b, dims.d);
    b->prefix = "decoder.decoders3.0";
    sub_ffn_tokens(b, &dims, &memory, b->plan.output, x);
    b->prefix = "";
    if (s->hot.kind == CIF_HOT_BESIDE) hot_build_hidden(b, &dims, b->plan.output);
}

/* The most probable ids of all tokens at once. */
static void build_best(struct build *b, uint16_t norm, uint16_t head, uint32_t d)
{
    build_phase(b, "best");
    const uint16_t all = build_slot(b, d);
    struct op *op = emit(b, OP_NORM, "decoder.all_norm", all, b->plan.output, norm);
    if (op) op->rows = ROWS_TABLE;
    const uint16_t approx = bind_best_approx(b, "decoder.output_layer.weight", bind_at(b, head)->n, d);
    sub_best(b, &(struct best_head){ "decoder", head, approx, ROWS_TABLE }, all);
}

static void build_head(struct build *b, const struct paraformer_shape *s)
{
    const uint32_t d = (uint32_t)s->enc.d;
    const uint16_t some = build_slot_out(b, d), logits = b->plan.logits = build_slot_out(b, (uint32_t)s->n_vocab);
    const uint16_t norm = bind_norm(b, "decoder.after_norm.weight", "decoder.after_norm.bias", d, norm_eps), first = b->plan.n_ops;
    const struct linear_part part = { "decoder.output_layer.weight", "decoder.output_layer.bias", (uint64_t)s->n_vocab };
    const uint16_t head = bind_matrix(b, &part, d, LINEAR_LM_HEAD, norm);
    emit(b, OP_NORM, "decoder.after_norm", some, b->plan.output, norm);
    emit(b, OP_LINEAR, "decoder.output_layer", logits, some, head);
    emit(b, OP_LOGITS_REDUCE, "decoder.scan", NO_SLOT, logits, head);
    emit(b, OP_SAMPLE, "decoder.pick", NO_SLOT, logits, head);
    emit_rows(b, first, ROWS_OUT);
    if (!s->enc.streams) build_best(b, norm, head, d);
}

static int build_plan(steno_model *m, struct weights *w, const struct paraformer_shape *s, steno_error *e)
{
    struct build b;
    const struct build_params params = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                         .team = m->opening->team, .max_rows = s->enc.streams ? CHUNK_ROWS : WINDOW_ROWS,
                                         .max_out = HEAD_ROWS, .max_past = s->enc.streams ? PAST_ROWS : 0,
                                         .precision = sanm_precision(m) };
    build_begin(&b, &params, e);
    build_phase(&b, "encode");
    const struct predictor_slots p = build_frames(&b, s);
    b.plan.encoded = p.frames;
    build_phase(&b, s->enc.streams ? "fire" : "tokens");
    build_tokens(&b, s, p.frames);
    if (s->hot.kind != CIF_HOT_WITHIN) build_phase(&b, "head"), build_head(&b, s);
    b.p.precision = (struct precision){ 0 };
    if (s->predictor.fine) build_phase(&b, "times"), predictor_build_times(&b, &s->predictor, &p, (uint32_t)s->enc.d);
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

/* States of a stream, for the look-back of the usual chunks. */
static void describe_states(steno_model *m, const struct paraformer_shape *s)
{
    enum { PAST = 40, CROSS_PAST = 10 };
    const uint32_t d = (uint32_t)s->enc.d, heads = (uint32_t)s->enc.heads, more = (uint32_t)s->heads;
    const uint32_t past = head_room(d / heads), cross_past = head_room(d / more);
    m->n_states = STATE_CROSS_PAST + 1;
    m->state[STATE_MEMORY] = (struct state_desc){ "last tokens, and the rest of a sum", STATE_SHIFT, (uint32_t)s->layers + 1, 1, d,
                                                  s->taps > 1 ? (uint32_t)s->taps - 1 : 1, 0, 0, 0 };
    m->state[STATE_PAST] = (struct state_desc){ "earlier frames", STATE_SHIFT, (uint32_t)s->enc.layers, 2 * heads, past, PAST, 0, 0, 0 };
    m->state[STATE_CROSS_PAST] = (struct state_desc){ "earlier frames of the decoder", STATE_SHIFT, (uint32_t)s->layers, 2 * more,
                                                      cross_past, CROSS_PAST, 0, 0, 0 };
}

static int paraformer_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct paraformer_shape s;
    int rc = paraformer_read_shape(&s, w, e);
    if (rc) return rc;
    struct cif_model *c = m->part = arena_alloc(&m->arena, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a model");
    *c = (struct cif_model){ .weight = { (float)s.predictor.smooth, (float)s.predictor.noise }, .tail = (float)s.predictor.tail,
                             .fine = s.predictor.fine, .fine_weight = { (float)s.predictor.fine_smooth, (float)s.predictor.fine_noise },
                             .blank = 0, .bos = 1, .eos = 2, .hot = s.hot.kind, .no_hotword = s.hot.no_hotword,
                             .hot_heads = s.hot.kind == CIF_HOT_BESIDE ? s.hot.heads : s.heads, .hot_most = HOT_MAX,
                             .scale = sqrtf((float)s.enc.d) };
    if (s.enc.streams) describe_states(m, &s), m->low_precision = 0; /* chunks have few rows */
    m->name = "large";
    m->n_vocab = s.n_vocab;
    m->n_plans = 1;
    m->audio_ctx = m->segment_ctx = s.enc.streams ? 0 : WINDOW_ROWS;
    m->widths = (struct model_widths){ .n_mels = s.enc.n_mels, .audio_state = s.enc.d, .audio_heads = s.enc.heads,
                                       .audio_layers = s.enc.layers, .text_state = s.enc.d, .text_heads = s.heads,
                                       .text_layers = s.layers + 1 };
    rc = funasr_find_vocab(m, w, e);
    if (!rc) rc = build_plan(m, w, &s, e);
    const struct sub_dims dims = decoder_dims(&s);
    if (!rc && s.hot.kind != CIF_HOT_NONE) rc = hot_build(m, w, &s.hot, &dims, e);
    if (!rc) rc = sanm_encoder_front(m, w, &s.enc, e);
    if (!rc) rc = funasr_read_vocab(m, w, NULL, e);
    if (!rc && s.hot.kind != CIF_HOT_NONE) rc = dict_read(m, w, e);
    return rc ? rc : paraformer_text_init(m, e);
}

static const char *const spare[] = { "cmvn.shift", "cmvn.scale", "decoder.embed.0.weight", "bias_embed.weight",
                                     "seaco_decoder.embed.0.weight", NULL }; /* embeddings are for training, or for hot words */

const struct family family_paraformer = {
    .name = "paraformer",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "cif",
    .bare_text = BARE_ALWAYS,
    .low_precision = LOW_PRECISION_ROWS,
    .settings = SETTINGS_FILES,
    .match = paraformer_match,
    .describe = paraformer_describe,
    .cif = &paraformer_cif,
    .spare = spare,
    .ids_to_bytes = paraformer_ids_to_bytes,
};

/* The same network for streams, chunk by chunk. Names have at most 15 characters. */
const struct family family_paraformer_online = {
    .name = "paraformer-live",
    .front_end = FRONT_FBANK_STREAM,
    .task = "cif-stream",
    .low_precision = 0,
    .settings = SETTINGS_FILES,
    .match = online_match,
    .describe = paraformer_describe,
    .cif = &paraformer_cif,
    .spare = spare,
    .ids_to_bytes = paraformer_ids_to_bytes,
};

/* ---- the predictor ---------------------------------------------------------------------------------------------------------------- */

enum { FINE = 3 }; /* rows per frame that OPF_SPREAD makes */

const struct predictor_number predictor_number[PREDICTOR_NUMBERS] = {
    { "predictor_conf.tail_threshold", "pf.predictor.tail_threshold", 0, 1, 0.45, 0.45, offsetof(struct predictor, tail) },
    { "predictor_conf.threshold", "pf.predictor.threshold", 1, 1, 1, 1, offsetof(struct predictor, threshold) },
    { "predictor_conf.smooth_factor", "pf.predictor.smooth_factor", 0, 1, 1, 1, offsetof(struct predictor, smooth) },
    { "predictor_conf.noise_threshold", "pf.predictor.noise_threshold", 0, 1, 0, 0, offsetof(struct predictor, noise) },
    { "predictor_conf.smooth_factor2", "pf.predictor.smooth_factor2", 0, 1, 1, 0.25, offsetof(struct predictor, fine_smooth) },
    { "predictor_conf.noise_threshold2", "pf.predictor.noise_threshold2", 0, 1, 0, 0.01, offsetof(struct predictor, fine_noise) },
};
const char predictor_after_conv[] = "pf.predictor.use_cif1_cnn";

static double *number_at(struct predictor *p, size_t i)
{
    return (double *)(void *)((char *)p + predictor_number[i].at);
}

/* Kinds have names in a folder. */
static int read_kind(struct predictor *p, const struct weights *w, steno_error *e)
{
    const char *kind = meta_text(&w->meta, "predictor", "CifPredictorV2");
    const char *type = meta_text(&w->meta, "predictor_conf.upsample_type", "cnn");
    int32_t times = 5; /* the class's default */
    if (!strcmp(kind, "CifPredictorV2")) return STENO_OK;
    if (strcmp(kind, "CifPredictorV3") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor: %.80s is not served, CifPredictorV2 and CifPredictorV3 are", w->name, kind);
    p->recurrent = !strcmp(type, "cnn_blstm");
    if (!p->recurrent && strcmp(type, "cnn") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor_conf.upsample_type: %.80s is not served, cnn and cnn_blstm are", w->name,
                       type);
    const int rc = meta_int(&w->meta, w->name, "predictor_conf.upsample_times", 1, 100, 1, &times, e);
    if (!rc && times != FINE)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor_conf.upsample_times: %d is not served, %d is", w->name, (int)times, FINE);
    p->fine = FINE;
    p->after_conv = 1;
    const struct meta_entry *entry = meta_find(&w->meta, "predictor_conf.use_cif1_cnn");
    if (entry && entry->kind == META_BOOL) p->after_conv = entry->i != 0;
    return rc;
}

int predictor_read(struct predictor *p, struct weights *w, steno_error *e)
{
    const int gguf = funasr_is_gguf(w);
    *p = (struct predictor){ 0 };
    if (gguf) p->fine = weights_find(w, "predictor.upsample_cnn.weight") ? FINE : 0;
    if (gguf) p->recurrent = weights_find(w, "predictor.blstm.weight_ih_l0") != NULL;
    int rc = gguf ? STENO_OK : read_kind(p, w, e);
    if (gguf) rc = meta_int(&w->meta, w->name, predictor_after_conv, 0, 1, 1, &p->after_conv, e);
    for (size_t i = 0; i < (p->fine ? PREDICTOR_NUMBERS : PREDICTOR_PLAIN) && !rc; i++) {
        const struct predictor_number *it = &predictor_number[i];
        *number_at(p, i) = gguf ? it->gguf_value : it->value;
        rc = meta_num(&w->meta, w->name, gguf ? it->gguf : it->config, it->lo, it->hi, 1, number_at(p, i), e);
    }
    return rc;
}

struct predictor_slots predictor_build(struct build *b, uint16_t frames, uint32_t d)
{
    const struct predictor_slots s = { frames, build_slot(b, d) };
    const uint16_t conv = bind_conv(b, "predictor.cif_conv1d.weight", "predictor.cif_conv1d.bias", d, d, 1);
    struct op *op = emit(b, OP_LINEAR, "predictor.cif_conv1d", s.conv, frames, conv);
    if (op) op->flags = OPF_CONV, bind_at(b, conv)->act = ACT_RELU;
    const struct linear_part weight = { "predictor.cif_output.weight", "predictor.cif_output.bias", 1 };
    b->plan.side_output[0] = build_slot(b, 1);
    emit(b, OP_LINEAR, "predictor.cif_output", b->plan.side_output[0], s.conv, bind_matrix(b, &weight, d, LINEAR_OTHER, NO_BIND));
    return s;
}

void predictor_build_times(struct build *b, const struct predictor *p, const struct predictor_slots *s, uint32_t d)
{
    const uint32_t rows = FINE * b->plan.max_rows, width = p->recurrent ? 2 * d : d;
    const uint16_t fine = build_slot_padded(b, rows, d), both = p->recurrent ? build_slot_rows(b, rows, width) : fine;
    const struct linear_part weight = { "predictor.cif_output2.weight", "predictor.cif_output2.bias", 1 };
    sub_upsample(b, "predictor.upsample_cnn", fine, p->after_conv ? s->conv : s->frames, d, d, FINE);
    if (p->recurrent) sub_lstm(b, &(struct lstm_layer){ "predictor.blstm", 0, d, d, 1, 0, 0 }, both, fine, ROWS_THRICE);
    b->plan.side_output[1] = build_slot_rows(b, rows, 1);
    struct op *op = emit(b, OP_LINEAR, "predictor.cif_output2", b->plan.side_output[1], both,
                         bind_matrix(b, &weight, width, LINEAR_OTHER, NO_BIND));
    if (op) op->rows = ROWS_THRICE;
}

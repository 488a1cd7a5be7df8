/* steno: Parakeet as data. SPDX-License-Identifier: MIT
 *
 * FastConformer (Rekesh et al. 2023): log-mel normalised per clip, a strided stem, one row per 80 ms; layers with relative positions; a CTC
 * head or a transducer. References: NeMo 3.0, nemo/collections/asr; transformers 5.24, models/parakeet. */
#include "model/parakeet.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "model/parts.h"
#include "model/sanm_encoder.h"
#include "plan/bind.h"
#include "plan/build.h"

enum {
    CLIP_ROWS = 1500, CLIP_ROWS_LEAST = 25, CLIP_ROWS_MOST = 18000, /* 120 s, 2 s, 24 minutes */
    RUN_ROWS = 8 * STREAM_ROWS_LAST, /* of streams beside each other */
    HEAD_ROWS = 64,   /* rows with logits at a time */
    KEPT_DISTANCES = 80 << 20 /* bytes of a batch: of the 0.6B, clips of 64 s in int16, of 30 s in f32 */
};
static float const eps = 1e-5f;
static const char ctc_name[] = "decoder.decoder_layers.0", hybrid_ctc_name[] = "ctc_decoder.decoder_layers.0";

/* The head of a model in any form. PARAKEET_NONE: another file or model */
static enum parakeet_head head_of(const struct weights *w)
{
    static const struct { const char *type; enum parakeet_head head; } known[] = {
        { "parakeet_ctc", PARAKEET_CTC }, { "parakeet_rnnt", PARAKEET_RNNT }, { "parakeet_tdt", PARAKEET_TDT },
    };
    const char *type = meta_text(&w->meta, "model_type", "");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(type, known[i].type)) return known[i].head;
    if (parakeet_is_ggml(w)) return PARAKEET_TDT;
    const enum parakeet_head head = parakeet_gguf_head(w);
    return head ? head : parakeet_nemo_head(w);
}

static int match_ctc(const struct weights *w)
{
    return head_of(w) == PARAKEET_CTC;
}

static int match_transducer(const struct weights *w)
{
    return head_of(w) > PARAKEET_CTC;
}

/* Has the file a CTC head beside its transducer? */
static int is_hybrid(struct weights *w)
{
    char name[64];
    snprintf(name, sizeof name, "%s.weight", hybrid_ctc_name);
    return weights_find(w, name) != NULL;
}

static const char *const head_names[] = { [PARAKEET_CTC] = "ctc", [PARAKEET_RNNT] = "rnnt", [PARAKEET_TDT] = "tdt" };

static int decoder(const struct family **f, struct weights *w, int32_t decoder_type, steno_error *e)
{
    static enum parakeet_head const asked[] = { [STENO_DECODER_CTC] = PARAKEET_CTC, [STENO_DECODER_RNNT] = PARAKEET_RNNT,
                                                [STENO_DECODER_TDT] = PARAKEET_TDT };
    const enum parakeet_head own = head_of(w), head = asked[decoder_type];
    const int has_both = own != PARAKEET_CTC && *f != &family_parakeet_stream && is_hybrid(w);
    if (head == own) return STENO_OK;
    if (head != PARAKEET_CTC || !has_both)
        return err_set(e, STENO_EARG, "decoder_type is %s, and %s decodes with %s%s: leave it out", head_names[head], w->name,
                       head_names[own], has_both ? " or ctc" : " only");
    *f = &family_parakeet_ctc;
    return STENO_OK;
}

/* ---- sizes */

#define AT(field) offsetof(struct parakeet_shape, field)
static const struct setting { const char *key; int32_t lo, hi; size_t at; } setting[] = {
    { "encoder_config.hidden_size", 8, 8192, AT(d) },
    { "encoder_config.num_hidden_layers", 1, 128, AT(layers) },
    { "encoder_config.num_attention_heads", 1, 256, AT(heads) },
    { "encoder_config.intermediate_size", 1, 65536, AT(d_ff) },
    { "encoder_config.conv_kernel_size", 1, FSMN_TAPS - 1, AT(taps) },
    { "encoder_config.num_mel_bins", 8, SPECTRUM_BANDS, AT(n_mels) },
    { "encoder_config.subsampling_conv_channels", 1, 4096, AT(channels) },
};
#undef AT
static const struct parakeet_shape usual = { .d = 1024, .layers = 24, .heads = 8, .d_ff = 4096, .taps = 9, .n_mels = 80, .channels = 256,
                                             .scales_input = 1 };

/* Settings that have one value in every known model. */
static const struct fixed { const char *key; int32_t value; } fixed[] = {
    { "encoder_config.subsampling_factor", 8 }, { "encoder_config.subsampling_conv_kernel_size", 3 },
    { "encoder_config.subsampling_conv_stride", 2 },
};

static int check_fixed(const struct weights *w, steno_error *e)
{
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        int32_t value = fixed[i].value;
        const int rc = meta_int(&w->meta, w->name, fixed[i].key, 1, 1024, 1, &value, e);
        if (rc) return rc;
        if (value != fixed[i].value)
            return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %d, this version supports %d", w->name,
                           meta_written(&w->meta, fixed[i].key), (int)value, (int)fixed[i].value);
    }
    const char *act = meta_text(&w->meta, "encoder_config.hidden_act", "silu");
    if (strcmp(act, "silu") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: encoder_config.hidden_act is %.40s, this version supports silu", w->name, act);
    return STENO_OK;
}

static int check_shape(const struct parakeet_shape *s, const struct weights *w, steno_error *e)
{
    if (s->d % s->heads || s->d / s->heads % 4 || s->d / s->heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %d heads do not divide a width of %d into multiples of 4 up to %d", w->name, (int)s->heads,
                       (int)s->d, HEAD_MAX);
    int32_t keys = s->heads;
    const int rc = meta_int(&w->meta, w->name, "encoder_config.num_key_value_heads", 1, 256, 1, &keys, e);
    if (rc) return rc;
    if (keys != s->heads)
        return err_set(e, STENO_EUNSUPPORTED, "%s: encoder_config.num_key_value_heads is %d, this version supports the number of heads, %d",
                       w->name, (int)keys, (int)s->heads);
    if (s->taps % 2 == 0) return err_set(e, STENO_EFORMAT, "%s: a filter of %d taps, want an odd number", w->name, (int)s->taps);
    return STENO_OK;
}

static int read_shape(struct parakeet_shape *s, struct weights *w, steno_error *e)
{
    *s = usual;
    int rc = check_fixed(w, e);
    for (size_t i = 0; i < sizeof setting / sizeof *setting && !rc; i++)
        rc = meta_int(&w->meta, w->name, setting[i].key, setting[i].lo, setting[i].hi, 1,
                      (int32_t *)(void *)((char *)s + setting[i].at), e);
    const struct meta_entry *scales = meta_find(&w->meta, "encoder_config.scale_input");
    if (scales && scales->kind == META_BOOL) s->scales_input = (int32_t)scales->i;
    if (!rc) rc = meta_int(&w->meta, w->name, "vocab_size", 2, 1 << 20, 0, &s->n_vocab, e);
    s->n_vocab--;
    s->has_biases = weights_find(w, "encoder.layers.0.feed_forward1.linear1.bias") != NULL;
    if (!rc) rc = parakeet_read_context(s, w, e);
    return rc ? rc : check_shape(s, w, e);
}

/* ---- the network */

static uint32_t sight(int32_t rows)
{
    return rows < 0 ? SIGHT_ALL : (uint32_t)rows;
}

static struct conformer conformer_of(const struct parakeet_shape *s)
{
    struct conformer c = { .d = (uint32_t)s->d, .heads = (uint32_t)s->heads, .d_ff = (uint32_t)s->d_ff, .taps = (uint32_t)s->taps,
                           .layers = (uint32_t)s->layers, .n_mels = (uint32_t)s->n_mels, .channels = (uint32_t)s->channels,
                           .stack = PARAKEET_STACK, .behind = sight(s->behind), .ahead = sight(s->ahead), .has_biases = s->has_biases,
                           .input_scale = s->scales_input ? sqrtf((float)s->d) : 0, .eps = eps, .is_causal = s->is_causal,
                           .has_layer_norm = s->has_layer_norm, .kept_most = KEPT_DISTANCES };
    if (s->is_causal) c.image = STATE_IMAGE + 1, c.filter_rows = STATE_FILTERS + 1, c.keys = STATE_KEYS + 1;
    return c;
}

static int build_encoder(steno_model *m, struct weights *w, const struct parakeet_shape *s, const char *ctc, steno_error *e)
{
    struct build b;
    const struct conformer c = conformer_of(s);
    const uint32_t most = s->is_causal ? RUN_ROWS : (uint32_t)m->audio_ctx;
    const struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = most, .max_out = HEAD_ROWS,
                                    .precision = model_rows_precision(m), .unfused = m->opening->unfused };
    build_begin(&b, &p, e);
    build_phase(&b, "encode");
    const uint16_t rows = b.plan.output = conformer_build(&b, &c, "encoder");
    if (ctc) ctc_head_build(&b, ctc, rows, c.d, (uint32_t)s->n_vocab + 1);
    else parakeet_build_joined(&b, s, rows);
    return build_end(&b, &m->plan[PLAN_ENCODER]);
}

/* Rows of the longest clip. */
static int read_clip_rows(steno_model *m, steno_error *e)
{
    const int32_t asked = m->opening->text_ctx, rows = asked ? asked : CLIP_ROWS;
    if (rows < CLIP_ROWS_LEAST || rows > CLIP_ROWS_MOST)
        return err_set(e, STENO_EARG, "text_ctx is %d, want %d to %d: rows of 80 ms of a clip", (int)rows, CLIP_ROWS_LEAST, CLIP_ROWS_MOST);
    m->audio_ctx = m->segment_ctx = rows;
    return STENO_OK;
}

/* The parts that do not depend on the head. ctc: name of the CTC head's layer; NULL: a transducer */
static int describe_encoder(steno_model *m, struct weights *w, const struct parakeet_shape *s, const char *ctc, steno_error *e)
{
    m->n_vocab = s->n_vocab + 1;
    m->sight = (struct model_sight){ 1, s->behind, s->ahead };
    m->widths = (struct model_widths){ .n_mels = s->n_mels, .audio_state = s->d, .audio_heads = s->heads, .audio_layers = s->layers };
    int rc = s->is_causal ? STENO_OK : read_clip_rows(m, e);
    if (!rc) rc = parakeet_read_vocab(m, w, e);
    if (!rc) rc = build_encoder(m, w, s, ctc, e);
    return rc ? rc : parakeet_open_front(m, w, s, e);
}

int parakeet_read_sizes(struct parakeet_shape *s, struct weights *w, steno_error *e)
{
    int rc = parakeet_respell(w, e);
    if (!rc) rc = parakeet_take_nemo(w, e);
    if (!rc) rc = parakeet_take_ggml(w, e);
    if (!rc) rc = parakeet_take_gguf(w, e);
    return rc ? rc : read_shape(s, w, e);
}

/* For steno_model_info. */
static void print_heads(steno_model *m, enum parakeet_head own, int has_both)
{
    snprintf(m->decoder_types, sizeof m->decoder_types, "%s%s", head_names[own], has_both ? " ctc" : "");
}

static int describe_ctc(steno_model *m, struct weights *w, steno_error *e)
{
    struct parakeet_shape s;
    const int rc = parakeet_read_sizes(&s, w, e);
    if (rc) return rc;
    struct ctc_model *c = m->part = arena_array(&m->arena, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a model");
    c->blank = s.n_vocab;
    m->name = head_names[PARAKEET_CTC];
    m->n_plans = 1;
    const enum parakeet_head own = head_of(w);
    print_heads(m, own, own != PARAKEET_CTC);
    return describe_encoder(m, w, &s, own == PARAKEET_CTC ? ctc_name : hybrid_ctc_name, e);
}

/* For steno_model_info. */
static void print_durations(steno_model *m, const struct parakeet_shape *s)
{
    size_t at = 0;
    int32_t most = 0;
    for (int i = 0; i < s->n_durations; i++) {
        const size_t left = at < sizeof m->durations ? sizeof m->durations - at : 0;
        if (left) at += (size_t)snprintf(m->durations + at, left, i ? " %d" : "%d", (int)s->duration[i]);
        most = s->duration[i] > most ? s->duration[i] : most;
    }
    if (at >= sizeof m->durations) snprintf(m->durations, sizeof m->durations, "%d up to %d", (int)s->n_durations, (int)most);
}

static int describe_both(steno_model *m, struct weights *w, const struct parakeet_shape *s, struct transducer_stream *stream,
                         steno_error *e)
{
    struct transducer_model *t = m->part = arena_array(&m->arena, 1, sizeof *t);
    if (!t) return err_nomem(e, sizeof *t, "a model");
    *t = (struct transducer_model){ .blank = s->n_vocab, .max_symbols = s->max_symbols, .width = s->joint, .n_durations = s->n_durations,
                                    .stream = stream };
    memcpy(t->duration, s->duration, sizeof t->duration);
    print_durations(m, s);
    const enum parakeet_head own = s->n_durations ? PARAKEET_TDT : PARAKEET_RNNT;
    m->name = head_names[own];
    print_heads(m, own, !stream && is_hybrid(w));
    m->n_plans = 2;
    const int rc = describe_encoder(m, w, s, NULL, e);
    return rc ? rc : parakeet_build_decoder(m, w, s, e);
}

static int describe_transducer(steno_model *m, struct weights *w, steno_error *e)
{
    struct parakeet_shape s;
    int rc = parakeet_read_sizes(&s, w, e);
    if (!rc) rc = parakeet_read_transducer(&s, w, e);
    return rc ? rc : describe_both(m, w, &s, NULL, e);
}

static int describe_stream(steno_model *m, struct weights *w, steno_error *e)
{
    struct parakeet_shape s;
    struct transducer_stream *t = arena_array(&m->arena, 1, sizeof *t);
    if (!t) return err_nomem(e, sizeof *t, "a model");
    int rc = parakeet_read_sizes(&s, w, e);
    if (!rc) rc = parakeet_read_transducer(&s, w, e);
    if (!rc) rc = parakeet_stream_read_shape(&s, t, &m->arena, w, e);
    if (!rc) rc = describe_both(m, w, &s, t, e);
    if (rc) return rc;
    parakeet_stream_states(m, &s);
    return parakeet_stream_read_tags(t, m, e);
}

/* ---- the head's options */

/* The models have neither languages to choose from nor tags. */
static int query_rows(const steno_model *m, const struct ctc_options *q, int32_t *rows, steno_error *e)
{
    (void)m, (void)rows;
    if (!language_is_auto(q->language))
        return err_set(e, STENO_EARG, "language is '%.40s', but this model has no choice of languages", q->language);
    if (q->itn) return err_set(e, STENO_EARG, "itn is for models that can write numbers in two ways; this one cannot");
    if (q->ban_unknown_emotion) return err_set(e, STENO_EARG, "ban_unknown_emotion is for models with emotions; this one has none");
    return 0;
}

static int32_t masked(const steno_model *m, const struct ctc_options *q)
{
    (void)m, (void)q;
    return -1;
}

static void ids_to_text(const steno_model *m, const int32_t *ids, int32_t n, int with_tags, struct buf *text, struct ctc_tags *tags)
{
    (void)with_tags;
    *tags = (struct ctc_tags){ 0 };
    parakeet_pieces.text(m, ids, n, text);
}

static int32_t spoken(const steno_model *m, int32_t id)
{
    return m->vocab.len[id] ? id : -1;
}

static void rich_text(const char *raw, size_t n, struct buf *text)
{
    buf_add(text, raw, n);
}

static void ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    parakeet_pieces.text(m, ids, n, bytes);
}

static const struct ctc head = { .query_rows = query_rows, .masked = masked, .ids_to_text = ids_to_text, .spoken = spoken,
                                 .rich_text = rich_text };

/* A hybrid has both heads in its file. */
static const char *const ctc_spare[] = { "*.num_batches_tracked", "preprocessor.featurizer.*", "encoder.pos_enc.pe",
                                         "decoder.prediction.*", "joint.*", NULL };
static const char *const spare[] = { "*.num_batches_tracked", "preprocessor.featurizer.*", "ctc_decoder.*", "encoder.pos_enc.pe", NULL };

const struct family family_parakeet_ctc = {
    .name = "parakeet-ctc",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "ctc",
    .bare_text = BARE_NEVER,
    .low_precision = LOW_PRECISION_ROWS,
    .settings = SETTINGS_FEATURES,
    .match = match_ctc,
    .describe = describe_ctc,
    .decoder = decoder,
    .ctc = &head,
    .pieces = &parakeet_pieces,
    .spare = ctc_spare,
    .ids_to_bytes = ids_to_bytes,
};

const struct family family_parakeet_stream = {
    .name = "parakeet-stream",
    .front_end = FRONT_FBANK_STREAM,
    .task = "transducer-stream",
    .bare_text = BARE_NEVER,
    .low_precision = LOW_PRECISION_ROWS,
    .settings = SETTINGS_FEATURES,
    .match = parakeet_stream_match,
    .describe = describe_stream,
    .decoder = decoder,
    .pieces = &parakeet_pieces,
    .spare = spare,
    .ids_to_bytes = ids_to_bytes,
};

const struct family family_parakeet_transducer = {
    .name = "parakeet",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "transducer",
    .bare_text = BARE_NEVER,
    .low_precision = LOW_PRECISION_ROWS,
    .settings = SETTINGS_FEATURES,
    .match = match_transducer,
    .describe = describe_transducer,
    .decoder = decoder,
    .pieces = &parakeet_pieces,
    .spare = spare,
    .ids_to_bytes = ids_to_bytes,
};

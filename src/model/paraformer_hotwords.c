/* steno: hot words of Paraformer as data. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "model/funasr.h"
#include "model/paraformer.h"
#include "model/parts.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/lstm.h"
#include "text/seg_dict.h"

enum {
    MAX_ROWS = 1000,    /* words with the no-word entry, and tokens of a clip */
    HEAD_ROWS = 64,     /* tokens with logits at a time */
    SCORED_LAYER = 5    /* layer whose attention selects the words */
};

#define AT(field) offsetof(struct hot_shape, field)
/* Settings of the second decoder. */
static const struct funasr_setting setting[] = {
    { "seaco_decoder_conf.attention_heads", "pf.seaco.attention_heads", 1, 256, FUNASR_CONFIG, AT(heads) },
    { "seaco_decoder_conf.linear_units", "pf.seaco.linear_units", 1, 65536, FUNASR_CONFIG, AT(d_ff) },
    { "seaco_decoder_conf.num_blocks", NULL, 1, 256, FUNASR_CONFIG, AT(layers) },
    { "seaco_decoder_conf.att_layer_num", "pf.seaco.att_layer_num", SCORED_LAYER + 1, 256, FUNASR_CONFIG, AT(attending) },
    { "seaco_decoder_conf.kernel_size", "pf.seaco.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(taps) },
    { "seaco_decoder_conf.sanm_shfit", NULL, 0, 0, FUNASR_CONFIG, AT(shift) },
    { "model_conf.NO_BIAS", "pf.seaco.no_bias", 0, (1 << 20) - 1, FUNASR_CONFIG, AT(no_hotword) },
};
#undef AT
static const struct hot_shape usual = { .heads = 4, .d_ff = 2048, .layers = 6, .attending = 6, .taps = 21, .no_hotword = 8377 };
const struct funasr_settings hot_settings = { setting, sizeof setting / sizeof *setting, &usual };
static const char shared_config[] = "model_conf.use_decoder_embedding";
const char hot_shared_key[] = "pf.use_decoder_embedding";

/* ---- settings ---------------------------------------------------------------------------------------------------------------- */

static enum cif_hot kind_of(struct weights *w)
{
    if (funasr_is_gguf(w) && weights_find(w, "seaco_decoder.after_norm.weight")) return CIF_HOT_BESIDE;
    if (funasr_is_gguf(w)) return weights_find(w, "decoder.bias_output.weight") ? CIF_HOT_WITHIN : CIF_HOT_NONE;
    const char *model = meta_text(&w->meta, "model", "");
    return !strcmp(model, "SeacoParaformer") ? CIF_HOT_BESIDE : !strcmp(model, "ContextualParaformer") ? CIF_HOT_WITHIN : CIF_HOT_NONE;
}

/* Reads a boolean that may be missing. */
static int flag_of(const struct weights *w, const char *key, int fallback)
{
    const struct meta_entry *it = meta_find(&w->meta, key);
    return it && (it->kind == META_BOOL || it->kind == META_INT) ? it->i != 0 : fallback;
}

static int check_encoder(const struct weights *w, steno_error *e)
{
    const char *type = meta_text(&w->meta, "model_conf.bias_encoder_type", "lstm");
    if (strcmp(type, "lstm") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: model_conf.bias_encoder_type: %.80s is not served, lstm is", w->name, type);
    if (flag_of(w, "model_conf.bias_encoder_bid", 0))
        return err_set(e, STENO_EUNSUPPORTED, "%s: model_conf.bias_encoder_bid: hot words that are read both ways are not served", w->name);
    return STENO_OK;
}

int hot_read(struct hot_shape *h, struct weights *w, steno_error *e)
{
    *h = usual;
    h->kind = kind_of(w);
    if (h->kind == CIF_HOT_NONE) return STENO_OK;
    int rc = check_encoder(w, e);
    struct tensor *t = weights_find(w, "decoder.bias_output.weight");
    if (t && t->n_dims == 3 && t->dim[2] == 1) t->n_dims = 2; /* a convolution with one tap */
    if (h->kind == CIF_HOT_WITHIN) h->shared = flag_of(w, funasr_is_gguf(w) ? hot_shared_key : shared_config, 0);
    /* marks it as used, so that it is written */
    if (h->kind == CIF_HOT_BESIDE || h->shared) (void)weights_find(w, "decoder.embed.0.weight");
    if (h->kind == CIF_HOT_WITHIN) return rc;
    const char *class = meta_text(&w->meta, "seaco_decoder", "ParaformerSANMDecoder");
    if (!rc && strcmp(class, "ParaformerSANMDecoder") != 0)
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: seaco_decoder: %.80s is not served, ParaformerSANMDecoder is", w->name, class);
    if (!rc) rc = funasr_read_settings(h, &hot_settings, w, e);
    if (!rc && h->layers > h->attending && !funasr_is_gguf(w))
        rc = err_set(e, STENO_EUNSUPPORTED, "%s: %d of %d layers of the decoder for hot words attend to them; this version knows decoders "
                     "where all do", w->name, (int)h->attending, (int)h->layers);
    return rc;
}

/* ---- in the model's main plan --------------------------------------------------------------------------------------------------- */

static struct sub const memory = { NULL, "norm1", "feed_forward", "self_attn", 0 }, cross = { NULL, "norm3", "src_attn", NULL, 0 };

void hot_build_last(struct build *b, const struct sub_dims *d, uint16_t x, uint16_t frames)
{
    const uint16_t attended = b->plan.side_output[CIF_ATTENDED] = build_slot(b, d->d);
    b->plan.side_output[CIF_OWN] = x;
    b->prefix = "decoder.last_decoder";
    sub_sanm_tokens(b, d, &memory, "norm2", x);
    sub_cross_rows_alone(b, d, &cross, (struct columns){ attended, 0 }, x, frames);
    b->prefix = "";
}

void hot_build_sums(struct build *b, const struct sub_dims *d, uint16_t frames)
{
    b->plan.side_output[CIF_OWN] = build_slot(b, d->d);
    struct op *op = emit(b, OP_CIF, "predictor.cif_kept", b->plan.side_output[CIF_OWN], frames, bind_scale(b, 1, NULL, d->d));
    if (op) op->rows = ROWS_TABLE;
}

void hot_build_hidden(struct build *b, const struct sub_dims *d, uint16_t last)
{
    b->plan.side_output[CIF_ATTENDED] = build_slot(b, d->d);
    struct op *op = emit(b, OP_NORM, "decoder.hidden", b->plan.side_output[CIF_ATTENDED], last,
                         bind_norm(b, "decoder.after_norm.weight", "decoder.after_norm.bias", d->d, d->eps));
    if (op) op->rows = ROWS_TABLE;
}

/* ---- separate plans ------------------------------------------------------------------------------------------------------------- */

/* From the tokens of words to the recurrent state after each. */
static void build_words(struct build *b, const struct hot_shape *h, uint32_t d, uint32_t n_vocab)
{
    const int within = h->kind == CIF_HOT_WITHIN;
    const struct linear_part table = { within && !h->shared ? "bias_embed.weight" : "decoder.embed.0.weight", NULL, n_vocab };
    const uint16_t x = build_slot(b, d), first = b->plan.n_ops;
    emit(b, OP_EMBED, "words.embed", x, NO_SLOT, bind_matrix(b, &table, d, LINEAR_OTHER, NO_BIND));
    emit_rows(b, first, ROWS_TABLE);
    b->plan.output = build_slot(b, d);
    sub_lstm(b, &(struct lstm_layer){ "bias_encoder", 0, d, d, 0, 0, 0 }, b->plan.output, x, ROWS_TABLE);
    if (within) return;
    const uint16_t below = b->plan.output;
    b->plan.output = build_slot(b, d);
    sub_lstm(b, &(struct lstm_layer){ "bias_encoder", 1, d, d, 0, 0, 0 }, b->plan.output, below, ROWS_TABLE);
}

/* The input rows that the table names, one per row of the table. */
static uint16_t build_given(struct build *b, const char *label, uint32_t d, uint32_t width)
{
    const uint16_t x = build_slot(b, width), first = b->plan.n_ops;
    emit(b, OP_EMBED, label, x, b->plan.input, bind_scale(b, 1, NULL, d));
    emit_rows(b, first, ROWS_TABLE);
    return x;
}

/* Runs a head to find the ids of rows. some: a slot of max_out rows */
static void build_ids(struct build *b, const char *name, uint16_t some, uint32_t d, uint32_t n_vocab, uint16_t norm)
{
    char w[NAME_MAX_LEN], v[NAME_MAX_LEN];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    const struct linear_part part = { w, v, n_vocab };
    const uint16_t logits = b->plan.logits = build_slot_out(b, n_vocab), first = b->plan.n_ops;
    const uint16_t head = bind_matrix(b, &part, d, LINEAR_LM_HEAD, norm);
    emit(b, OP_LINEAR, name, logits, some, head);
    emit(b, OP_LOGITS_REDUCE, "words.scan", NO_SLOT, logits, head);
    emit(b, OP_SAMPLE, "words.best", NO_SLOT, logits, head);
    emit_rows(b, first, ROWS_OUT);
}

/* The first layers of the second decoder. */
static void build_layers(struct build *b, const struct sub_dims *d, int32_t n, uint16_t x)
{
    for (int32_t i = 0; i < n && !b->status; i++) {
        char name[NAME_MAX_LEN];
        snprintf(name, sizeof name, "seaco_decoder.decoders.%d", (int)i);
        b->prefix = name;
        sub_sanm_tokens(b, d, &memory, "norm2", x);
        sub_cross_rows(b, d, &cross, x, b->plan.input);
        b->prefix = "";
    }
}

/* A decoder that attends to words instead of frames. */
static void build_beside(struct build *b, const struct hot_shape *h, const struct sub_dims *own, uint32_t n_vocab)
{
    struct sub_dims d = *own;
    char name[NAME_MAX_LEN];
    d.n_heads = d.n_kv_heads = (uint32_t)h->heads;
    d.d_head = d.d / d.n_heads;
    d.d_ff = (uint32_t)h->d_ff;
    d.taps = (uint32_t)h->taps;
    build_phase(b, "attend");
    const uint16_t x = build_given(b, "words.tokens", d.d, d.d), last = build_slot(b, d.d);
    build_layers(b, &d, h->attending, x);
    b->prefix = "seaco_decoder.decoders3.0";
    sub_ffn_tokens(b, &d, &memory, last, x);
    b->prefix = "";
    b->plan.output = build_slot(b, d.d);
    struct op *op = emit(b, OP_NORM, "seaco_decoder.after_norm", b->plan.output, last,
                         bind_norm(b, "seaco_decoder.after_norm.weight", "seaco_decoder.after_norm.bias", d.d, d.eps));
    if (op) op->rows = ROWS_TABLE;
    build_phase(b, "head");
    const uint16_t all = build_given(b, "words.sums", d.d, d.d), some = build_slot_out(b, d.d);
    op = emit(b, OP_SCALE, "words.some", some, all, bind_scale(b, 1, NULL, d.d));
    if (op) op->rows = ROWS_OUT;
    build_ids(b, "hotword_output_layer", some, d.d, n_vocab, NO_BIND);
    build_phase(b, "scores");
    const uint16_t y = build_given(b, "words.hidden", d.d, d.d);
    build_layers(b, &d, SCORED_LAYER, y);
    snprintf(name, sizeof name, "seaco_decoder.decoders.%d", SCORED_LAYER);
    b->prefix = name;
    sub_sanm_tokens(b, &d, &memory, "norm2", y);
    b->plan.side_output[CIF_QUERIES] = build_slot(b, d.d);
    b->plan.side_output[CIF_KEYS] = build_slot(b, 2 * d.d);
    sub_cross_scores(b, &d, &cross, (struct cross_rows){ b->plan.side_output[CIF_QUERIES], b->plan.side_output[CIF_KEYS] }, y,
                     b->plan.input);
    b->prefix = "";
}

/* The rest of a decoder whose last layer also attends to words. */
static void build_within(struct build *b, const struct sub_dims *d, uint32_t n_vocab)
{
    const struct linear_part part = { "decoder.bias_output.weight", NULL, d->d };
    build_phase(b, "own");
    const uint16_t own = build_given(b, "words.own", d->d, d->d);
    build_phase(b, "attend");
    const uint16_t both = build_given(b, "words.attended", d->d, 2 * d->d), last = b->plan.output = build_slot(b, d->d);
    b->prefix = "decoder.bias_decoder";
    sub_cross_rows_alone(b, d, &cross, (struct columns){ both, (uint16_t)d->d }, own, b->plan.input);
    b->prefix = "";
    const uint16_t x = build_slot(b, d->d);
    struct op *op = emit(b, OP_LINEAR, "decoder.bias_output", x, both, bind_matrix(b, &part, 2 * (uint64_t)d->d, LINEAR_OTHER, NO_BIND));
    if (op) op->aux = own, op->rows = ROWS_TABLE;
    b->prefix = "decoder.decoders3.0";
    sub_ffn_tokens(b, d, &memory, last, x);
    b->prefix = "";
    build_phase(b, "head");
    const uint16_t some = build_slot_out(b, d->d);
    const uint16_t norm = bind_norm(b, "decoder.after_norm.weight", "decoder.after_norm.bias", d->d, d->eps);
    op = emit(b, OP_NORM, "decoder.after_norm", some, last, norm);
    if (op) op->rows = ROWS_OUT;
    build_ids(b, "decoder.output_layer", some, d->d, n_vocab, norm);
}

int hot_build(steno_model *m, struct weights *w, const struct hot_shape *h, const struct sub_dims *d, steno_error *e)
{
    struct build b;
    struct build_params p = { .name = "words", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                              .team = m->opening->team, .max_rows = MAX_ROWS, .max_out = 1 };
    build_begin(&b, &p, e);
    build_phase(&b, "words");
    build_words(&b, h, d->d, (uint32_t)m->n_vocab);
    int rc = build_end(&b, &m->plan[PLAN_WORDS]);
    if (rc) return rc;
    p.name = "hot";
    p.max_out = HEAD_ROWS;
    build_begin(&b, &p, e);
    b.plan.input = build_slot_rows(&b, 2 * MAX_ROWS, d->d);
    if (h->kind == CIF_HOT_BESIDE) build_beside(&b, h, d, (uint32_t)m->n_vocab);
    else build_within(&b, d, (uint32_t)m->n_vocab);
    rc = build_end(&b, &m->plan[PLAN_HOT]);
    m->n_plans = PLAN_HOT + 1;
    return rc;
}

/* ---- the dictionary --------------------------------------------------------------------------------------------------------------- */

const char dict_file[] = "seg_dict", dict_key[] = "pf.seg_dict";

int dict_read(steno_model *m, struct weights *w, steno_error *e)
{
    static const char unknown[] = "<unk>";
    struct cif_model *c = m->part;
    const char *text;
    size_t n;
    c->unknown = vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1);
    if (c->unknown < 0) return err_set(e, STENO_EFORMAT, "%s: the vocabulary has no %s, which hot words may need", w->name, unknown);
    const int rc = funasr_read_lines(w, dict_file, dict_key, &m->arena, &text, &n, e);
    if (rc || !text) return rc;
    struct seg_dict *d = arena_alloc(&m->arena, sizeof *d);
    c->dict = d;
    return d ? seg_dict_init(d, &m->arena, dict_file, text, n, e) : err_nomem(e, sizeof *d, "a dictionary");
}

int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids)
{
    const struct cif_model *c = m->part;
    return seg_dict_ids(c->dict, &m->vocab, c->unknown, phrase, n, ids);
}

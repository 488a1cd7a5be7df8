/* steno: Whisper as data. SPDX-License-Identifier: MIT
 *
 * Radford et al. 2022: two convolutions over the log-mel; encoder layers of self-attention and a GELU feed-forward network; decoder layers
 * with cross-attention in addition; logits by the transposed token embedding. Every shape follows from ten numbers. */
#include "model/whisper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/vocab.h"
#include "model/align_heads.h"
#include "model/parts.h"
#include "model/whisper_dims.h"
#include "model/whisper_names.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/logits_approx.h"
#include "plan/sub.h"
#include "text/bpe.h"

/* Each with GELU by erf and by tanh. */
#define ENCODER_LAYER(gelu) { { sub_attn, "attn_ln", "attn", NULL, 0 }, { sub_ffn, "mlp_ln", "mlp.0", "mlp.2", gelu } }
#define DECODER_LAYER(gelu) \
    { { sub_attn, "attn_ln", "attn", NULL, SUB_CAUSAL }, { sub_cross, "cross_attn_ln", "cross_attn", NULL, 0 }, \
      { sub_ffn, "mlp_ln", "mlp.0", "mlp.2", gelu } }
static const struct sub encoder_layer[][3] = { ENCODER_LAYER(SUB_ERF), ENCODER_LAYER(SUB_TANH) };
static const struct sub decoder_layer[][4] = { DECODER_LAYER(SUB_ERF), DECODER_LAYER(SUB_TANH) };

static float const norm_eps = 1e-5f;

/* ---- the spellings ------------------------------------------------------------------------------------------------------------- */

static int whisper_match(const struct weights *w)
{
    return whisper_spelling_of(w) != WHISPER_NOWHERE;
}

/* ---- the network ------------------------------------------------------------------------------------------------------------- */

static struct sub_dims dims_of(int32_t d, int32_t heads)
{
    return (struct sub_dims){ .d = (uint32_t)d, .n_heads = (uint32_t)heads, .n_kv_heads = (uint32_t)heads, .d_head = (uint32_t)(d / heads),
                              .d_ff = 4 * (uint32_t)d, .eps = norm_eps };
}

static void build_encoder(struct build *b, const struct whisper_dims *w, int by_tanh)
{
    const uint32_t d = (uint32_t)w->n_audio_state, mels = (uint32_t)w->n_mels, ctx = (uint32_t)w->n_audio_ctx;
    const struct sub_dims dims = dims_of(w->n_audio_state, w->n_audio_head), dec = dims_of(w->n_text_state, w->n_text_head);
    build_phase(b, "encode");
    const uint16_t mel = build_slot_padded(b, 2 * ctx, mels), wide = build_slot_padded(b, 2 * ctx, d);
    const uint16_t x = build_slot(b, d), out = build_slot(b, d);
    b->plan.input = mel;
    b->plan.output = out;
    b->plan.cross_state = STATE_CROSS;

    const uint16_t conv1 = bind_conv(b, "encoder.conv1.weight", "encoder.conv1.bias", d, mels, 1);
    struct op *op = emit(b, OP_LINEAR, "encoder.conv1", wide, mel, conv1);
    if (!op || b->status) return;
    op->rows = ROWS_TWICE;
    op->flags = OPF_CONV | OPF_PADDED;
    bind_at(b, conv1)->act = by_tanh ? ACT_GELU_TANH : ACT_GELU_ERF;

    const uint16_t conv2 = bind_conv(b, "encoder.conv2.weight", "encoder.conv2.bias", d, d, 2);
    const float *positions = bind_table(b, "encoder.positional_embedding", ctx, d);
    op = emit(b, OP_LINEAR, "encoder.conv2", x, wide, conv2);
    if (!op || b->status) return;
    op->flags = OPF_CONV;
    bind_at(b, conv2)->act = by_tanh ? ACT_GELU_TANH : ACT_GELU_ERF;
    bind_at(b, conv2)->positions = positions;

    sub_stack(b, encoder_layer[by_tanh], &dims, "encoder.blocks", (uint32_t)w->n_audio_layer, x);
    emit(b, OP_NORM, "encoder.ln_post", out, x, bind_norm(b, "encoder.ln_post.weight", "encoder.ln_post.bias", d, norm_eps));

    build_phase(b, "cross");
    for (int32_t i = 0; i < w->n_text_layer && !b->status; i++) {
        char name[64];
        snprintf(name, sizeof name, "decoder.blocks.%d", (int)i);
        sub_cross_kv(b, &dec, name, out, (uint16_t)i);
    }
}

/* The order of two close tokens depends on the decoder's weights more than on anything else. So numbers are rounded to int8 blocks only if
 * the encoder is in int8, too. Weights that are stored in blocks are multiplied as blocks. A head in blocks is also the embedding, and
 * needs no second stage. */
static struct precision precision_of_decoder(steno_model *m, struct weights *w)
{
    const struct tensor *tokens = weights_find(w, "decoder.token_embedding.weight");
    m->decoder_int8 = m->blocks && (m->low_precision == PK_I8_QUAD || dtype_block(m->matrix_type) > 1);
    const enum packed_type t = m->decoder_int8 ? PK_Q8_QUAD : 0;
    const int has_blocks = tokens && dtype_block(tokens->type) > 1;
    return (struct precision){ .by_role = { [LINEAR_QKV] = t, [LINEAR_CROSS_Q] = t, [LINEAR_UP] = t, [LINEAR_DOWN] = t,
                                            [LINEAR_OUT] = t, [LINEAR_LM_HEAD] = has_blocks ? t : 0 } };
}

/* From token ids to the residual stream after the last layer. tokens: receives the embedding; one copy serves lookup and logits. @return
 * the stream's slot */
static uint16_t build_layers(struct build *b, const struct whisper_dims *w, int by_tanh, uint16_t *tokens)
{
    const uint32_t d = (uint32_t)w->n_text_state, n_vocab = (uint32_t)w->n_vocab;
    const struct sub_dims dims = dims_of(w->n_text_state, w->n_text_head);
    const uint16_t x = build_slot(b, d);
    b->plan.self_state = STATE_SELF;
    b->plan.cross_state = STATE_CROSS;
    *tokens = bind_matrix(b, &(struct linear_part){ "decoder.token_embedding.weight", NULL, n_vocab }, d, LINEAR_LM_HEAD, NO_BIND);
    const float *positions = bind_table(b, "decoder.positional_embedding", (uint64_t)w->n_text_ctx, d);
    if (b->status) return x;
    const uint16_t embed = bind_copy(b, *tokens);
    bind_at(b, embed)->positions = positions;
    emit(b, OP_EMBED, "decoder.embed", x, NO_SLOT, embed);
    sub_stack(b, decoder_layer[by_tanh], &dims, "decoder.blocks", (uint32_t)w->n_text_layer, x);
    return x;
}

static void build_lm_head(struct build *b, const struct whisper_dims *w, int two_stages, uint16_t x, uint16_t tokens)
{
    const uint32_t d = (uint32_t)w->n_text_state;
    const struct lm_head head = { .prefix = "decoder", .matrix = "decoder.token_embedding.weight", .tokens = tokens,
                                  .norm = bind_norm(b, "decoder.ln.weight", "decoder.ln.bias", d, norm_eps),
                                  .n_vocab = (uint32_t)w->n_vocab, .d = d, .two_stages = two_stages };
    sub_lm_head(b, &head, x);
}

static void build_decoder(struct build *b, const steno_model *m, const struct whisper_dims *w)
{
    uint16_t tokens;
    build_phase(b, "decode");
    const uint16_t x = build_layers(b, w, m->opening->gelu_tanh, &tokens);
    build_lm_head(b, w, m->blocks, x, tokens);
}

/* The decoder again, with the attention weights of the alignment heads as additional output. Logits for the tokens' probabilities are a
 * separate phase, because they run a few rows at a time. */
static void build_align(struct build *b, const struct whisper_dims *w, int by_tanh, const struct align_heads *heads)
{
    uint16_t tokens;
    build_phase(b, "align");
    b->heads = (struct averaged_heads){ heads->head, heads->n, (uint32_t)w->n_audio_ctx, NO_SLOT, 0 };
    const uint16_t average = build_slot(b, (uint32_t)w->n_audio_ctx);
    b->plan.output = b->heads.average = average;
    if (!b->status) b->slot[average].first = 0; /* it outlives all other slots, so it is placed below them */
    const uint16_t x = build_layers(b, w, by_tanh, &tokens);
    build_phase(b, "head");
    build_lm_head(b, w, 0, x, tokens);
}

/* A vocabulary from another file must fit the model: all text ids, and end-of-text, if present, at its id. This distinguishes the English
 * table from the multilingual one, which has one more empty string. */
static int check_vocab(const steno_model *m, const struct weights *w, const char *from, steno_error *e)
{
    static const char end[] = "<|endoftext|>";
    const uint32_t eot = (uint32_t)m->tokens.eot;
    int fits = w->n_vocab_entries >= eot;
    for (uint32_t i = eot ? eot - 1 : 0; i <= eot && i < w->n_vocab_entries; i++) {
        const int is_end = w->vocab[i].n == sizeof end - 1 && !memcmp(w->vocab[i].s, end, sizeof end - 1);
        if (is_end != (i == eot)) fits = 0;
    }
    if (fits) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: its %u strings are not the vocabulary of this model, which is %s and has %u",
                   from ? from : w->name, (unsigned)w->n_vocab_entries, m->tokens.n_languages ? "multilingual" : "English-only",
                   (unsigned)eot);
}

#define OPENAI_HAS "openai-whisper's package has it as whisper/assets/"

/* Finds the vocabulary of a model without one before its weights are read, because it may be elsewhere. */
static int find_vocab(steno_model *m, struct weights *w, steno_error *e)
{
    if (w->vocab) return STENO_OK;
    w->vocab_first = m->n_vocab == WHISPER_VOCAB_ENGLISH ? "gpt2.tiktoken" : NULL; /* both are often in the same folder */
    w->vocab_where = m->n_vocab == WHISPER_VOCAB_ENGLISH ? OPENAI_HAS "gpt2.tiktoken: put that beside the model" :
                                                           OPENAI_HAS "multilingual.tiktoken: put that beside the model";
    int rc = whisper_tokens_init(&m->tokens, m->n_vocab, e);
    if (!rc) rc = weights_read_vocab(w, m->opening->vocab_path, e);
    if (!rc && w->vocab_is_listed && w->n_vocab_entries != (uint32_t)m->n_vocab)
        return err_set(e, STENO_EFORMAT, "%s: its vocabulary lists %u strings, and its token embedding has %d rows", w->name,
                       (unsigned)w->n_vocab_entries, (int)m->n_vocab);
    return rc ? rc : check_vocab(m, w, m->opening->vocab_path, e);
}

/* Reads the strings of the vocabulary, and adds the special tokens that it omits. */
static int read_vocab(steno_model *m, struct weights *w, steno_error *e)
{
    int rc = whisper_tokens_init(&m->tokens, m->n_vocab, e);
    if (!rc) rc = vocab_init(&m->vocab, &m->arena, m->n_vocab, m->tokens.eot, e);
    for (uint32_t i = 0; i < w->n_vocab_entries && i < (uint32_t)m->n_vocab && !rc; i++) {
        const char *copy = arena_strdup(&m->arena, (const char *)w->vocab[i].s, w->vocab[i].n);
        if (!copy) return err_nomem(e, w->vocab[i].n, "vocabulary");
        vocab_set(&m->vocab, (int32_t)i, (const uint8_t *)copy, w->vocab[i].n);
    }
    for (int32_t id = m->tokens.eot; id < m->n_vocab && !rc; id++) {
        uint32_t n = 0;
        const char *text = whisper_token_text(&m->tokens, id, &m->arena, &n);
        if (!text) return err_nomem(e, 16, "vocabulary");
        vocab_set(&m->vocab, id, (const uint8_t *)text, n);
    }
    m->vocab.pattern = pretokenizer_pattern("gpt2");
    if (!rc) rc = vocab_index(&m->vocab, &m->arena, e);
    if (!rc) rc = bpe_open(&m->bpe, &m->vocab, e);
    m->tokens.blank = vocab_find(&m->vocab, (const uint8_t *)" ", 1);
    return rc ? rc : whisper_non_speech(m->bpe, &m->non_speech, e);
}

static int read_filters(steno_model *m, const struct weights *w, steno_error *e)
{
    const size_t n = (size_t)m->widths.n_mels * MEL_BINS;
    float *f = arena_array(&m->arena, n, sizeof *f);
    struct mel_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!f || !bank) return err_nomem(e, n * sizeof *f + sizeof *bank, "mel filters");
    if (w->mel_filters) memcpy(f, w->mel_filters, n * sizeof *f);
    else mel_filters_slaney(f, m->widths.n_mels, MEL_FFT);
    mel_bank_init(bank, f, m->widths.n_mels, &m->kern);
    return STENO_OK;
}

static int build_plans(steno_model *m, const struct whisper_dims *d, struct weights *w, steno_error *e)
{
    struct align_heads heads;
    struct build b;
    struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                              .team = m->opening->team, .max_rows = (uint32_t)d->n_audio_ctx, .precision = model_rows_precision(m),
                              .unfused = m->opening->unfused };
    build_begin(&b, &p, e);
    build_encoder(&b, d, m->opening->gelu_tanh);
    int rc = build_end(&b, &m->plan[PLAN_ENCODER]);
    if (rc) return rc;
    p.name = "decoder";
    p.precision = precision_of_decoder(m, w);
    p.max_rows = p.max_out = RUN_LANES;
    build_begin(&b, &p, e);
    build_decoder(&b, m, d);
    rc = build_end(&b, &m->plan[PLAN_DECODER]);
    if (!rc) rc = align_heads_find(&heads, &m->arena, d, whisper_official_name(d, w->name), m->opening->align_heads, &w->meta, e);
    if (rc) return rc;
    m->align_heads = heads.text;
    m->align_unsure = heads.unsure;
    p.name = "align";
    p.variant = "align.";
    p.max_rows = (uint32_t)d->n_text_ctx;
    p.max_out = ROWS_OUT_MIN;
    build_begin(&b, &p, e);
    build_align(&b, d, m->opening->gelu_tanh, &heads);
    return build_end(&b, &m->plan[PLAN_ALIGN]);
}

static int64_t parameters_of(const struct weights *w)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++)
        n += (int64_t)(w->tensor[i].dim[0] * w->tensor[i].dim[1] * w->tensor[i].dim[2] * w->tensor[i].dim[3]);
    return n;
}

/* Computed positions are weights of the model like others; a second name of a tensor, and zeros in place of a bias, are not. */
static int respell(steno_model *m, struct weights *w, const struct whisper_dims *d, steno_error *e)
{
    const int64_t before = parameters_of(w);
    const int rc = whisper_respell(w, d, e);
    m->parameters += parameters_of(w) - before;
    return rc;
}

static int whisper_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct whisper_dims dims;
    const struct whisper_dims *d = &dims;
    int rc = whisper_dims_read(&dims, w, e);
    if (rc) return rc;
    m->n_vocab = d->n_vocab;
    m->text_ctx = d->n_text_ctx;
    m->audio_ctx = d->n_audio_ctx;
    m->widths = (struct model_widths){ d->n_mels, d->n_audio_state, d->n_audio_head, d->n_audio_layer,
                                       d->n_text_state, d->n_text_head, d->n_text_layer };
    if (!rc && !m->is_exact) rc = find_vocab(m, w, e);
    if (!rc && !m->is_exact) rc = respell(m, w, d, e);
    if (rc) return rc;
    const struct tensor *again = weights_find(w, "proj_out.weight"); /* the token embedding once more; the copy is not used */
    if (again) m->parameters -= (int64_t)(again->dim[0] * again->dim[1]);
    m->name = whisper_shape_name(d);
    m->n_plans = MODEL_PLANS;
    m->n_states = STATE_CROSS + 1;
    const uint32_t heads = (uint32_t)d->n_text_head, d_head = (uint32_t)(d->n_text_state / d->n_text_head);
    const uint32_t layers = (uint32_t)d->n_text_layer;
    m->state[STATE_SELF] = (struct state_desc){ "self-attention keys and values", STATE_APPEND, layers, heads, d_head,
                                                (uint32_t)d->n_text_ctx, 0, 0, 0 };
    m->state[STATE_CROSS] = (struct state_desc){ "cross-attention keys and values", STATE_REPLACE, layers, heads, d_head,
                                                 (uint32_t)d->n_audio_ctx, 0, 0, 0 };
    if (m->is_exact) return build_plans(m, d, w, e);
    rc = read_filters(m, w, e);
    if (rc) return rc;

    rc = build_plans(m, d, w, e);
    return rc ? rc : read_vocab(m, w, e); /* last, because errors of tensors are more informative for a damaged file */
}

static int whisper_language(const steno_model *m, const char *name)
{
    const int i = language_find(name);
    return i < m->tokens.n_languages ? i : -1;
}

/* Timestamps are not text; other special tokens are their names. */
static void whisper_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < m->tokens.timestamp_begin) vocab_append(&m->vocab, ids[i], bytes);
}

/* MLX's table of heads, if it is not a table of integers; the settings have such a list */
static const char *const spare[] = { "alignment_heads", NULL };

const struct family family_whisper = {
    .name = "whisper",
    .front_end = FRONT_LOG_MEL,
    .task = "ar",
    .low_precision = LOW_PRECISION_ROWS | LOW_PRECISION_STEPS,
    .settings = SETTINGS_GENERATION | SETTINGS_FEATURES,
    .match = whisper_match,
    .describe = whisper_describe,
    .speech = &whisper_speech,
    .language = whisper_language,
    .ids_to_bytes = whisper_ids_to_bytes,
    .spare = spare,
};

/* ---- prompts, logit rules and segments -------------------------------------------------------------------------------------------- */

/* Reference: openai-whisper 20250625, whisper/decoding.py (initial tokens, suppression) and whisper/transcribe.py (segments). */

static int whisper_prompt_prefix(const steno_model *m, const struct speech_options *q, int32_t *ids, int *sot)
{
    const struct token_roles *t = &m->tokens;
    int n = 0;
    *sot = 0;
    ids[n++] = t->sot;
    if (t->n_languages) {
        ids[n++] = t->first_language + (q->lang < 0 ? 0 : q->lang);
        ids[n++] = q->translate ? t->translate : t->transcribe;
    }
    if (q->without_timestamps) ids[n++] = t->no_timestamps;
    return n;
}

/* Bars control tokens, which are never text. */
static void bar_control(const steno_model *m, int turns, struct rule_masks *masks)
{
    const struct token_roles *t = &m->tokens;
    const int32_t control[] = { t->transcribe, t->translate, t->sot, t->previous, t->no_speech, turns ? -1 : t->turn };
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) rule_mask(masks, control[i]);
}

/* "-1" or "1, 2, 3": ids to bar, with the same white space as in the reference. */
static int bar_list(const steno_model *m, const char *list, int turns, struct rule_masks *masks, steno_error *e)
{
    int place = 1;
    for (const char *p = list; p; place++) {
        const size_t n = strcspn(p, ",");
        char *end;
        errno = 0;
        const long id = strtol(p, &end, 10);
        const int is_id = end > p && end <= p + n && !errno && id >= -1 && id < m->n_vocab;
        if (!is_id || end + strspn(end, " \t") != p + n)
            return err_set(e, STENO_EARG, "suppress_tokens: '%.*s' at place %d is not a token id below %d, nor -1 for the non-speech set",
                           n < 40 ? (int)n : 40, p, place, (int)m->n_vocab);
        const int32_t *set = (const int32_t *)(const void *)m->non_speech.p;
        for (size_t i = 0; id == -1 && i < m->non_speech.len / sizeof *set; i++) rule_mask(masks, set[i]);
        if (id >= 0) rule_mask(masks, (int32_t)id);
        p = p[n] ? p + n + 1 : NULL;
    }
    bar_control(m, turns, masks);
    return STENO_OK;
}

static int whisper_rules(const steno_model *m, const struct speech_options *q, struct rule_masks *masks, struct logit_rules *rules,
                         steno_error *e)
{
    const struct token_roles *t = &m->tokens;
    rule_masks_clear(masks);
    if (q->suppress_tokens && *q->suppress_tokens) {
        const int rc = bar_list(m, q->suppress_tokens, q->turns, masks, e);
        if (rc) return rc;
    }
    if (!q->without_timestamps) rule_mask(masks, t->no_timestamps);
    if (q->decoding == STENO_DECODING_GGML) { /* regardless of the list; including language tokens */
        bar_control(m, q->turns, masks);
        for (int32_t i = 0; i < t->n_languages; i++) rule_mask(masks, t->first_language + i);
        rule_mask(masks, t->no_timestamps);
    }
    if (q->suppress_blank) {
        rule_bar_first(masks, t->blank);
        rule_bar_first(masks, t->eot);
    }
    const double precision = 30.0 / m->audio_ctx; /* seconds per timestamp */
    const double last = q->max_initial_timestamp > 0 ? nearbyint(q->max_initial_timestamp / precision) : m->n_vocab;
    *rules = (struct logit_rules){ .mask = masks->always, .mask_first = masks->first, .n_vocab = m->n_vocab, .eot = t->eot,
                                  .ts_begin = t->timestamp_begin, .timestamps = !q->without_timestamps,
                                  .ggml_rules = q->decoding == STENO_DECODING_GGML };
    const int32_t room = m->n_vocab - 1 - t->timestamp_begin;
    rules->ts_initial_last = t->timestamp_begin + (last < room ? (int32_t)last : room);
    return STENO_OK;
}

/* whisper.cpp's segments: a segment ends at a timestamp, and the next begins at the last timestamp before its text. Text after the last
 * timestamp is dropped, unless there is no timestamp. 0.00 does not count. */
static int segments_between_times(const int32_t *tokens, int32_t n, int32_t frames, int32_t ts, struct token_segment *segments,
                                  int32_t *advance)
{
    int n_segments = 0;
    int32_t from = 0, last = 0, t0 = n && tokens[0] > ts ? tokens[0] - ts : 0;
    for (int32_t i = 0, text = 0; i < n; i++) {
        if (tokens[i] < ts) text = 1;
        if (tokens[i] <= ts) continue;
        last = tokens[i] - ts;
        if (text) segments[n_segments++] = (struct token_segment){ from, i + 1 - from, t0, last };
        while (i + 1 < n && tokens[i + 1] > ts) last = tokens[++i] - ts;
        from = text && tokens[i - 1] < ts ? i + 1 : i; /* an opening timestamp belongs to the next segment */
        t0 = last;
        text = 0;
    }
    if (!last) segments[n_segments++] = (struct token_segment){ 0, n, 0, -1 };
    const int single_end = n > 1 && tokens[n - 1] > ts && tokens[n - 2] < ts;
    *advance = !last || single_end ? frames : 2 * last;
    return n_segments;
}

static int whisper_tokens_to_segments(const steno_model *m, const struct speech_options *q, const int32_t *tokens, int32_t n,
                                      int32_t frames, struct token_segment *segments, int32_t *advance, int *single_end)
{
    const int32_t ts = m->tokens.timestamp_begin;
    *single_end = n >= 2 && tokens[n - 1] >= ts && tokens[n - 2] < ts;
    if (q->decoding == STENO_DECODING_GGML && !q->without_timestamps)
        return segments_between_times(tokens, n, frames, ts, segments, advance);
    int n_segments = 0;
    int32_t from = 0;
    for (int32_t i = 1; i <= n; i++) { /* cut between two consecutive timestamps */
        const int pair = i < n && tokens[i] >= ts && tokens[i - 1] >= ts;
        if (!pair && !(i == n && *single_end && n_segments)) continue;
        segments[n_segments++] = (struct token_segment){ from, i - from, tokens[from] - ts, tokens[i - 1] - ts };
        from = i;
    }
    *advance = frames;
    if (n_segments) {
        if (!*single_end) *advance = 2 * (tokens[from - 1] - ts); /* an unfinished segment is decoded again in the next window */
        return n_segments;
    }
    int32_t last = 0;
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] >= ts) last = tokens[i] - ts;
    segments[0] = (struct token_segment){ 0, n, 0, last ? last : -1 }; /* -1: up to the end of the window */
    return 1;
}

static int whisper_special_name(const void *roles, int32_t id, char name[ID_NAME_SIZE])
{
    const struct token_roles *t = roles;
    const struct { int32_t id; const char *name; } role[] = {
        { t->eot, "EOT_" }, { t->sot, "SOT_" }, { t->translate, "TRANSLATE_" }, { t->transcribe, "TRANSCRIBE_" }, { t->turn, "SOLM_" },
        { t->previous, "PREV_" }, { t->no_speech, "NOSP_" }, { t->no_timestamps, "NOT_" }, { t->timestamp_begin, "BEG_" },
    };
    for (size_t i = 0; i < sizeof role / sizeof *role; i++)
        if (role[i].id == id) return snprintf(name, ID_NAME_SIZE, "[_%s]", role[i].name);
    if (id > t->timestamp_begin) return snprintf(name, ID_NAME_SIZE, "[_TT_%d]", (int)(id - t->timestamp_begin));
    return snprintf(name, ID_NAME_SIZE, "[_LANG_%s]", language_code(id - t->first_language));
}

const struct speech whisper_speech = { whisper_prompt_prefix, whisper_rules, whisper_tokens_to_segments, whisper_special_name };

/* steno: SenseVoiceSmall as data. SPDX-License-Identifier: MIT
 *
 * An et al. 2024 (FunAudioLLM): four query rows before the filter banks request language, event, emotion and number format. SAN-M layers in
 * two stacks follow, then a linear head. Its most probable ids, without repeats and blanks, are the text. Reference: FunASR 1.4,
 * funasr/models/sense_voice/model.py. */
#include "model/sensevoice.h"
#include "model/parts.h"

#include <stdio.h>
#include <string.h>
#include "load/vocab.h"
#include "model/funasr.h"
#include "model/sanm_encoder.h"
#include "plan/bind.h"
#include "plan/build.h"

enum {
    WINDOW_ROWS = 500, /* 30 s of rows every 60 ms: the training length */
    SEGMENT_ROWS = 1000, /* 60 s: the longest segment of FSMN-VAD, which the reference does not cut */
    QUERY_ROWS = SENSEVOICE_QUERY_ROWS,
    HEAD_ROWS = 64     /* rows with logits at a time */
};
static float const norm_eps = 1e-5f;

const char sensevoice_architecture[] = "sensevoice-small";

static int sensevoice_match(const struct weights *w)
{
    return funasr_match(w, "SenseVoiceSmall", sensevoice_architecture);
}

#define AT(field) offsetof(struct sensevoice_shape, field)

static const struct funasr_setting setting[] = {
    { "encoder_conf.output_size", "sv.output_size", 4, 8192, 0, AT(enc.d) },
    { "encoder_conf.attention_heads", "sv.attention_heads", 1, 256, 0, AT(enc.heads) },
    { "encoder_conf.linear_units", NULL, 1, 65536, 0, AT(enc.d_ff) },
    { "encoder_conf.num_blocks", "sv.num_blocks", 1, 256, 0, AT(enc.layers) },
    { "encoder_conf.tp_blocks", "sv.tp_blocks", 0, 256, 0, AT(more_layers) },
    { "encoder_conf.kernel_size", "sv.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(enc.taps) },
    { "encoder_conf.sanm_shfit", NULL, 0, 0, FUNASR_CONFIG, AT(enc.shift) }, /* spelled as in FunASR */
    { "frontend_conf.n_mels", "sv.n_mels", 1, SPECTRUM_BANDS, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.n_mels) },
    { "frontend_conf.lfr_m", "sv.lfr_m", 1, FBANK_LFR_MAX, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.lfr_m) },
    { "frontend_conf.lfr_n", "sv.lfr_n", 1, FBANK_LFR_MAX, FUNASR_CONFIG | FUNASR_GGUF, AT(enc.lfr_n) },
    { NULL, "sv.input_size", 1, 8192, 0, AT(enc.width) },
    { NULL, "sv.vocab_size", 2, 1 << 20, FUNASR_GGUF, AT(n_vocab) },
    { NULL, "sv.blank_id", 0, 0, 0, AT(blank) },
};
#undef AT
static const struct sensevoice_shape usual = { .enc = { .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6 } };
const struct funasr_settings sensevoice_settings = { setting, sizeof setting / sizeof *setting, &usual };

/* The number of ids is the length of the head. */
static int read_ids(struct sensevoice_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *head = weights_find(w, "ctc.ctc_lo.bias");
    if (!head || head->n_dims != 1 || head->dim[0] < 2 || head->dim[0] > 1 << 20)
        return err_set(e, STENO_EFORMAT, "%s: tensor ctc.ctc_lo.bias is missing or of no use: the number of ids is its length", w->name);
    if (s->n_vocab && (uint64_t)s->n_vocab != head->dim[0])
        return err_set(e, STENO_EFORMAT, "%s: sv.vocab_size is %d, but the head has %d", w->name, (int)s->n_vocab, (int)head->dim[0]);
    s->n_vocab = (int32_t)head->dim[0];
    return STENO_OK;
}

int sensevoice_read_shape(struct sensevoice_shape *s, struct weights *w, steno_error *e)
{
    *s = usual;
    s->enc.eps = norm_eps;
    int rc = funasr_read_settings(s, &sensevoice_settings, w, e);
    if (!rc) rc = read_ids(s, w, e);
    return rc ? rc : sanm_encoder_check(&s->enc, w, e);
}

static void build_encoder(struct build *b, const struct sensevoice_shape *s)
{
    const uint32_t d = (uint32_t)s->enc.d;
    build_phase(b, "encode");
    const uint16_t mid = build_slot(b, d), out = b->plan.output = build_slot(b, d), x = sanm_encoder_build(b, &s->enc);
    emit(b, OP_NORM, "encoder.after_norm", mid, x, bind_norm(b, "encoder.after_norm.weight", "encoder.after_norm.bias", d, norm_eps));
    sanm_encoder_more(b, &s->enc, "encoder.tp_encoders", (uint32_t)s->more_layers, mid);
    emit(b, OP_NORM, "encoder.tp_norm", out, mid, bind_norm(b, "encoder.tp_norm.weight", "encoder.tp_norm.bias", d, norm_eps));
    ctc_head_build(b, "ctc.ctc_lo", out, d, (uint32_t)s->n_vocab);
}

static int read_queries(steno_model *m, struct weights *w, uint32_t width, steno_error *e)
{
    struct tensor *t;
    const int rc = weights_get(w, "embed.weight", (const uint64_t[4]){ SENSEVOICE_QUERIES, width, 0, 0 }, &t, e);
    if (rc) return rc;
    float *q = arena_array(&m->arena, (size_t)SENSEVOICE_QUERIES * width, sizeof *q);
    struct ctc_model *c = m->part = arena_alloc(&m->arena, sizeof *c);
    if (!q || !c) return err_nomem(e, (size_t)SENSEVOICE_QUERIES * width * sizeof *q, "queries");
    *c = (struct ctc_model){ .query = q, .blank = 0 };
    return tensor_read_f32(t, q, e);
}

/* Default queries of the file: language, event, emotion, number format. Parameters of a call override them. */
static int read_asked(steno_model *m, const struct weights *w, steno_error *e)
{
    static const char key[] = "sv.query_tokens";
    const struct meta_list *l = meta_find_list(&w->meta, key);
    struct ctc_model *c = m->part;
    double row[QUERY_ROWS];
    if (!l) return STENO_OK;
    if (l->n != QUERY_ROWS)
        return err_set(e, STENO_EFORMAT, "%s: %s lists %llu rows, want %d", w->name, key, (unsigned long long)l->n, QUERY_ROWS);
    const int rc = meta_list_numbers(l, 0, QUERY_ROWS, row, e);
    for (int i = 0; i < QUERY_ROWS && !rc; i++)
        if (!(row[i] >= 0 && row[i] < SENSEVOICE_QUERIES))
            return err_set(e, STENO_EFORMAT, "%s: %s: value %d is %g, want 0 to %d", w->name, key, i, row[i], SENSEVOICE_QUERIES - 1);
    c->itn = !rc && row[QUERY_ROWS - 1] == 14;
    return rc;
}

/* Replaces U+2581 in pieces by a space. @return the new length */
static uint32_t spaces_put(char *s, uint32_t n)
{
    uint32_t len = 0;
    for (uint32_t k = 0; k < n; len++) {
        const int space = n - k >= 3 && !memcmp(s + k, "\xe2\x96\x81", 3);
        s[len] = space ? ' ' : s[k];
        k += space ? 3 : 1;
    }
    return len;
}

static int read_vocab(steno_model *m, const struct weights *w, steno_error *e)
{
    const int rc = funasr_read_vocab(m, w, spaces_put, e);
    m->vocab.by_chars = 1;
    return rc ? rc : bpe_open(&m->bpe, &m->vocab, e);
}

static int sensevoice_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct sensevoice_shape s;
    int rc = sensevoice_read_shape(&s, w, e);
    if (rc) return rc;
    m->name = "small";
    m->n_vocab = s.n_vocab;
    m->n_plans = 1;
    m->audio_ctx = WINDOW_ROWS;
    m->segment_ctx = SEGMENT_ROWS;
    m->widths = (struct model_widths){ .n_mels = s.enc.n_mels, .audio_state = s.enc.d, .audio_heads = s.enc.heads,
                                       .audio_layers = s.enc.layers + s.more_layers };
    rc = funasr_find_vocab(m, w, e);
    if (rc) return rc;
    struct build b;
    const struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = QUERY_ROWS + SEGMENT_ROWS, .max_out = HEAD_ROWS,
                                    .precision = sanm_precision(m) };
    build_begin(&b, &p, e);
    build_encoder(&b, &s);
    rc = build_end(&b, &m->plan[PLAN_ENCODER]);
    if (!rc) rc = read_queries(m, w, (uint32_t)s.enc.width, e);
    if (!rc) rc = read_asked(m, w, e);
    if (!rc) rc = sanm_encoder_front(m, w, &s.enc, e);
    return rc ? rc : read_vocab(m, w, e);
}

const struct family family_sensevoice = {
    .name = "sensevoice",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "ctc",
    .bare_text = BARE_SPOKEN,
    .low_precision = LOW_PRECISION_ROWS,
    .settings = SETTINGS_FILES,
    .match = sensevoice_match,
    .describe = sensevoice_describe,
    .ctc = &sensevoice_ctc,
    .spare = funasr_spare,
    .ids_to_bytes = sensevoice_ids_to_bytes,
};

/* ---- queries, tags and text ------------------------------------------------------------------------------------------------------- */

/* Ids are SentencePiece pieces and tags <|WORD|>, which describe the audio. Reference: FunASR 1.4, funasr/models/sense_voice/model.py. */

/* ---- queries ------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *code; int32_t row; } known_language[] = {
    { "zh", 3 }, { "en", 4 }, { "yue", 7 }, { "ja", 11 }, { "ko", 12 }, { "nospeech", 13 },
};

enum { N_KNOWN = sizeof known_language / sizeof *known_language, N_SPOKEN = N_KNOWN - 1 };

static const char *sensevoice_language(int i)
{
    return known_language[i].code;
}

/* The query row for a language; -1: there is none. */
static int32_t language_row(const char *code)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(code, known_language[i].code)) return known_language[i].row;
    return -1;
}

static int sensevoice_query_rows(const steno_model *m, const struct ctc_options *q, int32_t *rows, steno_error *e)
{
    (void)m;
    int row = 0;
    if (!language_is_auto(q->language)) {
        const char *code = language_code(language_find(q->language)); /* NULL: a language that only this model has, or "nospeech" */
        row = language_row(code ? code : q->language);
    }
    if (row < 0) return language_refuse(e, q->language, sensevoice_language, N_SPOKEN);
    const int32_t ask[SENSEVOICE_QUERY_ROWS] = { row, 1, 2, q->itn ? 14 : 15 };
    memcpy(rows, ask, sizeof ask);
    return SENSEVOICE_QUERY_ROWS;
}

static int32_t sensevoice_masked(const steno_model *m, const struct ctc_options *q)
{
    static const char unknown[] = "<|EMO_UNKNOWN|>";
    return q->ban_unknown_emotion ? vocab_find(&m->vocab, (const uint8_t *)unknown, sizeof unknown - 1) : -1;
}

/* ---- tags ---------------------------------------------------------------------------------------------------------------------- */

enum { TAG_LANGUAGE, TAG_EMOTION, TAG_EVENT, TAG_ITN };

static const struct { const char *word; int kind; } tags[] = {
    { "zh", TAG_LANGUAGE },         { "en", TAG_LANGUAGE },       { "yue", TAG_LANGUAGE },     { "ja", TAG_LANGUAGE },
    { "ko", TAG_LANGUAGE },         { "nospeech", TAG_LANGUAGE }, { "HAPPY", TAG_EMOTION },    { "SAD", TAG_EMOTION },
    { "ANGRY", TAG_EMOTION },       { "NEUTRAL", TAG_EMOTION },   { "FEARFUL", TAG_EMOTION },  { "DISGUSTED", TAG_EMOTION },
    { "SURPRISED", TAG_EMOTION },   { "EMO_UNKNOWN", TAG_EMOTION }, { "BGM", TAG_EVENT },      { "Speech", TAG_EVENT },
    { "Applause", TAG_EVENT },      { "Laughter", TAG_EVENT },    { "Cry", TAG_EVENT },        { "Sneeze", TAG_EVENT },
    { "Breath", TAG_EVENT },        { "Cough", TAG_EVENT },       { "Sing", TAG_EVENT },       { "Speech_Noise", TAG_EVENT },
    { "GBG", TAG_EVENT },           { "Event_UNK", TAG_EVENT },   { "woitn", TAG_ITN },        { "withitn", TAG_ITN },
};

static int is_tag(const uint8_t *s, uint32_t n)
{
    return n >= 5 && !memcmp(s, "<|", 2) && !memcmp(s + n - 2, "|>", 2);
}

/* Only the first tag of a kind counts. */
static void take_tag(const uint8_t *s, uint32_t n, struct ctc_tags *to)
{
    const char **const place[] = { &to->language, &to->emotion, &to->event, &to->itn };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        const char **at = place[tags[i].kind];
        if (!*at && strlen(tags[i].word) == n - 4 && !memcmp(tags[i].word, s + 2, n - 4)) *at = tags[i].word;
    }
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------- */

/* Pieces for the start and end of a sentence are not text. */
static int is_control(const uint8_t *s, uint32_t n)
{
    return (n == 3 && !memcmp(s, "<s>", 3)) || (n == 4 && !memcmp(s, "</s>", 4));
}

/* Appends the pieces and collects the tags. */
static void sensevoice_ids_to_text(const steno_model *m, const int32_t *ids, int32_t n, int with_tags, struct buf *text,
                                   struct ctc_tags *tags_found)
{
    *tags_found = (struct ctc_tags){ 0 };
    for (int32_t i = 0; i < n; i++) {
        const uint8_t *s = m->vocab.bytes[ids[i]];
        const uint32_t len = m->vocab.len[ids[i]];
        if (is_tag(s, len)) {
            take_tag(s, len, tags_found);
            if (!with_tags) continue;
        }
        if (len && !is_control(s, len)) buf_add(text, s, len);
    }
}

/* The reference tokenizes the text again, and aligns this id where a piece is a single space. In the published vocabulary it is the id of a
 * single space. */
static int32_t sensevoice_spoken(const steno_model *m, int32_t id)
{
    enum { SPACE_ALONE = 124 };
    const uint8_t *s = m->vocab.bytes[id];
    const uint32_t len = m->vocab.len[id];
    if (!len || is_tag(s, len) || is_control(s, len)) return -1;
    return len == 1 && s[0] == ' ' && m->n_vocab > SPACE_ALONE ? SPACE_ALONE : id;
}

void sensevoice_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes)
{
    struct ctc_tags tags_found;
    sensevoice_ids_to_text(m, ids, n, 0, bytes, &tags_found);
}

const struct ctc sensevoice_ctc = {
    .query_rows = sensevoice_query_rows,
    .masked = sensevoice_masked,
    .ids_to_text = sensevoice_ids_to_text,
    .spoken = sensevoice_spoken,
    .rich_text = sensevoice_rich_text,
};

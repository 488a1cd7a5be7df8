/* steno: the numbers, names and special tokens of Whisper models. SPDX-License-Identifier: MIT */
#include "model/whisper_dims.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/features.h"
#include "text/language.h"

enum {
    MAX_HEAD = 256, /* limit of the attention kernels */
    MAX_LAYERS = 256,
    MAX_STATE = 8192,
    MAX_CTX = 65536,
    MAX_VOCAB = 1 << 20,
    MAX_MELS = 128,
    WINDOW = 400 /* samples of a frame */
};

/* Whisper has 1500 positions (30 s) and 448 tokens. Four times that is more than any known model has. Scratch and the time of a window grow
 * with these numbers. So does the delay of a cancelled call, which waits for one item of an op. */
enum { AUDIO_CTX_MAX = 4 * 1500, TEXT_CTX_MAX = 4 * 448 };

#define DIM(name, transformers, max) { #name, transformers, max, offsetof(struct whisper_dims, name) }
const struct whisper_dim whisper_dim[WHISPER_DIMS] = {
    DIM(n_vocab, "vocab_size", MAX_VOCAB),
    DIM(n_audio_ctx, "max_source_positions", MAX_CTX),
    DIM(n_audio_state, "d_model", MAX_STATE),
    DIM(n_audio_head, "encoder_attention_heads", MAX_STATE),
    DIM(n_audio_layer, "encoder_layers", MAX_LAYERS),
    DIM(n_text_ctx, "max_target_positions", MAX_CTX),
    DIM(n_text_state, "d_model", MAX_STATE),
    DIM(n_text_head, "decoder_attention_heads", MAX_STATE),
    DIM(n_text_layer, "decoder_layers", MAX_LAYERS),
    DIM(n_mels, "num_mel_bins", MAX_MELS),
};
#undef DIM

enum whisper_spelling whisper_spelling_of(const struct weights *w)
{
    static const char *const plain[] = { "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) /* if one is missing, the reader reports it */
        if (meta_find(&w->meta, plain[i])) return WHISPER_PLAIN;
    if (!strcmp(meta_text(&w->meta, "ct2.spec", ""), "WhisperSpec")) return WHISPER_CT2;
    if (meta_find(&w->meta, "dims.n_mels")) return WHISPER_OPENAI;
    return strcmp(meta_text(&w->meta, "model_type", ""), "whisper") ? WHISPER_NOWHERE : WHISPER_TRANSFORMERS;
}

static int check_heads(const char *where, const char *part, int32_t state, int32_t heads, steno_error *e)
{
    if (state % heads)
        return err_set(e, STENO_EFORMAT, "%s: n_%s_state is %d, no multiple of n_%s_head, %d", where, part, (int)state, part, (int)heads);
    const int32_t d = state / heads;
    if (d > MAX_HEAD || d % 4)
        return err_set(e, STENO_EFORMAT, "%s: n_%s_state / n_%s_head is %d, want a multiple of 4 up to %d", where, part, part, (int)d,
                       MAX_HEAD);
    return STENO_OK;
}

static int check_widths(const struct whisper_dims *d, const char *where, steno_error *e)
{
    if (d->n_mels != 80 && d->n_mels != MAX_MELS)
        return err_set(e, STENO_EFORMAT, "%s: n_mels is %d, want 80 or %d", where, (int)d->n_mels, MAX_MELS);
    if (d->n_audio_state != d->n_text_state)
        return err_set(e, STENO_EFORMAT, "%s: n_audio_state is %d and n_text_state is %d, want the same", where, (int)d->n_audio_state,
                       (int)d->n_text_state);
    const int rc = check_heads(where, "audio", d->n_audio_state, d->n_audio_head, e);
    return rc ? rc : check_heads(where, "text", d->n_text_state, d->n_text_head, e);
}

/* A configuration may have the same numbers under transformers' names, too. */
static int check_twice(const struct whisper_dim *dim, int32_t v, const struct weights *w, steno_error *e)
{
    const struct meta_entry *it = meta_find(&w->meta, dim->transformers);
    if (!it || meta_whole(&w->meta, dim->transformers, v, v, (int64_t)v - 1) == v) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: %s is %d, and %s is something else; they mean the same: correct one of them", it->source,
                   dim->name, (int)v, dim->transformers);
}

/* Checks options of transformers that Whisper does not use. */
static int check_transformers(const struct whisper_dims *d, const struct weights *w, steno_error *e)
{
    int32_t wide = 4 * d->n_audio_state;
    for (int i = 0; i < 2; i++) {
        const int rc = meta_int(&w->meta, w->name, i ? "decoder_ffn_dim" : "encoder_ffn_dim", wide, wide, 1, &wide, e);
        if (rc) return rc;
    }
    const struct meta_entry *scaled = meta_find(&w->meta, "scale_embedding");
    if (scaled && scaled->i)
        return err_set(e, STENO_EUNSUPPORTED, "%s: scale_embedding is set; Whisper models do not scale embeddings", w->name);
    const char *act = meta_text(&w->meta, "activation_function", "gelu");
    if (strcmp(act, "gelu") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: activation_function is '%s'; Whisper models use gelu", w->name, act);
    return STENO_OK;
}

static int check_contexts(const struct whisper_dims *d, const char *where, steno_error *e)
{
    if (d->n_audio_ctx > AUDIO_CTX_MAX)
        return err_set(e, STENO_EUNSUPPORTED, "%s: n_audio_ctx is %d, want at most %d: Whisper models have 1500 positions of audio", where,
                       (int)d->n_audio_ctx, AUDIO_CTX_MAX);
    if (d->n_text_ctx > TEXT_CTX_MAX)
        return err_set(e, STENO_EUNSUPPORTED, "%s: n_text_ctx is %d, want at most %d: Whisper models have 448 positions of text", where,
                       (int)d->n_text_ctx, TEXT_CTX_MAX);
    return STENO_OK;
}

/* ---- CTranslate2 --------------------------------------------------------------------------------------------------------------- */

/* Extents of a variable, or zeros. */
static const uint64_t *extents_of(const struct weights *w, const char *name)
{
    static const uint64_t none[4];
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, name)) return w->tensor[i].dim;
    return none;
}

/* The number of layers of a side: the highest of its variables' names. Whether all are there is checked with the tensors. */
static uint64_t layers_of(const struct weights *w, const char *side)
{
    char prefix[32];
    const size_t n = (size_t)snprintf(prefix, sizeof prefix, "%s/layer_", side);
    uint64_t layers = 0;
    for (uint32_t i = 0; i < w->n_tensors; i++) {
        const char *s = w->tensor[i].name;
        if (strncmp(s, prefix, n) != 0 || s[n] < '0' || s[n] > '9') continue;
        const uint64_t layer = strtoull(s + n, NULL, 10);
        if (layer < MAX_CTX && layer + 1 > layers) layers = layer + 1;
    }
    return layers;
}

/* Options of CTranslate2's networks, and their values for Whisper. An older file lacks those that did not exist. */
static int check_ct2(const struct weights *w, steno_error *e)
{
    static const struct { const char *key; int32_t want; } option[] = {
        { "ct2.revision", 3 },      { "ct2.decoder/activation", 3 /* GELU by erf */ },   { "ct2.decoder/pre_norm", 1 },
        { "ct2.decoder/alibi", 0 }, { "ct2.decoder/start_from_zero_embedding", 0 }, { "ct2.decoder/scale_embeddings", 0 },
    };
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        int32_t v = option[i].want;
        const int rc = meta_int(&w->meta, w->name, option[i].key, INT32_MIN, INT32_MAX, 1, &v, e);
        if (rc) return rc;
        if (v != option[i].want)
            return err_set(e, STENO_EUNSUPPORTED, "%s: %s is %d; Whisper models have %d", w->name, option[i].key + 4, (int)v,
                           (int)option[i].want);
    }
    return STENO_OK;
}

static int dims_from_shapes(struct whisper_dims *d, const struct weights *w, steno_error *e)
{
    int32_t heads[2] = { 0, 0 };
    int rc = check_ct2(w, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "ct2.encoder/num_heads", 1, MAX_STATE, 0, &heads[0], e);
    if (!rc) rc = meta_int(&w->meta, w->name, "ct2.decoder/num_heads", 1, MAX_STATE, 0, &heads[1], e);
    if (rc) return rc;
    const uint64_t number[WHISPER_DIMS] = { /* in the order of whisper_dim */
        extents_of(w, "decoder/embeddings/weight")[0], extents_of(w, "encoder/position_encodings/encodings")[0],
        extents_of(w, "encoder/layer_norm/gamma")[0], (uint64_t)heads[0], layers_of(w, "encoder"),
        extents_of(w, "decoder/position_encodings/encodings")[0], extents_of(w, "decoder/layer_norm/gamma")[0], (uint64_t)heads[1],
        layers_of(w, "decoder"), extents_of(w, "encoder/conv1/weight")[1],
    };
    for (int i = 0; i < WHISPER_DIMS; i++) {
        if (number[i] < 1 || number[i] > (uint64_t)whisper_dim[i].max)
            return err_set(e, STENO_EFORMAT, "%s: %s is %" PRIu64 " by the shapes of its variables, want 1..%d", w->name,
                           whisper_dim[i].name, number[i], (int)whisper_dim[i].max);
        const int32_t v = (int32_t)number[i];
        memcpy((char *)d + whisper_dim[i].at, &v, sizeof v);
    }
    return STENO_OK;
}

/* ---- all forms ----------------------------------------------------------------------------------------------------------------- */

static int dims_from_settings(struct whisper_dims *d, const struct weights *w, enum whisper_spelling spelling, const char **where,
                              steno_error *e)
{
    for (int i = 0; i < WHISPER_DIMS; i++) {
        char key[64];
        int32_t v = 0;
        snprintf(key, sizeof key, "%s%s", spelling == WHISPER_OPENAI ? "dims." : "",
                 spelling == WHISPER_TRANSFORMERS ? whisper_dim[i].transformers : whisper_dim[i].name);
        const int rc = meta_int(&w->meta, w->name, key, 1, whisper_dim[i].max, 0, &v, e);
        if (rc) return rc;
        memcpy((char *)d + whisper_dim[i].at, &v, sizeof v);
        if (spelling != WHISPER_PLAIN) continue;
        *where = meta_find(&w->meta, key)->source;
        if (check_twice(&whisper_dim[i], v, w, e)) return STENO_EFORMAT;
    }
    return STENO_OK;
}

int whisper_dims_read(struct whisper_dims *d, const struct weights *w, steno_error *e)
{
    const enum whisper_spelling spelling = whisper_spelling_of(w);
    const char *where = w->name;
    int rc = spelling == WHISPER_CT2 ? dims_from_shapes(d, w, e) : dims_from_settings(d, w, spelling, &where, e);
    if (!rc) rc = check_widths(d, where, e);
    if (!rc && spelling == WHISPER_TRANSFORMERS) rc = check_transformers(d, w, e);
    if (!rc) rc = features_check(w, &(struct features_served){ WINDOW, WINDOW, d->n_mels, 0 }, e);
    return rc ? rc : check_contexts(d, w->name, e);
}

/* ---- named models ----------------------------------------------------------------------------------------------------------------- */

enum { EN = WHISPER_VOCAB_ENGLISH, MULTI = WHISPER_VOCAB_99, MULTI_100 = WHISPER_VOCAB_100 };

static const struct whisper_shape {
    const char *name;
    int32_t d, heads, enc, dec, mels, vocab;
} shapes[] = {
    { "tiny", 384, 6, 4, 4, 80, MULTI },         { "tiny.en", 384, 6, 4, 4, 80, EN },
    { "base", 512, 8, 6, 6, 80, MULTI },         { "base.en", 512, 8, 6, 6, 80, EN },
    { "small", 768, 12, 12, 12, 80, MULTI },     { "small.en", 768, 12, 12, 12, 80, EN },
    { "medium", 1024, 16, 24, 24, 80, MULTI },   { "medium.en", 1024, 16, 24, 24, 80, EN },
    { "large-v2", 1280, 20, 32, 32, 80, MULTI }, { "large-v3", 1280, 20, 32, 32, 128, MULTI_100 },
    { "turbo", 1280, 20, 32, 4, 128, MULTI_100 }, { "distil-small.en", 768, 12, 12, 4, 80, EN },
    { "distil-medium.en", 1024, 16, 24, 2, 80, EN }, { "distil-large-v2", 1280, 20, 32, 2, 80, MULTI },
    { "distil-large-v3", 1280, 20, 32, 2, 128, MULTI_100 },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

int whisper_shape(const char *name, struct whisper_dims *d, steno_error *e)
{
    for (int i = 0; i < N_SHAPES; i++) {
        const struct whisper_shape *s = &shapes[i];
        if (strcmp(s->name, name) != 0) continue;
        *d = (struct whisper_dims){ s->mels, 1500, s->d, s->heads, s->enc, s->vocab, 448, s->d, s->heads, s->dec };
        return STENO_OK;
    }
    char list[400] = "";
    for (int i = 0; i < N_SHAPES; i++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", shapes[i].name);
    }
    return err_set(e, STENO_EARG, "unknown shape '%s'; known are %s", name, list);
}

const char *whisper_shape_name(const struct whisper_dims *d)
{
    for (int i = 0; i < N_SHAPES; i++) {
        const struct whisper_shape *s = &shapes[i];
        if (s->d == d->n_audio_state && s->enc == d->n_audio_layer && s->dec == d->n_text_layer && s->mels == d->n_mels &&
            s->vocab == d->n_vocab)
            return s->name;
    }
    return "custom";
}

int whisper_shape_is_shared(const struct whisper_dims *d)
{
    return !strcmp(whisper_shape_name(d), "large-v2");
}

/* The version after "large" at p: 1 or 2; 0: another one, or none. */
static int version_at(const char *p)
{
    static const char large[] = "large";
    for (size_t i = 0; i < sizeof large - 1; i++)
        if ((p[i] | 32) != large[i]) return 0;
    p += sizeof large - 1;
    if (*p && strchr("-._", *p)) p++;
    if ((*p | 32) != 'v') return 0;
    return (p[1] == '1' || p[1] == '2') && !(p[2] >= '0' && p[2] <= '9') ? p[1] - '0' : 0;
}

const char *whisper_official_name(const struct whisper_dims *d, const char *path)
{
    const char *name = whisper_shape_name(d);
    int version = 0;
    if (!whisper_shape_is_shared(d)) return name;
    for (const char *p = path; p && *p; p++) {
        const int v = version_at(p);
        if (v) version = v;
    }
    return version == 1 ? "large-v1" : version == 2 ? "large-v2" : "custom";
}

/* ---- special tokens and the non-speech set ---------------------------------------------------------------------------------------- */

/* Special ids are at the end of the vocabulary: end-of-text, start of transcript, the languages, six control tokens and 1501 timestamps
 * in steps of 20 ms. Only the number of languages differs. */

enum {
    N_TIMESTAMPS = 1501,
    N_BEFORE = 2, N_CONTROL = 6, /* special tokens before the languages; between languages and timestamps */
    TOKEN_SPACE = 220            /* " " in both of Whisper's vocabularies */
};

int whisper_tokens_init(struct token_roles *t, int32_t n_vocab, steno_error *e)
{
    const int32_t n_languages = n_vocab > WHISPER_VOCAB_ENGLISH ? n_vocab - WHISPER_VOCAB_ENGLISH + 98 : 0;
    const int32_t n_slots = n_languages ? n_languages : 99;
    memset(t, 0, sizeof *t);
    if (n_languages > N_LANGUAGES)
        return err_set(e, STENO_EFORMAT, "n_vocab %d means %d languages, want at most %d (n_vocab %d)", n_vocab, n_languages, N_LANGUAGES,
                       WHISPER_VOCAB_ENGLISH + 2);
    if (n_vocab <= N_BEFORE + n_slots + N_CONTROL + N_TIMESTAMPS)
        return err_set(e, STENO_EFORMAT, "n_vocab %d leaves no room for text: %d ids are special", n_vocab,
                       N_BEFORE + n_slots + N_CONTROL + N_TIMESTAMPS);
    t->n_vocab = n_vocab;
    t->n_languages = n_languages;
    t->timestamp_begin = n_vocab - N_TIMESTAMPS;
    t->no_timestamps = t->timestamp_begin - 1;
    t->no_speech = t->timestamp_begin - 2;
    t->previous = t->timestamp_begin - 3;
    t->turn = t->timestamp_begin - 4;
    t->transcribe = t->timestamp_begin - 5;
    t->translate = t->timestamp_begin - 6;
    t->first_language = t->translate - n_slots;
    t->sot = t->first_language - 1;
    t->eot = t->n_text = t->first_language - 2;
    t->blank = n_vocab >= WHISPER_VOCAB_ENGLISH ? TOKEN_SPACE : -1;
    return STENO_OK;
}

const char *whisper_token_text(const struct token_roles *t, int32_t id, struct arena *a, uint32_t *n)
{
    static const char *const control[N_CONTROL] = { "translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps" };
    char text[32];
    *n = 0;
    if (id < t->eot || id >= t->n_vocab) return NULL;
    if (id >= t->timestamp_begin) {
        const int hundredths = 2 * (id - t->timestamp_begin);
        *n = (uint32_t)snprintf(text, sizeof text, "<|%d.%02d|>", hundredths / 100, hundredths % 100);
    } else {
        const char *name = id == t->eot ? "endoftext" : id == t->sot ? "startoftranscript" : id < t->translate
            ? language_code(id - t->first_language) : control[id - t->translate];
        *n = (uint32_t)snprintf(text, sizeof text, "<|%s|>", name);
    }
    return arena_strdup(a, text, *n);
}

/* Adds the first id of `space` + `text` to set, if it is the only id or `any` is set. A vocabulary without these bytes adds nothing. */
static int add_first(const struct bpe *b, const char *space, const char *text, int any, struct buf *set, struct buf *work, steno_error *e)
{
    char s[16];
    const int n = snprintf(s, sizeof s, "%s%s", space, text);
    buf_clear(work);
    const int rc = bpe_encode(b, s, (size_t)n, work, e);
    if (!rc && (any || work->len == sizeof(int32_t))) buf_add(set, work->p, sizeof(int32_t));
    return rc == STENO_EARG ? STENO_OK : rc;
}

static int id_compare(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int whisper_non_speech(const struct bpe *b, struct buf *ids, steno_error *e)
{
    static const char *const symbol[] = {
        "\"", "#", "(", ")", "*", "+", "/", ":", ";", "<", "=", ">", "@", "[", "\\", "]", "^", "_", "`", "{", "|", "}", "~",
        "「", "」", "『", "』", "<<", ">>", "<<<", ">>>", "--", "---", "-(", "-[", "('", "(\"", "((", "))", "(((", ")))", "[[", "]]",
        "{{", "}}", "♪♪", "♪♪♪",
    };
    /* often several tokens: then their common first byte is added */
    static const char *const music[] = { "♩", "♪", "♫", "♬", "♭", "♮", "♯" };
    struct buf set = { 0 }, work = { 0 };
    int rc = add_first(b, " ", "-", 1, &set, &work, e);
    if (!rc) rc = add_first(b, " ", "'", 1, &set, &work, e);
    for (size_t i = 0; i < sizeof symbol / sizeof *symbol && !rc; i++) {
        rc = add_first(b, "", symbol[i], 0, &set, &work, e);
        if (!rc) rc = add_first(b, " ", symbol[i], 0, &set, &work, e);
    }
    for (size_t i = 0; i < sizeof music / sizeof *music && !rc; i++) {
        rc = add_first(b, "", music[i], 1, &set, &work, e);
        if (!rc) rc = add_first(b, " ", music[i], 1, &set, &work, e);
    }
    if (!rc && set.err) rc = err_nomem(e, set.len, "the non-speech tokens");
    if (!rc && set.len) {
        const size_t n = set.len / sizeof(int32_t);
        qsort(set.p, n, sizeof(int32_t), id_compare);
        for (size_t i = 0; i < n; i++) {
            const char *id = set.p + i * sizeof(int32_t);
            if (!i || memcmp(id, id - sizeof(int32_t), sizeof(int32_t))) buf_add(ids, id, sizeof(int32_t));
        }
        if (ids->err) rc = err_nomem(e, ids->len, "the non-speech tokens");
    }
    buf_free(&set);
    buf_free(&work);
    return rc;
}

/* steno: the ten numbers that define a Whisper model. SPDX-License-Identifier: MIT */
#include "model/whisper_dims.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_HEAD = 256, /* limit of the attention kernels */
    MAX_LAYERS = 256,
    MAX_STATE = 8192,
    MAX_CTX = 65536,
    MAX_VOCAB = 1 << 20,
    MAX_MELS = 128
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
    if (!it || (it->kind == META_INT && it->i == v)) return STENO_OK;
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

int whisper_dims_read(struct whisper_dims *d, const struct weights *w, steno_error *e)
{
    const enum whisper_spelling spelling = whisper_spelling_of(w);
    const char *where = w->name;
    for (int i = 0; i < WHISPER_DIMS; i++) {
        char key[64];
        int32_t v = 0;
        snprintf(key, sizeof key, "%s%s", spelling == WHISPER_OPENAI ? "dims." : "",
                 spelling == WHISPER_TRANSFORMERS ? whisper_dim[i].transformers : whisper_dim[i].name);
        const int rc = meta_int(&w->meta, w->name, key, 1, whisper_dim[i].max, 0, &v, e);
        if (rc) return rc;
        memcpy((char *)d + whisper_dim[i].at, &v, sizeof v);
        if (spelling != WHISPER_PLAIN) continue;
        where = meta_find(&w->meta, key)->source;
        if (check_twice(&whisper_dim[i], v, w, e)) return STENO_EFORMAT;
    }
    int rc = check_widths(d, where, e);
    if (!rc && spelling == WHISPER_TRANSFORMERS) rc = check_transformers(d, w, e);
    return rc ? rc : check_contexts(d, w->name, e);
}

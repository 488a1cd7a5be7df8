/* steno: NVIDIA's GGUF form of a Parakeet model. SPDX-License-Identifier: MIT
 *
 * Reference: NeMo-Speech.cpp's converter. Keys begin with "asr."; tensors have NeMo's names, except for those of LSTMs. The tokenizer is a
 * SentencePiece model in base64, or a list of its pieces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load/base64.h"
#include "load/vocab.h"
#include "model/parakeet.h"
#include "model/parts.h"

enum parakeet_head parakeet_gguf_head(const struct weights *w)
{
    const char *type = meta_text(&w->meta, "asr.head_type", "");
    if (strcmp(meta_text(&w->meta, "general.architecture", ""), "asr") != 0) return PARAKEET_NONE;
    return !strcmp(type, "ctc") ? PARAKEET_CTC : !strcmp(type, "tdt") ? PARAKEET_TDT : PARAKEET_RNNT; /* another one is refused below */
}

int parakeet_gguf_is_stream(const struct weights *w)
{
    return parakeet_gguf_head(w) == PARAKEET_RNNT && !strcmp(meta_text(&w->meta, "asr.encoder.att_context_style", ""), "chunked_limited");
}

/* ---- what is not supported */

static const struct parakeet_text texts[] = {
    { "asr.encoder.q8_layout", "block_q8_0", NULL }, { "asr.encoder.qkv_q8_layout", "block_q8_0", NULL },
    { "asr.encoder.conv_norm", "batch_norm", NULL }, { "asr.encoder.conv_context", "None", NULL },
    { "asr.encoder.att_context_style", "regular", NULL }, { "asr.preprocessor.normalize", "per_feature", NULL },
    { "asr.tokenizer.type", "sentencepiece_bpe", NULL }, { NULL, NULL, NULL },
};

/* Of models of streams. */
static const struct parakeet_text stream_texts[] = {
    { "asr.encoder.q8_layout", "block_q8_0", NULL }, { "asr.encoder.qkv_q8_layout", "block_q8_0", NULL },
    { "asr.encoder.conv_norm", "layer_norm", "batch_norm" }, { "asr.encoder.conv_context", "causal", NULL },
    { "asr.preprocessor.normalize", "NA", NULL }, { "asr.tokenizer.type", "sentencepiece_bpe", NULL }, { NULL, NULL, NULL },
};

static const struct parakeet_flag flags[] = {
    { "asr.preprocessor.stft_center_window", 1 }, { "asr.preprocessor.hann_periodic", 0 }, { "asr.preprocessor.mask_invalid_frames", 1 },
    { NULL, 0 },
};

static const struct parakeet_number numbers[] = {
    { "asr.preprocessor.sample_rate", 16000 }, { "asr.preprocessor.window_size", 0.025 }, { "asr.preprocessor.window_stride", 0.01 },
    { "asr.preprocessor.n_fft", 512 }, { "asr.preprocessor.preemph", 0.97 }, { NULL, 0 },
};
static const struct parakeet_number clip_numbers[] = { { "asr.rnnt.num_prompts", 0 }, { NULL, 0 } };

static int check(const struct weights *w, steno_error *e)
{
    const int streams = parakeet_gguf_is_stream(w);
    const char *head = meta_text(&w->meta, "asr.head_type", "missing");
    int32_t mels = 0, features = 0;
    if (strcmp(head, "ctc") && strcmp(head, "rnnt") && strcmp(head, "tdt"))
        return parakeet_refuse(w, "asr.head_type", head, "ctc, rnnt and tdt", e);
    int rc = parakeet_check_texts(w, streams ? stream_texts : texts, e);
    if (!rc) rc = parakeet_check_flags(w, flags, e);
    if (!rc) rc = parakeet_check_numbers(w, numbers, e);
    if (!rc && !streams) rc = parakeet_check_numbers(w, clip_numbers, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "asr.encoder.feat_in", 1, 1 << 16, 0, &mels, e);
    features = mels;
    if (!rc) rc = meta_int(&w->meta, w->name, "asr.preprocessor.features", 1, 1 << 16, 1, &features, e);
    if (!rc && features != mels)
        rc = err_set(e, STENO_EFORMAT, "%s: asr.preprocessor.features is %d, asr.encoder.feat_in %d", w->name, (int)features, (int)mels);
    return rc;
}

/* ---- the settings by their common names */

static const struct parakeet_setting renamed[] = {
    { "asr.encoder.d_model", "encoder_config.hidden_size" }, { "asr.encoder.n_layers", "encoder_config.num_hidden_layers" },
    { "asr.encoder.n_heads", "encoder_config.num_attention_heads" }, { "asr.encoder.d_ff", "encoder_config.intermediate_size" },
    { "asr.encoder.conv_kernel_size", "encoder_config.conv_kernel_size" }, { "asr.encoder.feat_in", "encoder_config.num_mel_bins" },
    { "asr.encoder.subsampling_factor", "encoder_config.subsampling_factor" },
    { "asr.encoder.subsampling_conv_channels", "encoder_config.subsampling_conv_channels" },
    { "asr.encoder.xscaling", "encoder_config.scale_input" }, { "asr.encoder.offline_left_ctx", "encoder.att_context_size.0" },
    { "asr.encoder.offline_right_ctx", "encoder.att_context_size.1" }, { "asr.rnnt.vocab_size", "vocab_size" },
    { "asr.rnnt.blank_id", "blank_token_id" }, { "asr.rnnt.pred_hidden", "decoder_hidden_size" },
    { "asr.rnnt.pred_num_layers", "num_decoder_layers" }, { "asr.rnnt.max_symbols_per_step", "max_symbols_per_step" },
};

static int add_durations(struct weights *w, steno_error *e)
{
    const struct meta_list *l = meta_find_list(&w->meta, "asr.tdt.durations");
    double x[TRANSDUCER_DURATIONS];
    char key[32];
    if (!l) return err_set(e, STENO_EFORMAT, "%s: asr.tdt.durations is missing", w->name);
    if (l->n < 1 || l->n > TRANSDUCER_DURATIONS)
        return err_set(e, STENO_EFORMAT, "%s: asr.tdt.durations has %llu numbers, want 1..%d", w->name, (unsigned long long)l->n,
                       TRANSDUCER_DURATIONS);
    int rc = meta_list_numbers(l, 0, l->n, x, e);
    for (uint64_t i = 0; i < l->n && !rc; i++) {
        if (!(x[i] >= 0 && x[i] <= TRANSDUCER_DURATIONS) || x[i] != (int)x[i])
            return err_set(e, STENO_EFORMAT, "%s: asr.tdt.durations has %g, want 0..%d", w->name, x[i], TRANSDUCER_DURATIONS);
        snprintf(key, sizeof key, "durations.%d", (int)i);
        rc = parakeet_add_number(w, key, l->key, (int64_t)x[i], e);
    }
    return rc;
}

/* ---- streams */

const char parakeet_gguf_lookaheads[] = "asr.encoder.lookaheads";

struct prompt_list { struct weights *w; steno_error *e; };

/* "de-DE:2" */
static int add_prompt(void *user, uint64_t i, const char *s, size_t n)
{
    const struct prompt_list *to = user;
    char text[128], *colon;
    snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : 0), s);
    colon = strrchr(text, ':');
    char *end = colon ? colon + 1 : text;
    const long id = strtol(end, &end, 10);
    if (!colon || colon == text || !colon[1] || *end || id < 0 || id > INT32_MAX)
        return err_set(to->e, STENO_EFORMAT, "%s: asr.rnnt.prompt_dictionary: entry %llu is '%.40s', want LANGUAGE:NUMBER", to->w->name,
                       (unsigned long long)i, text);
    *colon = 0;
    char key[sizeof "model_defaults.prompt_dictionary." + sizeof text];
    snprintf(key, sizeof key, "model_defaults.prompt_dictionary.%s", text);
    return parakeet_add_number(to->w, key, "asr.rnnt.prompt_dictionary", id, to->e);
}

static int add_prompts(struct weights *w, steno_error *e)
{
    struct prompt_list to = { w, e };
    const struct meta_list *l = meta_find_list(&w->meta, "asr.rnnt.prompt_dictionary");
    return l ? meta_list_texts(l, 127, add_prompt, &to, e) : STENO_OK;
}

static int add_lookaheads(struct weights *w, steno_error *e)
{
    const struct meta_list *l = meta_find_list(&w->meta, parakeet_gguf_lookaheads);
    double x[STREAM_LOOKAHEADS];
    char key[80];
    if (!l) return STENO_OK;
    if (l->n > STREAM_LOOKAHEADS)
        return err_set(e, STENO_EFORMAT, "%s: %s has %llu numbers, want at most %d", w->name, l->key, (unsigned long long)l->n,
                       STREAM_LOOKAHEADS);
    int rc = meta_list_numbers(l, 0, l->n, x, e);
    for (uint64_t i = 0; i < l->n && !rc; i++) {
        if (!(x[i] >= 0 && x[i] < STREAM_ROWS) || x[i] != (int)x[i])
            return err_set(e, STENO_EFORMAT, "%s: %s has %g, want 0..%d", w->name, l->key, x[i], STREAM_ROWS - 1);
        snprintf(key, sizeof key, "encoder_config.supported_num_lookahead_tokens.%d", (int)i);
        rc = parakeet_add_number(w, key, l->key, (int64_t)x[i], e);
    }
    return rc;
}

static int take_stream(struct weights *w, steno_error *e)
{
    static const struct parakeet_setting own[] = {
        { "asr.encoder.train_right_ctx", "encoder_config.default_num_lookahead_tokens" }, { "asr.rnnt.num_prompts", "num_prompts" },
    };
    int32_t behind = 0;
    int rc = meta_int(&w->meta, w->name, "asr.encoder.train_left_ctx", 0, 4095, 0, &behind, e);
    if (!rc) rc = parakeet_add_number(w, "encoder_config.sliding_window", "asr.encoder.train_left_ctx", (int64_t)behind + 1, e);
    if (!rc) rc = parakeet_rename_settings(w, own, sizeof own / sizeof *own, e);
    if (!rc) rc = add_lookaheads(w, e);
    return rc ? rc : add_prompts(w, e);
}

/* A CTC head's classes do not count blank, which comes after them. */
static int add_classes(struct weights *w, steno_error *e)
{
    int32_t classes = 0, blank = 0;
    int rc = meta_int(&w->meta, w->name, "asr.ctc.num_classes", 1, 1 << 20, 0, &classes, e);
    blank = classes;
    if (!rc) rc = meta_int(&w->meta, w->name, "asr.ctc.blank_id", classes, classes, 1, &blank, e);
    return rc ? rc : parakeet_add_number(w, "vocab_size", "asr.ctc.num_classes", classes + 1, e);
}

/* ---- the tokenizer */

/* Pieces with their kinds. Without a SentencePiece model those listed are used, whose kinds follow from their spelling. */
static int read_pieces(struct weights *w, steno_error *e)
{
    const char *text = meta_text(&w->meta, "asr.tokenizer.spm_model", NULL);
    if (!text) return STENO_OK;
    const size_t n = strlen(text);
    struct file *f = arena_array(&w->arena, 1, sizeof *f);
    uint8_t *bytes = arena_alloc(&w->arena, n / 4 * 3 + 1);
    if (!f || !bytes) return err_nomem(e, n, "a SentencePiece model");
    const int64_t len = bytes_of_base64(bytes, text, n);
    if (len < 0 || !sentencepiece_match(bytes, (size_t)len))
        return err_set(e, STENO_EFORMAT, "%s: asr.tokenizer.spm_model is no SentencePiece model in base64", w->name);
    file_from_memory(f, w->name, bytes, (size_t)len);
    return vocab_take_sentencepiece(w, f, e);
}

int parakeet_take_gguf(struct weights *w, steno_error *e)
{
    const enum parakeet_head head = parakeet_gguf_head(w);
    if (head == PARAKEET_NONE) return STENO_OK;
    int rc = check(w, e);
    if (!rc) rc = read_pieces(w, e);
    if (!rc) rc = parakeet_rename_settings(w, renamed, sizeof renamed / sizeof *renamed, e);
    if (!rc && parakeet_gguf_is_stream(w)) rc = take_stream(w, e);
    if (!rc && head == PARAKEET_CTC) rc = add_classes(w, e);
    if (!rc && head == PARAKEET_TDT) rc = add_durations(w, e);
    return rc ? rc : parakeet_add_sizes(w, head, e);
}

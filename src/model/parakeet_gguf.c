/* steno: NVIDIA's GGUF form of a Parakeet model. SPDX-License-Identifier: MIT
 *
 * Reference: NeMo-Speech.cpp's converter. Keys begin with "asr."; tensors have NeMo's names, except for those of LSTMs. The tokenizer is a
 * SentencePiece model in base64, or a list of its pieces. */
#include <stdio.h>
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

/* ---- what is not supported */

static const struct parakeet_text texts[] = {
    { "asr.encoder.q8_layout", "block_q8_0", NULL }, { "asr.encoder.qkv_q8_layout", "block_q8_0", NULL },
    { "asr.encoder.conv_norm", "batch_norm", NULL }, { "asr.encoder.conv_context", "None", NULL },
    { "asr.encoder.att_context_style", "regular", NULL }, { "asr.preprocessor.normalize", "per_feature", NULL },
    { "asr.tokenizer.type", "sentencepiece_bpe", NULL }, { NULL, NULL, NULL },
};

static const struct parakeet_flag flags[] = {
    { "asr.preprocessor.stft_center_window", 1 }, { "asr.preprocessor.hann_periodic", 0 }, { "asr.preprocessor.mask_invalid_frames", 1 },
    { NULL, 0 },
};

static const struct parakeet_number numbers[] = {
    { "asr.preprocessor.sample_rate", 16000 }, { "asr.preprocessor.window_size", 0.025 }, { "asr.preprocessor.window_stride", 0.01 },
    { "asr.preprocessor.n_fft", 512 }, { "asr.preprocessor.preemph", 0.97 }, { "asr.rnnt.num_prompts", 0 }, { NULL, 0 },
};

static int check(const struct weights *w, steno_error *e)
{
    const char *head = meta_text(&w->meta, "asr.head_type", "missing");
    int32_t mels = 0, features = 0;
    if (strcmp(head, "ctc") && strcmp(head, "rnnt") && strcmp(head, "tdt"))
        return parakeet_refuse(w, "asr.head_type", head, "ctc, rnnt and tdt", e);
    int rc = parakeet_check_texts(w, texts, e);
    if (!rc) rc = parakeet_check_flags(w, flags, e);
    if (!rc) rc = parakeet_check_numbers(w, numbers, e);
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
        rc = parakeet_add_setting(w, key, META_INT, (int64_t)x[i], NULL, e);
    }
    return rc;
}

/* A CTC head's classes do not count blank, which comes after them. */
static int add_classes(struct weights *w, steno_error *e)
{
    int32_t classes = 0, blank = 0;
    int rc = meta_int(&w->meta, w->name, "asr.ctc.num_classes", 1, 1 << 20, 0, &classes, e);
    blank = classes;
    if (!rc) rc = meta_int(&w->meta, w->name, "asr.ctc.blank_id", classes, classes, 1, &blank, e);
    return rc ? rc : parakeet_add_setting(w, "vocab_size", META_INT, classes + 1, NULL, e);
}

/* ---- the tokenizer */

/* Pieces with their kinds. Without a SentencePiece model those listed are used, whose kinds follow from their spelling. */
static int read_pieces(struct weights *w, steno_error *e)
{
    const char *text = meta_text(&w->meta, "asr.tokenizer.spm_model", NULL);
    struct file f;
    if (!text) return STENO_OK;
    const size_t n = strlen(text);
    uint8_t *bytes = arena_alloc(&w->arena, n / 4 * 3 + 1);
    if (!bytes) return err_nomem(e, n, "a SentencePiece model");
    const int64_t len = bytes_of_base64(bytes, text, n);
    if (len < 0 || !sentencepiece_match(bytes, (size_t)len))
        return err_set(e, STENO_EFORMAT, "%s: asr.tokenizer.spm_model is no SentencePiece model in base64", w->name);
    file_from_memory(&f, w->name, bytes, (size_t)len);
    return vocab_take_sentencepiece(w, &f, e);
}

int parakeet_take_gguf(struct weights *w, steno_error *e)
{
    const enum parakeet_head head = parakeet_gguf_head(w);
    if (head == PARAKEET_NONE) return STENO_OK;
    int rc = check(w, e);
    if (!rc) rc = read_pieces(w, e);
    if (!rc) rc = parakeet_rename_settings(w, renamed, sizeof renamed / sizeof *renamed, e);
    if (!rc && head == PARAKEET_CTC) rc = add_classes(w, e);
    if (!rc && head == PARAKEET_TDT) rc = add_durations(w, e);
    return rc ? rc : parakeet_add_sizes(w, head, e);
}

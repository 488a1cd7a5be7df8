/* steno: NeMo's settings of a Parakeet model. SPDX-License-Identifier: MIT
 *
 * The settings of model_config.yaml under the names of Hugging Face's config.json, and refusals of what is not supported. Sizes that the
 * configuration may leave out follow from the tensors. */
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"

enum parakeet_head parakeet_nemo_head(const struct weights *w)
{
    static const struct { const char *end; enum parakeet_head head; } known[] = {
        { "EncDecCTCModelBPE", PARAKEET_CTC }, { "EncDecRNNTBPEModel", PARAKEET_RNNT }, { "EncDecHybridRNNTCTCBPEModel", PARAKEET_RNNT },
        { "EncDecRNNTBPEModelWithPrompt", PARAKEET_RNNT },
    };
    const char *target = meta_text(&w->meta, "target", ""), *last = strrchr(target, '.');
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(last ? last + 1 : target, known[i].end)) {
            const int is_tdt = meta_find(&w->meta, "decoding.durations.0") || meta_find(&w->meta, "model_defaults.tdt_durations.0");
            return known[i].head == PARAKEET_RNNT && is_tdt ? PARAKEET_TDT : known[i].head;
        }
    return PARAKEET_NONE;
}

int parakeet_nemo_is_stream(const struct weights *w)
{
    const int is_limited = !strcmp(meta_text(&w->meta, "encoder.att_context_style", ""), "chunked_limited");
    return is_limited && parakeet_nemo_head(w) == PARAKEET_RNNT;
}

/* ---- what is not supported */

/* The style is first, because other settings follow from it. */
static const struct parakeet_text texts[] = {
    { "encoder.att_context_style", "regular", NULL }, { "encoder.subsampling", "dw_striding", NULL },
    { "encoder.conv_norm_type", "batch_norm", NULL }, { "encoder.self_attention_model", "rel_pos", "rel_pos_local_attn" },
    { "encoder.reduction", "", NULL }, { "encoder.conv_context_size", "", NULL }, { "decoder.normalization_mode", "", NULL },
    { "joint.jointnet.activation", "relu", NULL }, { "preprocessor.normalize", "per_feature", NULL },
    { "preprocessor.window", "hann", NULL }, { "tokenizer.type", "bpe", NULL }, { NULL, NULL, NULL },
};

static const struct parakeet_flag flags[] = {
    { "encoder.causal_downsampling", 0 }, { "encoder.untie_biases", 1 }, { "preprocessor.log", 1 }, { NULL, 0 },
};

/* Of models of streams. */
static const struct parakeet_text stream_texts[] = {
    { "encoder.subsampling", "dw_striding", NULL }, { "encoder.conv_norm_type", "batch_norm", "layer_norm" },
    { "encoder.self_attention_model", "rel_pos", NULL }, { "encoder.reduction", "", NULL }, { "decoder.normalization_mode", "", NULL },
    { "joint.jointnet.activation", "relu", NULL }, { "preprocessor.window", "hann", NULL }, { "tokenizer.type", "bpe", NULL },
    { NULL, NULL, NULL },
};

static const struct parakeet_flag stream_flags[] = {
    { "encoder.causal_downsampling", 1 }, { "encoder.untie_biases", 1 }, { "preprocessor.log", 1 }, { NULL, 0 },
};

/* Settings that are not the usual ones, and so must be there. */
static int check_stream(const struct weights *w, steno_error *e)
{
    static const struct parakeet_text must[] = { { "preprocessor.normalize", "NA", NULL }, { "encoder.conv_context_size", "causal", NULL },
                                                 { NULL, NULL, NULL } };
    for (const struct parakeet_text *t = must; t->key; t++) {
        const char *is = meta_text(&w->meta, t->key, "missing");
        if (strcmp(is, t->want) != 0) return parakeet_refuse(w, t->key, is, t->want, e);
    }
    if (!meta_find(&w->meta, "encoder.causal_downsampling"))
        return parakeet_refuse(w, "encoder.causal_downsampling", "missing", "true", e);
    return STENO_OK;
}

static const struct parakeet_number numbers[] = {
    { "preprocessor.sample_rate", 16000 }, { "preprocessor.window_size", 0.025 }, { "preprocessor.window_stride", 0.01 },
    { "preprocessor.n_fft", 512 }, { "preprocessor.frame_splicing", 1 }, { "preprocessor.preemph", 0.97 },
    { "encoder.feat_out", -1 }, { "encoder.global_tokens", 0 }, { NULL, 0 },
};

static int check_others(const struct weights *w, steno_error *e)
{
    const char *decoder = meta_text(&w->meta, "decoder._target_", "");
    if (strstr(decoder, "Stateless")) return parakeet_refuse(w, "decoder._target_", decoder, "an LSTM", e);
    static const char *const blanks[] = { "decoding.big_blank_durations", "loss.multiblank_rnnt_kwargs.big_blank_durations" };
    for (int i = 0; i < 2; i++) {
        char first[64];
        snprintf(first, sizeof first, "%s.0", blanks[i]);
        if (meta_find(&w->meta, first)) return parakeet_refuse(w, blanks[i], "set", "one blank", e);
    }
    return STENO_OK;
}

/* Models that follow one of several speakers change the rows of a layer by the speaker's activity. */
static int check_tensors(const struct weights *w, steno_error *e)
{
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strncmp(w->tensor[i].name, "spk_kernels.", 12))
            return err_set(e, STENO_EUNSUPPORTED, "%s: tensor %s is of a model that needs the activity of each speaker; take a model "
                           "for one speaker", w->name, w->tensor[i].name);
    return STENO_OK;
}

/* ---- the settings by their other names */

static const struct parakeet_setting renamed[] = {
    { "encoder.d_model", "encoder_config.hidden_size" }, { "encoder.n_layers", "encoder_config.num_hidden_layers" },
    { "encoder.n_heads", "encoder_config.num_attention_heads" }, { "encoder.conv_kernel_size", "encoder_config.conv_kernel_size" },
    { "encoder.feat_in", "encoder_config.num_mel_bins" }, { "encoder.subsampling_factor", "encoder_config.subsampling_factor" },
    { "encoder.xscaling", "encoder_config.scale_input" }, { "decoding.greedy.max_symbols", "max_symbols_per_step" },
};

static int add_durations(struct weights *w, steno_error *e)
{
    int rc = STENO_OK;
    for (int i = 0; !rc; i++) {
        char from[64], to[32];
        snprintf(from, sizeof from, "decoding.durations.%d", i);
        const struct meta_entry *it = meta_find(&w->meta, from);
        snprintf(from, sizeof from, "model_defaults.tdt_durations.%d", i);
        if (!it && !meta_find(&w->meta, "decoding.durations.0")) it = meta_find(&w->meta, from);
        if (!it) break;
        struct meta_entry copy = *it;
        snprintf(to, sizeof to, "durations.%d", i);
        copy.written = it->key;
        copy.key = to;
        rc = meta_add(&w->meta, &copy, e);
    }
    return rc;
}

/* ---- streams */

static const char contexts[] = "encoder.att_context_size";

/* Pair i of att_context_size, which is a pair or a list of pairs. *has 0: there is none */
static int read_pair(const struct weights *w, int i, int32_t pair[2], int *has, steno_error *e)
{
    char key[2][64];
    for (int k = 0; k < 2; k++) snprintf(key[k], sizeof key[k], "%s.%d.%d", contexts, i, k);
    if (!i && !meta_find(&w->meta, key[0]))
        for (int k = 0; k < 2; k++) snprintf(key[k], sizeof key[k], "%s.%d", contexts, k);
    *has = meta_find(&w->meta, key[0]) != NULL;
    if (!*has && !i) return err_set(e, STENO_EFORMAT, "%s: %s has no pair of numbers of rows", w->name, contexts);
    int rc = STENO_OK;
    for (int k = 0; k < 2 && *has && !rc; k++) rc = meta_int(&w->meta, w->name, key[k], 0, 4095, 0, &pair[k], e);
    return rc;
}

static int take_stream(struct weights *w, steno_error *e)
{
    int32_t pair[2] = { 0 }, behind = 0, prompts = 0;
    int has = 1, rc = STENO_OK;
    for (int i = 0; !rc && has; i++) {
        char key[64];
        rc = read_pair(w, i, pair, &has, e);
        if (rc || !has) break;
        if (!i) behind = pair[0];
        if (pair[0] != behind)
            return err_set(e, STENO_EUNSUPPORTED, "%s: encoder.att_context_size has %d and %d earlier rows, this version supports one "
                           "number", w->name, (int)behind, (int)pair[0]);
        snprintf(key, sizeof key, "encoder_config.supported_num_lookahead_tokens.%d", i);
        if (!i) rc = parakeet_add_number(w, "encoder_config.default_num_lookahead_tokens", contexts, pair[1], e);
        if (!rc) rc = parakeet_add_number(w, key, contexts, pair[1], e);
    }
    if (!rc) rc = parakeet_add_number(w, "encoder_config.sliding_window", contexts, (int64_t)behind + 1, e);
    if (rc || meta_find(&w->meta, "num_prompts") || !meta_find(&w->meta, "model_defaults.num_prompts")) return rc;
    rc = meta_int(&w->meta, w->name, "model_defaults.num_prompts", 1, 4096, 0, &prompts, e);
    return rc ? rc : parakeet_add_number(w, "num_prompts", "model_defaults.num_prompts", prompts, e);
}

int parakeet_take_nemo(struct weights *w, steno_error *e)
{
    const enum parakeet_head head = parakeet_nemo_head(w);
    if (head == PARAKEET_NONE) return STENO_OK;
    const int streams = parakeet_nemo_is_stream(w);
    int rc = parakeet_check_texts(w, streams ? stream_texts : texts, e);
    if (!rc) rc = parakeet_check_flags(w, streams ? stream_flags : flags, e);
    if (!rc && streams) rc = check_stream(w, e);
    if (!rc && streams) rc = take_stream(w, e);
    if (!rc) rc = parakeet_check_numbers(w, numbers, e);
    if (!rc) rc = check_others(w, e);
    if (!rc) rc = check_tensors(w, e);
    if (!rc) rc = parakeet_rename_settings(w, renamed, sizeof renamed / sizeof *renamed, e);
    if (!rc) rc = parakeet_add_sizes(w, head, e);
    return !rc && head == PARAKEET_TDT ? add_durations(w, e) : rc;
}

static int has_member(const struct weights *w, const char *list, int i)
{
    char key[48];
    snprintf(key, sizeof key, "%s.%d", list, i);
    return meta_find(&w->meta, key) != NULL;
}

/* Keys that a row sees before and after itself: a pair, or the first of several pairs. */
int parakeet_read_context(struct parakeet_shape *s, const struct weights *w, steno_error *e)
{
    static const char first[] = "encoder.att_context_size.0";
    const char *list = has_member(w, first, 0) ? first : contexts;
    const struct meta_entry *it = meta_find(&w->meta, contexts);
    int32_t *const side[2] = { &s->behind, &s->ahead };
    const int n = has_member(w, list, 0) + has_member(w, list, 1) + has_member(w, list, 2);
    int rc = STENO_OK;
    s->behind = s->ahead = -1;
    if (!n && (!it || it->kind == META_NULL)) return STENO_OK;
    if (n != 2)
        return err_set(e, STENO_EFORMAT, "%s: %s is not a pair of numbers: rows before and after, -1 for all", w->name, list);
    for (int i = 0; i < n && !rc; i++) {
        char key[48];
        snprintf(key, sizeof key, "%s.%d", list, i);
        rc = meta_int(&w->meta, w->name, key, -1, 1 << 20, 0, side[i], e);
    }
    return rc;
}

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
    };
    const char *target = meta_text(&w->meta, "target", ""), *last = strrchr(target, '.');
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(last ? last + 1 : target, known[i].end)) {
            const int is_tdt = meta_find(&w->meta, "decoding.durations.0") || meta_find(&w->meta, "model_defaults.tdt_durations.0");
            return known[i].head == PARAKEET_RNNT && is_tdt ? PARAKEET_TDT : known[i].head;
        }
    return PARAKEET_NONE;
}

/* ---- what is not supported */

static const struct parakeet_text texts[] = {
    { "encoder.subsampling", "dw_striding", NULL }, { "encoder.conv_norm_type", "batch_norm", NULL },
    { "encoder.self_attention_model", "rel_pos", "rel_pos_local_attn" }, { "encoder.att_context_style", "regular", NULL },
    { "encoder.reduction", "", NULL }, { "encoder.conv_context_size", "", NULL }, { "decoder.normalization_mode", "", NULL },
    { "joint.jointnet.activation", "relu", NULL }, { "preprocessor.normalize", "per_feature", NULL },
    { "preprocessor.window", "hann", NULL }, { "tokenizer.type", "bpe", NULL }, { NULL, NULL, NULL },
};

static const struct parakeet_flag flags[] = {
    { "encoder.causal_downsampling", 0 }, { "encoder.untie_biases", 1 }, { "preprocessor.log", 1 }, { NULL, 0 },
};

static const struct parakeet_number numbers[] = {
    { "preprocessor.sample_rate", 16000 }, { "preprocessor.window_size", 0.025 }, { "preprocessor.window_stride", 0.01 },
    { "preprocessor.n_fft", 512 }, { "preprocessor.frame_splicing", 1 }, { "preprocessor.preemph", 0.97 },
    { "encoder.feat_out", -1 }, { "encoder.global_tokens", 0 }, { NULL, 0 },
};

static int check_others(const struct weights *w, steno_error *e)
{
    const char *decoder = meta_text(&w->meta, "decoder._target_", "");
    if (strstr(decoder, "Stateless")) return parakeet_refuse(w, "decoder._target_", decoder, "an LSTM", e);
    if (meta_find(&w->meta, "decoding.big_blank_durations.0") || meta_find(&w->meta, "loss.multiblank_rnnt_kwargs.big_blank_durations.0"))
        return parakeet_refuse(w, "big_blank_durations", "set", "one blank", e);
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
        copy.key = to;
        rc = meta_add(&w->meta, &copy, e);
    }
    return rc;
}

int parakeet_take_nemo(struct weights *w, steno_error *e)
{
    const enum parakeet_head head = parakeet_nemo_head(w);
    if (head == PARAKEET_NONE) return STENO_OK;
    int rc = parakeet_check_texts(w, texts, e);
    if (!rc) rc = parakeet_check_flags(w, flags, e);
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
    static const char one[] = "encoder.att_context_size", first[] = "encoder.att_context_size.0";
    const char *list = has_member(w, first, 0) ? first : one;
    const struct meta_entry *it = meta_find(&w->meta, one);
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

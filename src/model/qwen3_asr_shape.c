/* steno: settings and names of Qwen3-ASR's files. SPDX-License-Identifier: MIT
 *
 * The original files have settings in thinker_config and tensors named thinker.*; those of transformers have both without that prefix, and
 * a name of its own for the projector. GGUF files have the settings after the architecture's name. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "model/qwen3_asr.h"

/* ---- names */

struct spelling { const char *from, *to; };

static const struct spelling start[] = {
    { "thinker.", "" }, { "model.audio_tower.", "audio_tower." }, { "model.multi_modal_projector.linear_1.", "audio_tower.proj1." },
    { "model.multi_modal_projector.linear_2.", "audio_tower.proj2." }, { "model.language_model.", "model." }, { "score.", "lm_head." },
};

static const struct spelling part[] = {
    { "self_attn.q_proj.", "self_attn.linear_q." }, { "self_attn.k_proj.", "self_attn.linear_k." },
    { "self_attn.v_proj.", "self_attn.linear_v." }, { "self_attn.out_proj.", "self_attn.linear_out." },
};

static int begin_name(const char *name, char *out, size_t n)
{
    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        if (!strncmp(name, start[i].from, strlen(start[i].from)))
            return snprintf(out, n, "%s%s", start[i].to, name + strlen(start[i].from)) < (int)n;
    return 0;
}

/* Layers have the names of sub_attn_linear. */
static int layer_name(const char *name, char *out, size_t n)
{
    int layer = 0, at = 0;
    if (sscanf(name, "audio_tower.layers.%4d.%n", &layer, &at) != 1 || !at) return 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (!strncmp(name + at, part[i].from, strlen(part[i].from)))
            return snprintf(out, n, "audio_tower.layers.%d.%s%s", layer, part[i].to, name + at + strlen(part[i].from)) < (int)n;
    return 0;
}

const char qwen3_asr_architecture[] = "qwen3-asr";

int qwen3_asr_respell(struct weights *w, steno_error *e)
{
    meta_lift(&w->meta, "thinker_config.");
    meta_lift(&w->meta, "qwen3-asr.");
    const int rc = weights_rename(w, begin_name, e);
    return rc ? rc : weights_rename(w, layer_name, e);
}

/* ---- settings */

/* The aligner's network has classes of times instead of tokens. */
int qwen3_asr_is_aligner(const struct weights *w)
{
    static const char *const key[] = { "thinker_config.classify_num", "classify_num", "timestamp_segment_time" };
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (meta_find(&w->meta, key[i])) return 1;
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, "score.weight")) return 1;
    return strstr(meta_text(&w->meta, "thinker_config.model_type", ""), "forced_aligner") ||
           strstr(meta_text(&w->meta, "architectures.0", ""), "TokenClassification");
}

#define AT(field) offsetof(struct qwen3_asr_shape, field)
static const struct setting { const char *key; int32_t lo, hi; size_t at; } setting[] = {
    { "audio_config.d_model", 8, 8192, AT(d) },
    { "audio_config.encoder_layers", 1, 128, AT(layers) },
    { "audio_config.encoder_attention_heads", 1, 256, AT(heads) },
    { "audio_config.encoder_ffn_dim", 1, 65536, AT(d_ff) },
    { "audio_config.num_mel_bins", 8, SPECTRUM_BANDS, AT(n_mels) },
    { "audio_config.downsample_hidden_size", 1, 4096, AT(channels) },
    { "audio_config.output_dim", 4, 65536, AT(d_out) },
    { "audio_config.n_window", 4, 500, AT(half_chunk) },
    { "audio_config.n_window_infer", 8, 8000, AT(window) },
    { "audio_token_id", 0, INT32_MAX, AT(audio_token) },
};
#undef AT

static int check_shape(const struct qwen3_asr_shape *s, const struct weights *w, steno_error *e)
{
    const char *act = meta_text(&w->meta, "audio_config.activation_function", "gelu");
    const struct meta_entry *scales = meta_find(&w->meta, "audio_config.scale_embedding");
    if (s->d % s->heads || s->d / s->heads % 4 || s->d / s->heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %d heads do not divide a width of %d into multiples of 4 up to %d", w->name, (int)s->heads,
                       (int)s->d, HEAD_MAX);
    if (s->window % (2 * s->half_chunk))
        return err_set(e, STENO_EFORMAT, "%s: audio_config.n_window_infer is %d, want a multiple of %d, twice n_window", w->name,
                       (int)s->window, 2 * (int)s->half_chunk);
    if (strcmp(act, "gelu") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: audio_config.activation_function is %.40s, this version supports gelu", w->name, act);
    if (scales && scales->kind == META_BOOL && scales->i)
        return err_set(e, STENO_EUNSUPPORTED, "%s: audio_config.scale_embedding is true, which this version does not support", w->name);
    return STENO_OK;
}

int qwen3_asr_read_shape(struct qwen3_asr_shape *s, struct weights *w, steno_error *e)
{
    int rc = STENO_OK;
    *s = (struct qwen3_asr_shape){ 0 };
    for (size_t i = 0; i < sizeof setting / sizeof *setting && !rc; i++)
        rc = meta_int(&w->meta, w->name, setting[i].key, setting[i].lo, setting[i].hi, 0,
                      (int32_t *)(void *)((char *)s + setting[i].at), e);
    return rc ? rc : check_shape(s, w, e);
}

void qwen3_asr_each_setting(const struct qwen3_asr_shape *s, void (*put)(void *user, const char *name, int32_t v), void *user)
{
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
        int32_t v;
        memcpy(&v, (const char *)s + setting[i].at, sizeof v);
        put(user, setting[i].key, v);
    }
}

/* steno: Fun-ASR-Nano: settings of its files. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "load/join.h"
#include "model/funasr.h"
#include "model/lm.h"
#include "model/nano.h"

const char nano_architecture[] = "funasr-sensevoice-encoder";

#define AT(field) offsetof(struct nano_shape, field)
static const struct funasr_setting setting[] = {
    { NULL, "funasr.enc.input_size", 1, 8192, 0, AT(enc.width) },
    { "audio_encoder_conf.output_size", "funasr.enc.output_size", 4, 8192, 0, AT(enc.d) },
    { "audio_encoder_conf.attention_heads", "funasr.enc.attention_heads", 1, 256, 0, AT(enc.heads) },
    { "audio_encoder_conf.linear_units", "funasr.enc.linear_units", 1, 65536, 0, AT(enc.d_ff) },
    { "audio_encoder_conf.num_blocks", "funasr.enc.num_blocks", 1, 256, 0, AT(enc.layers) },
    { "audio_encoder_conf.tp_blocks", "funasr.enc.tp_blocks", 0, 256, 0, AT(more_layers) },
    { "audio_encoder_conf.kernel_size", "funasr.enc.kernel_size", 1, FSMN_TAPS, FUNASR_CONFIG, AT(enc.taps) },
    { "audio_encoder_conf.sanm_shfit", "funasr.enc.sanm_shfit", 0, 0, FUNASR_CONFIG, AT(enc.shift) }, /* spelled as in FunASR */
    { "audio_adaptor_conf.llm_dim", "funasr.adp.llm_dim", 4, 8192, 0, AT(adp.d) },
    { "audio_adaptor_conf.encoder_dim", "funasr.adp.encoder_dim", 4, 8192, 0, AT(adp.d_in) },
    { "audio_adaptor_conf.ffn_dim", "funasr.adp.ffn_dim", 4, 65536, 0, AT(adp.d_ff) },
    { "audio_adaptor_conf.n_layer", "funasr.adp.n_layer", 0, 64, FUNASR_CONFIG, AT(adp.layers) },
    { "audio_adaptor_conf.attention_heads", "funasr.adp.attention_heads", 1, 256, FUNASR_CONFIG, AT(adp.heads) },
    { "audio_adaptor_conf.downsample_rate", "funasr.adp.downsample_rate", 1, 1, 0, AT(adp.downsample) },
    { "frontend_conf.n_mels", "funasr.frontend.n_mels", 1, SPECTRUM_BANDS, FUNASR_CONFIG, AT(enc.n_mels) },
    { "frontend_conf.lfr_m", "funasr.frontend.lfr_m", 1, FBANK_LFR_MAX, FUNASR_CONFIG, AT(enc.lfr_m) },
    { "frontend_conf.lfr_n", "funasr.frontend.lfr_n", 1, FBANK_LFR_MAX, FUNASR_CONFIG, AT(enc.lfr_n) },
};
#undef AT
static const struct nano_shape usual = { .enc = { .taps = 11, .n_mels = 80, .lfr_m = 7, .lfr_n = 6 },
                                         .adp = { .layers = 2, .heads = 8, .downsample = 1 } };
const struct funasr_settings nano_settings = { setting, sizeof setting / sizeof *setting, &usual };

int nano_read_shape(struct nano_shape *s, struct weights *w, steno_error *e)
{
    *s = usual;
    s->enc.eps = 1e-5f;
    int rc = funasr_read_settings(s, &nano_settings, w, e);
    if (!rc) rc = sanm_encoder_check(&s->enc, w, e);
    if (rc) return rc;
    if (s->adp.d_in != s->enc.d)
        return err_set(e, STENO_EFORMAT, "%s: the adaptor reads rows of %d numbers, but the encoder's have %d", w->name, (int)s->adp.d_in,
                       (int)s->enc.d);
    if (s->adp.d % s->adp.heads || s->adp.d / s->adp.heads % 4 || s->adp.d / s->adp.heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: the adaptor's %d heads do not divide a width of %d into multiples of 4 up to %d", w->name,
                       (int)s->adp.heads, (int)s->adp.d, HEAD_MAX);
    return STENO_OK;
}

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

/* In a GGUF file the language model's tensors have their usual names. A folder's checkpoint holds both networks. */
static int name_of(const char *name, char *out, size_t n)
{
    static const struct { const char *from, *to; } part[] = { { "audio_encoder.", "encoder." }, { "llm.model.", "model." },
                                                              { "llm.lm_head.", "lm_head." } };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const size_t len = strlen(part[i].from);
        if (!strncmp(name, part[i].from, len)) return snprintf(out, n, "%s%s", part[i].to, name + len) < (int)n;
    }
    return 0;
}

/* Folder of the language model. The settings name it; a path in them may be one of the training machine. */
static const char *folder_of(const struct weights *w)
{
    const char *path = meta_text(&w->meta, "llm_conf.init_param_path", "Qwen3-0.6B"), *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int nano_join(struct weights *w, const char *llm, steno_error *e)
{
    const int is_gguf = funasr_is_gguf(w), has_own = !is_gguf || weights_find(w, "token_embd.weight") != NULL;
    if (llm && has_own)
        return err_set(e, STENO_EARG, "llm is for the encoder's file of two; %s has its own language model: leave it out", w->name);
    if (!is_gguf) return weights_join_folder(w, folder_of(w), e);
    return has_own ? STENO_OK : weights_join_gguf(w, lm_qwen3->name, llm, e);
}

int nano_rename(struct weights *w, steno_error *e)
{
    return weights_rename(w, name_of, e);
}

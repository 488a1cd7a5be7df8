/* steno: Fun-ASR-Nano as data. SPDX-License-Identifier: MIT
 *
 * It consists of SenseVoice's encoder without its queries and without feature normalisation, an adaptor of two linears and two transformer
 * blocks, and a Qwen3 model. The first rows of the adaptor take the place of tokens in the prompt. A folder of FunASR has the encoder and
 * the language model in one model.pt, and the language model's settings and tokenizer in a subfolder. FunASR's runtime has two GGUF files.
 * Both may be one file: the encoder's file with the tensors and keys of the other. Reference: FunASR 1.4,
 * funasr/models/fun_asr_nano/model.py. */
#include "model/nano.h"
#include "model/parts.h"

#include <stdio.h>
#include <string.h>
#include "load/join.h"
#include "model/funasr.h"
#include "model/lm.h"
#include "plan/bind.h"
#include "plan/build.h"

enum {
    WINDOW_ROWS = 250,   /* 15 s of rows every 60 ms: with longer clips the text loops */
    SEGMENT_ROWS = 500,  /* 30 s: the longest segment of speech that the reference passes to it */
    RUN_ROWS = 1000,     /* of a run that clips share */
    CTX_USUAL = 1024     /* positions of prompt and text: 30 s, 512 ids, and half of that again for hot words */
};

static int nano_match(const struct weights *w)
{
    return funasr_match(w, "FunASRNano", nano_architecture);
}

/* ---- the network --------------------------------------------------------------------------------------------------------------- */

static uint16_t build_encoder(struct build *b, const struct nano_shape *s)
{
    const uint32_t d = (uint32_t)s->enc.d;
    const float eps = s->enc.eps;
    build_phase(b, "encode");
    const uint16_t mid = build_slot(b, d), out = build_slot(b, d), x = sanm_encoder_build(b, &s->enc);
    b->plan.encoded = b->plan.side_output[AUDIO_LM_ENCODED] = out;
    emit(b, OP_NORM, "encoder.after_norm", mid, x, bind_norm(b, "encoder.after_norm.weight", "encoder.after_norm.bias", d, eps));
    sanm_encoder_more(b, &s->enc, "encoder.tp_encoders", (uint32_t)s->more_layers, mid);
    emit(b, OP_NORM, "encoder.tp_norm", out, mid, bind_norm(b, "encoder.tp_norm.weight", "encoder.tp_norm.bias", d, eps));
    return out;
}

/* Its rows attend to all rows of the clip, including those that the language model does not get. */
static void build_adaptor(struct build *b, const struct nano_shape *s, uint16_t in)
{
    static const struct nano_adaptor_names names = { "audio_adaptor.linear1.weight", "audio_adaptor.linear1.bias",
                                                     "audio_adaptor.linear2.weight", "audio_adaptor.linear2.bias",
                                                     "adaptor.linear1", "adaptor.linear2", "audio_adaptor.blocks" };
    build_phase(b, "adapt");
    b->plan.output = nano_adaptor_build(b, &s->adp, &names, in);
}

/* Features are not normalised. */
static int open_front(steno_model *m, const struct sanm_encoder *s, steno_error *e)
{
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!bank) return err_nomem(e, sizeof *bank, "filter banks");
    return fbank_bank_init(bank, &m->arena, &(struct fbank_params){ s->n_mels, s->lfr_m, s->lfr_n, NULL, NULL }, &m->kern, e);
}

static int describe_audio(steno_model *m, const struct nano_shape *s, struct weights *w, steno_error *e)
{
    struct build b;
    const struct build_params p = { .name = "encoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = RUN_ROWS, .max_out = 1, .precision = sanm_precision(m),
                                    .unfused = m->opening->unfused };
    m->audio_ctx = WINDOW_ROWS;
    m->segment_ctx = SEGMENT_ROWS;
    m->widths = (struct model_widths){ .n_mels = s->enc.n_mels, .audio_state = s->enc.d, .audio_heads = s->enc.heads,
                                       .audio_layers = s->enc.layers + s->more_layers };
    build_begin(&b, &p, e);
    build_adaptor(&b, s, build_encoder(&b, s));
    const int rc = build_end(&b, &m->plan[PLAN_ENCODER]);
    return rc ? rc : open_front(m, &s->enc, e);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------- */

static int describe_text(steno_model *m, const struct nano_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *t = weights_find(w, "blk.0.attn_q.weight");
    if (!t) t = weights_find(w, "model.layers.0.self_attn.q_proj.weight");
    const struct lm_part part = { .plan = PLAN_DECODER, .takes_rows = 1, .ctx_most = CTX_USUAL, .stored = t ? t->type : m->matrix_type };
    const char *own = weights_speak_of(w, w->joined);
    const int rc = lm_add(m, lm_qwen3, w, &part, e);
    weights_speak_of(w, own);
    if (rc || m->widths.text_state == s->adp.d) return rc;
    return err_set(e, STENO_EFORMAT, "%s: rows of the adaptor have %d numbers, but the language model's have %d", w->name, (int)s->adp.d,
                   (int)m->widths.text_state);
}

static int nano_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct nano_shape s;
    const uint32_t own = w->n_tensors;
    int rc = nano_join(w, m->opening->llm, e);
    if (rc) return rc;
    for (uint32_t i = own; i < w->n_tensors; i++)
        m->parameters += (int64_t)(w->tensor[i].dim[0] * w->tensor[i].dim[1] * w->tensor[i].dim[2] * w->tensor[i].dim[3]);
    rc = nano_rename(w, e);
    if (!rc) rc = nano_read_shape(&s, w, e);
    if (rc) return rc;
    m->name = "nano";
    rc = describe_audio(m, &s, w, e);
    if (!rc) rc = describe_text(m, &s, w, e);
    return rc ? rc : nano_ctc_describe(m, w, s.enc.d, SEGMENT_ROWS, e);
}

/* Some files have an incomplete CTC branch, which is ignored. */
static const char *const spare[] = { "ctc_decoder.*", "ctc.*", "lm_head.weight", "rope_freqs.weight", NULL };

const struct family family_nano = {
    .name = "nano",
    .front_end = FRONT_FBANK_CLIPS,
    .task = "audio_lm",
    .low_precision = LOW_PRECISION_ROWS | LOW_PRECISION_STEPS,
    .settings = SETTINGS_GENERATION | SETTINGS_FILES,
    .match = nano_match,
    .describe = nano_describe,
    .audio_lm = &nano_audio_lm,
    .spare = spare,
    .ids_to_bytes = lm_ids_to_bytes,
};

/* ---- settings and files ----------------------------------------------------------------------------------------------------------- */

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

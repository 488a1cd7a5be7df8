/* steno: FSMN-VAD as data. SPDX-License-Identifier: MIT
 *
 * Zhang et al. 2018 (FSMN): affine layers with memories that look back 20 frames, and one probability of silence per 10 ms. The last inputs
 * of the memories are state, so audio of any length passes through in pieces. Reference: FunASR 1.4, funasr/models/fsmn_vad_streaming. */
#include <stdio.h>
#include <string.h>
#include "model/vad.h"
#include "model/parts.h"
#include "plan/bind.h"
#include "plan/build.h"

enum { PIECE_ROWS = 512 /* rows per replay: 5 s */ };

const char vad_architecture[] = "fsmn-vad";

static int vad_match(const struct weights *w)
{
    return funasr_match(w, "FsmnVADStreaming", vad_architecture);
}

#define AT(field) offsetof(struct vad_shape, field)

static const struct funasr_setting setting[] = {
    { "encoder_conf.input_dim", "vad.input_dim", 1, 8192, 0, AT(in) },
    { "encoder_conf.input_affine_dim", "vad.input_affine_dim", 1, 8192, 0, AT(affine) },
    { "encoder_conf.linear_dim", "vad.linear_dim", 1, 8192, 0, AT(linear) },
    { "encoder_conf.proj_dim", "vad.proj_dim", 1, 8192, 0, AT(proj) },
    { "encoder_conf.fsmn_layers", "vad.fsmn_layers", 1, 64, 0, AT(layers) },
    { "encoder_conf.lorder", "vad.lorder", 2, FSMN_TAPS, 0, AT(taps) },
    { "encoder_conf.output_affine_dim", "vad.output_affine_dim", 1, 8192, 0, AT(out_affine) },
    { "encoder_conf.output_dim", "vad.output_dim", 2, 8192, 0, AT(out) },
    { "frontend_conf.n_mels", "vad.n_mels", 1, SPECTRUM_BANDS, FUNASR_CONFIG, AT(n_mels) },
    { "frontend_conf.lfr_m", "vad.lfr_m", 1, FBANK_LFR_MAX, FUNASR_CONFIG, AT(lfr_m) },
    { "frontend_conf.lfr_n", "vad.lfr_n", 1, 1, FUNASR_CONFIG, AT(lfr_n) },
};
#undef AT
enum { EITHER = FUNASR_CONFIG | FUNASR_GGUF };
static const struct vad_shape usual = { .n_mels = 80, .lfr_m = 5, .lfr_n = 1 };
const struct funasr_settings vad_settings = { setting, sizeof setting / sizeof *setting, &usual };

int vad_read_shape(struct vad_shape *s, struct weights *w, steno_error *e)
{
    *s = usual;
    int rc = funasr_read_settings(s, &vad_settings, w, e);
    if (!rc && s->in != s->n_mels * s->lfr_m)
        rc = err_set(e, STENO_EFORMAT, "%s: input_dim is %d, but %d frames of %d mels make %d", w->name, (int)s->in, (int)s->lfr_m,
                     (int)s->n_mels, (int)(s->n_mels * s->lfr_m));
    return rc;
}

/* A linear layer with its own output slot; has_bias 0: no bias. */
static uint16_t affine(struct build *b, const char *name, uint16_t in, int32_t n, int32_t k, int has_bias, enum act act)
{
    char w[128], v[128];
    snprintf(w, sizeof w, "%s.linear.weight", name);
    snprintf(v, sizeof v, "%s.linear.bias", name);
    const uint16_t out = build_slot(b, (uint32_t)n);
    const struct linear_part part = { w, has_bias ? v : NULL, (uint64_t)n };
    const uint16_t bind = bind_matrix(b, &part, (uint64_t)k, LINEAR_OTHER, NO_BIND);
    emit(b, OP_LINEAR, name, out, in, bind);
    if (!b->status) bind_at(b, bind)->act = (uint8_t)act;
    return out;
}

static void build_net(struct build *b, const struct vad_shape *s)
{
    build_phase(b, "frames");
    const uint16_t in = build_slot(b, (uint32_t)s->in);
    b->plan.input = in;
    uint16_t x = affine(b, "encoder.in_linear1", in, s->affine, s->in, 1, ACT_NONE);
    x = affine(b, "encoder.in_linear2", x, s->linear, s->affine, 1, ACT_RELU);
    for (int32_t i = 0; i < s->layers && !b->status; i++) {
        char name[64];
        snprintf(name, sizeof name, "encoder.fsmn.%d", (int)i);
        b->prefix = name;
        const uint16_t z = affine(b, "linear", x, s->proj, s->linear, 0, ACT_NONE), y = build_slot(b, (uint32_t)s->proj);
        const uint16_t taps = bind_fsmn(b, "fsmn_block.conv_left.weight", (uint64_t)s->proj, (uint32_t)s->taps, (uint32_t)s->taps - 1, 1);
        struct op *op = emit(b, OP_FSMN, "fsmn_block", y, z, taps);
        if (op) op->state = 0, op->layer = (uint16_t)i;
        op = emit(b, OP_SHIFT_STATE, "fsmn_block.tail", NO_SLOT, z, taps);
        if (op) op->state = 0, op->layer = (uint16_t)i;
        x = affine(b, "affine", y, s->linear, s->proj, 1, ACT_RELU);
        b->prefix = "";
    }
    x = affine(b, "encoder.out_linear1", x, s->out_affine, s->linear, 1, ACT_NONE);
    x = affine(b, "encoder.out_linear2", x, s->out, s->out_affine, 1, ACT_NONE);
    const uint16_t p = build_slot(b, (uint32_t)s->out);
    emit(b, OP_SOFTMAX, "softmax", p, x, bind_scale(b, 1, NULL, (uint64_t)s->out));
    b->plan.output = p;
}

/* Settings of the rules. speech_noise_thres applies only with a fixed silence: with a schedule, the reference uses 0.5. */
#define AT(field) offsetof(struct vad_params, field)
static const struct funasr_setting rule[] = {
    { "model_conf.max_end_silence_time", "vad.max_end_silence_time", 0, 1 << 30, EITHER, AT(max_end_silence_ms) },
    { "model_conf.max_single_segment_time", "vad.max_single_segment_time", 0, 1 << 30, EITHER, AT(max_segment_ms) },
    { "model_conf.lookback_time_start_point", "vad.lookback_time_start_point", 0, 1 << 30, EITHER, AT(start_pad_ms) },
    { "model_conf.lookahead_time_end_point", "vad.lookahead_time_end_point", 0, 1 << 30, EITHER, AT(end_pad_ms) },
    { "model_conf.window_size_ms", "vad.window_size_ms", 0, 1 << 30, EITHER, AT(window_ms) },
    { "model_conf.sil_to_speech_time_thres", "vad.sil_to_speech_time_thres", 0, 1 << 30, EITHER, AT(to_speech_ms) },
    { "model_conf.speech_to_sil_time_thres", "vad.speech_to_sil_time_thres", 0, 1 << 30, EITHER, AT(to_silence_ms) },
    { "model_conf.do_extend", "vad.do_extend", 0, 1, EITHER, AT(extend) },
};
#undef AT
const struct funasr_settings vad_rule_settings = { rule, sizeof rule / sizeof *rule, NULL };

const char vad_threshold_key[] = "vad.speech_noise_thres";

int vad_read_rules(struct vad_params *p, struct weights *w, steno_error *e)
{
    vad_params_init(p);
    const char *key = funasr_is_gguf(w) ? vad_threshold_key : "model_conf.speech_noise_thres"; /* of a decimal fraction */
    const int rc = funasr_read_settings(p, &vad_rule_settings, w, e);
    return rc ? rc : meta_num(&w->meta, w->name, key, -1, 1, 1, &p->fixed_threshold, e);
}

static int vad_describe(steno_model *m, struct weights *w, steno_error *e)
{
    struct vad_shape s;
    int rc = vad_read_shape(&s, w, e);
    if (rc) return rc;
    struct vad_model *part = m->part = arena_alloc(&m->arena, sizeof *part);
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!part || !bank) return err_nomem(e, sizeof *part + sizeof *bank, "filter banks");
    *part = (struct vad_model){ .frame = FBANK_HOP };
    rc = vad_read_rules(&part->votes, w, e);
    if (rc) return rc;
    part->votes.late_frames = s.lfr_m / 2;
    m->name = "16k";
    m->n_plans = m->n_states = 1;
    m->widths = (struct model_widths){ .n_mels = s.n_mels, .audio_state = s.linear, .audio_layers = s.layers };
    m->state[0] = (struct state_desc){ "last inputs of the memories", STATE_SHIFT, (uint32_t)s.layers, 1, (uint32_t)s.proj,
                                       (uint32_t)s.taps - 1, 0, 0, 0 };
    struct build b;
    const struct build_params p = { .name = "frames", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = PIECE_ROWS };
    build_begin(&b, &p, e);
    build_net(&b, &s);
    rc = build_end(&b, &m->plan[PLAN_ENCODER]);
    float *shift = NULL, *scale = NULL;
    if (!rc && !m->opening->no_cmvn) rc = funasr_read_cmvn(w, s.in, &m->arena, &shift, &scale, e);
    const struct fbank_params front = { s.n_mels, s.lfr_m, s.lfr_n, shift, scale };
    return rc ? rc : fbank_bank_init(bank, &m->arena, &front, &m->kern, e);
}

const struct family family_fsmn_vad = {
    .name = "fsmn-vad",
    .front_end = FRONT_FBANK_STREAM,
    .task = "vad",
    .low_precision = 0,
    .settings = SETTINGS_FILES,
    .match = vad_match,
    .describe = vad_describe,
    .spare = funasr_spare,
};

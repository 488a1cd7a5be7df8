/* steno: the encoder that FunASR's recognisers share. SPDX-License-Identifier: MIT */
#include "model/sanm_encoder.h"
#include "model/parts.h"

#include <math.h>
#include <stdio.h>
#include "model/funasr.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/sub.h"

/* Which rows a row attends to: all, those up to itself, or the number in a table. */
enum sight { SEES_ALL, SEES_BEFORE, SEES_TABLE, SIGHTS };

#define LAYER(flags) { { sub_sanm, "norm1", "self_attn", NULL, flags }, \
                       { sub_ffn, "norm2", "feed_forward.w_1", "feed_forward.w_2", SUB_RELU }, { 0 } }
static const struct sub layer[SIGHTS][3] = { [SEES_ALL] = LAYER(0), [SEES_BEFORE] = LAYER(SUB_CAUSAL), [SEES_TABLE] = LAYER(SUB_TABLE) };
#undef LAYER

int sanm_encoder_check(struct sanm_encoder *s, struct weights *w, steno_error *e)
{
    if (s->d % s->heads || s->d / s->heads > HEAD_MAX)
        return err_set(e, STENO_EFORMAT, "%s: %d heads do not divide a width of %d into parts of up to %d", w->name, (int)s->heads,
                       (int)s->d, HEAD_MAX);
    const int32_t width = s->n_mels * s->lfr_m;
    if (s->width && s->width != width)
        return err_set(e, STENO_EFORMAT, "%s: rows have %d features, but the settings give %d", w->name, (int)width, (int)s->width);
    s->width = width;
    const struct tensor *inner = s->d_ff ? NULL : weights_find(w, "encoder.encoders0.0.feed_forward.w_1.bias");
    if (inner && inner->n_dims == 1 && inner->dim[0] <= 65536) s->d_ff = (int32_t)inner->dim[0];
    return s->d_ff ? STENO_OK
                   : err_set(e, STENO_EFORMAT,
                             "%s: tensor encoder.encoders0.0.feed_forward.w_1.bias is missing or of no use: the width of the layers "
                             "is its length", w->name);
}

struct sub_dims sanm_encoder_dims(const struct sanm_encoder *s)
{
    return (struct sub_dims){ .d = (uint32_t)s->d, .n_heads = (uint32_t)s->heads, .n_kv_heads = (uint32_t)s->heads,
                              .d_head = (uint32_t)(s->d / s->heads), .d_ff = (uint32_t)s->d_ff, .taps = (uint32_t)s->taps,
                              .shift = (uint32_t)s->shift, .eps = s->eps, .past = s->streams ? STATE_PAST + 1 : 0 };
}

/* The first layer, from the rows' width to the model's. If these are equal, it works in place. */
static uint16_t first_layer(struct build *b, const struct sanm_encoder *s, const struct sub *first, uint16_t placed)
{
    const struct sub_dims dims = sanm_encoder_dims(s);
    const uint16_t x = s->width == s->d ? placed : build_slot(b, dims.d);
    b->prefix = "encoder.encoders0.0";
    if (x == placed) sub_sanm(b, &dims, first, x, 0);
    else sub_sanm_first(b, &dims, first, x, placed, (uint32_t)s->width);
    sub_ffn(b, &dims, first + 1, x, 0);
    b->prefix = "";
    return x;
}

/* All layers, over rows that are scaled and have positions. */
static uint16_t layers(struct build *b, const struct sanm_encoder *s, uint16_t placed)
{
    const uint32_t more = (uint32_t)s->layers - 1;
    const struct sub_dims dims = sanm_encoder_dims(s);
    const struct sub *const most = layer[s->causal ? SEES_BEFORE : SEES_ALL];
    const uint16_t x = first_layer(b, s, most, placed);
    sub_stack(b, most, &dims, "encoder.encoders", s->causal && more ? more - 1 : more, x);
    if (!s->causal || !more) return x;
    char last[NAME_MAX_LEN];
    snprintf(last, sizeof last, "encoder.encoders.%u", (unsigned)more - 1);
    b->prefix = last;
    sub_sanm(b, &dims, layer[SEES_TABLE], x, 0);
    sub_ffn(b, &dims, layer[SEES_TABLE] + 1, x, 0);
    b->prefix = "";
    return x;
}

uint16_t sanm_encoder_layers(struct build *b, const struct sanm_encoder *s, uint16_t in)
{
    const uint32_t width = (uint32_t)s->width;
    const uint16_t placed = build_slot(b, width);
    emit(b, OP_SCALE, "encoder.embed", placed, in,
         bind_scale(b, sqrtf((float)s->d), bind_sinusoids(b, b->plan.max_rows, width), width));
    return layers(b, s, placed);
}

uint16_t sanm_encoder_build(struct build *b, const struct sanm_encoder *s)
{
    const uint16_t in = b->plan.input = build_slot(b, (uint32_t)s->width);
    return s->streams ? layers(b, s, in) : sanm_encoder_layers(b, s, in);
}

void sanm_encoder_more(struct build *b, const struct sanm_encoder *s, const char *prefix, uint32_t n, uint16_t x)
{
    const struct sub_dims dims = sanm_encoder_dims(s);
    sub_stack(b, layer[SEES_ALL], &dims, prefix, n, x);
}

/* The matrices of a layer have similar rounding errors, so all get the same type. */
struct precision sanm_precision(const steno_model *m)
{
    struct precision p = model_rows_precision(m);
    p.by_role[LINEAR_OUT] = p.by_role[LINEAR_CROSS_KV] = m->low_precision;
    p.int8_scores = 1;
    p.int8_attn = m->executor->caps.attn_i8;
    return p;
}

int sanm_encoder_front(steno_model *m, struct weights *w, const struct sanm_encoder *s, steno_error *e)
{
    float *shift = NULL, *scale = NULL;
    struct fbank_bank *bank = m->front = arena_alloc(&m->arena, sizeof *bank);
    if (!bank) return err_nomem(e, sizeof *bank, "filter banks");
    int rc = m->opening->no_cmvn ? STENO_OK : funasr_read_cmvn(w, s->width, &m->arena, &shift, &scale, e);
    if (!rc) rc = fbank_bank_init(bank, &m->arena, &(struct fbank_params){ s->n_mels, s->lfr_m, s->lfr_n, shift, scale }, &m->kern, e);
    return rc;
}

/* ---- a CTC head ------------------------------------------------------------------------------------------------------------------- */

void ctc_head_build(struct build *b, const char *name, uint16_t rows, uint32_t d, uint32_t n_ids)
{
    char weight[NAME_MAX_LEN], bias[NAME_MAX_LEN];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    const uint16_t some = build_slot_out(b, d), logits = b->plan.logits = build_slot_out(b, n_ids);
    const struct linear_part ctc_lo = { weight, bias, n_ids };
    const uint16_t ctc = bind_matrix(b, &ctc_lo, d, LINEAR_LM_HEAD, NO_BIND);
    build_phase(b, "head");
    const uint16_t first = b->plan.n_ops;
    emit(b, OP_SCALE, "ctc.rows", some, rows, bind_scale(b, 1, NULL, d));
    struct op *op = emit(b, OP_LINEAR, "ctc.logits", logits, some, ctc);
    if (op) op->flags = OPF_SOME;
    emit(b, OP_LOGITS_REDUCE, "ctc.scan", NO_SLOT, logits, ctc);
    emit(b, OP_SAMPLE, "ctc.pick", NO_SLOT, logits, ctc);
    emit_rows(b, first, ROWS_OUT);
    build_phase(b, "best");
    sub_best(b, &(struct best_head){ "ctc", ctc, bind_best_approx(b, ctc_lo.weight, n_ids, d), ROWS_RUN }, rows);
}

/* steno: Paraformer's predictor. SPDX-License-Identifier: MIT */
#include "model/paraformer.h"
#include <string.h>
#include "model/funasr.h"
#include "plan/bind.h"
#include "plan/emit.h"
#include "plan/linear.h"
#include "plan/lstm.h"

enum { FINE = 3 }; /* rows per frame that OPF_SPREAD makes */

const struct predictor_number predictor_number[PREDICTOR_NUMBERS] = {
    { "predictor_conf.tail_threshold", "pf.predictor.tail_threshold", 0, 1, 0.45, 0.45, offsetof(struct predictor, tail) },
    { "predictor_conf.threshold", "pf.predictor.threshold", 1, 1, 1, 1, offsetof(struct predictor, threshold) },
    { "predictor_conf.smooth_factor", "pf.predictor.smooth_factor", 0, 1, 1, 1, offsetof(struct predictor, smooth) },
    { "predictor_conf.noise_threshold", "pf.predictor.noise_threshold", 0, 1, 0, 0, offsetof(struct predictor, noise) },
    { "predictor_conf.smooth_factor2", "pf.predictor.smooth_factor2", 0, 1, 1, 0.25, offsetof(struct predictor, fine_smooth) },
    { "predictor_conf.noise_threshold2", "pf.predictor.noise_threshold2", 0, 1, 0, 0.01, offsetof(struct predictor, fine_noise) },
};
const char predictor_after_conv[] = "pf.predictor.use_cif1_cnn";

static double *number_at(struct predictor *p, size_t i)
{
    return (double *)(void *)((char *)p + predictor_number[i].at);
}

/* Kinds have names in a folder. */
static int read_kind(struct predictor *p, const struct weights *w, steno_error *e)
{
    const char *kind = meta_text(&w->meta, "predictor", "CifPredictorV2");
    const char *type = meta_text(&w->meta, "predictor_conf.upsample_type", "cnn");
    int32_t times = 5; /* the class's default */
    if (!strcmp(kind, "CifPredictorV2")) return STENO_OK;
    if (strcmp(kind, "CifPredictorV3") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor: %.80s is not served, CifPredictorV2 and CifPredictorV3 are", w->name, kind);
    p->recurrent = !strcmp(type, "cnn_blstm");
    if (!p->recurrent && strcmp(type, "cnn") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor_conf.upsample_type: %.80s is not served, cnn and cnn_blstm are", w->name,
                       type);
    const int rc = meta_int(&w->meta, w->name, "predictor_conf.upsample_times", 1, 100, 1, &times, e);
    if (!rc && times != FINE)
        return err_set(e, STENO_EUNSUPPORTED, "%s: predictor_conf.upsample_times: %d is not served, %d is", w->name, (int)times, FINE);
    p->fine = FINE;
    p->after_conv = 1;
    const struct meta_entry *said = meta_find(&w->meta, "predictor_conf.use_cif1_cnn");
    if (said && said->kind == META_BOOL) p->after_conv = said->i != 0;
    return rc;
}

int predictor_read(struct predictor *p, struct weights *w, steno_error *e)
{
    const int gguf = funasr_is_gguf(w);
    *p = (struct predictor){ 0 };
    if (gguf) p->fine = weights_find(w, "predictor.upsample_cnn.weight") ? FINE : 0;
    if (gguf) p->recurrent = weights_find(w, "predictor.blstm.weight_ih_l0") != NULL;
    int rc = gguf ? STENO_OK : read_kind(p, w, e);
    if (gguf) rc = meta_int(&w->meta, w->name, predictor_after_conv, 0, 1, 1, &p->after_conv, e);
    for (size_t i = 0; i < (p->fine ? PREDICTOR_NUMBERS : PREDICTOR_PLAIN) && !rc; i++) {
        const struct predictor_number *it = &predictor_number[i];
        *number_at(p, i) = gguf ? it->gguf_value : it->value;
        rc = meta_num(&w->meta, w->name, gguf ? it->gguf : it->config, it->lo, it->hi, 1, number_at(p, i), e);
    }
    return rc;
}

struct predictor_slots predictor_build(struct build *b, uint16_t frames, uint32_t d)
{
    const struct predictor_slots s = { frames, build_slot(b, d) };
    const uint16_t conv = bind_conv(b, "predictor.cif_conv1d.weight", "predictor.cif_conv1d.bias", d, d, 1);
    struct op *op = emit(b, OP_LINEAR, "predictor.cif_conv1d", s.conv, frames, conv);
    if (op) op->flags = OPF_CONV, bind_at(b, conv)->act = ACT_RELU;
    const struct linear_part weight = { "predictor.cif_output.weight", "predictor.cif_output.bias", 1 };
    b->plan.side_output[0] = build_slot(b, 1);
    emit(b, OP_LINEAR, "predictor.cif_output", b->plan.side_output[0], s.conv, bind_matrix(b, &weight, d, LINEAR_OTHER, NO_BIND));
    return s;
}

void predictor_build_times(struct build *b, const struct predictor *p, const struct predictor_slots *s, uint32_t d)
{
    const uint32_t rows = FINE * b->plan.max_rows, width = p->recurrent ? 2 * d : d;
    const uint16_t fine = build_slot_padded(b, rows, d), both = p->recurrent ? build_slot_rows(b, rows, width) : fine;
    const struct linear_part weight = { "predictor.cif_output2.weight", "predictor.cif_output2.bias", 1 };
    sub_upsample(b, "predictor.upsample_cnn", fine, p->after_conv ? s->conv : s->frames, d, d, FINE);
    if (p->recurrent) sub_lstm(b, &(struct lstm_layer){ "predictor.blstm", 0, d, d, 1, 0, 0 }, both, fine, ROWS_THRICE);
    b->plan.side_output[1] = build_slot_rows(b, rows, 1);
    struct op *op = emit(b, OP_LINEAR, "predictor.cif_output2", b->plan.side_output[1], both,
                         bind_matrix(b, &weight, width, LINEAR_OTHER, NO_BIND));
    if (op) op->rows = ROWS_THRICE;
}

/* steno: Parakeet's prediction and joint networks. SPDX-License-Identifier: MIT
 *
 * An LSTM over the tokens so far; its output and the encoder's rows, both projected, are added. A linear of the sum's ReLU gives the logits
 * of tokens, blank and durations. Their matrices are small and keep their stored types. */
#include <stdio.h>
#include <string.h>
#include "model/parakeet.h"
#include "model/parts.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/lstm.h"

enum { MAX_SYMBOLS_USUAL = 10 };

/* ---- sizes */

static int read_durations(struct parakeet_shape *s, const struct weights *w, steno_error *e)
{
    char key[32];
    int rc = STENO_OK;
    for (s->n_durations = 0; !rc; s->n_durations++) {
        snprintf(key, sizeof key, "durations.%d", (int)s->n_durations);
        if (!meta_find(&w->meta, key)) break;
        if (s->n_durations == TRANSDUCER_DURATIONS)
            return err_set(e, STENO_EFORMAT, "%s: more than %d durations", w->name, TRANSDUCER_DURATIONS);
        rc = meta_int(&w->meta, w->name, key, 0, TRANSDUCER_DURATIONS, 0, &s->duration[s->n_durations], e);
    }
    if (!rc && !s->n_durations) rc = err_set(e, STENO_EFORMAT, "%s: durations is missing", w->name);
    return rc;
}

/* The width of the joint network is that of its projection, the number of outputs that of ids and durations. */
static int read_joint(struct parakeet_shape *s, struct weights *w, steno_error *e)
{
    const struct tensor *enc = weights_find(w, "joint.enc.weight"), *head = weights_find(w, "joint.joint_net.2.weight");
    if (!enc || !head || enc->n_dims != 2 || head->n_dims != 2 || enc->dim[0] < 1 || enc->dim[0] > 65536)
        return err_set(e, STENO_EFORMAT, "%s: the joint network's matrices are missing or of no use", w->name);
    if (head->dim[0] != (uint64_t)(s->n_vocab + 1 + s->n_durations))
        return err_set(e, STENO_EFORMAT, "%s: the joint network has %llu outputs, want %d pieces, a blank and %d durations", w->name,
                       (unsigned long long)head->dim[0], (int)s->n_vocab, (int)s->n_durations);
    s->joint = (int32_t)enc->dim[0];
    return STENO_OK;
}

int parakeet_read_transducer(struct parakeet_shape *s, struct weights *w, steno_error *e)
{
    const char *act = meta_text(&w->meta, "hidden_act", "relu");
    int32_t blank = s->n_vocab;
    s->max_symbols = MAX_SYMBOLS_USUAL;
    if (strcmp(act, "relu") != 0)
        return err_set(e, STENO_EUNSUPPORTED, "%s: hidden_act of the joint network is %.40s, this version supports relu", w->name, act);
    int rc = meta_int(&w->meta, w->name, "decoder_hidden_size", 8, 8192, 0, &s->pred, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "num_decoder_layers", 1, 8, 0, &s->pred_layers, e);
    if (!rc) rc = meta_int(&w->meta, w->name, "blank_token_id", s->n_vocab, s->n_vocab, 1, &blank, e);
    const struct meta_entry *most = meta_find(&w->meta, "max_symbols_per_step");
    if (!rc && most && most->kind != META_NULL) rc = meta_int(&w->meta, w->name, "max_symbols_per_step", 1, 1024, 1, &s->max_symbols, e);
    if (!rc && !strcmp(meta_text(&w->meta, "model_type", ""), "parakeet_tdt")) rc = read_durations(s, w, e);
    return rc ? rc : read_joint(s, w, e);
}

/* ---- the networks */

static void build_linear(struct build *b, const char *label, const struct linear_part *part, uint64_t k, uint16_t out, uint16_t in)
{
    emit(b, OP_LINEAR, label, out, in, bind_matrix(b, part, k, LINEAR_OTHER, NO_BIND));
}

/* A language as a one in a row of zeros, beside the encoder's rows: their projection. */
static uint16_t build_prompted(struct build *b, const struct parakeet_shape *s, uint16_t rows)
{
    const uint32_t d = (uint32_t)s->d, prompts = (uint32_t)s->prompts, width = (uint32_t)s->prompt_width;
    const struct linear_part up = { "prompt_kernel.0.weight", "prompt_kernel.0.bias", width };
    const struct linear_part down = { "prompt_kernel.2.weight", "prompt_kernel.2.bias", d };
    const uint16_t in = build_slot(b, d + prompts), wide = build_slot(b, width), out = build_slot(b, d);
    emit(b, OP_SCALE, "prompt.rows", in, rows, bind_scale(b, 1, NULL, d));
    struct op *op = emit(b, OP_EMBED, "prompt.language", in, NO_SLOT, bind_identity(b, prompts));
    if (op) op->column = (uint16_t)d;
    const uint16_t first = bind_matrix(b, &up, d + prompts, LINEAR_UP, NO_BIND);
    if (!b->status) bind_at(b, first)->act = ACT_RELU;
    emit(b, OP_LINEAR, "prompt_kernel.0", wide, in, first);
    emit(b, OP_LINEAR, "prompt_kernel.2", out, wide, bind_matrix(b, &down, width, LINEAR_DOWN, NO_BIND));
    return out;
}

void parakeet_build_joined(struct build *b, const struct parakeet_shape *s, uint16_t rows)
{
    if (s->prompts) rows = build_prompted(b, s, rows);
    const struct linear_part enc = { "joint.enc.weight", "joint.enc.bias", (uint64_t)s->joint };
    const uint16_t joined = b->plan.side_output[TRANSDUCER_JOINED] = build_slot(b, (uint32_t)s->joint);
    build_linear(b, "joint.enc", &enc, (uint64_t)s->d, joined, rows);
}

static void build_networks(struct build *b, const struct parakeet_shape *s)
{
    const uint32_t n = (uint32_t)s->pred, width = (uint32_t)s->joint, outputs = (uint32_t)(s->n_vocab + 1 + s->n_durations);
    const struct linear_part embed = { "decoder.prediction.embed.weight", NULL, (uint64_t)s->n_vocab + 1 };
    const struct linear_part pred = { "joint.pred.weight", "joint.pred.bias", width };
    const struct linear_part head = { "joint.joint_net.2.weight", "joint.joint_net.2.bias", outputs };
    build_phase(b, "predict");
    uint16_t x = build_slot(b, n);
    emit(b, OP_EMBED, "decoder.embed", x, NO_SLOT, bind_matrix(b, &embed, n, LINEAR_OTHER, NO_BIND));
    for (uint32_t i = 0; i < (uint32_t)s->pred_layers; i++) {
        const uint16_t y = build_slot(b, n);
        sub_lstm(b, &(struct lstm_layer){ "decoder.prediction.dec_rnn.lstm", i, n, n, 0, 0, STATE_PREDICTION + 1 }, y, x, ROWS_RUN);
        x = y;
    }
    b->plan.output = build_slot(b, width);
    build_linear(b, "joint.pred", &pred, n, b->plan.output, x);
    build_phase(b, "join");
    const uint16_t in = b->plan.input = build_slot(b, width), act = bind_scale(b, 0, NULL, width);
    if (!b->status) bind_at(b, act)->act = ACT_RELU;
    emit(b, OP_ACT, "joint.act", in, in, act);
    b->plan.side_output[TRANSDUCER_LOGITS] = build_slot(b, outputs);
    build_linear(b, "joint.head", &head, width, b->plan.side_output[TRANSDUCER_LOGITS], in);
}

int parakeet_build_decoder(steno_model *m, struct weights *w, const struct parakeet_shape *s, steno_error *e)
{
    struct build b;
    const struct build_params p = { .name = "decoder", .arena = &m->arena, .weights = w, .store = &m->store, .kern = &m->kern,
                                    .team = m->opening->team, .max_rows = TRANSDUCER_ROWS, .max_out = 1,
                                    .unfused = m->opening->unfused };
    m->state[STATE_PREDICTION] = (struct state_desc){ .name = "prediction", .kind = STATE_SHIFT, .layers = (uint32_t)s->pred_layers,
                                                      .heads = 1, .d_head = 2 * (uint32_t)s->pred, .positions = 1 };
    m->n_states = 1;
    build_begin(&b, &p, e);
    build_networks(&b, s);
    return build_end(&b, &m->plan[PLAN_DECODER]);
}

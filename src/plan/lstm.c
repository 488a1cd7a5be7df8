/* steno: recurrent layers as ops. SPDX-License-Identifier: MIT */
#include "plan/lstm.h"
#include <stdio.h>
#include <string.h>
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/packing.h"

/* "NAME.WHAT_lLAYER", with "_reverse" for the other direction. */
struct lstm_name { char s[NAME_MAX_LEN]; };
static struct lstm_name name_of(const struct lstm_layer *l, const char *what, int back)
{
    struct lstm_name name;
    if (l->is_cell) snprintf(name.s, sizeof name.s, "%s.%s", l->name, what);
    else snprintf(name.s, sizeof name.s, "%s.%s_l%u%s", l->name, what, l->layer, back ? "_reverse" : "");
    return name;
}

/* The constant input of the gates: both biases in one. */
static const float *gate_bias(struct build *b, const struct lstm_layer *l, int ways)
{
    const uint32_t n = 4 * l->n;
    float *sum = packed_take(b, (size_t)ways * n * sizeof *sum);
    for (int back = 0; back < ways && !b->status; back++) {
        const struct lstm_name in = name_of(l, "bias_ih", back), own = name_of(l, "bias_hh", back);
        const float *x = bind_vector(b, in.s, n), *h = bind_vector(b, own.s, n);
        for (uint32_t i = 0; i < n && !b->status && !b->p.store->dry; i++) sum[(size_t)back * n + i] = x[i] + h[i];
    }
    return sum;
}

/* For the previous state: the matrices of both directions, stacked. */
static struct linear_binds state_weights(struct build *b, const struct lstm_layer *l, int ways)
{
    const struct lstm_name forth = name_of(l, "weight_hh", 0), back = name_of(l, "weight_hh", 1);
    const struct linear_part part[] = { { forth.s, NULL, 4 * l->n }, { back.s, NULL, 4 * l->n } };
    return bind_linear(b, &(struct linear_desc){ part, ways, l->n, LINEAR_OTHER, NO_BIND, NULL, 0, 0 });
}

static uint16_t input_weights(struct build *b, const struct lstm_layer *l, int back, const float *bias)
{
    const struct lstm_name name = name_of(l, "weight_ih", back);
    const struct linear_part part = { name.s, NULL, 4 * l->n };
    const uint16_t id = bind_matrix(b, &part, l->k, LINEAR_OTHER, NO_BIND);
    if (!b->status) bind_at(b, id)->bias = bias + (size_t)back * 4 * l->n;
    return id;
}

void sub_lstm(struct build *b, const struct lstm_layer *l, uint16_t out, uint16_t in, enum op_rows rows)
{
    const int ways = l->both_ways ? 2 : 1;
    const uint16_t first = b->plan.n_ops;
    uint16_t of_input[2] = { 0 };
    if (!b->status && (l->n % 8 || l->n > UINT16_MAX))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s has cells of %u numbers, want a multiple of 8", b->p.weights->name, l->name,
                            l->n);
    const float *bias = gate_bias(b, l, ways);
    for (int back = 0; back < ways; back++) of_input[back] = input_weights(b, l, back, bias);
    const struct linear_binds h = state_weights(b, l, ways);
    if (!b->status && h.n != 1)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s stores its two ways as unequal types", b->p.weights->name, l->name);
    struct op *op = emit(b, OP_LSTM, l->name, out, in, h.bind[0]);
    if (b->status) return;
    if (l->state) op->state = (uint16_t)(l->state - 1), op->layer = (uint16_t)l->layer;
    struct bind *c = bind_at(b, h.bind[0]);
    c->heads = (uint16_t)ways;
    c->d_head = (uint16_t)l->n;
    memcpy(c->of_input, of_input, sizeof of_input);
    emit_rows(b, first, rows);
}

void sub_upsample(struct build *b, const char *name, uint16_t out, uint16_t in, uint32_t n, uint32_t k, uint32_t times)
{
    char w[NAME_MAX_LEN], v[NAME_MAX_LEN];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    const uint16_t id = bind_upsample(b, w, v, n, k, times);
    struct op *op = emit(b, OP_LINEAR, name, out, in, id);
    if (op) op->flags = OPF_SPREAD;
}

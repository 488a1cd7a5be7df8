/* steno: recurrent layers as ops. SPDX-License-Identifier: MIT */
#include "plan/lstm.h"
#include <stdio.h>
#include "plan/emit.h"
#include "plan/linear.h"
#include "plan/packing.h"

/* "NAME.WHAT_lLAYER", and "_reverse" the other way. */
struct lstm_name { char s[NAME_MAX_LEN]; };
static struct lstm_name name_of(const struct lstm_layer *l, const char *what, int back)
{
    struct lstm_name name;
    snprintf(name.s, sizeof name.s, "%s.%s_l%u%s", l->name, what, l->layer, back ? "_reverse" : "");
    return name;
}

/* What the gates get beside rows: both biases in one. */
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

/* Matrices of both ways under each other. */
static struct linear_binds gate_weights(struct build *b, const struct lstm_layer *l, int ways, const char *what, uint32_t k)
{
    const struct lstm_name forth = name_of(l, what, 0), back = name_of(l, what, 1);
    const struct linear_part part[] = { { forth.s, NULL, 4 * l->n }, { back.s, NULL, 4 * l->n } };
    return bind_linear(b, &(struct linear_desc){ part, ways, k, LINEAR_OTHER, NO_BIND, 0, 0 });
}

void sub_lstm(struct build *b, const struct lstm_layer *l, uint16_t out, uint16_t in, enum op_rows rows)
{
    const int ways = l->both_ways ? 2 : 1;
    const uint32_t width = (uint32_t)ways * 4 * l->n, max = b->status ? 0 : b->slot[in].rows;
    const uint16_t gates = build_slot_rows(b, max, width), first = b->plan.n_ops;
    struct lstm_name label = name_of(l, "gates", 0);
    if (!b->status && (l->n % 8 || l->n > UINT16_MAX))
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s has cells of %u numbers, want a multiple of 8", b->p.weights->name, l->name,
                            l->n);
    const float *bias = gate_bias(b, l, ways);
    const struct linear_binds x = gate_weights(b, l, ways, "weight_ih", l->k), h = gate_weights(b, l, ways, "weight_hh", l->n);
    if (!b->status && h.n != 1)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "%s: %s stores its two ways as unequal types", b->p.weights->name, l->name);
    for (int i = 0; i < x.n && !b->status; i++) bind_at(b, x.bind[i])->bias = bias + x.column[i];
    emit_linear(b, &(struct linear_use){ .label = label.s, .out = gates, .in = in, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE },
                &x);
    emit(b, OP_LSTM, l->name, out, gates, h.bind[0]);
    if (b->status) return;
    struct bind *c = bind_at(b, h.bind[0]);
    c->heads = (uint16_t)ways;
    c->d_head = (uint16_t)l->n;
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

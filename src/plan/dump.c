/* steno: a plan as text. SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "plan/state.h"

static const char *const kind_name[OP_KINDS] = {
    [OP_EMBED] = "embed", [OP_NORM] = "norm", [OP_SCALE] = "scale", [OP_LINEAR] = "linear", [OP_ATTN] = "attn",
    [OP_KV_PACK] = "kv_pack", [OP_FSMN] = "fsmn",
    [OP_SHIFT_STATE] = "shift_state", [OP_LOOK_BACK] = "look_back",
    [OP_SOFTMAX] = "softmax", [OP_ATTN_WEIGHTS] = "attn_weights", [OP_ZSCORE] = "zscore",
    [OP_MEDIAN_FILTER] = "median_filter", [OP_CIF] = "cif", [OP_LSTM] = "lstm", [OP_MAGNITUDE] = "magnitude",
    [OP_ROPE] = "rope", [OP_GLU] = "glu", [OP_ACT] = "act", [OP_ADD] = "add", [OP_LOGITS_APPROX] = "logits_approx",
    [OP_LOGITS_BOUND] = "logits_bound", [OP_LOGITS_REDUCE] = "logits_reduce", [OP_LOGITS_BEST] = "logits_best",
    [OP_SAMPLE] = "sample", [OP_STEM2D] = "stem2d", [OP_DISTANCES] = "distances",
    [OP_PACK_DISTANCES] = "pack_distances", [OP_ATTN_REL] = "attn_rel",
};

/* A slot's shape, "s3[512]" or "kv2[8x64]"; "-" for no slot. */
static void slot_text(char *out, size_t n, const struct plan *p, uint16_t s)
{
    if (s == NO_SLOT) snprintf(out, n, "-");
    else if (p->slot[s].heads) snprintf(out, n, "kv%u[%ux%u]", s, p->slot[s].heads, p->slot[s].d_head);
    else snprintf(out, n, "s%u[%u]", s, p->slot[s].width);
}

static void target_text(char *out, size_t n, const struct plan *p, const struct op *op)
{
    const struct bind *c = &p->bind[op->bind];
    char y[32];
    slot_text(y, sizeof y, p, op->out);
    if (op->kv_slot != NO_SLOT && op->kind == OP_LINEAR) {
        char kv[32];
        slot_text(kv, sizeof kv, p, op->kv_slot);
        snprintf(out, n, "%s+%s", y, kv);
    } else if (op->state != NO_STATE && op->kind == OP_LINEAR)
        snprintf(out, n, "state%u.%u[%ux%u]", op->state, op->layer, c->kv_heads, c->d_head);
    else
        snprintf(out, n, "%s", y);
}

/* The parameters of an op that the family chose. */
static void choice_text(char *out, size_t n, const struct op *op, const struct bind *c)
{
    size_t at = 0;
    *out = '\0';
    if (op->kind == OP_NORM)
        at += (size_t)snprintf(out, n, " %s eps %g", c->norm_kind == NORM_RMS ? "rms" : "layer", (double)c->eps);
    if (op->kind == OP_NORM && c->heads) snprintf(out + at, n - at, " of %u heads", c->heads);
    if (op->kind == OP_EMBED && c->scale > 0) snprintf(out, n, " times %g", (double)c->scale);
    if (op->kind == OP_ACT && c->act == ACT_TANH) snprintf(out, n, " capped at %g", (double)c->scale);
    if (op->kind == OP_ROPE) snprintf(out, n, " turns %u of %u by %s", c->n, c->d_head, c->neighbours ? "neighbours" : "halves");
    if (op->kind == OP_STEM2D && c->window) snprintf(out, n, " of all channels, chunks of %u", c->window);
    if (op->kind == OP_ATTN_REL && c->behind != SIGHT_ALL) snprintf(out, n, " sees %u before, %u after", c->behind, c->ahead);
    if (op->kind != OP_ATTN) return;
    at += (size_t)snprintf(out, n, " %u/%u heads, scale %g", c->heads, c->kv_heads, (double)c->scale);
    if (c->window) snprintf(out + at, n - at, ", window %u", c->window);
}

static void extras_text(char *out, size_t n, const struct plan *p, const struct op *op)
{
    static const char *const act[ACT_COUNT] = { "", " gelu(erf)", " gelu(tanh)", " relu", " silu", " tanh", " sigmoid" };
    const struct bind *c = &p->bind[op->bind];
    char state[40] = "", filter[32] = "", choice[80];
    choice_text(choice, sizeof choice, op, c);
    if (op->kind != OP_LINEAR && op->state != NO_STATE) snprintf(state, sizeof state, " state%u.%u", op->state, op->layer);
    if (op->kind == OP_ATTN_WEIGHTS) snprintf(state, sizeof state, " state%u.%u head %u", op->state, op->layer, op->attn_head);
    if (op->kind != OP_LINEAR && op->kv_slot != NO_SLOT) snprintf(state, sizeof state, " kv%u", op->kv_slot);
    if (c->taps) snprintf(filter, sizeof filter, " %u taps, %u before", c->taps, c->left);
    const char *added = op->aux == NO_SLOT || op->kind == OP_ATTN_REL ? "" : op->kind == OP_MEDIAN_FILTER ? " sum" : " residual";
    const int is_approx = op->flags & OPF_APPROX || (op->kind == OP_LOGITS_BEST && op->approx);
    const char *bias = c->bias && (op->kind == OP_LINEAR || op->kind == OP_ACT || op->kind == OP_FSMN) ? " bias" : "";
    snprintf(out, n, "%s%s%s%s%s%s%s%s%s%s%s", filter, bias, act[c->act], choice, added, c->positions ? " positions" : "",
             is_approx ? " approximate first" : "", op->flags & OPF_CAUSAL ? " causal" : "",
             op->flags & OPF_TABLE ? " cross lengths" : "", op->flags & OPF_WRITE_KV ? " writes K/V" : "",
             state);
}

void plan_dump(const struct plan *p, void (*write)(void *user, const char *line), void *user)
{
    char line[512];
    snprintf(line, sizeof line, "plan %s: %u commands, %u slots, scratch %zu bytes, %u rows, %u rows of logits", p->name, p->n_ops,
             p->n_slots, p->scratch_sz, p->max_rows, p->max_out);
    write(user, line);
    for (uint16_t i = 0; i < p->n_ops; i++) {
        const struct op *op = &p->op[i];
        const struct bind *c = &p->bind[op->bind];
        char in[32], out[80], extras[256];
        slot_text(in, sizeof in, p, op->in);
        target_text(out, sizeof out, p, op);
        extras_text(extras, sizeof extras, p, op);
        for (int k = 0; k < PLAN_PHASES; k++)
            if (p->phase[k].name && p->phase[k].first == i) {
                snprintf(line, sizeof line, "phase %s", p->phase[k].name);
                write(user, line);
            }
        int n = snprintf(line, sizeof line, "%4u %-13s %-36s %s -> %s", i, kind_name[op->kind], p->label[i], in, out);
        if (c->w && n > 0 && n < (int)sizeof line)
            n += snprintf(line + n, sizeof line - (size_t)n, "  %s %ux%u, %zu bytes, %" PRIu64 " flop/row",
                          packed_name((enum packed_type)c->type), c->n, c->k, pack_sz((enum packed_type)c->type, c->n, c->k),
                          op->kind == OP_LINEAR || op->kind == OP_LOGITS_BEST ? 2 * (uint64_t)c->n * c->k : 0);
        if (n > 0 && n < (int)sizeof line) snprintf(line + n, sizeof line - (size_t)n, "%s", extras);
        write(user, line);
    }
}

void state_dump(const struct state_desc *d, int id, enum kv_type type, void (*write)(void *user, const char *line), void *user)
{
    static const char *const kv_name[KV_TYPES] = { "f32", "f16", "bf16", "int12, int8", "q8_0" };
    char line[256];
    if (d->kind == STATE_SHIFT) {
        snprintf(line, sizeof line, "state %d %s: shift, %u layers x [%u, %u] f32, %zu bytes", id, d->name, d->layers, d->positions,
                 d->heads * d->d_head, state_memory(d, type, 1));
        write(user, line);
        return;
    }
    char windows[64] = "";
    if (d->window) snprintf(windows, sizeof windows, ", %u held for windows of %u", state_shape(d, type, 1).n_blocks, d->window);
    snprintf(line, sizeof line, "state %d %s: %s, %u layers x %u heads x [%u, %u] %s, head-major%s%s, %zu bytes", id, d->name,
             d->kind == STATE_APPEND ? "append" : "replace", d->layers, d->heads, d->positions, d->d_head, kv_name[type],
             d->kind == STATE_APPEND ? " in blocks of 32" : ", contiguous", windows, state_memory(d, type, 1));
    write(user, line);
}

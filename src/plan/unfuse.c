/* steno: a plan without its fusions. SPDX-License-Identifier: MIT
 *
 * The gain of fusions is measured against a plan without them, and their results are tested against it. Q, K and V become three linears
 * over parts of the same packed weights. A bias with its activation becomes an op, and a residual (or positions) becomes another. Keys and
 * values are still written head-major by the epilogue, with their bias, because no other op can do so. Sums, bias, activation and residual
 * keep their order, each rounded to f32, so every bit is the same. */
#include "plan/unfuse.h"
#include <stdio.h>
#include <string.h>
#include "plan/emit.h"

enum { LABEL_MAX = 160 };

/* Emit a copy of an op of the old list, with its label and SUFFIX. */
static struct op *again(struct build *b, const struct op *o, const char *label, const char *suffix)
{
    char name[LABEL_MAX];
    snprintf(name, sizeof name, "%s%s", label, suffix);
    struct op *op = emit(b, (enum op_kind)o->kind, name, o->out, o->in, o->bind);
    if (op) *op = *o;
    return op;
}

/* Widths of Q, K and V, or of K and V, in the linear c, if it holds them and its panels can be split; otherwise the width of all of it.
 * @return the number of widths */
static int part_widths(uint32_t width[3], const struct bind *c)
{
    const uint32_t q = (uint32_t)c->heads * c->d_head, kv = (uint32_t)c->kv_heads * c->d_head;
    const int with_q = kv && c->n == q + 2 * kv, fits = q % PANEL == 0 && kv % PANEL == 0;
    width[0] = width[1] = width[2] = kv;
    if (with_q) width[0] = q;
    if (kv && fits && (with_q || c->n == 2 * kv)) return with_q ? 3 : 2;
    width[0] = c->n;
    return 1;
}

/* The sums of a linear, in parts, to rows of `out` and to keys and values. */
static void emit_sums(struct build *b, const struct op *o, const char *label, uint16_t out)
{
    static const char *const suffix[] = { ".0", ".1", ".2" };
    const struct bind whole = *bind_at(b, o->bind);
    uint32_t width[3], at = 0;
    const int n_parts = part_widths(width, &whole);
    for (int i = 0; i < n_parts && !b->status; at += width[i++]) {
        const uint16_t id = bind_copy(b, o->bind);
        struct op *op = again(b, o, label, n_parts == 1 ? "" : suffix[i]);
        if (!op) return;
        struct bind *c = bind_at(b, id);
        const int to_rows = at < whole.n_y;
        op->bind = id;
        op->aux = NO_SLOT;
        op->out = to_rows ? out : NO_SLOT;
        op->column = (uint16_t)(to_rows ? o->column + at : 0);
        c->w = (const char *)whole.w + at / PANEL * pack_panel_sz((enum packed_type)whole.type, whole.k);
        c->act = ACT_NONE;
        c->positions = NULL;
        if (n_parts == 1) {
            if (whole.n_y == whole.n) c->bias = NULL;
            continue;
        }
        c->n = width[i];
        c->n_y = to_rows ? c->n : 0;
        c->n_kv = !to_rows && at < whole.n_y + whole.n_kv ? c->n : 0;
        c->bias = to_rows || !whole.bias ? NULL : whole.bias + at;
        if (to_rows) op->kv_slot = NO_SLOT;
    }
}

static void unfuse_linear(struct build *b, const struct op *o, const char *label)
{
    const struct bind whole = *bind_at(b, o->bind);
    uint32_t width[3];
    const int mixed = whole.n_y < whole.n && part_widths(width, &whole) == 1; /* rows and keys cannot be separated */
    const int adds = o->aux != NO_SLOT || whole.positions;
    if ((mixed && whole.n_y) || (o->flags & OPF_SPREAD)) {
        again(b, o, label, "");
        return;
    }
    const uint16_t sums = whole.n_y && adds ? build_slot_like(b, o->out) : o->out;
    emit_sums(b, o, label, sums);
    if (!whole.n_y || b->status) return;
    struct op rest = *o;
    rest.kv_slot = NO_SLOT;
    rest.aux = NO_SLOT;
    rest.flags = 0;
    rest.out = rest.in = sums;
    rest.bind = bind_copy(b, o->bind);
    if (b->status) return;
    struct bind *c = bind_at(b, rest.bind);
    *c = (struct bind){ .bias = whole.bias, .act = whole.act, .n = whole.n_y, .k = whole.n_y, .n_y = whole.n_y };
    rest.kind = OP_ACT;
    if (whole.bias || whole.act != ACT_NONE) again(b, &rest, label, ".act");
    if (!adds) return;
    rest.bind = bind_copy(b, rest.bind);
    if (b->status) return;
    *bind_at(b, rest.bind) = (struct bind){ .positions = whole.positions, .n = whole.n_y, .k = whole.n_y, .n_y = whole.n_y };
    rest.kind = OP_ADD;
    rest.out = o->out;
    rest.aux = o->aux;
    again(b, &rest, label, ".add");
}

void build_unfuse(struct build *b)
{
    struct plan *p = &b->plan;
    const uint16_t n = p->n_ops;
    if (b->status) return;
    struct op *old = arena_array(&b->scratch_arena, n, sizeof *old);
    const char **label = arena_array(&b->scratch_arena, n, sizeof *label);
    if (!old || !label) {
        b->status = err_nomem(b->e, n * sizeof *old, "plan");
        return;
    }
    memcpy(old, b->op, n * sizeof *old);
    memcpy(label, b->label, n * sizeof *label);
    b->prefix = b->p.variant = ""; /* labels are already complete */
    p->n_ops = 0;
    uint16_t first[PLAN_PHASES];
    for (int k = 0; k < PLAN_PHASES; k++) first[k] = p->phase[k].first;
    for (uint16_t i = 0; i <= n && !b->status; i++) {
        for (int k = 0; k < PLAN_PHASES; k++)
            if (p->phase[k].name && first[k] == i) p->phase[k].first = p->n_ops;
        if (i == n) break;
        if (old[i].kind == OP_LINEAR) unfuse_linear(b, &old[i], label[i]);
        else again(b, &old[i], label[i], "");
    }
}

/* steno: beginning and end of building a plan. SPDX-License-Identifier: MIT */
#include "plan/build.h"
#include <string.h>
#include "plan/layout.h"
#include "plan/unfuse.h"

void build_begin(struct build *b, const struct build_params *p, steno_error *e)
{
    memset(b, 0, sizeof *b);
    b->p = *p;
    b->e = e;
    b->prefix = "";
    if (!b->p.variant) b->p.variant = "";
    b->plan.name = p->name;
    b->plan.max_rows = p->max_rows;
    b->plan.max_out = p->max_out;
    b->plan.max_past = p->max_past;
    b->plan.input = b->plan.output = b->plan.logits = b->plan.bounds = NO_SLOT;
    b->plan.encoded = NO_SLOT;
    for (int i = 0; i < SIDE_OUTPUTS; i++) b->plan.side_output[i] = NO_SLOT;
    b->plan.self_state = b->plan.cross_state = NO_STATE;
    arena_init(&b->scratch_arena);
    if (p->max_rows > UINT16_MAX || p->max_out > UINT16_MAX) /* groups of rows count them in 16 bits */
        b->status = err_set(e, STENO_EUNSUPPORTED, "plan %s: %u rows, want at most %d", p->name,
                            p->max_rows > p->max_out ? p->max_rows : p->max_out, UINT16_MAX);
    b->op = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->op);
    b->label = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->label);
    b->bind = arena_array(&b->scratch_arena, PLAN_OPS_MAX, sizeof *b->bind);
    b->slot = arena_array(&b->scratch_arena, PLAN_SLOTS_MAX, sizeof *b->slot);
    if (!b->status && (!b->op || !b->label || !b->bind || !b->slot)) b->status = err_nomem(e, PLAN_OPS_MAX * sizeof *b->op, "plan");
}

void build_phase(struct build *b, const char *name)
{
    int i = 0;
    while (i < PLAN_PHASES && b->plan.phase[i].name) i++;
    if (i == PLAN_PHASES) {
        if (!b->status) b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d phases", b->plan.name, PLAN_PHASES);
        return;
    }
    b->plan.phase[i] = (struct phase){ name, b->plan.n_ops, b->plan.n_ops };
}

static const void *keep(struct build *b, const void *src, size_t n)
{
    void *p = arena_alloc(b->p.arena, n);
    if (p) memcpy(p, src, n);
    else if (!b->status) b->status = err_nomem(b->e, n, "plan");
    return p;
}

int build_end(struct build *b, struct plan *out)
{
    struct plan *p = &b->plan;
    if (b->p.unfused) build_unfuse(b);
    if (!b->status) {
        for (int i = 0; i < PLAN_PHASES; i++)
            if (p->phase[i].name) p->phase[i].last = i + 1 < PLAN_PHASES && p->phase[i + 1].name ? p->phase[i + 1].first : p->n_ops;
        slots_place(p, b->slot, b->op);
        p->op = keep(b, b->op, p->n_ops * sizeof *b->op);
        p->label = keep(b, b->label, p->n_ops * sizeof *b->label);
        p->bind = keep(b, b->bind, p->n_binds * sizeof *b->bind);
        p->slot = keep(b, b->slot, p->n_slots * sizeof *b->slot);
        if (!b->status) *out = *p;
    }
    arena_free(&b->scratch_arena);
    return b->status;
}

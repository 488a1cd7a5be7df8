/* steno: ops, slots and bindings of a plan being built. SPDX-License-Identifier: MIT */
#include "plan/emit.h"
#include <stdio.h>

static uint16_t slot_add(struct build *b, struct slot s)
{
    if (b->status) return 0;
    if (b->plan.n_slots == PLAN_SLOTS_MAX) {
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d buffers", b->plan.name, PLAN_SLOTS_MAX);
        return 0;
    }
    s.size = (s.size + 63) & ~(size_t)63;
    s.first = UINT16_MAX;
    b->slot[b->plan.n_slots] = s;
    return b->plan.n_slots++;
}

uint16_t build_slot_rows(struct build *b, uint32_t rows, uint32_t width)
{
    const uint32_t ld = width + ROW_PAD;
    return slot_add(b, (struct slot){ .width = width, .ld = ld, .rows = rows, .size = (size_t)rows * ld * sizeof(float) });
}

uint16_t build_slot(struct build *b, uint32_t width)
{
    return build_slot_rows(b, b->plan.max_rows, width);
}

uint16_t build_slot_out(struct build *b, uint32_t width)
{
    const uint16_t s = build_slot_rows(b, b->plan.max_out, width);
    if (!b->status) b->slot[s].is_out = 1;
    return s;
}

uint16_t build_slot_padded(struct build *b, uint32_t rows, uint32_t width)
{
    return slot_add(b, (struct slot){ .width = width, .ld = width, .rows = rows, .front = 1,
                                      .size = ((size_t)rows + 2) * width * sizeof(float) });
}

uint16_t build_slot_kv(struct build *b, uint32_t heads, uint32_t d_head, enum kv_type type)
{
    const uint32_t blocks = kv_blocks(b->plan.max_rows + b->plan.max_past), room = head_room(d_head);
    return slot_add(b, (struct slot){ .width = 2 * heads * room, .rows = blocks * KV_BLOCK, .heads = heads, .d_head = room,
                                      .kv_type = type, .size = (size_t)blocks * heads * kv_block_sz(type, room) });
}

uint16_t build_slot_like(struct build *b, uint16_t slot)
{
    return b->status ? 0 : slot_add(b, b->slot[slot]);
}

struct op *emit(struct build *b, enum op_kind kind, const char *label, uint16_t out, uint16_t in, uint16_t bind)
{
    static struct op const blank = { .out = NO_SLOT, .in = NO_SLOT, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE };
    if (!b->status && b->plan.n_ops == PLAN_OPS_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d commands", b->plan.name, PLAN_OPS_MAX);
    if (b->status) return NULL; /* the tables may be missing */
    const uint16_t at = b->plan.n_ops++;
    char name[NAME_MAX_LEN];
    const int n = snprintf(name, sizeof name, "%s%s%s%s", b->p.variant, b->prefix, *b->prefix ? "." : "", label);
    b->label[at] = arena_strdup(b->p.arena, name, n < (int)sizeof name ? (size_t)n : sizeof name - 1);
    if (!b->label[at]) b->status = err_nomem(b->e, (size_t)n, "labels");
    struct op *op = &b->op[at];
    *op = blank;
    op->kind = (uint8_t)kind;
    op->out = out;
    op->in = in;
    op->bind = bind;
    return op;
}

void emit_rows(struct build *b, uint16_t first, enum op_rows rows)
{
    for (uint16_t i = first; i < b->plan.n_ops && !b->status; i++) b->op[i].rows = (uint8_t)rows;
}

uint16_t bind_add(struct build *b)
{
    if (!b->status && b->plan.n_binds == PLAN_OPS_MAX)
        b->status = err_set(b->e, STENO_EUNSUPPORTED, "plan %s: more than %d bindings", b->plan.name, PLAN_OPS_MAX);
    return b->status ? 0 : b->plan.n_binds++;
}

struct bind *bind_at(struct build *b, uint16_t i)
{
    return &b->bind[i];
}

uint16_t bind_copy(struct build *b, uint16_t i)
{
    const uint16_t id = bind_add(b);
    if (!b->status) b->bind[id] = b->bind[i];
    return id;
}

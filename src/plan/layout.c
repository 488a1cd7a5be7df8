/* steno: placement of a plan's slots. SPDX-License-Identifier: MIT */
#include "plan/layout.h"
#include "plan/build.h"

static void slot_use(struct slot *slot, uint16_t s, uint16_t at)
{
    if (s == NO_SLOT) return;
    if (at < slot[s].first) slot[s].first = at;
    if (at > slot[s].last) slot[s].last = at;
}

/* The number of rows of logits, and of slots for the same rows, depends on the lanes of a session. These slots are therefore columns of one
 * block. Scratch is laid out for the most lanes; a session with few lanes uses only the beginning of the block. @return the block */
static struct slot out_columns(const struct plan *p, struct slot *slot)
{
    struct slot all = { .first = UINT16_MAX };
    for (uint16_t i = 0; i < p->n_slots; i++) {
        struct slot *s = &slot[i];
        if (!s->is_out || s->first == UINT16_MAX) continue;
        if (s->first < all.first) all.first = s->first;
        s->offset = all.ld * sizeof(float); /* in a row */
        s->size = (size_t)(s->width + ROW_PAD) * sizeof(float);
        all.ld += (s->width + ROW_PAD + 15) & ~15u;
        all.rows = s->rows;
    }
    all.size = (size_t)all.rows * all.ld * sizeof(float);
    return all;
}

/* The lowest offset for a slot that does not overlap placed slots that are live at the same time. */
static size_t lowest_gap(const struct slot *slot, const struct slot *me, const uint16_t *placed, uint16_t n)
{
    size_t at = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (uint16_t k = 0; k < n; k++) {
            const struct slot *o = &slot[placed[k]];
            if (o->last < me->first || at >= o->offset + o->size || o->offset >= at + me->size) continue;
            at = o->offset + o->size;
            moved = 1;
        }
    }
    return at;
}

/* Place the columns of the block `all` at `at`. */
static void columns_place(const struct plan *p, struct slot *slot, const struct slot *all, size_t at)
{
    for (uint16_t i = 0; i < p->n_slots; i++) {
        struct slot *s = &slot[i];
        if (!s->is_out || s->first == UINT16_MAX) continue;
        s->ld = all->ld;
        s->offset += at;
        s->size += (size_t)(s->rows - 1) * s->ld * sizeof(float);
    }
}

void slots_place(struct plan *p, struct slot *slot, const struct op *op)
{
    for (uint16_t i = 0; i < p->n_ops; i++) {
        slot_use(slot, op[i].out, i);
        slot_use(slot, op[i].in, i);
        slot_use(slot, op[i].aux, i);
        slot_use(slot, op[i].kv_slot, i);
    }
    slot_use(slot, p->input, 0);
    slot_use(slot, p->output, p->n_ops);
    for (int i = 0; i < SIDE_OUTPUTS; i++) slot_use(slot, p->side_output[i], p->n_ops);
    slot_use(slot, p->logits, p->n_ops);
    slot_use(slot, p->bounds, p->n_ops);
    uint16_t placed[PLAN_SLOTS_MAX], n = 0;
    for (uint16_t at = 0; at <= p->n_ops; at++)
        for (uint16_t s = 0; s < p->n_slots; s++) {
            struct slot *me = &slot[s];
            if (me->first != at || me->is_out) continue;
            me->offset = lowest_gap(slot, me, placed, n);
            if (me->offset + me->size > p->scratch_sz) p->scratch_sz = me->offset + me->size;
            placed[n++] = s;
        }
    const struct slot out = out_columns(p, slot);
    if (!out.rows) return;
    const size_t at = lowest_gap(slot, &out, placed, n);
    columns_place(p, slot, &out, at);
    if (at + out.size > p->scratch_sz) p->scratch_sz = at + out.size;
}

/* steno: where the slots of a plan lie. SPDX-License-Identifier: MIT
 *
 * Slots whose lives do not overlap share bytes of the scratch block. A slot lives from the first op that names it to the last. */
#ifndef STENO_PLAN_LAYOUT_H
#define STENO_PLAN_LAYOUT_H
#include "plan/op.h"

/* Give each slot a place in the scratch block: in order of first use, the lowest gap between slots alive at the same time. p->scratch_sz
 * grows to what that takes. slot: [p->n_slots], op: [p->n_ops] */
void slots_place(struct plan *p, struct slot *slot, const struct op *op);
#endif

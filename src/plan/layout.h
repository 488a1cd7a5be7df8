/* steno: placement of a plan's slots. SPDX-License-Identifier: MIT
 *
 * Slots with disjoint lifetimes share bytes of the scratch block. A slot lives from the first op that names it to the last. */
#ifndef STENO_PLAN_LAYOUT_H
#define STENO_PLAN_LAYOUT_H
#include "plan/op.h"

/* Place each slot in the scratch block: in order of first use, in the lowest gap between slots that are live at the same time.
 * p->scratch_sz grows to the needed size. slot: [p->n_slots], op: [p->n_ops] */
void slots_place(struct plan *p, struct slot *slot, const struct op *op);
#endif

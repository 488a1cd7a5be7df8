/* steno: what two models have alike. SPDX-License-Identifier: MIT
 *
 * A distilled model has the encoder of the large one that it was made from, number for number. Its matrices need not be there twice, and
 * what the one has heard the other has heard, too. */
#ifndef STENO_PLAN_SAME_H
#define STENO_PLAN_SAME_H
#include "plan/op.h"

/* The packed matrix [n, k] of some plan that has the same bytes; NULL: there is none. */
const void *same_matrix(const struct plan *plans, int n_plans, enum packed_type t, uint64_t n, uint64_t k, const void *packed);
/* Do a phase of both, and the slots that it reads and writes, compute the same from the same weights? */
int same_phase(const struct plan *a, const struct plan *b, int phase);
#endif

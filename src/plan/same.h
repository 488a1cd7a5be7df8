/* steno: the common parts of two models. SPDX-License-Identifier: MIT
 *
 * A distilled model has the encoder of its larger original, number for number. Its matrices need not be in memory twice, and the encoder
 * output of one model serves the other. */
#ifndef STENO_PLAN_SAME_H
#define STENO_PLAN_SAME_H
#include "plan/op.h"

/* The packed matrix [n, k] of one of the plans with the same bytes; NULL: none. */
const void *same_matrix(const struct plan *plans, int n_plans, enum packed_type t, uint64_t n, uint64_t k, const void *packed);
/* Whether a phase of both plans, and the slots that it reads and writes, compute the same from the same weights. */
int same_phase(const struct plan *a, const struct plan *b, int phase);
#endif

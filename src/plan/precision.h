/* steno: what a matrix is multiplied in. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PRECISION_H
#define STENO_PLAN_PRECISION_H
#include "plan/build.h"

/* What parts of a linear [n, k] should be packed as: b->low_precision, or more bits where the weights say so; 0: as they are stored. */
enum packed_type precision_of(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k);
#endif

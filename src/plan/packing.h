/* steno: packing weights. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_PACKING_H
#define STENO_PLAN_PACKING_H
#include "plan/build.h"
#include "plan/logits_approx.h"

/* n bytes of the weight store; NULL: no memory, the builder has failed. */
void *packed_take(struct build *b, size_t n);
/* Pack the rows of 1..4 tensors, one under the other, as type `packed`. */
const void *pack_parts(struct build *b, struct tensor *const *part, int n_parts, uint64_t n, uint64_t k, uint32_t taps,
                       enum packed_type packed, struct approx_panel *approx);
#endif

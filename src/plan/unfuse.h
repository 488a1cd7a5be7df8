/* steno: a plan without its fusions. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_UNFUSE_H
#define STENO_PLAN_UNFUSE_H
#include "plan/build.h"

/* The same plan without fusions: Q, K and V apart, bias with activation and residual as ops of their own. Bit for bit it computes the
 * same. */
void build_unfuse(struct build *b);
#endif

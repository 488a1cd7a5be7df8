/* steno: a plan without its fusions. SPDX-License-Identifier: MIT */
#ifndef STENO_PLAN_UNFUSE_H
#define STENO_PLAN_UNFUSE_H
#include "plan/build.h"

/* The same plan without fusions: Q, K and V separate, bias with activation and residual as ops. The results are bit for bit the same. */
void build_unfuse(struct build *b);
#endif

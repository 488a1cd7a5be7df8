/* steno: what a draft model would spare, by how often it is right. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_DRAFT_H
#define STENO_TOOLS_BENCH_DRAFT_H
#include "engine.h"

/* Time runs of several rows of the engine's model, and steps of one of the shape `draft`; print a table. @return as main */
int bench_draft(const struct engine *e, const steno_model_params *p, const char *shape, const char *draft, const char *type, int runs);
#endif

/* steno: what a draft model would spare, by how often it is right. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_DRAFT_H
#define STENO_TOOLS_BENCH_DRAFT_H
#include "bench_text.h"

struct bench_shapes { const char *model, *draft, *type; };

/* Time runs of several rows of the engine's model, and steps of one of the draft's shape; print a table. @return as main */
int bench_draft(const struct engine *e, const steno_model_params *p, const struct bench_shapes *s, int runs, enum bench_format format);
#endif

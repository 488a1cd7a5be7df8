/* steno: the speed gain of a draft model, by acceptance rate. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BENCH_DRAFT_H
#define STENO_TOOLS_BENCH_DRAFT_H
#include "verbs/bench_text.h"

struct bench_shapes { const char *model, *draft, *type; };

/* Time runs of several rows of the engine's model, and steps of a model with the draft's shape. Prints a table. @return as main */
int bench_draft(const struct engine *e, const steno_model_params *p, const struct bench_shapes *s, int runs, enum bench_format format);
#endif

/* steno: opens models from sources other than a path. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_OPEN_H
#define STENO_LIB_OPEN_H
#include "base/file.h"
#include "model/family.h"

/* Options for tests and benchmarks. */
struct model_variant {
    int unfused;                /* plans without fusions */
    struct executor *executor;  /* runs the plans of this model only; owned by the caller. NULL: the CPU */
};

/* As steno_model_open. v may be NULL */
int model_open_path(steno_model **out, const char *path, const steno_model_params *p, const struct model_variant *v, steno_error *e);
/* Opens one file without files beside it. The file remains the caller's. */
int model_open_file(steno_model **out, const struct file *f, const steno_model_params *p, const struct model_variant *v, steno_error *e);
#endif

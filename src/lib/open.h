/* steno: opening models from what is no path. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_OPEN_H
#define STENO_LIB_OPEN_H
#include "base/file.h"
#include "model/family.h"

/* For tests and measurements. */
struct model_variant {
    int unfused;                /* plans whose fusions are taken apart */
    struct executor *executor;  /* what the plans are replayed on, its owner's, and only this model's; NULL: the CPU */
};

/* As steno_model_open. v: NULL for what everybody gets */
int model_open_path(steno_model **out, const char *path, const steno_model_params *p, const struct model_variant *v, steno_error *e);
/* Open one file without neighbours, which stays its owner's. */
int model_open_file(steno_model **out, const struct file *f, const steno_model_params *p, const struct model_variant *v, steno_error *e);
#endif

/* steno: opening models from what is no path. SPDX-License-Identifier: MIT */
#ifndef STENO_LIB_OPEN_H
#define STENO_LIB_OPEN_H
#include "base/file.h"
#include "model/family.h"

/* Open one file without neighbours, which stays its owner's. unfused: with plans whose fusions are taken apart, for comparisons. */
int model_open_file(steno_model **out, const struct file *f, const steno_model_params *p, int unfused, steno_error *e);
#endif

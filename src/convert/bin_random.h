/* steno: .bin files with random weights. SPDX-License-Identifier: MIT */
#ifndef STENO_CONVERT_BIN_RANDOM_H
#define STENO_CONVERT_BIN_RANDOM_H
#include "convert/random_file.h"
#include "model/whisper_dims.h"

/* Memory comes from the arena, which must outlive *f, as must *r. type: of the matrices. STENO_EARG if rows are not whole blocks of the
 * type. */
int whisper_random_file(struct random_file *r, struct file *f, struct arena *a, const struct whisper_dims *d, enum dtype type,
                        uint64_t seed, steno_error *e);
#endif

/* steno: Whisper models with random weights. SPDX-License-Identifier: MIT
 *
 * A whisper.cpp .bin file of any shape and type, for measuring and for tests: header, filters, a vocabulary of short words, all tensors. */
#ifndef STENO_MODEL_WHISPER_RANDOM_H
#define STENO_MODEL_WHISPER_RANDOM_H
#include "load/random_file.h"
#include "model/whisper_dims.h"

/* Memory from the arena, which must outlive *f, as must *r. type: of the matrices. STENO_EARG when rows do not divide into the type's
 * blocks. */
int whisper_random_file(struct random_file *r, struct file *f, struct arena *a, const struct whisper_dims *d, enum dtype type,
                        uint64_t seed, steno_error *e);
#endif

/* steno: one hash for the files of models. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BATCH_MODEL_HASH_H
#define STENO_TOOLS_BATCH_MODEL_HASH_H
#include "digest.h"
#include <steno/steno.h>

/* SHA-256 of the contents of all files that were read for models[n], which may be NULL, in order. Names do not count, so that a cache may
 * be elsewhere on another machine. @return EXIT_OK, or an exit code after a message */
int model_hash(char hex[SHA_HEX_SZ], const steno_model *const *models, size_t n);
#endif

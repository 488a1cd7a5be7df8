/* steno: models that lie as files in the folders of programs, in no hub's cache. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_PLAIN_H
#define STENO_TOOLS_MODELS_PLAIN_H
#include "hub_error.h"

/* Each file in ./models, ~/.cache/steno, ~/.cache/whisper.cpp and ~/.cache/whisper that may be a model, by its name. What `each` returns
 * ends it, unless that is HUB_OK. */
int models_plain_each(int (*each)(void *user, const char *path, const char *file, struct hub_error *e), void *user, struct hub_error *e);

/* Is a file what a name stands for, as with -m: ggml-NAME.bin, NAME.bin, NAME.pt, NAME.gguf or NAME, of an alias in the table, too? */
int models_plain_is(const char *file, const char *name);
#endif

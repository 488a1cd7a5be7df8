/* steno: model files in the folders of programs. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MODELS_PLAIN_H
#define STENO_TOOLS_MODELS_PLAIN_H
#include "hub_error.h"

/* Call `each` for every file in ./models, ~/.cache/steno, ~/.cache/whisper.cpp and ~/.cache/whisper whose name may be a model's. A
 * result other than HUB_OK stops the walk. */
int models_plain_each(int (*each)(void *user, const char *path, const char *file, struct hub_error *e), void *user, struct hub_error *e);

/* Does a name mean this file, as with -m: ggml-NAME.bin, NAME.bin, NAME.pt, NAME.gguf or NAME, also for an alias in the table? */
int models_plain_is(const char *file, const char *name);
#endif

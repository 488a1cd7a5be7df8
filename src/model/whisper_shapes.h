/* steno: Whisper models by name. SPDX-License-Identifier: MIT
 *
 * The models that were published: their sizes tell them apart. */
#ifndef STENO_MODEL_WHISPER_SHAPES_H
#define STENO_MODEL_WHISPER_SHAPES_H
#include "model/whisper_dims.h"

/* A named shape's dimensions; STENO_EARG lists the names. */
int whisper_shape(const char *name, struct whisper_dims *d, steno_error *e);
const char *whisper_shape_name(const struct whisper_dims *d); /* "custom": it is none of them */
/* Which of the published models has a list of heads for it: the shape's, but large-v1 and large-v2 have one shape, and only the path can
 * tell which it is ("large-v2.pt", "ggml-large_v1.bin"; the last name in it counts). "custom": it is not known */
const char *whisper_official_name(const struct whisper_dims *d, const char *path);
#endif

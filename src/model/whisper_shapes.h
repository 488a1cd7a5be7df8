/* steno: named Whisper models. SPDX-License-Identifier: MIT
 *
 * The published models, which differ in size. */
#ifndef STENO_MODEL_WHISPER_SHAPES_H
#define STENO_MODEL_WHISPER_SHAPES_H
#include "model/whisper_dims.h"

/* Dimensions of a named shape. STENO_EARG: the message lists the names. */
int whisper_shape(const char *name, struct whisper_dims *d, steno_error *e);
const char *whisper_shape_name(const struct whisper_dims *d); /* "custom": not a published shape */
/* 1: several published models have these dimensions: large-v1 and large-v2. */
int whisper_shape_is_shared(const struct whisper_dims *d);
/* Name of the published model whose list of alignment heads fits. large-v1 and large-v2 have the same shape, so the path decides between
 * them ("large-v2.pt", "ggml-large_v1.bin"; the last name in it counts). "custom": not known */
const char *whisper_official_name(const struct whisper_dims *d, const char *path);
#endif

/* steno: the ten numbers every Whisper model follows from. SPDX-License-Identifier: MIT
 *
 * Names follow openai/whisper's ModelDimensions. Each spelling of a model has its own place for them; the ranges are the same. */
#ifndef STENO_LOAD_DIMS_H
#define STENO_LOAD_DIMS_H
#include "base/err.h"

struct model_dims {
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
};

enum { MODEL_DIMS = 10 };
struct model_dim { const char *name; int32_t max; size_t at; }; /* at: offset in struct model_dims */
extern const struct model_dim model_dim[MODEL_DIMS];        /* in the order of a whisper.cpp header */

/* Ranges, 80 or 128 mels, equal widths, heads that divide them into what attention takes. where: "FILE: header", for messages. */
int model_dims_check(const struct model_dims *d, const char *where, steno_error *e);
#endif

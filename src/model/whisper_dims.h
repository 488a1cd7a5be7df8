/* steno: the ten numbers that define a Whisper model. SPDX-License-Identifier: MIT
 *
 * Names follow openai/whisper's ModelDimensions. Each form of a model stores them elsewhere: in the header of a whisper.cpp file, in the
 * dictionary "dims" of an OpenAI file, or in config.json of transformers or of MLX, which uses the names themselves. The ranges are the
 * same. */
#ifndef STENO_MODEL_WHISPER_DIMS_H
#define STENO_MODEL_WHISPER_DIMS_H
#include "load/weights.h"

struct whisper_dims {
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
};

enum { WHISPER_DIMS = 10 };
/* at: offset in struct whisper_dims; transformers: name in its config.json */
struct whisper_dim { const char *name, *transformers; int32_t max; size_t at; };
extern const struct whisper_dim whisper_dim[WHISPER_DIMS]; /* in the order of a whisper.cpp header */

/* Where a file has its ten numbers. WHISPER_PLAIN: under their names, as in the header of a whisper.cpp file, and in MLX. */
enum whisper_spelling { WHISPER_NOWHERE, WHISPER_PLAIN, WHISPER_OPENAI, WHISPER_TRANSFORMERS };
enum whisper_spelling whisper_spelling_of(const struct weights *w);

/* Reads them. STENO_EFORMAT if the kernels do not support them: ranges, 80 or 128 mels, equal widths, heads that divide these.
 * STENO_EUNSUPPORTED for contexts above the limits of the family, and for transformers' networks that differ from Whisper's. */
int whisper_dims_read(struct whisper_dims *d, const struct weights *w, steno_error *e);
#endif

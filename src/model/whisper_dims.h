/* steno: the ten numbers every Whisper model follows from. SPDX-License-Identifier: MIT
 *
 * Names follow openai/whisper's ModelDimensions. Each spelling of a model has its own place for them: the header of a whisper.cpp file, the
 * dictionary "dims" of an OpenAI file, config.json of transformers, or of MLX, which has the names themselves. The ranges are the same. */
#ifndef STENO_MODEL_WHISPER_DIMS_H
#define STENO_MODEL_WHISPER_DIMS_H
#include "load/weights.h"

struct whisper_dims {
    int32_t n_mels, n_audio_ctx, n_audio_state, n_audio_head, n_audio_layer;
    int32_t n_vocab, n_text_ctx, n_text_state, n_text_head, n_text_layer;
};

enum { WHISPER_DIMS = 10 };
/* at: offset in struct whisper_dims; transformers: the name in its config.json */
struct whisper_dim { const char *name, *transformers; int32_t max; size_t at; };
extern const struct whisper_dim whisper_dim[WHISPER_DIMS]; /* in the order of a whisper.cpp header */

/* Where a file has its ten numbers. WHISPER_PLAIN: by their names, as the header of a whisper.cpp file gives them, and MLX. */
enum whisper_spelling { WHISPER_NOWHERE, WHISPER_PLAIN, WHISPER_OPENAI, WHISPER_TRANSFORMERS };
enum whisper_spelling whisper_spelling_of(const struct weights *w);

/* From there. STENO_EFORMAT for what no kernel takes: ranges, 80 or 128 mels, equal widths, heads that divide them. STENO_EUNSUPPORTED for
 * contexts above what the family knows, and for networks of transformers' that differ from Whisper's. */
int whisper_dims_read(struct whisper_dims *d, const struct weights *w, steno_error *e);
#endif

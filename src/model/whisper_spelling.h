/* steno: Whisper models as other programs spell them. SPDX-License-Identifier: MIT
 *
 * transformers has names of its own; MLX has two, lays filters tap by tap, and leaves the encoder's positions out, which follow from a
 * rule. Behind this all models look like openai/whisper's. */
#ifndef STENO_MODEL_WHISPER_SPELLING_H
#define STENO_MODEL_WHISPER_SPELLING_H
#include "model/whisper_dims.h"

/* Tensors get openai/whisper's names and layout, and missing positions are added. Done once; memory is the weights'. */
int whisper_respell(struct weights *w, const struct whisper_dims *d, steno_error *e);
#endif

/* steno: Whisper models in other programs' forms. SPDX-License-Identifier: MIT
 *
 * transformers has its own names. MLX has two names of its own, stores filters tap by tap, and omits the encoder's positions, which are
 * computed. After whisper_respell all models look like openai/whisper's. */
#ifndef STENO_MODEL_WHISPER_SPELLING_H
#define STENO_MODEL_WHISPER_SPELLING_H
#include "model/whisper_dims.h"

/* Gives tensors openai/whisper's names and layout, and adds missing positions. Call it once; memory is that of the weights. */
int whisper_respell(struct weights *w, const struct whisper_dims *d, steno_error *e);
#endif

/* steno: Whisper models as CTranslate2 stores them. SPDX-License-Identifier: MIT
 *
 * faster-whisper's form. Queries, keys and values are stacked, every key has a bias, and sizes are given by shapes alone. */
#ifndef STENO_MODEL_WHISPER_CT2_H
#define STENO_MODEL_WHISPER_CT2_H
#include "model/whisper_dims.h"

/* Replaces the index by tensors with openai/whisper's names and shapes, and adds the ten numbers to the settings. Call it once; memory is
 * that of the weights. STENO_EUNSUPPORTED: its logits have a matrix of their own */
int whisper_from_ct2(struct weights *w, const struct whisper_dims *d, steno_error *e);
#endif

/* steno: names of a Whisper model's tensors. SPDX-License-Identifier: MIT
 *
 * steno and whisper.cpp use openai/whisper's names. transformers and CTranslate2 have others, and MLX has two of its own. */
#ifndef STENO_MODEL_WHISPER_NAMES_H
#define STENO_MODEL_WHISPER_NAMES_H
#include "model/whisper_dims.h"

/* Converts transformers' or MLX's name of a tensor to openai/whisper's, or that to transformers'. Unknown names stay. @return 1, or 0: no
 * room */
int whisper_name_from_others(const char *name, char *out, size_t n);
int whisper_name_to_transformers(const char *name, char *out, size_t n);

struct whisper_tensors { struct tensor **tensor; uint32_t n; };

/* Lists all tensors of a model under openai/whisper's names, in the order of its files. Memory is that of the weights. STENO_EFORMAT: one
 * is missing, or has another shape */
int whisper_tensors_list(struct whisper_tensors *out, struct weights *w, const struct whisper_dims *d, steno_error *e);

/* ---- other programs' forms -------------------------------------------------------------------------------------------------------- */

/* transformers has its own names. MLX has two names of its own, stores filters tap by tap, and omits the encoder's positions, which are
 * computed. CTranslate2 stacks matrices (whisper_ct2.h). After whisper_respell all models look like openai/whisper's. */

/* Gives tensors openai/whisper's names and layout, and adds missing positions. Call it once; memory is that of the weights. */
int whisper_respell(struct weights *w, const struct whisper_dims *d, steno_error *e);
#endif

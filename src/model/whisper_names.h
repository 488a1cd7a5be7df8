/* steno: names of a Whisper model's tensors. SPDX-License-Identifier: MIT
 *
 * openai/whisper's names are the ones that the house uses and whisper.cpp has, too; transformers has others, and MLX has two of its own. */
#ifndef STENO_MODEL_WHISPER_NAMES_H
#define STENO_MODEL_WHISPER_NAMES_H
#include "model/whisper_dims.h"

/* Of transformers' or MLX's name of a tensor openai/whisper's, and of that transformers'; a name that is none stays.
 * @return 1, or 0: no room */
int whisper_name_from_others(const char *name, char *out, size_t n);
int whisper_name_to_transformers(const char *name, char *out, size_t n);

struct whisper_tensors { struct tensor **tensor; uint32_t n; };

/* All tensors of a model with openai/whisper's names, in the order of its files, and no others. Memory is the weights'. STENO_EFORMAT: one
 * is missing, or has another shape */
int whisper_tensors_list(struct whisper_tensors *out, struct weights *w, const struct whisper_dims *d, steno_error *e);
#endif

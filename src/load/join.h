/* steno: models in two places. SPDX-License-Identifier: MIT
 *
 * A model may have another network whose weights, settings and tokenizer are in a separate file or folder. They join the index of the first
 * network. */
#ifndef STENO_LOAD_JOIN_H
#define STENO_LOAD_JOIN_H
#include "load/weights.h"

/* Add the tensors and keys of a GGUF file of this architecture: the file at `path`, or, with path NULL, the only such file in the model's
 * folder. Existing keys keep their values. STENO_EFORMAT: there is none, or there are several */
int weights_join_gguf(struct weights *w, const char *architecture, const char *path, steno_error *e);
/* Use `name` in later messages; NULL: the model's own name. Pass w->joined while the other network is read. @return the previous name */
const char *weights_speak_of(struct weights *w, const char *name);
/* Read the settings in folder `name` of the model's folder. Later calls find the tokenizer there, too. STENO_EFORMAT: no such folder */
int weights_join_folder(struct weights *w, const char *name, steno_error *e);
#endif

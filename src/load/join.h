/* steno: models in two places. SPDX-License-Identifier: MIT
 *
 * A model may have a network whose weights, settings and tokenizer lie in a file or a folder of their own. They join the index of the
 * first. */
#ifndef STENO_LOAD_JOIN_H
#define STENO_LOAD_JOIN_H
#include "load/weights.h"

/* The tensors and keys of a GGUF file of an architecture: the one at `path`, or (NULL) the only one beside the model. Keys that are there
 * already stay as they are. STENO_EFORMAT: there is none, or there are several */
int weights_join_gguf(struct weights *w, const char *architecture, const char *path, steno_error *e);
/* Messages are about `name` from now on (NULL: as before): w->joined while the other network is looked at. @return what they were about */
const char *weights_speak_of(struct weights *w, const char *name);
/* The settings of the folder `name` in the model's, where a tokenizer is found from then on, too. STENO_EFORMAT: there is none */
int weights_join_folder(struct weights *w, const char *name, steno_error *e);
#endif

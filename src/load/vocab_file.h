/* steno: vocabularies that live in files of their own. SPDX-License-Identifier: MIT
 *
 * The same strings come as vocab.json, tokenizer.json, tiktoken files, SentencePiece models or plain lists; ids to raw bytes is all that is
 * kept, so that the rest of the house knows one form. */
#ifndef STENO_LOAD_VOCAB_FILE_H
#define STENO_LOAD_VOCAB_FILE_H
#include "load/weights.h"

/* Fill w->vocab of a model that carries none: from `path` (a tiktoken file, a folder with vocab.json, tokenizer.json or tokens.json, one of
 * those files, a SentencePiece model, or any model that has a vocabulary), or, path NULL, from such a file beside the model.
 * STENO_ENOVOCAB when there is none, STENO_EFORMAT for a damaged one, STENO_EIO for a path that cannot be read. */
int weights_read_vocab(struct weights *w, const char *path, steno_error *e);
/* Fill it from a list of the settings, or else from the file `name` beside the model: of a network that is not its first. Likewise */
int weights_read_pieces(struct weights *w, const char *name, const char *list, steno_error *e);
#endif

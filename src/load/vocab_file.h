/* steno: vocabularies in separate files. SPDX-License-Identifier: MIT
 *
 * The same strings come as vocab.json, tokenizer.json, tiktoken files, SentencePiece models or plain lists. Only ids and raw bytes are
 * kept, so the rest of the library handles one form. */
#ifndef STENO_LOAD_VOCAB_FILE_H
#define STENO_LOAD_VOCAB_FILE_H
#include "load/weights.h"

/* Fill w->vocab of a model without a vocabulary. `path` is a tiktoken file, a folder with vocab.json, tokenizer.json or tokens.json, one of
 * those files, a SentencePiece model, or any model with a vocabulary. path NULL selects such a file in the model's folder. STENO_ENOVOCAB
 * when there is none, STENO_EFORMAT for a damaged one, STENO_EIO for a path that cannot be read. */
int weights_read_vocab(struct weights *w, const char *path, steno_error *e);
/* Fill w->vocab of a further network of a model: from a list of the settings, or else from file `name` in the model's folder. Same
 * statuses */
int weights_read_pieces(struct weights *w, const char *name, const char *list, steno_error *e);
#endif

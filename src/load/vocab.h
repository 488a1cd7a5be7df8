/* steno: vocabularies in separate files. SPDX-License-Identifier: MIT
 *
 * The same strings come as vocab.json, tokenizer.json, tiktoken files, SentencePiece models or lists. Only ids and raw bytes are
 * kept, so the rest of the library handles one form. */
#ifndef STENO_LOAD_VOCAB_H
#define STENO_LOAD_VOCAB_H
#include "base/buf.h"
#include "load/weights.h"

/* Fill w->vocab of a model without a vocabulary. `path` is a tiktoken file, a folder with vocab.json, tokenizer.json or tokens.json, one of
 * those files, a SentencePiece model, or any model with a vocabulary. path NULL selects such a file in the model's folder. STENO_ENOVOCAB
 * when there is none, STENO_EFORMAT for a damaged one, STENO_EIO for a path that cannot be read. */
int weights_read_vocab(struct weights *w, const char *path, steno_error *e);
/* Fill w->vocab of a further network of a model: from a list of the settings, or else from file `name` in the model's folder. Same
 * statuses */
int weights_read_pieces(struct weights *w, const char *name, const char *list, steno_error *e);

/* ---- a vocabulary under construction ---------------------------------------------------------------------------------------------- */

/* Files give strings in any order; the table needs every id of 0..n-1 in order. Readers add what they find. vocab_list_done sorts,
 * checks and stores the result. */

enum { VOCAB_IDS = 1 << 20, VOCAB_STRING = 4096, VOCAB_FILE = 64 << 20 };

struct vocab_list { struct buf bytes, items; const char *name; };

void vocab_list_free(struct vocab_list *l);
int vocab_list_add(struct vocab_list *l, int64_t id, const void *s, size_t n, steno_error *e);
void vocab_list_mark(struct vocab_list *l, float score, enum vocab_type type); /* marks the last added string */
/* Add the strings of `extra` that fill a gap below the highest id. */
int vocab_list_fill(struct vocab_list *l, const struct vocab_list *extra, steno_error *e);
/* Add the strings of `extra`; they replace strings with the same id. */
int vocab_list_override(struct vocab_list *l, const struct vocab_list *extra, steno_error *e);
/* Store as w->vocab; STENO_EFORMAT for a gap or a duplicate id. */
int vocab_list_done(const struct vocab_list *l, struct weights *w, steno_error *e);
int vocab_take_list(struct weights *w, const struct meta_list *from, steno_error *e); /* texts of the settings, as w->vocab */

/* ---- the forms. Each function adds all strings of a file. */
int vocab_read_json(struct vocab_list *l, struct vocab_list *extra, const struct file *f, steno_error *e);
int vocab_read_added(struct vocab_list *extra, const struct file *f, steno_error *e); /* added_tokens.json */
int vocab_read_tiktoken(struct vocab_list *l, const struct file *f, steno_error *e);
/* CTranslate2's vocabulary.json and vocabulary.txt list strings in the order of their ids, in GPT-2's alphabet. vocab_read_json reads the
 * first by its name. */
int vocab_is_listed(const char *path);
int vocab_add_listed(struct vocab_list *l, int64_t id, char *s, size_t n, steno_error *e); /* changes s */
int sentencepiece_match(const uint8_t *head, size_t n);
int vocab_read_sentencepiece(struct vocab_list *l, const struct file *f, steno_error *e);
/* Fill w->vocab from a SentencePiece model that is part of the model's file. *f must live as long as w. STENO_EFORMAT for another file */
int vocab_take_sentencepiece(struct weights *w, const struct file *f, steno_error *e);
#endif

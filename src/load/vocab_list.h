/* steno: a vocabulary on its way from a file to the table. SPDX-License-Identifier: MIT
 *
 * Files give strings in any order; the table wants them by id, every one of 0..n-1. Readers add what they find, vocab_list_done sorts,
 * checks and hands over. */
#ifndef STENO_LOAD_VOCAB_LIST_H
#define STENO_LOAD_VOCAB_LIST_H
#include "base/buf.h"
#include "load/weights.h"

enum { VOCAB_IDS = 1 << 20, VOCAB_STRING = 4096, VOCAB_FILE = 64 << 20 };

struct vocab_list { struct buf bytes, items; const char *name; };

void vocab_list_free(struct vocab_list *l);
int vocab_list_add(struct vocab_list *l, int64_t id, const void *s, size_t n, steno_error *e);
void vocab_list_mark(struct vocab_list *l, float score, enum vocab_type type); /* what was added last */
/* Put in those of `extra` that fill a gap below the highest id. */
int vocab_list_fill(struct vocab_list *l, const struct vocab_list *extra, steno_error *e);
/* Put in those of `extra`, also in place of others with their ids. */
int vocab_list_override(struct vocab_list *l, const struct vocab_list *extra, steno_error *e);
/* As w->vocab; STENO_EFORMAT for a gap or an id given twice. */
int vocab_list_done(const struct vocab_list *l, struct weights *w, steno_error *e);
int vocab_take_list(struct weights *w, const struct meta_list *from, steno_error *e); /* texts of the settings, as w->vocab */

/* ---- the forms. Each adds all of a file's strings. */
int vocab_read_json(struct vocab_list *l, struct vocab_list *extra, const struct file *f, steno_error *e);
int vocab_read_added(struct vocab_list *extra, const struct file *f, steno_error *e); /* added_tokens.json */
int vocab_read_tiktoken(struct vocab_list *l, const struct file *f, steno_error *e);
int sentencepiece_match(const uint8_t *head, size_t n);
int vocab_read_sentencepiece(struct vocab_list *l, const struct file *f, steno_error *e);
#endif

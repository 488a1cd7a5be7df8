/* steno: BERT: what its reader and its writer share. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_BERT_H
#define STENO_MODEL_BERT_H
#include <stddef.h>
#include "load/weights.h"

struct bert_dims { int32_t layers, d, d_ff, heads, positions, types, n_vocab; double eps; unsigned act; };

/* A number of struct bert_dims: its keys in a folder and in a GGUF file. */
struct bert_number { const char *config, *gguf; int32_t lo, hi; int optional; size_t at; };
enum { BERT_NUMBERS = 4 };
extern const struct bert_number bert_number[BERT_NUMBERS];
extern const char bert_architecture[]; /* of its GGUF files */

int bert_is_gguf(const struct weights *w);
/* Reads settings, and sizes from tensors. Afterwards tensor names are those of transformers. */
int bert_read_dims(struct bert_dims *d, struct weights *w, steno_error *e);
int bert_gguf_name(const char *name, char *out, size_t n); /* GGUF name of a folder's tensor. 0: GGUF files do not have it */
#endif

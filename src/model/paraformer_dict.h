/* steno: token ids of Paraformer's hot words. SPDX-License-Identifier: MIT
 *
 * The dictionary that splits words into tokens is the file seg_dict in a folder, and a list of lines in a GGUF file. */
#ifndef STENO_MODEL_PARAFORMER_DICT_H
#define STENO_MODEL_PARAFORMER_DICT_H
#include "model/family.h"

int dict_read(steno_model *m, struct weights *w, steno_error *e); /* the vocabulary must be set */
int dict_put(struct gguf_writer *g, struct weights *w, steno_error *e);
int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids); /* as cif.word_ids */
#endif

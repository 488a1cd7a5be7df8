/* steno: words that a caller gives Paraformer. SPDX-License-Identifier: MIT
 *
 * A folder has the dictionary by which words are cut into tokens in its seg_dict, a GGUF file as a list of its lines. */
#ifndef STENO_MODEL_PARAFORMER_DICT_H
#define STENO_MODEL_PARAFORMER_DICT_H
#include "model/family.h"

int dict_read(steno_model *m, struct weights *w, steno_error *e); /* the vocabulary is there */
int dict_put(struct gguf_writer *g, struct weights *w, steno_error *e);
int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids); /* as cif.word_ids */
#endif

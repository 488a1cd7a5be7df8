/* steno: Chinese dictionaries of punctuation models. SPDX-License-Identifier: MIT
 *
 * If the folder of a CT-Transformer has a file jieba_usr_dict, FunASR segments text with jieba. It uses jieba's own dictionary, which is
 * not part of the model, plus the words of that file. Reference: FunASR 1.4, funasr/models/ct_transformer/model.py and utils.py
 * (split_words). */
#ifndef STENO_MODEL_CT_WORDS_H
#define STENO_MODEL_CT_WORDS_H
#include "load/gguf_write.h"
#include "model/family.h"

/* Reads the dictionary that segments the model's text, if the model has words of its own and jieba's dictionary is found. */
int ct_read_words(steno_model *m, struct marks_model *v, struct weights *w, steno_error *e);
/* Writes the model's own words, if it has any. */
int ct_put_words(struct gguf_writer *g, struct weights *w, steno_error *e);
#endif

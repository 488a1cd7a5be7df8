/* steno: words of Chinese, which a model of punctuation was trained on. SPDX-License-Identifier: MIT
 *
 * FunASR cuts text by jieba where the folder of a CT-Transformer has a file jieba_usr_dict: by jieba's own dictionary, which is not part of
 * the model, and the words of that file. Reference: FunASR 1.4, funasr/models/ct_transformer/model.py and utils.py (split_words). */
#ifndef STENO_MODEL_CT_WORDS_H
#define STENO_MODEL_CT_WORDS_H
#include "load/gguf_write.h"
#include "model/family.h"

/* The dictionary that the model's text is cut by, where it has words of its own and jieba's are found. */
int ct_read_words(steno_model *m, struct marks_model *v, struct weights *w, steno_error *e);
/* Its own words, where it has some. */
int ct_put_words(struct gguf_writer *g, struct weights *w, steno_error *e);
#endif

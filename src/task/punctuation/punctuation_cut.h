/* steno: word segmentation for punctuation models trained on Chinese words. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_PUNCTUATION_PUNCTUATION_CUT_H
#define STENO_TASK_PUNCTUATION_PUNCTUATION_CUT_H
#include "text/jieba.h"

/* Bytes [at, at + n) of the output are a word. Its position in the input is [from, to). */
typedef void marks_word(void *user, size_t at, size_t n, size_t from, size_t to);

/* Appends the words of text[n] to `out`, without spaces, and calls `word` for each. A run of Latin letters without spaces is a word.
 * Dictionary d segments all other text; joins: 1 if words may continue across spaces. As FunASR's split_words. Errors are set in
 * out->err. */
void marks_cut(struct buf *out, const struct jieba *d, const char *text, size_t n, int joins, marks_word *word, void *user);
#endif

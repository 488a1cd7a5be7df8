/* steno: text for a model that was trained on words of Chinese. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_MARKS_MARKS_CUT_H
#define STENO_TASK_MARKS_MARKS_CUT_H
#include "text/jieba.h"

/* Bytes [at, at + n) of the text that is made are a word, which stands at [from, to) of what was given. */
typedef void marks_word(void *user, size_t at, size_t n, size_t from, size_t to);

/* Append the words of text[n] to `out`, without spaces, and tell of each. What has no space within and is of Latin letters is a word; all
 * else is cut by d, and joins: over the spaces in it. As FunASR's split_words. What fails is noted in `out` */
void marks_cut(struct buf *out, const struct jieba *d, const char *text, size_t n, int joins, marks_word *word, void *user);
#endif

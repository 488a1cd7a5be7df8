/* steno: words of text in several scripts. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_MIXED_WORDS_H
#define STENO_TEXT_MIXED_WORDS_H
#include <stddef.h>

/* The next word of text[n], which is UTF-8, from *end on: ASCII characters without a space between them, or one other character. Spaces are
 * those of Python's str.split(); tags <| |> are skipped. The word is bytes [*at, *end). @return 0: no more words */
int mixed_word_next(const char *text, size_t n, size_t *at, size_t *end);
/* Whether text[n] is several characters, none of them ASCII. */
int mixed_is_wide(const char *text, size_t n);
/* Whether text[n] ends, or begins, with a punctuation mark. */
int mixed_ends_marked(const char *text, size_t n);
int mixed_begins_marked(const char *text, size_t n);
#endif

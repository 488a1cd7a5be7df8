/* steno: words of text in several scripts. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_MIXED_WORDS_H
#define STENO_TEXT_MIXED_WORDS_H
#include <stddef.h>

/* The next word of text[n], which is UTF-8, from *end on: characters of ASCII without a space between them, or any one other character.
 * Spaces are those of Python's str.split(), and what stands in <| |> is no text. Its bytes are [*at, *end). @return 0: there is none */
int mixed_word_next(const char *text, size_t n, size_t *at, size_t *end);
/* Is it several characters, none of them ASCII? */
int mixed_is_wide(const char *text, size_t n);
/* Does text[n] end with a mark of punctuation, and does it begin with one? */
int mixed_ends_marked(const char *text, size_t n);
int mixed_begins_marked(const char *text, size_t n);
#endif

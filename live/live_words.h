/* steno: words of passes over the same sound. SPDX-License-Identifier: MIT */
#ifndef STENO_LIVE_LIVE_WORDS_H
#define STENO_LIVE_LIVE_WORDS_H
#include <stddef.h>
#include <steno/steno.h>

struct word { char *text; int64_t t0_ms, t1_ms; }; /* text as it came, the space before it included */
struct words { struct word *w; size_t n, cap; };

int live_words_add(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms); /* copies. @return STENO_OK, STENO_ENOMEM */
void live_words_clear(struct words *w);
void live_words_free(struct words *w);
/* Equal but for case, spaces and the punctuation around them. */
int live_word_same(const char *a, const char *b);
/* Where heard goes on behind what is known: the end of the shortest beginning that has the longest common subsequence with `known`; what
 * begins `after` or later, where they have nothing in common. */
size_t live_words_behind(const struct words *heard, const struct words *known, int64_t after_ms);
/* Words [from, end) as one text without spaces at its ends, malloc'd; NULL: no memory. */
char *live_words_text(const struct words *w, size_t from, size_t end);
#endif

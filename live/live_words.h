/* steno: words of passes over the same sound. SPDX-License-Identifier: MIT
 *
 * The unit of agreement: a word between spaces, and a character where words have no spaces between them (Chinese, Japanese, Thai, ...).
 * Two of them are the same when they are so in compatible form (NFKC), without case and without the punctuation around them. */
#ifndef STENO_LIVE_LIVE_WORDS_H
#define STENO_LIVE_LIVE_WORDS_H
#include <stddef.h>
#include <steno/steno.h>

struct word {
    char *text;            /* as it came, the space before it included */
    const char *key;       /* what is compared: behind the text, in the same block */
    int64_t t0_ms, t1_ms;  /* -1: not known */
};
struct words { struct word *w; size_t n, cap; };

/* One more. Copies. @return STENO_OK, STENO_ENOMEM */
int live_words_add(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
/* The units of a text that lies between these times: the first has its beginning and the last its end. @return as above */
int live_words_add_units(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
/* The same of a text of its own, before which a space is put where both scripts have some. @return as above */
int live_words_add_text(struct words *to, const char *text, int64_t t0_ms, int64_t t1_ms);
/* Words [from, end) of w. @return as above */
int live_words_add_range(struct words *to, const struct words *w, size_t from, size_t end);
void live_words_drop(struct words *w, size_t n); /* the first n of them */
void live_words_clear(struct words *w);
void live_words_free(struct words *w);
int live_word_same(const struct word *a, const struct word *b);

/* Where heard goes on behind what is known: the end of the shortest beginning that has the longest common subsequence with `known`; what
 * begins `after` or later, where they have nothing in common. @return STENO_OK, STENO_ENOMEM */
int live_words_behind(size_t *at, const struct words *heard, const struct words *known, int64_t after_ms);

/* Words [from, end) as one text without spaces at its ends, malloc'd; NULL: no memory. */
char *live_words_text(const struct words *w, size_t from, size_t end);
#endif

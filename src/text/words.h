/* steno: words from tokens, and words of text. SPDX-License-Identifier: MIT
 *
 * Tokens are joined until they are whole characters, and characters until a space or a punctuation mark begins a new word. In languages
 * without spaces, characters are words. Punctuation is then given to its word, after each mark has received its own time. Reference:
 * openai-whisper 20250625, whisper/tokenizer.py (split_to_word_tokens), whisper/timing.py. */
#ifndef STENO_TEXT_WORDS_H
#define STENO_TEXT_WORDS_H
#include <stddef.h>
#include "base/buf.h"
#include "text/vocab.h"

/* The reference's sets; a word belongs to a set if it is a substring of it. */
#define WORDS_PREPEND "\"'“¿([{-"
#define WORDS_APPEND "\"'.。,，!！?？:：”)]}、"

/* A word: tokens [first, first + n) and their text. */
struct split_word {
    size_t text, len; /* bytes [text, text + len) of split.text, UTF-8 */
    int32_t first, n;
};

struct split {
    struct buf word; /* struct split_word, in order; their texts follow each other without a gap */
    struct buf text;
    struct buf joined, unit; /* scratch */
};

void split_free(struct split *s);
static inline size_t split_count(const struct split *s)
{
    return s->word.len / sizeof(struct split_word);
}
static inline struct split_word *split_at(const struct split *s, size_t i)
{
    return (struct split_word *)(void *)s->word.p + i;
}

/* Whether a language, given by code, puts spaces between words. code may be NULL: not known. */
int language_has_spaces(const char *code);

/* Cut ids[n] into words, in place of what s held.
 *
 * @param n_text  ids from here on are no text: each begins a word and ends a character
 * @param spaces  0: every character is a word, as in a language without spaces
 * @return STENO_OK, STENO_ENOMEM
 *
 * Bytes that are no UTF-8 become U+FFFD, and join the tokens around them no further than the reference would. Where the reference loses
 * everything from such a place on, the token becomes a word. */
int split_words(struct split *s, const struct vocab *v, const int32_t *ids, int32_t n, int32_t n_text, int spaces);

/* Merge punctuation into words. A word that begins with a space and is otherwise a substring of prepend joins the next word. A substring of
 * append joins the previous word, unless that ends in a space. Merged words keep their place with no tokens and no text. Only the first `n`
 * words take part. */
void split_merge(struct split *s, size_t n, const char *prepend, const char *append);

/* Whether text[n] is a substring of set. An empty text is. */
int text_within(const char *text, size_t n, const char *set);

/* ---- words of text in several scripts ---------------------------------------------------------------------------------------- */

/* The next word of text[n], which is UTF-8, from *end on: ASCII characters without a space between them, or one other character. Spaces are
 * those of Python's str.split(); tags <| |> are skipped. The word is bytes [*at, *end). @return 0: no more words */
int mixed_word_next(const char *text, size_t n, size_t *at, size_t *end);
/* Whether text[n] is several characters, none of them ASCII. */
int mixed_is_wide(const char *text, size_t n);
/* Whether text[n] ends, or begins, with a punctuation mark. */
int mixed_ends_marked(const char *text, size_t n);
int mixed_begins_marked(const char *text, size_t n);

/* ---- concatenation ----------------------------------------------------------------------------------------------------------- */

/* Append text[n], separated by a space unless both neighbours are Chinese characters. An empty text adds nothing. */
void text_join(struct buf *to, const char *text, size_t n);
#endif

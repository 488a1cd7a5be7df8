/* steno: the words of a text that are spoken, and the parts of the text that show them. SPDX-License-Identifier: MIT
 *
 * White space separates words. A word keeps its letters, numbers and apostrophes: "nine-eight" is spoken as "nineeight". A Chinese
 * character is a word by itself, and so is a kana with the small kana and length marks behind it. Tags <| |> are not spoken.
 * Reference: qwen-asr 0.0.6, Qwen3ForceAlignProcessor (tokenize_space_lang). Unlike there, kana are words (the reference needs a dictionary
 * for Japanese), and non-spacing marks stay with their letters. */
#ifndef STENO_TEXT_SPOKEN_WORDS_H
#define STENO_TEXT_SPOKEN_WORDS_H
#include "base/buf.h"

struct spoken_word {
    size_t kept, n_kept; /* bytes of spoken_words.kept */
    size_t from, to;     /* bytes of the text. Those of all words follow each other without a gap, from its beginning to its end */
};

struct spoken_words {
    struct buf kept; /* what is spoken, UTF-8 */
    struct buf word; /* struct spoken_word */
};

void spoken_words_free(struct spoken_words *w);
static inline size_t spoken_words_count(const struct spoken_words *w) { return w->word.len / sizeof(struct spoken_word); }
static inline const struct spoken_word *spoken_word_at(const struct spoken_words *w, size_t i)
{
    return (const struct spoken_word *)(const void *)w->word.p + i;
}

/* The words of text[n], in place of those before. Bytes that are not UTF-8 are not spoken. STENO_ENOMEM */
int spoken_words_find(struct spoken_words *w, const char *text, size_t n);
#endif

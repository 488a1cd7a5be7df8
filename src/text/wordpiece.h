/* steno: words and their pieces. SPDX-License-Identifier: MIT
 *
 * BERT's tokenizer (Devlin et al. 2019; Wu et al. 2016): text is cleaned and cut into words at white space and around marks, and each word
 * is taken apart from its beginning, the longest piece first. In the vocabulary a piece that begins a word has a space before it, as text
 * has none within words. Reference: Hugging Face's tokenizers 0.23, normalizers/bert.rs, pre_tokenizers/bert.rs, models/wordpiece. */
#ifndef STENO_TEXT_WORDPIECE_H
#define STENO_TEXT_WORDPIECE_H
#include "text/vocab.h"

enum wordpiece_flag {
    WORDPIECE_CLEAN = 1,  /* control characters go */
    WORDPIECE_HAN = 2,    /* each character of Chinese is a word */
    WORDPIECE_STRIP = 4,  /* accents go */
    WORDPIECE_LOWER = 8   /* letters become small ones */
};

struct wordpiece {
    const struct vocab *v;
    unsigned flags;
    uint32_t most_chars;  /* a longer word is unknown */
    uint32_t most_bytes;  /* of a piece of the vocabulary, its space included */
    int32_t unknown;      /* id of words that have no pieces */
};

/* Ids of text[n], any bytes, appended to ids as int32_t; what is no character is dropped. STENO_ENOMEM */
int wordpiece_encode(const struct wordpiece *w, const char *text, size_t n, struct buf *ids, steno_error *e);
#endif

/* steno: words and their pieces. SPDX-License-Identifier: MIT
 *
 * BERT's tokenizer (Devlin et al. 2019; Wu et al. 2016). Text is cleaned and cut into words at white space and around marks. Each word is
 * split from its beginning, longest piece first. In the vocabulary a piece that begins a word has a space in front, because words contain
 * no spaces. Reference: Hugging Face's tokenizers 0.23, normalizers/bert.rs, pre_tokenizers/bert.rs, models/wordpiece. */
#ifndef STENO_TEXT_WORDPIECE_H
#define STENO_TEXT_WORDPIECE_H
#include "text/vocab.h"

enum wordpiece_flag {
    WORDPIECE_CLEAN = 1,  /* remove control characters */
    WORDPIECE_HAN = 2,    /* each Chinese character is a word */
    WORDPIECE_STRIP = 4,  /* remove accents */
    WORDPIECE_LOWER = 8   /* convert letters to lower case */
};

struct wordpiece {
    const struct vocab *v;
    unsigned flags;
    uint32_t most_chars;  /* a longer word is unknown */
    uint32_t most_bytes;  /* longest piece of the vocabulary, including its space */
    int32_t unknown;      /* id of words that have no pieces */
};

/* Append the ids of text[n], any bytes, to ids as int32_t; bytes that form no character are dropped. STENO_ENOMEM */
int wordpiece_encode(const struct wordpiece *w, const char *text, size_t n, struct buf *ids, steno_error *e);
#endif

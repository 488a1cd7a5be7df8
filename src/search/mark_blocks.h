/* steno: the part of a text whose punctuation is final. SPDX-License-Identifier: MIT
 *
 * Text passes through a network in blocks. The marks after the last words of a block depend on later words, so the words after the last
 * complete sentence are processed again with the next block. Reference: FunASR 1.4, funasr/models/ct_transformer/model.py. */
#ifndef STENO_SEARCH_MARK_BLOCKS_H
#define STENO_SEARCH_MARK_BLOCKS_H
#include <stddef.h>
#include <stdint.h>

/* The effect of a mark after a word. */
enum mark_kind { MARK_OTHER, MARK_COMMA, MARK_END /* of a sentence */ };

/* A word of a text, and the mark after it. */
struct marked_word {
    size_t at;      /* its bytes: text[at, at + n) */
    size_t from, to; /* its place in the input: it may contain spaces */
    uint32_t n;
    int32_t id, mark;
    int32_t begins; /* 1: the words that become final together begin with it */
};

/* The last word of w[n] after which a sentence ends. Words at both ends do not count, because their context is missing. @return its index +
 * 1, 0: none */
size_t marks_last_end(const struct marked_word *w, size_t n, const uint8_t *kind);
/* The number of final words in a block w[n] that is followed by more. If no sentence ends in 200 words, it ends at the last comma, which
 * becomes the mark `end`. */
size_t marks_settled(struct marked_word *w, size_t n, const uint8_t *kind, int32_t end);
#endif

/* steno: how much of a text is punctuated for good. SPDX-License-Identifier: MIT
 *
 * Text goes through a network in blocks. Marks behind the last words of a block depend on words to come, so what lies behind the last
 * sentence that has ended is seen again, with the next block. Reference: FunASR 1.4, funasr/models/ct_transformer/model.py. */
#ifndef STENO_SEARCH_MARK_BLOCKS_H
#define STENO_SEARCH_MARK_BLOCKS_H
#include <stddef.h>
#include <stdint.h>

/* What a mark behind a word does. */
enum mark_kind { MARK_OTHER, MARK_COMMA, MARK_END /* of a sentence */ };

/* A word of a text, and what stands behind it. */
struct marked_word {
    size_t at;      /* its bytes: text[at, at + n) */
    size_t from, to; /* where it stands in what was given: spaces may lie within */
    uint32_t n;
    int32_t id, mark;
    int32_t begins; /* 1: what is settled together begins with it */
};

/* The last word of w[n] behind which a sentence ends; those at the ends do not count, as too little is known there. @return its place + 1,
 * 0: there is none */
size_t marks_last_end(const struct marked_word *w, size_t n, const uint8_t *kind);
/* How many words of a block w[n], behind which there are more, are settled. Where no sentence ends in 200 words it ends at the last comma,
 * which becomes the mark `end`. */
size_t marks_settled(struct marked_word *w, size_t n, const uint8_t *kind, int32_t end);
#endif

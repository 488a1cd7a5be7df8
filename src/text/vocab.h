/* steno: vocabularies. SPDX-License-Identifier: MIT
 *
 * A token is a string of bytes with an id. The bytes are kept as the file has them; text is made by joining bytes first and looking
 * for UTF-8 afterwards, because byte-level tokens split characters. */
#ifndef STENO_TEXT_VOCAB_H
#define STENO_TEXT_VOCAB_H
#include "base/arena.h"
#include "base/utf8.h"

struct vocab {
    int32_t n;                       /* ids 0 .. n-1 */
    const uint8_t **bytes;           /* [n] */
    uint32_t *len;                   /* [n] */
    int32_t n_text;                  /* ids below are ordinary text and take part in byte-pair merges */
    /* How byte-pair encoding (bpe.h) cuts and joins; zeros after vocab_init, and whoever sets them keeps them. */
    const char *pattern;             /* of the pieces that text is cut into (pretokenizer.h); NULL: GPT-2's */
    const int32_t (*merge)[2];       /* [n_merges] pairs of ids that are joined, the first ones first; NULL: ids are ranks */
    int32_t n_merges;
    int whole_first;                 /* with merges: a piece that is a token by itself is taken as it is */
    int by_chars;                    /* text is not cut, and joining begins with characters (SentencePiece) */
    const int32_t *rank;             /* [n] without merges: of joined tokens, the lowest first; NULL: ids are ranks */
    const int32_t *fallback;         /* [257] ids for the bytes of characters that are no token, and one for what is nothing else; -1: none.
                                      * NULL: there are none, and such text is refused */
    uint32_t *hash, hash_mask;       /* bytes -> id over ids below n_text; private */
};

/* Take n entries from the arena (all empty at first), set those given with vocab_set, then build the look-up. */
int vocab_init(struct vocab *v, struct arena *a, int32_t n, int32_t n_text, steno_error *e);
void vocab_set(struct vocab *v, int32_t id, const uint8_t *s, uint32_t n); /* s is kept, not copied */
int vocab_index(struct vocab *v, struct arena *a, steno_error *e);
int32_t vocab_find(const struct vocab *v, const uint8_t *s, size_t n);     /* id, or -1; the lowest id where bytes repeat */

/* Append the bytes of an id. */
void vocab_append(const struct vocab *v, int32_t id, struct buf *out);
#endif

/* steno: vocabularies. SPDX-License-Identifier: MIT
 *
 * A token is a string of bytes with an id. The bytes are kept as in the file. Text is made by joining bytes first and decoding UTF-8
 * afterwards, because byte-level tokens split characters. */
#ifndef STENO_TEXT_VOCAB_H
#define STENO_TEXT_VOCAB_H
#include "base/arena.h"
#include "base/utf8.h"

struct vocab {
    int32_t n;                       /* ids 0 .. n-1 */
    const uint8_t **bytes;           /* [n] */
    uint32_t *len;                   /* [n] */
    int32_t n_text;                  /* ids below are ordinary text and take part in byte-pair merges */
    /* Cutting and joining in byte-pair encoding (bpe.h). vocab_init sets zeros; the code that sets a pointer owns its memory. */
    const char *pattern;             /* of the pieces that text is cut into (bpe.h); NULL: GPT-2's */
    const int32_t (*merge)[2];       /* [n_merges] pairs of ids in the order of joining; NULL: ids are ranks */
    int32_t n_merges;
    int whole_first;                 /* with merges: a piece that equals a token becomes that token directly */
    int by_chars;                    /* text is not cut, and joining begins with characters (SentencePiece) */
    const int32_t *rank;             /* [n] without merges: rank of the joined token, lowest first; NULL: ids are ranks */
    const int32_t *fallback;         /* [257] ids for the bytes of characters that are not tokens, then the id for anything else; -1: none.
                                      * NULL: no fallback, such text is refused */
    uint32_t *hash, hash_mask;       /* bytes -> id over ids below n_text; private */
};

/* Allocate n entries from the arena, all empty. Then set entries with vocab_set and build the look-up with vocab_index. */
int vocab_init(struct vocab *v, struct arena *a, int32_t n, int32_t n_text, steno_error *e);
void vocab_set(struct vocab *v, int32_t id, const uint8_t *s, uint32_t n); /* s is kept, not copied */
int vocab_index(struct vocab *v, struct arena *a, steno_error *e);
int32_t vocab_find(const struct vocab *v, const uint8_t *s, size_t n);     /* id, or -1; the lowest id if several have these bytes */

/* Append the bytes of an id. */
void vocab_append(const struct vocab *v, int32_t id, struct buf *out);

/* ---- ids selected by a pattern ----------------------------------------------------------------------------------------------- */

enum { ID_NAME_SIZE = 32 };

/* Ids that match by a name, not by their bytes: first, ..., end - 1. */
struct id_names {
    int (*write)(const void *of, int32_t id, char name[ID_NAME_SIZE]); /* @return length */
    const void *of;
    int32_t first, end;
};

/* For each id below n whose whole text matches the Perl-compatible pattern, and for each id of names (may be NULL) whose name matches, set
 * its bit in both masks (bit i % 32 of word i / 32). Bytes that are not UTF-8 never match. STENO_EARG: the pattern cannot be compiled, or
 * takes too long to match; STENO_ENOMEM */
int regex_ids(const struct vocab *v, int32_t n, const struct id_names *names, const char *pattern, uint32_t *mask, uint32_t *mask2,
              steno_error *e);
#endif

/* steno: byte-pair encoding. SPDX-License-Identifier: MIT
 *
 * Text is cut by the vocabulary's pattern; each piece is looked up whole or merged pairwise, lowest rank first, leftmost on ties
 * (Sennrich et al. 2016). Ranks are places in the vocabulary's list of merges, or ids where it has none (tiktoken). With by_chars text is
 * not cut and characters are joined, as SentencePiece does, lowest rank first. */
#ifndef STENO_TEXT_BPE_H
#define STENO_TEXT_BPE_H
#include "text/vocab.h"

struct bpe; /* compiled pattern; immutable, shared by threads */
int bpe_open(struct bpe **out, const struct vocab *v, steno_error *e);
void bpe_close(struct bpe *b); /* NULL is allowed */
const struct vocab *bpe_vocab(const struct bpe *b); /* the one it was opened with */

/* Ids of text[n] (any bytes; ill-formed UTF-8 is encoded byte by byte), appended to ids as int32_t in a struct buf.
 * STENO_ENOMEM, or STENO_EARG when a byte, or a character, is not in the vocabulary. */
int bpe_encode(const struct bpe *b, const char *text, size_t n, struct buf *ids, steno_error *e);
#endif

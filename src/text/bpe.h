/* steno: byte-pair encoding. SPDX-License-Identifier: MIT
 *
 * Text is cut by the vocabulary's pattern. A piece that is a token is used directly; otherwise its parts are merged in pairs, lowest rank
 * first, leftmost on ties (Sennrich et al. 2016). Ranks are indices in the vocabulary's list of merges, or ids if it has none (tiktoken).
 * With by_chars text is not cut and characters are joined, lowest rank first, as in SentencePiece. */
#ifndef STENO_TEXT_BPE_H
#define STENO_TEXT_BPE_H
#include "text/vocab.h"

struct bpe; /* compiled pattern; immutable, shared by threads */
int bpe_open(struct bpe **out, const struct vocab *v, steno_error *e);
void bpe_close(struct bpe *b); /* b may be NULL */
const struct vocab *bpe_vocab(const struct bpe *b); /* the vocabulary of bpe_open */

/* Append the ids of text[n] (any bytes; ill-formed UTF-8 is encoded byte by byte) to ids as int32_t. STENO_ENOMEM, or STENO_EARG when a
 * byte or character is not in the vocabulary. */
int bpe_encode(const struct bpe *b, const char *text, size_t n, struct buf *ids, steno_error *e);
#endif

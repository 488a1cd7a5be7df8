/* steno: pairs of a byte-pair vocabulary. SPDX-License-Identifier: MIT
 *
 * Where ids are ranks (tiktoken), the pair that makes a token is what its bytes are joined to by the tokens below it: the list of pairs of
 * other programs follows from the vocabulary. */
#ifndef STENO_TEXT_MERGES_H
#define STENO_TEXT_MERGES_H
#include "text/vocab.h"

/* Append int32_t pairs of ids, by rising ids of what they make. Tokens that are no pair of others, as bytes, are passed over. */
int merges_of_ranks(const struct vocab *v, struct buf *pairs, steno_error *e);
#endif

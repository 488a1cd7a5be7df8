/* steno: pairs of a byte-pair vocabulary. SPDX-License-Identifier: MIT
 *
 * Where ids are ranks (tiktoken), the pair that forms a token is the result of joining its bytes with the tokens below it. The list of
 * merges of other programs therefore follows from the vocabulary. */
#ifndef STENO_TEXT_MERGES_H
#define STENO_TEXT_MERGES_H
#include "text/vocab.h"

/* Append int32_t pairs of ids, in ascending order of the joined ids. Tokens that are not a pair of others, such as bytes, are skipped. */
int merges_of_ranks(const struct vocab *v, struct buf *pairs, steno_error *e);
#endif

/* steno: ids by pattern. SPDX-License-Identifier: MIT */
#ifndef STENO_TEXT_REGEX_IDS_H
#define STENO_TEXT_REGEX_IDS_H
#include "text/vocab.h"

/* Set the bit of each id below n (bit i % 32 of word i / 32) in both masks whose bytes the Perl-compatible pattern matches from end to
 * end. Bytes that are no UTF-8 match nothing. STENO_EARG: the pattern cannot be compiled, or takes too long to match; STENO_ENOMEM */
int regex_ids(const struct vocab *v, int32_t n, const char *pattern, uint32_t *mask, uint32_t *mask2, steno_error *e);
#endif

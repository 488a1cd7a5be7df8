/* steno: Unicode properties of characters. SPDX-License-Identifier: MIT
 *
 * The only user of utf8proc, whose tables are those of Unicode 15. */
#ifndef STENO_TEXT_UNICODE_H
#define STENO_TEXT_UNICODE_H
#include <stdint.h>
#include "base/buf.h"

int unicode_is_space(uint32_t cp);       /* White_Space */
int unicode_is_control(uint32_t cp);     /* a category C, except unassigned characters */
int unicode_is_punctuation(uint32_t cp); /* a category P */
int unicode_is_opening(uint32_t cp);     /* category Ps or Pi: an opening bracket or quotation mark */
int unicode_is_mark(uint32_t cp);        /* category Mn: a non-spacing mark */
int unicode_is_word(uint32_t cp);        /* a category L or N: a letter or a number */

enum { UNICODE_PARTS = 32 /* limit of the decomposition of a character */ };
/* The decomposition of cp (NFD), into to[UNICODE_PARTS]. @return the number of characters */
int unicode_parts(uint32_t cp, int32_t to[UNICODE_PARTS]);
/* The lower case of cp: two characters for U+0130. @return the number of characters */
int unicode_lower(uint32_t cp, int32_t to[2]);

/* Append text[n] with characters composed (NFC). Bytes that are not characters stay unchanged. STENO_ENOMEM */
int unicode_compose(struct buf *out, const char *text, size_t n);
#endif

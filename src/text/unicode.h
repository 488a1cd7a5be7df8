/* steno: characters and what Unicode says of them. SPDX-License-Identifier: MIT
 *
 * The one place that asks utf8proc, whose tables are those of Unicode 15. */
#ifndef STENO_TEXT_UNICODE_H
#define STENO_TEXT_UNICODE_H
#include <stdint.h>
#include "base/buf.h"

int unicode_is_space(uint32_t cp);       /* White_Space */
int unicode_is_control(uint32_t cp);     /* of a category C, unassigned characters excepted */
int unicode_is_punctuation(uint32_t cp); /* of a category P */
int unicode_is_mark(uint32_t cp);        /* of the category Mn: a mark that takes no room of its own */

enum { UNICODE_PARTS = 32 /* most characters that one is made of */ };
/* The characters that cp is made of (NFD), into to[UNICODE_PARTS]. @return their number */
int unicode_parts(uint32_t cp, int32_t to[UNICODE_PARTS]);
/* The small letter of cp, as characters: two for U+0130. @return their number */
int unicode_lower(uint32_t cp, int32_t to[2]);

/* Append text[n] with characters composed (NFC). Bytes that are no characters stay as they are. STENO_ENOMEM */
int unicode_compose(struct buf *out, const char *text, size_t n);
#endif

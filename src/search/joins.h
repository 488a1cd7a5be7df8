/* steno: where a word may begin. SPDX-License-Identifier: MIT
 *
 * What writes text by ids asks what stands at their seam: a character that is still open, or two letters that would become one word. */
#ifndef STENO_SEARCH_JOINS_H
#define STENO_SEARCH_JOINS_H
#include "text/vocab.h"

/* A letter or digit of a script that puts spaces between words: between two of them no word begins. */
int char_joins(uint32_t cp);

enum { CHAR_OPEN = -1 /* bytes of it are missing */, CHAR_BROKEN = -2 };

/* The last character of the text ids at the end of ids[n]; ' ' where there are none. */
int32_t last_char(const struct vocab *v, const int32_t *ids, int32_t n);

/* Does the id begin with a character that joins? Where it holds only a part, the lowest character with these bytes tells. */
int id_joins(const struct vocab *v, int32_t id);
#endif

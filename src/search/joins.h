/* steno: possible beginnings of words. SPDX-License-Identifier: MIT
 *
 * Code that appends ids to text checks the seam: an unfinished character, or two letters that would become one word. */
#ifndef STENO_SEARCH_JOINS_H
#define STENO_SEARCH_JOINS_H
#include "text/vocab.h"

/* Letters and digits of a script that puts spaces between words: no word begins between two of them. */
int char_joins(uint32_t cp);

enum { CHAR_OPEN = -1 /* its bytes are incomplete */, CHAR_BROKEN = -2 };

/* The last character of the text ids at the end of ids[n]; ' ' if there are none. */
int32_t last_char(const struct vocab *v, const int32_t *ids, int32_t n);

/* Whether the id begins with a character that joins. If it holds only a part, the lowest character with these bytes is used. */
int id_joins(const struct vocab *v, int32_t id);
#endif

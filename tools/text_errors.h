/* steno: how many characters and words of a text are wrong. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_ERRORS_H
#define STENO_TOOLS_TEXT_ERRORS_H
#include <stdint.h>
#include <stddef.h>

/* Of a text beside what was said: units of the latter, and those that were put in, left out, and are others. */
struct text_errors { long long units, more, less, others; };

enum { TEXT_ERRORS_CHARACTERS, TEXT_ERRORS_WORDS, TEXT_ERRORS };

/* Errors are added to sum[TEXT_ERRORS]. Letters and digits count, without case; a character of a script that has no spaces is a word. Tags
 * in <|...|> are none. @return NULL, or why not: the texts are too long, or there is no memory */
const char *text_errors_add(struct text_errors sum[TEXT_ERRORS], const char *said, const char *heard);

/* The same; cells_most: pairs of units, beyond which only ways with few errors are looked at. The numbers of errors are the same. */
const char *text_errors_add_by(struct text_errors sum[TEXT_ERRORS], const char *said, const char *heard, uint64_t cells_most);
#endif

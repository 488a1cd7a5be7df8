/* steno: error rates of characters and words. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_TEXT_ERRORS_H
#define STENO_TOOLS_TEXT_ERRORS_H
#include <stdint.h>
#include <stddef.h>

/* Units of the reference, and the errors of a text against it: insertions, deletions and substitutions. */
struct text_errors { long long units, more, less, others; };

enum { TEXT_ERRORS_CHARACTERS, TEXT_ERRORS_WORDS, TEXT_ERRORS };

/* Add the errors to sum[TEXT_ERRORS]. Letters and digits count, without case. In scripts without spaces every character is a word. Tags
 * in <|...|> are ignored. @return NULL, or the reason of a failure: texts too long, or out of memory */
const char *text_errors_add(struct text_errors sum[TEXT_ERRORS], const char *reference, const char *text);

/* As text_errors_add. cells_most: the number of pairs of units above which only paths with few errors are searched. The results are the
 * same. */
const char *text_errors_add_by(struct text_errors sum[TEXT_ERRORS], const char *reference, const char *text, uint64_t cells_most);
#endif

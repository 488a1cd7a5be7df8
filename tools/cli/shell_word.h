/* steno: quoting of words for the shell. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SHELL_WORD_H
#define STENO_TOOLS_SHELL_WORD_H
#include "sink.h"

/* Write `word` as one word of the shell, quoted if necessary. */
void shell_word(struct sink *f, const char *word);
#endif

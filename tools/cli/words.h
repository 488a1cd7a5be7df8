/* steno: words of a command line, with quotes for the shell, and the intended form of a mistyped one. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_WORDS_H
#define STENO_TOOLS_WORDS_H
#include "sink.h"
#include "word_near.h"

/* Write `word` as one word of the shell, quoted if necessary. */
void shell_word(struct sink *f, const char *word);
#endif

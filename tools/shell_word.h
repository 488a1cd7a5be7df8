/* steno: a word as a shell reads it. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_SHELL_WORD_H
#define STENO_TOOLS_SHELL_WORD_H
#include "sink.h"

/* Write `word` so that a shell reads it as one word: between quotes where it has to be. */
void shell_word(struct sink *f, const char *word);
#endif

/* steno: words of a command line: the intended form of a mistyped one, quotes for the shell. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_WORDS_H
#define STENO_TOOLS_WORDS_H
#include "sink.h"

/* Edit distance of two short words (insert, delete, replace, swap neighbours); long words count as far apart. */
int word_distance(const char *a, const char *b);

/* Is the mistyped `word` probably `name`? Smaller is nearer, -1: not similar. */
int word_near(const char *word, const char *name);

/* Write `word` as one word of the shell, quoted if necessary. */
void shell_word(struct sink *f, const char *word);
#endif

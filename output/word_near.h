/* steno: the intended form of a mistyped word. SPDX-License-Identifier: MIT */
#ifndef STENO_OUT_WORD_NEAR_H
#define STENO_OUT_WORD_NEAR_H

/* Edit distance of two short words (insert, delete, replace, swap neighbours); long words count as far apart. */
int word_distance(const char *a, const char *b);

/* Is the mistyped `word` probably `name`? Smaller is nearer, -1: not similar. */
int word_near(const char *word, const char *name);
#endif

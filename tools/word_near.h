/* steno: what a mistyped word is meant to be. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_WORD_NEAR_H
#define STENO_TOOLS_WORD_NEAR_H

/* Edit distance of two short words (insert, delete, replace, swap neighbours); long ones count as far apart. */
int word_distance(const char *a, const char *b);

/* Whether a mistyped `word` is probably meant to be `name`; smaller is nearer, -1: not near. */
int word_near(const char *word, const char *name);
#endif

/* steno: what a terminal gets to see. SPDX-License-Identifier: MIT
 *
 * A terminal obeys control characters: escape sequences rename its window, move its cursor, hide text. Texts of models, transcripts, files
 * and names may have any of them. So standard output is replaced, where it is a terminal, by a stream whose bytes pass the rules of
 * TEXT_TERMINAL; what each verb prints is clean because nothing else leads there. Our own styles go by terminal_style. A pipe or a file
 * gets every byte. */
#ifndef STENO_TOOLS_TERMINAL_H
#define STENO_TOOLS_TERMINAL_H
#include <stdio.h>

/* Begin, once, before anything is printed. @return 0, or -1 in want of memory */
int terminal_begin(void);

/* A part of a character that was printed last is shown as one that cannot be. */
void terminal_end(void);

/* Whether standard output, or standard error, is a terminal. */
int terminal_is(FILE *f);

/* An escape sequence of our own, to standard output or any other stream. */
void terminal_style(FILE *f, const char *sequence);
#endif

/* steno: output to a terminal. SPDX-License-Identifier: MIT
 *
 * A terminal obeys control characters: escape sequences rename its window, move its cursor or hide text. Texts of models, transcripts,
 * files and names may contain them. So on a terminal, standard output is replaced by a stream that applies the rules of TEXT_TERMINAL,
 * and no verb can bypass it. steno's own styles use terminal_style. Pipes and files receive every byte. */
#ifndef STENO_TOOLS_TERMINAL_H
#define STENO_TOOLS_TERMINAL_H
#include <stdio.h>

/* Call once, before anything is printed. @return 0, or -1 if out of memory */
int terminal_begin(void);

/* An incomplete character at the end is printed as an invalid one. */
void terminal_end(void);

/* Is standard output, or standard error, a terminal? */
int terminal_is(FILE *f);

/* Write an escape sequence of steno's own to standard output or another stream. */
void terminal_style(FILE *f, const char *sequence);
#endif

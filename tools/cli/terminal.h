/* steno: output to a terminal, and lines typed at one. SPDX-License-Identifier: MIT
 *
 * A terminal obeys control characters: escape sequences rename its window, move its cursor or hide text. Texts of models, transcripts,
 * files and names may contain them. So on a terminal, standard output is replaced by a stream that applies the rules of TEXT_TERMINAL,
 * and no verb can bypass it. steno's own styles use terminal_style. Pipes and files receive every byte. */
#ifndef STENO_TOOLS_TERMINAL_H
#define STENO_TOOLS_TERMINAL_H
#include "cli/text_file.h"
#include <stdio.h>

/* Call once, before anything is printed. @return 0, or -1 if out of memory */
int terminal_begin(void);

/* An incomplete character at the end is printed as an invalid one. */
void terminal_end(void);

/* Is standard output, or standard error, a terminal? */
int terminal_is(FILE *f);

/* Write an escape sequence of steno's own to standard output or another stream. */
void terminal_style(FILE *f, const char *sequence);

/* ---- line input; a build with libedit offers line editing and history -------------------------------------------------------- */

struct line_edit {
    char *line;              /* for a terminal */
    struct text_lines lines; /* for other input */
    int is_terminal;
    enum text_file how;
    char why[TEXT_FILE_WHY];
};

int line_edit_open(struct line_edit *in); /* @return EXIT_OK, or the exit code after a message */
/* The next line without its end, valid until the next call; NULL at the end. prompt: shown on a terminal. */
char *line_edit_next(struct line_edit *in, const char *prompt);
/* @return EXIT_OK at the end of input, or the exit code of a read error, after a message */
int line_edit_failed(const struct line_edit *in);
void line_edit_close(struct line_edit *in);
#endif

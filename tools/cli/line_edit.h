/* steno: line input from a terminal. SPDX-License-Identifier: MIT
 *
 * At a terminal, a build with libedit offers line editing and history. Otherwise lines are read as they arrive. */
#ifndef STENO_TOOLS_LINE_EDIT_H
#define STENO_TOOLS_LINE_EDIT_H
#include "cli/text_lines.h"

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

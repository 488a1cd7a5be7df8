/* steno: lines typed at a terminal. SPDX-License-Identifier: MIT
 *
 * From a terminal with libedit where the program is built with it: lines can be edited and called back. Else as they come. */
#ifndef STENO_TOOLS_LINE_EDIT_H
#define STENO_TOOLS_LINE_EDIT_H
#include "text_lines.h"

struct line_edit {
    char *line;              /* of a terminal */
    struct text_lines lines; /* of what is none */
    int is_terminal;
    enum text_file how;
    char why[TEXT_FILE_WHY];
};

int line_edit_open(struct line_edit *in); /* @return EXIT_OK, or the exit code after a message */
/* The next line, without its end, until the next call. prompt: what a terminal shows before it. NULL: there is none */
char *line_edit_next(struct line_edit *in, const char *prompt);
int line_edit_failed(const struct line_edit *in); /* EXIT_OK, or the exit code after a message: the last line was the end, or no line */
void line_edit_close(struct line_edit *in);
#endif

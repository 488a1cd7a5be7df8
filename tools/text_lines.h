/* steno: lines of a text, read one by one. SPDX-License-Identifier: MIT
 *
 * For text that may go on as long as the program runs: only a line is in memory, and a line has a limit. */
#ifndef STENO_TOOLS_TEXT_LINES_H
#define STENO_TOOLS_TEXT_LINES_H
#include "text_file.h"

enum { TEXT_LINE_MOST = 1 << 24 /* bytes of a line of text: a book has less */ };

struct text_lines {
    int fd, is_fifo, has_begun, has_ended;
    size_t most;       /* bytes of a line */
    char *bytes;       /* [cap] of which at..n are not given yet, and seen of these have no end of a line */
    size_t at, n, seen, cap;
    long long number;  /* of the line that was given last, from 1 */
};

/* Begin to read the file at `path`; with `dash`, "-" is standard input. Calls return and set `why` as text_file_read does. */
enum text_file text_lines_open(struct text_lines *l, const char *path, int dash, size_t most, char *why, size_t n);

/* The next line, without its end, and without the mark that some editors set before a text; valid until the next call. NULL: there is
 * none. A line that is too long, or that has a NUL, is an error as soon as that is read. */
enum text_file text_lines_next(struct text_lines *l, char **line, char *why, size_t n);

void text_lines_close(struct text_lines *l); /* of {0}, too */
#endif

/* steno: line-by-line reading of a text. SPDX-License-Identifier: MIT
 *
 * For input that may continue as long as the program runs: only one line is in memory, and its length is limited. */
#ifndef STENO_TOOLS_TEXT_LINES_H
#define STENO_TOOLS_TEXT_LINES_H
#include "cli/text_file.h"

enum { TEXT_LINE_MOST = 1 << 24 /* maximum bytes of a line of text; a book is shorter */ };

struct text_lines {
    int fd, is_fifo, has_begun, has_ended;
    size_t most;       /* maximum bytes of a line */
    char *bytes;       /* [cap] bytes at..n are unread; the first `seen` of them contain no line end */
    size_t at, n, seen, cap;
    long long number;  /* number of the last line returned, from 1 */
};

/* Open the file at `path`; with `dash`, "-" is standard input. Results and `why` are as in text_file_read. */
enum text_file text_lines_open(struct text_lines *l, const char *path, int dash, size_t most, char *why, size_t n);

/* The next line without its end and without a byte order mark, valid until the next call; NULL at the end. A line that is too long or
 * has a NUL is reported as soon as that is read. */
enum text_file text_lines_next(struct text_lines *l, char **line, char *why, size_t n);

void text_lines_close(struct text_lines *l); /* {0} is allowed */
#endif

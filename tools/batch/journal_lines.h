/* steno: the lines of a batch's journal. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BATCH_JOURNAL_LINES_H
#define STENO_TOOLS_BATCH_JOURNAL_LINES_H
#include "cli/text_file.h"
#include <stdint.h>

enum { JOURNAL_LINE_MAX = 1 << 30 /* maximum bytes of a line: words of a month of speech */ };

/* Called for a line, which it may overwrite. `at`: the line's place in the file. @return an exit code; not EXIT_OK: stop */
struct journal_lines {
    int (*fn)(void *user, const struct text_lines *l, char *line, int64_t at);
    void *user;
};

/* Call fn for all whole lines. A last line without its end is left out: a process was killed while it wrote, or writes now, or a machine
 * lost power, and then it may have any bytes. Only a regular file is read. *whole receives the number of bytes before it; may be NULL.
 * @return EXIT_OK, an exit code after a message, or the first of fn that is not EXIT_OK */
int journal_lines_walk(const char *path, const struct journal_lines *each, int64_t *whole);
#endif

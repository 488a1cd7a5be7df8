/* steno: the lines of a batch's journal. SPDX-License-Identifier: MIT */
#include "batch/journal_lines.h"
#include "cli/message.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the rest of the file, which begins at `at`, a single line without its end? What cannot be read is not. */
static int is_torn(int fd, int64_t at)
{
    char bytes[1 << 14];
    ssize_t n;
    for (; (n = pread(fd, bytes, sizeof bytes, (off_t)at)) > 0; at += n)
        if (memchr(bytes, '\n', (size_t)n)) return 0;
    return n == 0;
}

/* It is read more than once, and to its end. @return 1: it is a regular file, or reading will report what it is */
static int is_file(const struct text_lines *l)
{
    struct stat st;
    return fstat(l->fd, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

int journal_lines_walk(const char *path, const struct journal_lines *each, int64_t *whole)
{
    struct text_lines l;
    char *line, why[TEXT_FILE_WHY];
    int code = EXIT_OK;
    int64_t at = 0;
    enum text_file how = text_lines_open(&l, path, 0, JOURNAL_LINE_MAX, why, sizeof why);
    if (how == TEXT_FILE_READ && !is_file(&l)) {
        snprintf(why, sizeof why, "is not a regular file");
        how = TEXT_FILE_UNREADABLE;
    }
    while (how == TEXT_FILE_READ && code == EXIT_OK) {
        how = text_lines_next(&l, &line, why, sizeof why);
        if (how == TEXT_FILE_NO_TEXT && is_torn(l.fd, at)) how = TEXT_FILE_READ, line = NULL;
        if (how != TEXT_FILE_READ || !line || l.is_cut) break;
        code = each->fn(each->user, &l, line, at);
        at = text_lines_at(&l);
    }
    text_lines_close(&l);
    if (whole) *whole = at;
    if (how == TEXT_FILE_READ) return code;
    message_file(path, why);
    return how == TEXT_FILE_NO_MEMORY ? EXIT_MEMORY : how == TEXT_FILE_UNREADABLE ? EXIT_INPUT : EXIT_USAGE;
}

/* steno: line-by-line reading of a text. SPDX-License-Identifier: MIT */
#include "cli/text_lines.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 1 << 16 };

enum text_file text_lines_open(struct text_lines *l, const char *path, int dash, size_t most, char *why, size_t n)
{
    *l = (struct text_lines){ .fd = -1, .most = most };
    l->fd = text_file_open(path, dash, &l->is_fifo);
    if (l->fd >= 0) return TEXT_FILE_READ;
    snprintf(why, n, "%s", strerror(errno));
    return TEXT_FILE_UNREADABLE;
}

/* Make room for more bytes: remove lines that were returned, and grow the buffer only if that is not enough. */
static int make_room(struct text_lines *l)
{
    if (l->at) {
        memmove(l->bytes, l->bytes + l->at, l->n - l->at);
        l->n -= l->at;
        l->at = 0;
    }
    if (l->n + 1 < l->cap) return 0;
    const size_t cap = l->cap ? l->cap * 2 : FIRST;
    char *more = realloc(l->bytes, cap);
    if (!more) return -1;
    l->bytes = more;
    l->cap = cap;
    return 0;
}

/* Read more bytes. */
static enum text_file read_more(struct text_lines *l, char *why, size_t n)
{
    if (make_room(l)) {
        snprintf(why, n, "line %lld: out of memory", l->number + 1);
        return TEXT_FILE_NO_MEMORY;
    }
    const ssize_t got = text_file_some(l->fd, l->bytes + l->n, l->cap - 1 - l->n, l->is_fifo, l->has_begun);
    if (got < 0 || (!got && l->is_fifo && !l->has_begun)) {
        snprintf(why, n, "%s", got < 0 ? strerror(errno) : text_file_no_writer);
        return TEXT_FILE_UNREADABLE;
    }
    l->has_begun |= got > 0;
    l->has_ended = !got;
    l->n += (size_t)got;
    return TEXT_FILE_READ;
}

/* Check the line that begins at `at` and has `len` bytes so far; bytes after `seen` are new. */
static enum text_file look(const struct text_lines *l, size_t len, char *why, size_t n)
{
    if (len > l->seen && memchr(l->bytes + l->at + l->seen, 0, len - l->seen)) {
        snprintf(why, n, "line %lld has a NUL byte%s", l->number + 1, text_file_is_utf16(l->bytes + l->at, len) ? text_file_utf16 : "");
        return TEXT_FILE_NO_TEXT;
    }
    if (len <= l->most) return TEXT_FILE_READ;
    snprintf(why, n, "line %lld is longer than %zu bytes", l->number + 1, l->most);
    return TEXT_FILE_TOO_LONG;
}

enum text_file text_lines_next(struct text_lines *l, char **line, char *why, size_t n)
{
    char *end = NULL;
    enum text_file how = TEXT_FILE_READ;
    *line = NULL;
    for (l->seen = 0; !l->has_ended;) {
        const size_t len = l->n - l->at;
        end = len > l->seen ? memchr(l->bytes + l->at + l->seen, '\n', len - l->seen) : NULL;
        if (end) break;
        if ((how = len ? look(l, len, why, n) : TEXT_FILE_READ) != TEXT_FILE_READ) return how;
        l->seen = len;
        if ((how = read_more(l, why, n)) != TEXT_FILE_READ) return how;
    }
    if (l->n == l->at) return TEXT_FILE_READ;
    if (!end) end = memchr(l->bytes + l->at, '\n', l->n - l->at);
    size_t len = end ? (size_t)(end - l->bytes) - l->at : l->n - l->at;
    if ((how = look(l, len, why, n)) != TEXT_FILE_READ) return how;
    char *s = l->bytes + l->at;
    l->at += len + (end != NULL);
    while (len && s[len - 1] == '\r') len--;
    s[len] = '\0';
    *line = l->number++ ? s : s + text_file_mark(s);
    return TEXT_FILE_READ;
}

void text_lines_close(struct text_lines *l)
{
    if (l->fd > STDIN_FILENO) close(l->fd);
    free(l->bytes);
    *l = (struct text_lines){ .fd = -1 };
}

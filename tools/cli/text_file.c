/* steno: text files named by options and operands. SPDX-License-Identifier: MIT */
#include "cli/text_file.h"
#include "utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 1 << 16, TRIES = 20, TRY_MS = 100 /* how long to wait for the writer of a FIFO */ };

static const char text_file_no_writer[] = "no process writes to this FIFO";
static const char text_file_utf16[] = ": it seems to be UTF-16; save it as UTF-8";

/* Read the bytes available now, at most n. Waits for a connected writer, and briefly for a writer that may still come. @return as read() */
static ssize_t text_file_some(int fd, char *to, size_t n, int is_fifo, int has_begun)
{
    for (int tries = 0;;) {
        const ssize_t got = read(fd, to, n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            struct pollfd p = { .fd = fd, .events = POLLIN };
            poll(&p, 1, -1);
            continue;
        }
        if (got || !is_fifo || has_begun || tries++ == TRIES) return got;
        poll(NULL, 0, TRY_MS);
    }
}

/* @return a descriptor, STDIN_FILENO for "-", or -1 with errno set */
static int text_file_open(const char *path, int dash, int *is_fifo)
{
    struct stat st;
    const int from_stdin = dash && strcmp(path, "-") == 0;
    const int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *is_fifo = fd >= 0 && !from_stdin && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    return fd;
}

/* Does a text with this start look like UTF-16? */
static int text_file_is_utf16(const char *bytes, size_t n)
{
    return n >= 2 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2));
}

size_t text_file_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3;
}

static enum text_file file_fail(enum text_file how, char *why, size_t n, const char *reason)
{
    snprintf(why, n, "%s", reason);
    return how;
}

/* Read all bytes of fd into *text; the caller frees it in any case. */
static enum text_file bytes_read(char **text, size_t *len, int fd, int is_fifo, size_t most, char *why, size_t n)
{
    size_t cap = 0;
    for (*len = 0;;) {
        if (*len + 1 >= cap) {
            cap = cap ? cap * 2 : FIRST;
            char *more = realloc(*text, cap);
            if (!more) return file_fail(TEXT_FILE_NO_MEMORY, why, n, "out of memory");
            *text = more;
        }
        const ssize_t got = text_file_some(fd, *text + *len, cap - 1 - *len, is_fifo, *len > 0);
        if (got < 0) return file_fail(TEXT_FILE_UNREADABLE, why, n, strerror(errno));
        if (got == 0 && is_fifo && !*len) return file_fail(TEXT_FILE_UNREADABLE, why, n, text_file_no_writer);
        if (got == 0) break;
        const char *zero = memchr(*text + *len, 0, (size_t)got);
        *len += (size_t)got;
        if (zero) {
            snprintf(why, n, "is not text in UTF-8 at byte %zu, which is zero%s", (size_t)(zero - *text),
                     text_file_is_utf16(*text, *len) ? text_file_utf16 : "");
            return TEXT_FILE_NO_TEXT;
        }
        if (*len > most) {
            snprintf(why, n, "is longer than %zu bytes", most);
            return TEXT_FILE_TOO_LONG;
        }
    }
    (*text)[*len] = '\0';
    return TEXT_FILE_READ;
}

enum text_file text_file_bytes(char **bytes, size_t *len, const char *path, int dash, size_t most, char *why, size_t n)
{
    int is_fifo;
    const int fd = text_file_open(path, dash, &is_fifo);
    *bytes = NULL;
    if (fd < 0) return file_fail(TEXT_FILE_UNREADABLE, why, n, strerror(errno));
    const enum text_file how = bytes_read(bytes, len, fd, is_fifo, most, why, n);
    if (fd != STDIN_FILENO) close(fd);
    if (how == TEXT_FILE_READ || how == TEXT_FILE_NO_TEXT) return how;
    free(*bytes);
    *bytes = NULL;
    return how;
}

enum text_file text_file_utf8(char **text, size_t len, char *why, size_t n)
{
    const int64_t bad = utf8_invalid_at(*text);
    const size_t mark = text_file_mark(*text);
    if (mark) memmove(*text, *text + mark, len - mark + 1);
    if (bad < 0) return TEXT_FILE_READ;
    snprintf(why, n, "is not text in UTF-8 at byte %lld%s", (long long)bad, text_file_is_utf16(*text, len) ? text_file_utf16 : "");
    free(*text);
    *text = NULL;
    return TEXT_FILE_NO_TEXT;
}

enum text_file text_file_read(char **text, const char *path, int dash, size_t most, char *why, size_t n)
{
    size_t len;
    const enum text_file how = text_file_bytes(text, &len, path, dash, most, why, n);
    if (how == TEXT_FILE_READ) return text_file_utf8(text, len, why, n);
    free(*text);
    *text = NULL;
    return how;
}

/* ---- line by line ------------------------------------------------------------------------------------------------------------ */

enum text_file text_lines_open(struct text_lines *l, const char *path, int dash, size_t most, char *why, size_t n)
{
    *l = (struct text_lines){ .fd = -1, .most = most, .end = -1 };
    l->fd = text_file_open(path, dash, &l->is_fifo);
    if (l->fd >= 0) return TEXT_FILE_READ;
    snprintf(why, n, "%s", strerror(errno));
    return TEXT_FILE_UNREADABLE;
}

/* Make room for more bytes: remove lines that were returned, and grow the buffer only if that is not enough. */
static int line_room(struct text_lines *l)
{
    if (l->at) {
        memmove(l->bytes, l->bytes + l->at, l->n - l->at);
        l->n -= l->at;
        l->passed += (long long)l->at;
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
static enum text_file line_read_more(struct text_lines *l, char *why, size_t n)
{
    if (line_room(l)) {
        snprintf(why, n, "line %lld: out of memory", l->number + 1);
        return TEXT_FILE_NO_MEMORY;
    }
    const long long left = l->end - l->passed - (long long)l->n;
    size_t room = l->cap - 1 - l->n;
    if (l->end >= 0 && left < (long long)room) room = (size_t)left;
    const ssize_t got = room ? text_file_some(l->fd, l->bytes + l->n, room, l->is_fifo, l->has_begun) : 0;
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
static enum text_file line_check(const struct text_lines *l, size_t len, char *why, size_t n)
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
        if ((how = len ? line_check(l, len, why, n) : TEXT_FILE_READ) != TEXT_FILE_READ) return how;
        l->seen = len;
        if ((how = line_read_more(l, why, n)) != TEXT_FILE_READ) return how;
    }
    if (l->n == l->at) return TEXT_FILE_READ;
    if (!end) end = memchr(l->bytes + l->at, '\n', l->n - l->at);
    size_t len = end ? (size_t)(end - l->bytes) - l->at : l->n - l->at;
    if ((how = line_check(l, len, why, n)) != TEXT_FILE_READ) return how;
    char *s = l->bytes + l->at;
    l->at += len + (end != NULL);
    l->is_cut = end == NULL;
    while (len && s[len - 1] == '\r') len--;
    s[len] = '\0';
    *line = l->number++ ? s : s + text_file_mark(s);
    return TEXT_FILE_READ;
}

long long text_lines_at(const struct text_lines *l)
{
    return l->passed + (long long)l->at;
}

void text_lines_close(struct text_lines *l)
{
    if (l->fd > STDIN_FILENO) close(l->fd);
    free(l->bytes);
    *l = (struct text_lines){ .fd = -1 };
}

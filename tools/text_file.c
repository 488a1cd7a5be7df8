/* steno: text files that options and operands name. SPDX-License-Identifier: MIT */
#include "text_file.h"
#include "utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 1 << 16, TRIES = 20, TRY_MS = 100 /* how long a FIFO's writer may take to come */ };

/* What is to be had now, at most n bytes; waits for a writer that is there, and a little for one that may come. */
static ssize_t some(int fd, char *to, size_t n, int is_fifo, int has_begun)
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

static enum text_file fail(enum text_file how, char *why, size_t n, const char *reason)
{
    snprintf(why, n, "%s", reason);
    return how;
}

/* The bytes of fd into *text, which is freed by the caller whatever comes of it. */
static enum text_file bytes_read(char **text, size_t *len, int fd, int is_fifo, size_t most, char *why, size_t n)
{
    size_t cap = 0;
    for (*len = 0;;) {
        if (*len + 1 >= cap) {
            cap = cap ? cap * 2 : FIRST;
            char *more = realloc(*text, cap);
            if (!more) return fail(TEXT_FILE_NO_MEMORY, why, n, "out of memory");
            *text = more;
        }
        const ssize_t got = some(fd, *text + *len, cap - 1 - *len, is_fifo, *len > 0);
        if (got < 0) return fail(TEXT_FILE_UNREADABLE, why, n, strerror(errno));
        if (got == 0 && is_fifo && !*len) return fail(TEXT_FILE_UNREADABLE, why, n, "nobody writes to this FIFO");
        if (got == 0) break;
        const char *zero = memchr(*text + *len, 0, (size_t)got);
        if (zero) {
            snprintf(why, n, "is not text in UTF-8 at byte %zu, which is zero", (size_t)(zero - *text));
            return TEXT_FILE_NO_TEXT;
        }
        *len += (size_t)got;
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
    struct stat st;
    const int from_stdin = dash && strcmp(path, "-") == 0;
    *bytes = NULL;
    const int fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return fail(TEXT_FILE_UNREADABLE, why, n, strerror(errno));
    const int is_fifo = !from_stdin && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    const enum text_file how = bytes_read(bytes, len, fd, is_fifo, most, why, n);
    if (!from_stdin) close(fd);
    if (how == TEXT_FILE_READ) return how;
    free(*bytes);
    *bytes = NULL;
    return how;
}

enum text_file text_file_read(char **text, const char *path, int dash, size_t most, char *why, size_t n)
{
    size_t len;
    const enum text_file how = text_file_bytes(text, &len, path, dash, most, why, n);
    const int64_t bad = how == TEXT_FILE_READ ? utf8_invalid_at(*text) : -1;
    if (bad < 0) return how;
    snprintf(why, n, "is not text in UTF-8 at byte %lld", (long long)bad);
    free(*text);
    *text = NULL;
    return TEXT_FILE_NO_TEXT;
}

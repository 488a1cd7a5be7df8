/* steno: stamps: what a result was made of. SPDX-License-Identifier: MIT */
#include "stamp.h"
#include "fnv.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

/* "2 LENGTH HASH", then " WORD=HASH" for each part of the key in order. */
enum { TEXT_SZ = 1024, PIECE_SZ = 1 << 14 };

/* Writes "2 LENGTH HASH" of a file. @return its length, or 0: not readable */
static size_t put_bytes(char text[TEXT_SZ], int fd)
{
    char piece[PIECE_SZ];
    uint64_t h = FNV_BASIS;
    int64_t all = 0;
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0) continue;
        h = fnv(h, piece, (size_t)n);
        all += n;
    }
    return n < 0 ? 0 : (size_t)snprintf(text, TEXT_SZ, "2 %" PRId64 " %016" PRIx64, all, h);
}

/* Appends the parts of the key after `at` bytes of text. @return 0, or -1: no room */
static int put_parts(char text[TEXT_SZ], size_t at, const char *key)
{
    for (const char *line = key; *line;) {
        const size_t n_word = strcspn(line, " \n");
        uint64_t h = FNV_BASIS;
        const char *part = line;
        do { /* consecutive lines with the same word are one part */
            const size_t n = strcspn(line, "\n");
            h = fnv(fnv(h, line, n), "\n", 1);
            line += n + (line[n] == '\n');
        } while (strncmp(line, part, n_word) == 0 && strcspn(line, " \n") == n_word);
        const int n = snprintf(text + at, TEXT_SZ - at, " %.*s=%016" PRIx64, (int)n_word, part, h);
        if (n < 0 || (at += (size_t)n) >= TEXT_SZ) return -1;
    }
    return 0;
}

/* Opens a plain file and computes its current stamp with this key. @return a descriptor, or -1 with errno set */
static int open_made(char text[TEXT_SZ], const char *path, const char *key)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    const size_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? put_bytes(text, fd) : 0;
    if (n && !put_parts(text, n, key)) return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

void stamp_put(const char *path, const char *key)
{
#ifdef __linux__
    char text[TEXT_SZ];
    const int fd = open_made(text, path, key);
    if (fd < 0) return;
    fsetxattr(fd, STAMP_ATTRIBUTE, text, strlen(text), 0);
    close(fd);
#else
    (void)path, (void)key;
#endif
}

static ssize_t read_stamp(int fd, char text[TEXT_SZ])
{
#ifdef __linux__
    return fgetxattr(fd, STAMP_ATTRIBUTE, text, TEXT_SZ - 1);
#else
    (void)fd, (void)text;
    return -1;
#endif
}

/* Length of the common start of two stamps, up to the beginning of a part. */
static size_t alike(const char *a, const char *b)
{
    size_t part = 0, i = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == ' ') part = i;
    if (!a[i] || !b[i]) return !a[i] && !b[i] ? i : a[i] == ' ' || b[i] == ' ' ? i : part; /* one has more parts */
    return part;
}

enum stamp_found stamp_look(const char *path, const char *key, char word[STAMP_WORD_SZ])
{
    char now[TEXT_SZ], was[TEXT_SZ];
    int spaces = 0;
    word[0] = '\0';
    const int fd = open_made(now, path, key);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? STAMP_MISSING : STAMP_NONE;
    const ssize_t n = read_stamp(fd, was);
    close(fd);
    if (n <= 0) return STAMP_NONE;
    was[n] = '\0';
    const size_t same = alike(was, now);
    if (!now[same] && !was[same]) return STAMP_SAME;
    for (size_t i = 0; i < same; i++) spaces += now[i] == ' ';
    if (!same) return STAMP_NONE; /* another version of this format */
    if (spaces < 2) return STAMP_CHANGED;
    const char *other = now[same] ? now + same + 1 : was + same + 1;
    snprintf(word, STAMP_WORD_SZ, "%.*s", (int)strcspn(other, "= "), other);
    return STAMP_OTHER;
}

/* steno: stamps: what a result was made of. SPDX-License-Identifier: MIT */
#include "stamp.h"
#include "fnv.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

/* "3 LENGTH HASH AT N NAME" in hexadecimal digits, then " WORD=HASH" for each part of the key in order. */
enum { TEXT_SZ = 1024, PIECE_SZ = 1 << 14, N_HEAD = 5 };

struct stamp_bytes stamp_no_bytes(void)
{
    return (struct stamp_bytes){ 0, FNV_BASIS };
}

void stamp_add(struct stamp_bytes *b, const void *data, size_t n)
{
    b->hash = fnv(b->hash, data, n);
    b->n += (int64_t)n;
}

/* A hash of the name and of the numbers, so that a damaged number is found. */
static uint64_t hash_name(const char *name, int at, int n)
{
    char numbers[32];
    snprintf(numbers, sizeof numbers, "/%d/%d", at, n);
    return fnv(fnv(FNV_BASIS, name, strlen(name)), numbers, strlen(numbers));
}

/* Reads a whole file. @return 0, or -1: not readable */
static int read_bytes(struct stamp_bytes *b, int fd)
{
    char piece[PIECE_SZ];
    ssize_t n;
    *b = stamp_no_bytes();
    while ((n = read(fd, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) stamp_add(b, piece, (size_t)n);
    return n < 0 ? -1 : 0;
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

void stamp_put(const char *path, const struct stamp_bytes *bytes, const struct stamp_origin *origin)
{
#ifdef __linux__
    char text[TEXT_SZ];
    const int n = snprintf(text, sizeof text, "3 %" PRIx64 " %016" PRIx64 " %x %x %016" PRIx64, (uint64_t)bytes->n, bytes->hash,
                           (unsigned)origin->at, (unsigned)origin->n, hash_name(origin->name, origin->at, origin->n));
    if (!put_parts(text, (size_t)n, origin->key)) setxattr(path, STAMP_ATTRIBUTE, text, strlen(text), 0);
#else
    (void)path, (void)bytes, (void)origin;
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

/* Reads the numbers of a stamp. @return the text after them, or NULL: not a stamp of this format */
static const char *take_head(uint64_t head[N_HEAD], const char *text)
{
    char *end = (char *)text + 1;
    if (*text != '3') return NULL;
    for (int i = 0; i < N_HEAD; i++) {
        if (*end != ' ' || !isxdigit((unsigned char)end[1])) return NULL;
        head[i] = strtoull(end + 1, &end, 16);
    }
    return *end == ' ' && head[3] <= INT_MAX && head[2] < head[3] ? end : NULL;
}

/* Compares the stamp of an open file. */
static enum stamp_found look(int fd, struct stamp_origin *origin, char word[STAMP_WORD_SZ])
{
    char was[TEXT_SZ], now[TEXT_SZ];
    uint64_t head[N_HEAD];
    struct stamp_bytes bytes;
    const ssize_t n = read_stamp(fd, was);
    was[n > 0 ? n : 0] = '\0';
    const char *parts = take_head(head, was);
    if (!parts || put_parts(now, 0, origin->key)) return STAMP_NONE;
    if (head[4] != hash_name(origin->name, (int)head[2], (int)head[3])) return STAMP_RENAMED;
    const size_t same = alike(parts, now);
    if (now[same] || parts[same]) {
        const char *other = now[same] ? now + same + 1 : parts + same + 1;
        snprintf(word, STAMP_WORD_SZ, "%.*s", (int)strcspn(other, "= "), other);
        return STAMP_OTHER;
    }
    if (read_bytes(&bytes, fd)) return STAMP_NONE;
    origin->at = (int)head[2];
    origin->n = (int)head[3];
    return (uint64_t)bytes.n == head[0] && bytes.hash == head[1] ? STAMP_SAME : STAMP_CHANGED;
}

enum stamp_found stamp_look(const char *path, struct stamp_origin *origin, char word[STAMP_WORD_SZ])
{
    struct stat st;
    word[0] = '\0';
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR ? STAMP_MISSING : STAMP_NONE;
    const enum stamp_found found = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? look(fd, origin, word) : STAMP_NONE;
    close(fd);
    return found;
}

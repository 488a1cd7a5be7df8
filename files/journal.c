/* steno: journals of unfinished results. SPDX-License-Identifier: MIT */
#include "journal.h"
#include "atomic_file.h"
#include "fnv.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_S = 2 };
static const char magic[] = "steno journal ", version[] = "2\n";
enum { MAGIC_SZ = sizeof magic - 1, BEGIN_SZ = MAGIC_SZ + sizeof version - 1 };
static const uint32_t done = UINT32_MAX; /* in place of a part's length: end of the journal */

/* Precedes the key and each piece. */
struct part {
    uint32_t len, sum;
    int64_t spent_us;
};

static uint32_t sum_of(const struct part *p, const void *data)
{
    const uint32_t h = fnv_32(fnv_32(FNV_32_BASIS, &p->len, sizeof p->len), &p->spent_us, sizeof p->spent_us);
    return p->len == done ? h : fnv_32(h, data, p->len);
}

static struct part part_of(const void *data, size_t n, int64_t spent_us)
{
    struct part p = { .len = (uint32_t)n, .spent_us = spent_us };
    p.sum = sum_of(&p, data);
    return p;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------------- */

/* Reads a whole file. @return 0, or -1 with errno set */
static int read_all(char **data, size_t *n, const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* avoids waiting for a FIFO */
    *data = NULL;
    *n = 0;
    if (fd < 0) {
        if (errno == ELOOP || errno == ENXIO) errno = EINVAL; /* a link, a socket */
        return -1;
    }
    int why = fstat(fd, &st) ? errno : !S_ISREG(st.st_mode) ? EINVAL : st.st_size > JOURNAL_MAX ? EFBIG : 0;
    if (!why && !(*data = malloc((size_t)st.st_size + 1))) why = ENOMEM;
    const size_t size = why ? 0 : (size_t)st.st_size;
    for (ssize_t got = 1; got > 0 && *n < size;) {
        got = read(fd, *data + *n, size - *n);
        if (got > 0) *n += (size_t)got;
        if (got < 0) why = errno;
    }
    close(fd);
    if (why) {
        free(*data);
        *data = NULL;
    }
    errno = why;
    return why ? -1 : 0;
}

enum took { TOOK, TOOK_END, CUT, BROKEN };

/* Reads the next part of file[n], from *at on. */
static enum took take_part(struct part *p, const char *file, size_t n, size_t *at)
{
    if (n - *at < sizeof *p) return CUT;
    memcpy(p, file + *at, sizeof *p);
    if (p->len != done && p->len > n - *at - sizeof *p) return CUT;
    if (p->sum != sum_of(p, file + *at + sizeof *p)) return BROKEN;
    *at += sizeof *p;
    return p->len == done ? TOOK_END : TOOK;
}

/* Moves the pieces of a file to its front. @return enum journal_found */
static int take_pieces(struct journal *j, char *file, size_t n, size_t at)
{
    struct part p;
    enum took took;
    j->data = file;
    while ((took = take_part(&p, file, n, &at)) == TOOK) {
        memmove(file + j->n, file + at, p.len);
        j->n += p.len;
        j->spent_us = p.spent_us > 0 ? p.spent_us : 0;
        at += p.len;
    }
    j->damaged = took == BROKEN;
    return took == TOOK_END ? JOURNAL_DONE : JOURNAL_BEGUN;
}

int journal_take(struct journal *j, char *file, size_t n, const char *key)
{
    struct part p;
    size_t at = BEGIN_SZ;
    int found = JOURNAL_DAMAGED;
    *j = (struct journal){ .fd = -1 };
    if (n >= BEGIN_SZ && memcmp(file, magic, MAGIC_SZ) == 0) {
        if (memcmp(file + MAGIC_SZ, version, sizeof version - 1) != 0) found = JOURNAL_VERSION;
        else if (take_part(&p, file, n, &at) == TOOK) found = JOURNAL_OTHER;
    }
    if (found == JOURNAL_OTHER && p.len == strlen(key) && memcmp(file + at, key, p.len) == 0) return take_pieces(j, file, n, at + p.len);
    if (found == JOURNAL_OTHER) {
        memmove(file, file + at, p.len);
        file[p.len] = '\0'; /* the header is before it */
        j->other = file;
    } else free(file);
    return found;
}

int journal_read(struct journal *j, const char *path, const char *key)
{
    char *file;
    size_t n;
    *j = (struct journal){ .fd = -1 };
    if (read_all(&file, &n, path) == 0) return journal_take(j, file, n, key);
    return errno == ENOENT ? JOURNAL_NONE : -1;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

static int write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return -1;
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

static int put_part(FILE *f, const void *data, size_t n, int64_t spent_us)
{
    const struct part p = part_of(data, n, spent_us);
    return fwrite(&p, sizeof p, 1, f) != 1 || (n && fwrite(data, 1, n, f) != n);
}

/* Begins a new file that replaces `path` when it is committed. */
static int begin(struct atomic_file *f, const char *path, const char *key)
{
    struct stat st;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    if (atomic_file_open(f, path)) return -1;
    if (fwrite(magic, MAGIC_SZ, 1, f->f) == 1 && fwrite(version, sizeof version - 1, 1, f->f) == 1 && !put_part(f->f, key, strlen(key), 0))
        return 0;
    atomic_file_abort(f);
    return -1;
}

/* Writes all earlier pieces as one, which drops a piece that a killed process left incomplete. */
int journal_open(struct journal *j, const char *path, const char *key, int begun)
{
    struct atomic_file f;
    struct stat st;
    if (begin(&f, path, key)) return -1;
    if (begun && j->n && put_part(f.f, j->data, j->n, j->spent_us)) {
        atomic_file_abort(&f);
        return -1;
    }
    if (atomic_file_commit(&f)) return -1;
    j->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    j->size = j->fd >= 0 && fstat(j->fd, &st) == 0 ? (int64_t)st.st_size : 0;
    return j->fd < 0 ? -1 : 0;
}

int journal_add(struct journal *j, const void *data, size_t n, int64_t spent_us)
{
    struct timespec now;
    const size_t size = sizeof(struct part) + n;
    if (n > JOURNAL_MAX || j->size + (int64_t)size > JOURNAL_MAX) {
        errno = EFBIG;
        return -1;
    }
    char *piece = malloc(size);
    if (!piece) return -1;
    const struct part p = part_of(data, n, spent_us);
    memcpy(piece, &p, sizeof p);
    if (n) memcpy(piece + sizeof p, data, n);
    const int bad = write_all(j->fd, piece, size), why = errno;
    free(piece);
    errno = why;
    if (bad) return -1;
    j->size += (int64_t)size;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - j->synced_s >= SYNC_S) {
        fdatasync(j->fd); /* a power failure loses only seconds of work */
        j->synced_s = now.tv_sec;
    }
    return 0;
}

void journal_close(struct journal *j)
{
    if (j->fd >= 0) close(j->fd);
    free(j->data);
    free(j->other);
    *j = (struct journal){ .fd = -1 };
}

int journal_finish(const char *path, const char *key, const void *data, size_t n)
{
    struct atomic_file f;
    struct part end = { .len = done };
    const uint64_t beside = BEGIN_SZ + 3 * sizeof end + strlen(key);
    end.sum = sum_of(&end, NULL);
    if (n > JOURNAL_MAX || n + beside > JOURNAL_MAX) {
        errno = EFBIG;
        return -1;
    }
    if (begin(&f, path, key)) return -1;
    if (put_part(f.f, data, n, 0) || fwrite(&end, sizeof end, 1, f.f) != 1) {
        atomic_file_abort(&f);
        return -1;
    }
    return atomic_file_commit(&f);
}

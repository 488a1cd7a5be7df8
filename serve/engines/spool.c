/* steno-serve: temporary files without a name, under one limit. SPDX-License-Identifier: MIT */
#include "spool.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool {
    char *dir;
    int64_t max;
    _Atomic int64_t used;
};

struct spool_file {
    struct spool *spool;
    int fd;
    int64_t n;
};

enum { NAME_SZ = 4096 };

/* A file without a name. @return its descriptor, or -1 with errno */
static int file_make(const char *dir)
{
    char name[NAME_SZ];
#ifdef O_TMPFILE
    const int made = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
    if (made >= 0) return made;
#endif
    const int n = snprintf(name, sizeof name, "%s/steno-spool-XXXXXX", dir);
    if (n < 0 || n >= NAME_SZ) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(name);
    if (fd < 0) return -1;
    unlink(name);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static int open_failed(steno_error *e, int status, const char *dir, int why)
{
    if (!e) return status;
    e->status = status;
    snprintf(e->text, sizeof e->text, "%.800s: no temporary file can be made in it: %s; give another folder", dir, strerror(why));
    return status;
}

int spool_open(struct spool **out, const char *dir, int64_t max_bytes, steno_error *e)
{
    *out = NULL;
    if (!dir) dir = "/tmp";
    struct spool *s = calloc(1, sizeof *s);
    if (s) s->dir = strdup(dir);
    if (!s || !s->dir) {
        free(s);
        return open_failed(e, STENO_ENOMEM, dir, ENOMEM);
    }
    s->max = max_bytes;
    const int fd = file_make(dir), why = errno;
    if (fd < 0) {
        spool_close(s);
        return open_failed(e, STENO_EIO, dir, why);
    }
    close(fd);
    *out = s;
    return STENO_OK;
}

void spool_close(struct spool *s)
{
    if (!s) return;
    free(s->dir);
    free(s);
}

int64_t spool_bytes(const struct spool *s)
{
    return atomic_load(&s->used);
}

int64_t spool_max(const struct spool *s)
{
    return s->max;
}

int spool_file_open(struct spool_file **out, struct spool *s)
{
    *out = NULL;
    struct spool_file *f = calloc(1, sizeof *f);
    if (!f) return STENO_ENOMEM;
    *f = (struct spool_file){ .spool = s, .fd = file_make(s->dir) };
    if (f->fd < 0) {
        const int is_full = errno == ENOSPC || errno == EDQUOT;
        free(f);
        return is_full ? STENO_EFULL : STENO_EIO;
    }
    *out = f;
    return STENO_OK;
}

/* Takes bytes of the limit. @return 0 or STENO_EFULL */
static int reserve(struct spool *s, int64_t n)
{
    int64_t used = atomic_load(&s->used);
    do {
        if (n > s->max - used) return STENO_EFULL;
    } while (!atomic_compare_exchange_weak(&s->used, &used, used + n));
    return STENO_OK;
}

/* @return bytes written; fewer than n with errno */
static size_t write_all(int fd, const char *bytes, size_t n, off_t at)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pwrite(fd, bytes + done, n - done, at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            if (got == 0) errno = ENOSPC;
            break;
        }
        done += (size_t)got;
    }
    return done;
}

int spool_write(struct spool_file *f, const void *bytes, size_t n)
{
    if (n > INT64_MAX || reserve(f->spool, (int64_t)n)) return STENO_EFULL;
    const size_t done = write_all(f->fd, bytes, n, (off_t)f->n);
    const int why = errno;
    f->n += (int64_t)done;
    if (done == n) return STENO_OK;
    atomic_fetch_sub(&f->spool->used, (int64_t)(n - done));
    return why == ENOSPC || why == EDQUOT || why == EFBIG ? STENO_EFULL : STENO_EIO;
}

int spool_read(const struct spool_file *f, void *bytes, size_t n, int64_t at)
{
    char *to = bytes;
    if (at < 0 || at > f->n || n > (uint64_t)(f->n - at)) return STENO_EIO;
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(f->fd, to + done, n - done, (off_t)at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return STENO_EIO;
        done += (size_t)got;
    }
    return STENO_OK;
}

int64_t spool_size(const struct spool_file *f)
{
    return f->n;
}

int spool_fd(const struct spool_file *f)
{
    return f->fd;
}

void spool_file_close(struct spool_file *f)
{
    if (!f) return;
    close(f->fd);
    atomic_fetch_sub(&f->spool->used, f->n);
    free(f);
}

/* steno: where bytes come from. SPDX-License-Identifier: MIT
 *
 * Descriptor 0 is never kept, so that a zeroed `struct file` can be closed. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_retry(const char *path)
{
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO without a writer must not block */
    while (fd < 0 && errno == EINTR);
    if (fd == 0) {
        fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
        const int saved = errno;
        close(0);
        errno = saved;
    }
    return fd;
}

/* NULL, or why a file of this kind cannot be read at random places. */
static const char *kind_refused(mode_t mode)
{
    if (S_ISREG(mode)) return NULL;
    if (S_ISDIR(mode)) return "Is a directory";
    if (S_ISFIFO(mode) || S_ISSOCK(mode)) return "it is a pipe or socket, and a regular file is needed";
    return "it is a device, and a regular file is needed";
}

int file_open(struct file *f, const char *path, steno_error *e)
{
    *f = (struct file){ .name = path, .fd = -1 };
    if (!path) return err_set(e, STENO_EARG, "cannot open a file: no path was given");
    const int fd = open_retry(path);
    if (fd < 0) return err_set(e, STENO_EIO, "cannot open '%s': %s", path, strerror(errno));

    struct stat st;
    const char *why = fstat(fd, &st) == 0 ? kind_refused(st.st_mode) : strerror(errno);
    if (why) {
        err_set(e, STENO_EIO, "cannot open '%s': %s", path, why);
        close(fd);
        return STENO_EIO;
    }
    f->fd = fd;
    f->size = (uint64_t)st.st_size;
    return STENO_OK;
}

int file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

int file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void file_from_memory(struct file *f, const char *name, const void *data, size_t n)
{
    *f = (struct file){ .name = name, .size = n, .mem = data, .fd = -1 };
}

static int read_fd(const struct file *f, uint64_t off, uint8_t *dst, size_t n, steno_error *e)
{
    while (n) {
        const size_t want = n < (size_t)1 << 30 ? n : (size_t)1 << 30;
        const ssize_t got = pread(f->fd, dst, want, (off_t)off);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return err_set(e, STENO_EIO, "%s: cannot read %zu bytes at %" PRIu64 ": %s", f->name, want, off, strerror(errno));
        if (got == 0)
            return err_set(e, STENO_EFORMAT, "%s: the file ends at %" PRIu64 ", it had %" PRIu64 " bytes when it was opened", f->name,
                           off, f->size);
        dst += got;
        off += (uint64_t)got;
        n -= (size_t)got;
    }
    return STENO_OK;
}

int file_read(const struct file *f, uint64_t off, void *dst, size_t n, steno_error *e)
{
    if (off > f->size || n > f->size - off)
        return err_set(e, STENO_EFORMAT, "%s: needs bytes %" PRIu64 "+%zu, the file ends at %" PRIu64, f->name, off, n, f->size);
    if (f->read) return f->read(f->user, off, dst, n, e);
    if (n == 0) return STENO_OK;
    if (!f->mem) return read_fd(f, off, dst, n, e);
    memcpy(dst, f->mem + off, n);
    return STENO_OK;
}

void file_close(struct file *f)
{
    if (!f->mem && f->fd > 0) close(f->fd);
    *f = (struct file){ .fd = -1 };
}

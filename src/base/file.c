/* steno: where bytes come from. SPDX-License-Identifier: MIT
 *
 * Descriptor 0 is never kept, so that a zeroed `struct file` can be closed. */
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/os.h"

/* NULL, or the reason why a file of this kind cannot be read at random places. */
static const char *kind_refused(enum os_kind kind)
{
    switch (kind) {
    case OS_FILE: return NULL;
    case OS_NOTHING: return strerror(errno);
    case OS_FOLDER: return "Is a directory";
    case OS_PIPE: return "it is a pipe or socket, and a regular file is needed";
    default: return "it is a device, and a regular file is needed";
    }
}

int file_open(struct file *f, const char *path, steno_error *e)
{
    *f = (struct file){ .name = path, .fd = -1 };
    if (!path) return err_set(e, STENO_EARG, "cannot open a file: no path was given");
    const int fd = os_file_open(path);
    if (fd < 0) return err_set(e, errno == ENOMEM ? STENO_ENOMEM : STENO_EIO, "cannot open '%s': %s", path, strerror(errno));
    const char *why = kind_refused(os_file_kind(fd, &f->size));
    if (why) {
        f->size = 0;
        err_set(e, STENO_EIO, "cannot open '%s': %s", path, why);
        os_file_close(fd);
        return STENO_EIO;
    }
    f->fd = fd;
    return STENO_OK;
}

int file_exists(const char *path)
{
    return os_path_kind(path) != OS_NOTHING;
}

int file_is_folder(const char *path)
{
    return os_path_kind(path) == OS_FOLDER;
}

void file_from_memory(struct file *f, const char *name, const void *data, size_t n)
{
    *f = (struct file){ .name = name, .size = n, .mem = data, .fd = -1 };
}

static int read_fd(const struct file *f, uint64_t off, uint8_t *dst, size_t n, steno_error *e)
{
    const int64_t got = os_file_read(f->fd, off, dst, n);
    if (got < 0) return err_set(e, STENO_EIO, "%s: cannot read %zu bytes at %" PRIu64 ": %s", f->name, n, off, strerror(errno));
    if ((uint64_t)got == n) return STENO_OK;
    return err_set(e, STENO_EFORMAT, "%s: the file ends at %" PRIu64 ", it had %" PRIu64 " bytes when it was opened", f->name,
                   off + (uint64_t)got, f->size);
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
    if (!f->mem && f->fd > 0) os_file_close(f->fd);
    *f = (struct file){ .fd = -1 };
}

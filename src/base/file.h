/* steno: where bytes come from. SPDX-License-Identifier: MIT
 *
 * A model is read at random places by several threads. `struct file` hides whether the bytes are on disk or in memory. Reads never use a
 * mapping, so a file that shrinks during a read is an error and never a signal. */
#ifndef STENO_BASE_FILE_H
#define STENO_BASE_FILE_H
#include <stdint.h>
#include "base/err.h"

struct file {
    const char *name;    /* for messages; not owned */
    uint64_t size;
    const uint8_t *mem;  /* [size] or NULL */
    int fd;              /* -1 when mem or read is used */
    /* Reads bytes from a callback, for bytes that are generated or fetched: fill dst with [off, off + n), which lies inside the file.
     * Thread-safe; returns a status. May be NULL. */
    int (*read)(const void *user, uint64_t off, void *dst, size_t n, steno_error *e);
    const void *user;
};

/* Open a regular file for reading. Directories, missing files and files without permission are STENO_EIO with the system's reason. */
int file_open(struct file *f, const char *path, steno_error *e);
void file_from_memory(struct file *f, const char *name, const void *data, size_t n);
/* Read exactly n bytes at off into dst; STENO_EFORMAT if the range exceeds the file, STENO_EIO if the system fails. Thread-safe. */
int file_read(const struct file *f, uint64_t off, void *dst, size_t n, steno_error *e);
int file_exists(const char *path);    /* 1: a file or folder of this name exists */
int file_is_folder(const char *path);
void file_close(struct file *f); /* f may be zeroed or closed */
#endif

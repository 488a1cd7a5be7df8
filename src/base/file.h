/* steno: where bytes come from. SPDX-License-Identifier: MIT
 *
 * A model is read at random places by several threads. `struct file` hides whether the bytes lie on disk or in memory; reads never go
 * through a mapping, so a file that shrinks while it is read is an error and never a signal. */
#ifndef STENO_BASE_FILE_H
#define STENO_BASE_FILE_H
#include <stdint.h>
#include "base/err.h"

struct file {
    const char *name;    /* for messages; not owned */
    uint64_t size;
    const uint8_t *mem;  /* [size] or NULL */
    int fd;              /* -1 when mem or read is used */
    /* Bytes made or fetched by somebody else: fill dst with [off, off + n), inside the file; thread-safe; a status. NULL: not used. */
    int (*read)(const void *user, uint64_t off, void *dst, size_t n, steno_error *e);
    const void *user;
};

/* Open a regular file for reading. Directories, missing files and files without permission are STENO_EIO with the system's reason. */
int file_open(struct file *f, const char *path, steno_error *e);
void file_from_memory(struct file *f, const char *name, const void *data, size_t n);
/* Read exactly n bytes at off into dst; STENO_EFORMAT when the range lies past the end, STENO_EIO when the system fails. Thread-safe. */
int file_read(const struct file *f, uint64_t off, void *dst, size_t n, steno_error *e);
int file_exists(const char *path);    /* 1: there is something of this name */
int file_is_folder(const char *path);
void file_close(struct file *f); /* a zeroed or closed file is allowed */
#endif

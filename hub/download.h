/* steno-hub: downloads a file, complete and verified or not at all. SPDX-License-Identifier: MIT
 *
 * Bytes go to a partial file, which a later run resumes after hashing its content. Size and hash are known in advance, from another source
 * than the response with the bytes. */
#ifndef STENO_HUB_DOWNLOAD_H
#define STENO_HUB_DOWNLOAD_H
#include "http.h"
#include <stdint.h>
#include <sys/stat.h>

struct download {
    const char *url, *what; /* what: its name in messages */
    const char *hash;       /* 64 or 40 digits */
    int64_t size;
    const char *partial;    /* path; created with the umask's mode; stays afterwards unless the bytes were wrong */
    int at;                 /* an open folder that contains its last part; AT_FDCWD: use the path */
    void (*progress)(void *user, int64_t n_bytes); /* bytes so far; may be NULL */
    void *user;
};

/* Why an existing file cannot be resumed; NULL if it can. A file with more than one name holds bytes that belong to others, too. */
const char *partial_fault(const struct stat *st);

/* The caller holds a lock, or the partial file's name is unique. On HUB_OK the partial file is synced. */
int download(struct http *h, const struct download *d, struct hub_error *e);

/* Checks size and hash of a file. @return HUB_OK, HUB_EDAMAGED, HUB_EABSENT (it cannot be read), HUB_ESTOPPED */
int file_verify(const char *path, int64_t size, const char *hash, int (*stop)(void *user), void *user, struct hub_error *e);
#endif

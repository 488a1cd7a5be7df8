/* steno-hub: a file from an address, whole and right or not at all. SPDX-License-Identifier: MIT
 *
 * Bytes go to a partial file, which a later run goes on with: what it has is hashed again first. Its size and hash are known before, from
 * elsewhere than the answer that brings the bytes. */
#ifndef STENO_HUB_DOWNLOAD_H
#define STENO_HUB_DOWNLOAD_H
#include "http.h"
#include <stdint.h>
#include <sys/stat.h>

struct download {
    const char *url, *what; /* what: its name in messages */
    const char *hash;       /* 64 or 40 digits */
    int64_t size;
    const char *partial;    /* path; made with the umask's mode, and there afterwards, unless the bytes were wrong */
    int at;                 /* an open folder that its last part is reached from; AT_FDCWD: by its path */
    void (*progress)(void *user, int64_t n_bytes); /* so many are there; NULL: nobody wants to know */
    void *user;
};

/* Why a file that is there cannot be gone on with; NULL: it can. A file with other names has bytes that belong to others, too. */
const char *partial_fault(const struct stat *st);

/* The caller holds a lock, or the partial's name is its alone. The partial is synced when this returns HUB_OK. */
int download(struct http *h, const struct download *d, struct hub_error *e);

/* Has the file size and hash? @return HUB_OK, HUB_EDAMAGED, HUB_EABSENT (it cannot be read), HUB_ESTOPPED */
int file_verify(const char *path, int64_t size, const char *hash, int (*stop)(void *user), void *user, struct hub_error *e);
#endif

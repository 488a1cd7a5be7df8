/* steno-hub: verifies the hashes of cached files. SPDX-License-Identifier: MIT
 *
 * No network is used. The name of a blob is its hash, a plain file has a recorded hash, and some files are known by name. */
#ifndef STENO_HUB_VERIFY_H
#define STENO_HUB_VERIFY_H
#include "cached.h"

struct hub_verified {
    int n_right, n_wrong, n_unknown; /* unknown: files without a recorded hash */
};

struct hub_judge {
    int (*stop)(void *user);                    /* may be NULL */
    void (*wrong)(void *user, const char *why); /* called for each file that is wrong */
    void *user;
};

/* Verifies the files of a snapshot, or only `file` unless it is "". @return HUB_OK, also if files are wrong; HUB_ESTOPPED, HUB_ENOMEM */
int hub_verify(struct hub_verified *v, const struct hub_snapshot *s, const char *file, const struct hub_judge *j, struct hub_error *e);

/* The same for a file outside the caches, or a folder of such files. */
int hub_verify_plain(struct hub_verified *v, const char *path, const struct hub_judge *j, struct hub_error *e);
#endif

/* steno-hub: are the bytes in a cache those that the hub promised? SPDX-License-Identifier: MIT
 *
 * No network is asked: the name of a blob is its hash, what lies as a plain file has its hash recorded, and some are known by name. */
#ifndef STENO_HUB_VERIFY_H
#define STENO_HUB_VERIFY_H
#include "cached.h"

struct hub_verified {
    int n_right, n_wrong, n_unknown; /* unknown: files of which nobody has written down a hash */
};

struct hub_judge {
    int (*stop)(void *user);                    /* NULL: nobody */
    void (*wrong)(void *user, const char *why); /* hears of each file that is not right */
    void *user;
};

/* Look at the files of a snapshot, `file` alone unless it is "".
 * @return HUB_OK, also when files are wrong; HUB_ESTOPPED, HUB_ENOMEM */
int hub_verify(struct hub_verified *v, const struct hub_snapshot *s, const char *file, const struct hub_judge *j, struct hub_error *e);

/* The same for a file of no cache, or a folder of such. */
int hub_verify_plain(struct hub_verified *v, const char *path, const struct hub_judge *j, struct hub_error *e);
#endif

/* steno-hub: are the bytes in a cache those that the hub promised? SPDX-License-Identifier: MIT
 *
 * No network is asked: the name of a blob is its hash, and what lies as a plain file has its hash recorded. */
#ifndef STENO_HUB_VERIFY_H
#define STENO_HUB_VERIFY_H
#include "cached.h"

struct hub_verified {
    int n_right, n_wrong, n_unknown; /* unknown: files of which nobody has written down a hash */
};

/* Look at the files of a snapshot, `file` alone unless it is "". `wrong` hears of each that is not right.
 * @return HUB_OK, also when files are wrong; HUB_ESTOPPED, HUB_ENOMEM */
int hub_verify(struct hub_verified *v, const struct hub_snapshot *s, const char *file, int (*stop)(void *user),
               void (*wrong)(void *user, const char *why), void *user, struct hub_error *e);
#endif

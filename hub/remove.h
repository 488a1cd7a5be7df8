/* steno-hub: models out of a cache. SPDX-License-Identifier: MIT
 *
 * Names go first, contents that no other snapshot names last, so a run that is killed leaves nothing that looks whole and is not. Locks
 * stay, as other clients have it. */
#ifndef STENO_HUB_REMOVE_H
#define STENO_HUB_REMOVE_H
#include "cached.h"
#include "model_find.h"

/* Remove what a name stands for: all snapshots of a repository, that of one revision, or one file in them.
 * @param dry    only count
 * @param freed  receives the bytes that the disk has back
 * @return how many files (names) were removed, -1: an error; 0: there is no such thing */
int hub_remove(const struct hub_env *env, const struct hub_cache *c, const struct hub_spec *s, int dry, int64_t *freed,
               int (*stop)(void *user), void *user, struct hub_error *e);
#endif

/* steno-hub: models out of a cache. SPDX-License-Identifier: MIT
 *
 * Names go first, contents that no other snapshot names last, so a run that is killed leaves nothing that looks whole and is not. Locks
 * stay, as other clients have it. Only what lies in the model's own folder is removed. A link there goes as a link, and nothing behind it
 * is touched. */
#ifndef STENO_HUB_REMOVE_H
#define STENO_HUB_REMOVE_H
#include "cached.h"
#include "model_find.h"

struct hub_removed {
    int n;         /* names that went; 0: there is no such thing */
    int n_links;   /* of them links to folders, whose files stay where they are */
    int64_t freed; /* bytes that the disk has back */
};

/* Remove what a name stands for: all snapshots of a repository, that of one revision, or one file in them.
 * @param dry  only count
 * @return HUB_OK, or a status with *e */
int hub_remove(struct hub_removed *out, const struct hub_env *env, const struct hub_cache *c, const struct hub_spec *s, int dry,
               int (*stop)(void *user), void *user, struct hub_error *e);
#endif

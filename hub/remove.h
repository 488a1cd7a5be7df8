/* steno-hub: removes models from a cache. SPDX-License-Identifier: MIT
 *
 * Names are removed first, and contents that no other snapshot uses last. So a killed run leaves nothing that looks complete but is not.
 * Locks stay, as with other clients. Only the content of the model's own folder is removed. A link there is removed as a link, and its
 * target is not touched. */
#ifndef STENO_HUB_REMOVE_H
#define STENO_HUB_REMOVE_H
#include "cached.h"
#include "model_find.h"

struct hub_removed {
    int n;         /* number of removed names; 0: nothing matched */
    int n_links;   /* of these, links to folders, whose files stay */
    int64_t freed; /* bytes freed on the disk */
};

/* Removes what a name refers to: all snapshots of a repository, those of one revision, or one file in them. @param dry  only count @return
 * HUB_OK, or a status with *e */
int hub_remove(struct hub_removed *out, const struct hub_env *env, const struct hub_cache *c, const struct hub_spec *s, int dry,
               int (*stop)(void *user), void *user, struct hub_error *e);
#endif

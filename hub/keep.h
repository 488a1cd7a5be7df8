/* steno-hub: verifies and removes models of a cache. SPDX-License-Identifier: MIT
 *
 * Verification uses no network. The name of a blob is its hash, a plain file has a recorded hash, and some files are known by name.
 *
 * Of a model that is removed, names go first, and contents that no other snapshot uses last. So a killed run leaves nothing that looks
 * complete but is not. Locks stay, as with other clients. Only the content of the model's own folder is removed. A link there is removed as
 * a link, and its target is not touched. */
#ifndef STENO_HUB_KEEP_H
#define STENO_HUB_KEEP_H
#include "cache.h"
#include "model_name.h"

/* ---- verification ------------------------------------------------------------------------------------------------------------ */

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

/* ---- removal ----------------------------------------------------------------------------------------------------------------- */

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

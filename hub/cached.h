/* steno-hub: snapshots in the caches of both hubs. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_CACHED_H
#define STENO_HUB_CACHED_H
#include "hub_env.h"
#include "hub_name.h"
#include "names.h"
#include <stdint.h>

struct hub_snapshot {
    int hub;
    char id[HUB_ID_SZ], commit[HUB_REV_SZ];
    char *repo, *folder;
    size_t n_root; /* repo[0..n_root) is the folder that lists models; everything below it belongs to the model */
    int is_main;   /* refs/main names it; if that names none, it is the last by name */
};

struct hub_cache {
    struct hub_snapshot *s; /* of each repository, the snapshots of main first */
    size_t n, cap;
};
int hub_cache_read(struct hub_cache *c, const struct hub_env *env, struct hub_error *e);
void hub_cache_free(struct hub_cache *c);

/* Does the snapshot belong to a revision, given by commit or by reference? "" is any. */
int hub_is_revision(const struct hub_snapshot *s, const char *rev);

/* Reads the commit of a reference, as other clients wrote it. @return 1, or 0: there is none */
int hub_ref_read(char commit[HUB_REV_SZ], const char *repo, const char *ref);
#endif

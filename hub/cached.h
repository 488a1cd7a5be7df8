/* steno-hub: what is in the caches of both hubs. SPDX-License-Identifier: MIT */
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
    size_t n_root; /* repo[n_root] is the folder that lists models: what lies below it is the model's own */
    int is_main;   /* refs/main names it, or, where that names none, it is the last by its name */
};

struct hub_cache {
    struct hub_snapshot *s; /* those that are main's first, of each repository */
    size_t n, cap;
};
int hub_cache_read(struct hub_cache *c, const struct hub_env *env, struct hub_error *e);
void hub_cache_free(struct hub_cache *c);

/* Is the snapshot that of a revision, by its number or by a reference? "" is any. */
int hub_is_revision(const struct hub_snapshot *s, const char *rev);

/* The commit that a reference names, as others wrote it. @return 1, or 0: there is none */
int hub_ref_read(char commit[HUB_REV_SZ], const char *repo, const char *ref);
#endif

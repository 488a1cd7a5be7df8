/* steno-hub: what is in the caches of both hubs. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_CACHED_H
#define STENO_HUB_CACHED_H
#include "hub_env.h"
#include "hub_name.h"
#include <stdint.h>

/* Names in a folder but . and .., sorted, so that nothing depends on the order of a directory. */
struct names {
    char **name; /* [n] */
    size_t n, cap;
};
int names_of_folder(struct names *out, const char *folder, struct hub_error *e); /* what cannot be opened is empty */
int names_add(struct names *out, const char *name, struct hub_error *e);
int names_has(const struct names *n, const char *name);
void names_free(struct names *n);

/* All files below a folder, by their paths in it; links count as what they point at. What is deeper than 8 folders is not seen. */
int names_below(struct names *out, const char *folder, struct hub_error *e);
/* The same with the folders, each behind the one that it is in; without `follow` links are files, wherever they point. */
int names_walk(struct names *files, struct names *folders, const char *root, int follow, struct hub_error *e);

struct hub_snapshot {
    int hub;
    char id[HUB_ID_SZ], commit[HUB_REV_SZ];
    char *repo, *folder;
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

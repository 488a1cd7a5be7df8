/* steno-hub: downloads a repository's files to a cache or a folder. SPDX-License-Identifier: MIT
 *
 * Hugging Face's cache stores contents by hash in blobs/, with links in snapshots/COMMIT/ as names. refs/main has the newest commit. They
 * are written in this order: content, name, reference. So a killed run leaves nothing that other programs take for complete. ModelScope's
 * cache has plain files in snapshots/REVISION/. */
#ifndef STENO_HUB_PULL_H
#define STENO_HUB_PULL_H
#include "http.h"
#include "hub_env.h"
#include "listing.h"

struct hub_pull {
    const struct hub_env *env;
    struct http *http;          /* NULL: offline, no requests */
    int hub;                    /* enum hub_kind */
    const char *id, *rev;       /* rev NULL: the newest */
    const char *const *files;   /* names; none: the files that a loader reads */
    size_t n_files;
    const struct hub_listing *known; /* sizes and hashes known from elsewhere, for the commit `rev`: only these files are fetched. NULL: the
                                      * hub lists them */
    const char *to;             /* the user's folder for plain files; NULL: the cache */
    int force;                  /* fetch existing files again */
    int (*stop)(void *user);
    void (*started)(void *user, const char *file, int64_t total);   /* may be NULL */
    void (*progress)(void *user, int64_t bytes);
    void (*done)(void *user, const char *file, const char *path, int64_t bytes); /* may be NULL; bytes: number fetched */
    void *user;
};

struct hub_pulled {
    char commit[HUB_REV_SZ];
    char *path;       /* path for a loader: the file of a single-file model, else the folder; malloc'd */
    char *partial;    /* after a failure: the partial file that is kept, or NULL */
    int64_t n_bytes;  /* number fetched */
};

/* @return HUB_OK or a status; free *out in any case */
int hub_pull(const struct hub_pull *p, struct hub_pulled *out, struct hub_error *e);
void hub_pulled_free(struct hub_pulled *out);
#endif

/* steno-hub: a repository's files into a cache, or into a folder. SPDX-License-Identifier: MIT
 *
 * Hugging Face's cache keeps contents by their hashes in blobs/, names them by links in snapshots/COMMIT/, and says in refs/main which
 * commit is the newest. All are written in an order in which a run that is killed leaves nothing that others take for complete: content,
 * name, and the reference last. ModelScope's keeps plain files in snapshots/REVISION/. */
#ifndef STENO_HUB_PULL_H
#define STENO_HUB_PULL_H
#include "hub_env.h"
#include "http.h"
#include "listing.h"

struct hub_pull {
    const struct hub_env *env;
    struct http *http;          /* NULL: offline, nothing is asked */
    int hub;                    /* enum hub_kind */
    const char *id, *rev;       /* rev NULL: the newest */
    const char *const *files;   /* by name; none: what a loader reads */
    size_t n_files;
    const struct hub_listing *known; /* sizes and hashes that are known from elsewhere, for a commit as `rev`: nothing else is taken.
                                        NULL: the hub lists them */
    const char *to;             /* a folder of the caller's, where plain files are put; NULL: the cache */
    int force;                  /* fetch again what is there */
    int (*stop)(void *user);
    void (*started)(void *user, const char *file, int64_t total);   /* NULLs: nobody wants to know */
    void (*progress)(void *user, int64_t bytes);
    void (*done)(void *user, const char *file, const char *path, int64_t bytes); /* bytes: that were fetched */
    void *user;
};

struct hub_pulled {
    char commit[HUB_REV_SZ];
    char *path;       /* what a loader takes: the file of a model that is one, else the folder; malloc'd */
    char *partial;    /* after a failure: what is kept of the file that was fetched then, or NULL */
    int64_t n_bytes;  /* that were fetched */
};

/* @return HUB_OK or a status; *out is to be freed in any case */
int hub_pull(const struct hub_pull *p, struct hub_pulled *out, struct hub_error *e);
void hub_pulled_free(struct hub_pulled *out);
#endif

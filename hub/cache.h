/* steno-hub: the caches of both hubs: paths of files, and the snapshots that exist. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_CACHE_H
#define STENO_HUB_CACHE_H
#include "folder.h"
#include "hub_env.h"
#include "hub_name.h"
#include "pull.h"
#include <stdint.h>

/* ---- where a file belongs ---------------------------------------------------------------------------------------------------- */

/* Folder of a repository in a cache: CACHE/models--ORG--NAME, CACHE/models/ORG--NAME. @return malloc'd text, or NULL */
char *hub_repo_folder(const struct hub_env *env, int hub, const char *id);
char *hub_snapshot_folder(const struct hub_env *env, int hub, const char *id, const char *commit);

/* Path of an empty file that marks a file as absent from the repository, as other clients do. */
char *hub_absent_path(const char *repo, const char *commit, const char *path);
/* Path of the record of a file in a folder outside the caches, where Hugging Face's client looks for it, too. */
char *hub_plain_record_path(const char *folder, const char *path);
char *hub_record_path(const char *repo, const char *commit, const char *path);

struct hub_place {
    char *content; /* file with the bytes */
    char *partial; /* its partial file */
    char *lock;    /* a file, or an existing folder */
    char *file;    /* the name that programs open: a link to `target`, or equal to content if that is NULL */
    char *target;
};

int hub_place_of(struct hub_place *at, const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e);
void hub_place_free(struct hub_place *at);

/* ---- links to contents ------------------------------------------------------------------------------------------------------- */

/* Hash of the blob that a link points to, from its name: .../blobs/HASH. @return 1, or 0: not such a link */
int hub_blob_of_link(char hash[HUB_HASH_SZ], const char *path);

/* ---- the snapshots that exist ------------------------------------------------------------------------------------------------ */

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

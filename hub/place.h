/* steno-hub: paths of a repository's files in a cache. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_PLACE_H
#define STENO_HUB_PLACE_H
#include "pull.h"

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
#endif

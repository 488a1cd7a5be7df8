/* steno-hub: where a file of a repository lies. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_PLACE_H
#define STENO_HUB_PLACE_H
#include "pull.h"

/* Folder of a repository in a cache: CACHE/models--ORG--NAME, CACHE/models/ORG--NAME. @return malloc'd text, or NULL */
char *hub_repo_folder(const struct hub_env *env, int hub, const char *id);
char *hub_snapshot_folder(const struct hub_env *env, int hub, const char *id, const char *commit);

/* An empty file: the repository has no file of that path, which other clients write down, too. */
char *hub_absent_path(const char *repo, const char *commit, const char *path);
/* What is known of a file in a folder of no cache, where Hugging Face's client looks for it, too. */
char *hub_plain_record_path(const char *folder, const char *path);
char *hub_record_path(const char *repo, const char *commit, const char *path);

struct hub_place {
    char *content; /* what has the bytes */
    char *partial; /* what becomes it */
    char *lock;    /* a file, or a folder that is there */
    char *file;    /* the name that is looked for: a link with `target`, or, where that is NULL, the same as content */
    char *target;
};

int hub_place_of(struct hub_place *at, const struct hub_pull *p, const char *commit, const struct hub_file *f, struct hub_error *e);
void hub_place_free(struct hub_place *at);
#endif

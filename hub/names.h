/* steno-hub: names in folders. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_NAMES_H
#define STENO_HUB_NAMES_H
#include "hub_error.h"
#include <stddef.h>

/* Names in a folder, without . and .., sorted, so that nothing depends on the order of a directory. */
struct names {
    char **name; /* [n] */
    size_t n, cap;
};
int names_of_folder(struct names *out, const char *folder, struct hub_error *e); /* empty if the folder cannot be opened */
int names_add(struct names *out, const char *name, struct hub_error *e);
int names_has(const struct names *n, const char *name);
void names_free(struct names *n);

/* Lists everything below a folder, by relative paths. rest: all that is not a folder, including links to anything. folders: "" first, each
 * after its parent. Links to folders, and folders deeper than HUB_MOST_DEPTH, are not entered. If `at` has no such folder, both lists are
 * empty. @return HUB_OK; HUB_EWRITE: a folder cannot be read; HUB_EABSENT: too many; HUB_ENOMEM */
int names_walk_at(struct names *rest, struct names *folders, int at, const char *path, struct hub_error *e);
int names_walk(struct names *rest, struct names *folders, const char *root, struct hub_error *e); /* follows links in `root` */

/* The regular files below a folder, and links to regular files. Unreadable folders count as empty. */
int names_below(struct names *out, const char *folder, struct hub_error *e);
#endif

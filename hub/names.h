/* steno-hub: names in folders. SPDX-License-Identifier: MIT */
#ifndef STENO_HUB_NAMES_H
#define STENO_HUB_NAMES_H
#include "hub_error.h"
#include <stddef.h>

/* Names in a folder but . and .., sorted, so that nothing depends on the order of a directory. */
struct names {
    char **name; /* [n] */
    size_t n, cap;
};
int names_of_folder(struct names *out, const char *folder, struct hub_error *e); /* what cannot be opened is empty */
int names_add(struct names *out, const char *name, struct hub_error *e);
int names_has(const struct names *n, const char *name);
void names_free(struct names *n);

/* What lies below a folder, by paths in it: all that is no folder, links too, wherever they point; and the folders, "" first, each behind
 * the one that it is in. No link to a folder is entered, and none deeper than HUB_MOST_DEPTH. Where `at` has no such folder there is
 * nothing below it.
 * @return HUB_OK; HUB_EWRITE: a folder cannot be read; HUB_EABSENT: there are too many; HUB_ENOMEM */
int names_walk_at(struct names *rest, struct names *folders, int at, const char *path, struct hub_error *e);
int names_walk(struct names *rest, struct names *folders, const char *root, struct hub_error *e); /* links in `root` are followed */

/* The regular files below a folder, and links to such. Folders that cannot be read are as if they were empty. */
int names_below(struct names *out, const char *folder, struct hub_error *e);
#endif

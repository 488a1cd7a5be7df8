/* steno-hub: safe access to files in a cache, and the names in its folders. SPDX-License-Identifier: MIT
 *
 * A cache is shared with other programs, and users put links and other files into it. A file to be removed is reached from an open folder,
 * part by part, and no part may be a link. So nothing outside that folder is removed, even if the cache changes meanwhile. A file to be
 * read must be a regular file, and no read waits for another program. */
#ifndef STENO_HUB_FOLDER_H
#define STENO_HUB_FOLDER_H
#include "hub_error.h"
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- files, reached part by part --------------------------------------------------------------------------------------------- */

int folder_open(const char *path);         /* follows links in `path`. @return a descriptor, or -1 */
int folder_make_parent(int at, const char *path); /* opens the folder that contains `path`, and creates missing folders */
int folder_look(int at, const char *path, struct stat *st); /* lstat of a name below `at`. @return 0, or -1 */
int folder_unlink(int at, const char *path); /* removes a name that is not a folder; a missing name is no error. @return 0, or -1 */
int folder_rmdir(int at, const char *path);  /* removes an empty folder. @return 0, or -1 */

/* The first part of `path` that is a link, as a path from `at`. @return malloc'd text; NULL: there is none, or errno is ENOMEM */
char *folder_first_link(int at, const char *path);

/* Opens a regular file for reading and follows links. Pipes, sockets and devices are not opened. @return as open and fopen; errno EINVAL:
 * not a regular file */
int regular_open(const char *path);
FILE *regular_read(const char *path);

/* ---- names in folders -------------------------------------------------------------------------------------------------------- */

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

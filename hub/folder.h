/* steno-hub: safe access to files in a cache. SPDX-License-Identifier: MIT
 *
 * A cache is shared with other programs, and users put links and other files into it. A file to be removed is reached from an open folder,
 * part by part, and no part may be a link. So nothing outside that folder is removed, even if the cache changes meanwhile. A file to be
 * read must be a regular file, and no read waits for another program. */
#ifndef STENO_HUB_FOLDER_H
#define STENO_HUB_FOLDER_H
#include <stdio.h>
#include <sys/stat.h>

int folder_open(const char *path);         /* follows links in `path`. @return a descriptor, or -1 */
/* Opens the folder `path` below `at`; "" is `at` itself. @return a descriptor; -1: errno is ENOTDIR or ELOOP if a part is a link or not a
 * folder */
int folder_enter(int at, const char *path);
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
#endif

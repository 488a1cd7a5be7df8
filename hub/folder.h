/* steno-hub: what may be opened in a cache. SPDX-License-Identifier: MIT
 *
 * A cache is shared with other programs, and people put links and whatever else into it. What is removed is reached from an open folder,
 * part by part, and no part may be a link: so nothing outside of that folder goes, whatever happens in the meantime. What is read is a
 * regular file, and no read waits for another program. */
#ifndef STENO_HUB_FOLDER_H
#define STENO_HUB_FOLDER_H
#include <stdio.h>
#include <sys/stat.h>

int folder_open(const char *path);         /* links in `path` are followed. @return a descriptor, or -1 */
/* The folder `path` below `at`; "" is `at` itself.
 * @return a descriptor; -1: errno is ENOTDIR or ELOOP where a part is a link or no folder */
int folder_enter(int at, const char *path);
int folder_make_parent(int at, const char *path); /* the same of the folder that `path` lies in; what is missing is made */
int folder_look(int at, const char *path, struct stat *st); /* at a name below, without following it. @return 0, or -1 */
int folder_unlink(int at, const char *path); /* a name below that is no folder; one that is gone is well. @return 0, or -1 */
int folder_rmdir(int at, const char *path);  /* an empty folder below. @return 0, or -1 */

/* The first part of `path` that is a link: the path up to it. @return malloc'd text; NULL: there is none, or errno is ENOMEM */
char *folder_first_link(int at, const char *path);

/* A regular file to read, links followed. A pipe, a socket or a device is not opened. @return as open and fopen do; errno EINVAL: it is no
 * regular file */
int regular_open(const char *path);
FILE *regular_read(const char *path);
#endif

/* steno: paths of files. SPDX-License-Identifier: MIT */
#ifndef STENO_FILES_PATH_H
#define STENO_FILES_PATH_H

/* dir + "/" + name, or name alone if dir is NULL. @return malloc'd text, or NULL */
char *path_join(const char *dir, const char *name);

/* The target of `path` after following all links, whether it exists or not. @return malloc'd text, or NULL with errno set */
char *path_target(const char *path);
#endif

/* steno: paths of files. SPDX-License-Identifier: MIT */
#ifndef STENO_FILES_PATH_H
#define STENO_FILES_PATH_H

/* Does the path begin at a root? On Windows "C:" and "//server" are roots, too. */
int path_is_absolute(const char *path);

/* Changes a path that a person or another program wrote so that only / separates its parts, as all paths have it here; an address stays. It
 * does nothing where \ may be part of a name. @return path; NULL stays NULL */
char *path_typed(char *path);

/* dir + "/" + name, or name alone if dir is NULL. @return malloc'd text, or NULL */
char *path_join(const char *dir, const char *name);

/* The target of `path` after following all links, whether it exists or not. @return malloc'd text, or NULL with errno set */
char *path_target(const char *path);
#endif

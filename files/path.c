/* steno: paths of files. SPDX-License-Identifier: MIT */
#include "path.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_join(const char *dir, const char *name)
{
    const size_t nd = dir ? strlen(dir) : 0, nn = strlen(name);
    const int slash = nd > 0 && dir[nd - 1] != '/';
    char *s = malloc(nd + nn + 2);
    if (!s) return NULL;
    if (nd) memcpy(s, dir, nd);
    if (slash) s[nd] = '/';
    memcpy(s + nd + slash, name, nn + 1);
    return s;
}

char *path_target(const char *path)
{
    struct stat st;
    char *at = strdup(path), to[PATH_MAX];
    for (int links = 0; at && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); links++) {
        const ssize_t n = links < 40 ? readlink(at, to, sizeof to - 1) : (errno = ELOOP, -1);
        char *slash = strrchr(at, '/'), *next = NULL;
        if (n >= 0) {
            to[n] = '\0';
            if (slash) slash[1] = '\0';
            next = path_is_absolute(to) || !slash ? strdup(to) : path_join(at, to);
        }
        const int keep = errno;
        free(at);
        errno = keep;
        at = next;
    }
    return at;
}

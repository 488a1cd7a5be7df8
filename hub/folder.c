/* steno-hub: safe access to files in a cache. SPDX-License-Identifier: MIT */
#include "folder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int folder_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int enter_part(int at, const char *part, int make)
{
    enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
    if (strcmp(part, "..") == 0) return errno = EINVAL, -1;
    const int fd = openat(at, part, HOW);
    if (fd >= 0 || errno != ENOENT || !make) return fd;
    return mkdirat(at, part, 0777) && errno != EEXIST ? -1 : openat(at, part, HOW);
}

/* Opens the folder that contains the last part of `path`. *last: that part. `make`: missing folders are created */
static int enter_parent(int at, const char *path, const char **last, int make)
{
    int fd = fcntl(at, F_DUPFD_CLOEXEC, 3);
    *last = path;
    for (const char *slash = strchr(path, '/'); fd >= 0 && slash; slash = strchr(*last, '/')) {
        char part[NAME_MAX + 1];
        const size_t n = (size_t)(slash - *last);
        int next = -1, why = ENAMETOOLONG;
        if (n && n < sizeof part) {
            memcpy(part, *last, n);
            part[n] = '\0';
            next = enter_part(fd, part, make);
            why = errno;
        }
        close(fd);
        errno = why;
        fd = next;
        *last = slash + 1;
    }
    return fd;
}

int folder_enter(int at, const char *path)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0 || !*last) return parent;
    const int fd = openat(parent, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), why = errno;
    close(parent);
    errno = why;
    return fd;
}

int folder_make_parent(int at, const char *path)
{
    const char *last;
    return enter_parent(at, path, &last, 1);
}

int folder_look(int at, const char *path, struct stat *st)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0) return -1;
    const int rc = *last ? fstatat(parent, last, st, AT_SYMLINK_NOFOLLOW) : fstat(parent, st), why = errno;
    close(parent);
    errno = why;
    return rc;
}

static int take_away(int at, const char *path, int how)
{
    const char *last;
    const int parent = enter_parent(at, path, &last, 0);
    if (parent < 0) return -1;
    const int rc = unlinkat(parent, last, how), why = errno;
    close(parent);
    errno = why;
    return rc;
}

int folder_unlink(int at, const char *path)
{
    return take_away(at, path, 0) == 0 || errno == ENOENT ? 0 : -1;
}

int folder_rmdir(int at, const char *path)
{
    return take_away(at, path, AT_REMOVEDIR);
}

char *folder_first_link(int at, const char *path)
{
    char *part = strdup(path);
    if (!part) return NULL;
    for (size_t n = 0; path[n]; n += path[n] == '/') {
        struct stat st;
        n += strcspn(path + n, "/");
        part[n] = '\0';
        if (folder_look(at, part, &st)) break;
        if (S_ISLNK(st.st_mode)) return part;
        part[n] = path[n];
    }
    free(part);
    errno = 0;
    return NULL;
}

int regular_open(const char *path)
{
    struct stat st;
    if (stat(path, &st)) return -1;
    const int is = S_ISREG(st.st_mode), fd = is ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (is && fd < 0) return -1;
    if (is && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
    if (fd >= 0) close(fd);
    errno = EINVAL;
    return -1;
}

FILE *regular_read(const char *path)
{
    const int fd = regular_open(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && !f) close(fd);
    return f;
}

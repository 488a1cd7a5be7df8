/* steno tests: a signal at a given call. SPDX-License-Identifier: MIT
 *
 * Loaded before the program (LD_PRELOAD): behind the SIGNAL_AT-th call of those that make, lock, sync, rename or remove a file there is a
 * SIGTERM, SIGNAL_TIMES of them (1). So a signal arrives where a slow disk is waited for. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int counted(int rc)
{
    static int n;
    const char *at = getenv("SIGNAL_AT"), *times = getenv("SIGNAL_TIMES");
    if (!at || ++n != atoi(at)) return rc;
    for (int i = times ? atoi(times) : 1; i > 0; i--) raise(SIGTERM);
    return rc;
}

static int open_as(const char *name, const char *path, int flags, mode_t mode)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);
    const int fd = real(path, flags, mode);
    return flags & O_EXCL ? counted(fd) : fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...); \
    int name(const char *path, int flags, ...) \
    { \
        va_list ap; \
        va_start(ap, flags); \
        const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0; \
        va_end(ap); \
        return open_as(#name, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int flock(int fd, int how)
{
    return counted(((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(fd, how));
}

int fsync(int fd)
{
    return counted(((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd));
}

int rename(const char *from, const char *to)
{
    return counted(((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to));
}

int mkdir(const char *path, mode_t mode)
{
    return counted(((int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode));
}

int unlink(const char *path)
{
    return counted(((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(path));
}

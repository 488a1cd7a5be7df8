/* steno tests: a file that can be read up to a point. SPDX-License-Identifier: MIT
 *
 * Loaded before the program (LD_PRELOAD): of the file whose path ends in FAILING_FILE, FAILING_AFTER bytes can be read, counted over all
 * reads; from there on there is an input-output error, as on a failing disk. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t failing_pread(int fd, void *buf, size_t n, off_t at);

static int is_bad(int fd, size_t n)
{
    static long long passed;
    char link[64], path[4096] = "";
    const char *name = getenv("FAILING_FILE"), *after = getenv("FAILING_AFTER");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t len = name && after ? readlink(link, path, sizeof path - 1) : -1;
    if (len < 0 || len < (ssize_t)strlen(name) || strcmp(path + len - strlen(name), name) != 0) return 0;
    passed += (long long)n;
    return passed > atoll(after);
}

ssize_t failing_pread(int fd, void *buf, size_t n, off_t at)
{
    if (!is_bad(fd, n)) return syscall(SYS_pread64, fd, buf, n, at);
    errno = EIO;
    return -1;
}

/* Under whatever name the program calls it. */
ssize_t pread(int fd, void *buf, size_t n, off_t at) __attribute__((alias("failing_pread"), visibility("default")));
ssize_t pread64(int fd, void *buf, size_t n, off_t at) __attribute__((alias("failing_pread"), visibility("default")));

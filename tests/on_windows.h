/* steno: functions of POSIX that tests use, for tests compiled for Windows; included before each file. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ON_WINDOWS_H
#define STENO_TESTS_ON_WINDOWS_H
#include <direct.h>
#include <errno.h>
#include <io.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define aligned_alloc(align, n) __mingw_aligned_malloc(n, align) /* tests free it at their end, or not at all */
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#define mkdir(path, mode) _mkdir(path)

static inline int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char *name) { return _putenv_s(name, ""); }

static inline char *mkdtemp(char *name) { return _mktemp(name) && !_mkdir(name) ? name : NULL; }

static inline char *strndup(const char *s, size_t n)
{
    const size_t have = strnlen(s, n);
    char *copy = malloc(have + 1);
    if (!copy) return NULL;
    copy[have] = 0;
    return memcpy(copy, s, have);
}

static inline char *stpcpy(char *to, const char *s)
{
    const size_t n = strlen(s);
    return (char *)memcpy(to, s, n + 1) + n;
}

/* A copy of the file: links need a privilege. */
static inline int symlink(const char *of, const char *path)
{
    FILE *in = fopen(of, "rb"), *out = in ? fopen(path, "wb") : NULL;
    char part[4096];
    size_t n;
    while (out && (n = fread(part, 1, sizeof part, in)) > 0) fwrite(part, 1, n, out);
    if (in) fclose(in);
    return out && !fclose(out) ? 0 : -1;
}
#endif

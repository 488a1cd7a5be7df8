/* steno: functions that tests use and windows/ lacks; included before each file, behind windows/posix.h. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_ON_WINDOWS_H
#define STENO_TESTS_ON_WINDOWS_H

#undef main /* tests begin with their own */
#define aligned_alloc(align, n) __mingw_aligned_malloc(n, align) /* tests free it at their end, or not at all */

#define mkstemp(path) mkostemp(path, 0) /* that of the C library keeps others from the file */

/* Tests put names behind it as they are compiled. */
#undef P_tmpdir
#define P_tmpdir "/tmp"

/* Not seen by getenv of windows/, which reads the environment once. */
static inline int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char *name) { return _putenv_s(name, ""); }

static inline char *mkdtemp(char *name) { return _mktemp(name) && !_mkdir(name) ? name : NULL; }

/* A copy of the file: links need a privilege. A link to what is not there is no file. */
#define symlink test_copy
static inline int symlink(const char *of, const char *path)
{
    FILE *in = fopen(of, "rb"), *out;
    char part[4096];
    size_t n;
    if (!in && errno == ENOENT) return 0;
    out = in ? fopen(path, "wb") : NULL;
    while (out && (n = fread(part, 1, sizeof part, in)) > 0) fwrite(part, 1, n, out);
    if (in) fclose(in);
    return out && !fclose(out) ? 0 : -1;
}
#endif

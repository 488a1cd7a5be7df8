/* steno tests: temporary folders. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FOLDER_H
#define STENO_TESTS_FOLDER_H
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "harness.h"

struct folder { char path[64]; };
struct folder_file { char path[200]; };

static inline struct folder folder_new(void)
{
    struct folder d = { "/tmp/steno-test-XXXXXX" };
    if (!mkdtemp(d.path)) fail_msg("cannot make a folder in /tmp");
    return d;
}

static inline struct folder_file folder_at(const struct folder *d, const char *name)
{
    struct folder_file f;
    snprintf(f.path, sizeof f.path, "%s/%.120s", d->path, name);
    return f;
}

static inline void folder_put(const struct folder *d, const char *name, const void *bytes, size_t n)
{
    const struct folder_file at = folder_at(d, name);
    FILE *f = fopen(at.path, "wb");
    if (!f || (n && fwrite(bytes, 1, n, f) != n) || fclose(f)) fail_msg("cannot write %s", at.path);
}

static inline void folder_text(const struct folder *d, const char *name, const char *text)
{
    folder_put(d, name, text, strlen(text));
}

/* A link that leads nowhere. On Windows a test can make none and ends as skipped. */
static inline void folder_link_nowhere(const struct folder *d, const char *name)
{
    struct stat st;
    const struct folder_file at = folder_at(d, name);
    assert_int_equal(symlink("nowhere", at.path), 0);
    if (lstat(at.path, &st)) skip();
}

/* Remove its files and the folder. */
static inline void folder_remove(const struct folder *d)
{
    DIR *dir = opendir(d->path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.') unlink(folder_at(d, e->d_name).path);
    if (dir) closedir(dir);
    rmdir(d->path);
}
#endif

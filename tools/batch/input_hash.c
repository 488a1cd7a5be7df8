/* steno: hashes of the inputs of a batch. SPDX-License-Identifier: MIT
 *
 * A file's place in the table follows from its inode number. Another file in this place is replaced. */
#include "batch/input_hash.h"
#include "cli/signals.h"

static int is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size && is_same_time(&a->st_mtim, &b->st_mtim) &&
           is_same_time(&a->st_ctim, &b->st_ctim);
}

const char *input_hash(struct input_hashes *h, const char *path)
{
    struct stat now;
    if (stat(path, &now) || !S_ISREG(now.st_mode)) return NULL;
    struct input_hash *e = &h->of_file[now.st_ino % INPUT_HASHES];
    if (e->hex[0] && is_same(&e->of, &now)) return e->hex;
    e->of = now;
    if (sha256_file(e->hex, path, signals_stop, NULL)) e->hex[0] = '\0';
    return e->hex[0] ? e->hex : NULL;
}

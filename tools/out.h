/* steno: output files that are whole or absent. SPDX-License-Identifier: MIT
 *
 * A file is written under a temporary name in the directory of its destination, synced, and renamed over it. Whatever goes wrong in
 * between leaves the old file, if there was one, and no debris. Only a killed process leaves its temporary file, and the next one that
 * writes to the directory removes it: a lock on the file tells one that is still being written from one that nobody owns. */
#ifndef STENO_TOOLS_OUT_H
#define STENO_TOOLS_OUT_H
#include <stdio.h>

struct out {
    FILE *f;    /* NULL: closed */
    int lock;   /* a second descriptor that keeps the lock until the file has its name; -1: none */
    char *path, *tmp;
};

/* Calls return 0, or -1 with errno set. */
int out_open(struct out *o, const char *path); /* makes missing folders of `path` */
int out_commit(struct out *o); /* closes in any case; on failure the destination is as it was */
void out_abort(struct out *o); /* forget a file that is open; a closed one is left alone */

/* Create directory `path` and its parents where they are missing, and see whether a file can be made in it. */
int out_dir_prepare(const char *path);

/* Remove temporary files that killed processes left in directory `path`; what cannot be removed stays. */
void out_sweep(const char *path);

/* dir + "/" + name, or name alone when dir is NULL. @return malloc'd text, or NULL */
char *out_join(const char *dir, const char *name);
#endif

/* steno: output files that are whole or absent. SPDX-License-Identifier: MIT
 *
 * A file is written under a temporary name in the directory of its destination, synced, and renamed over it; it keeps mode and owner of the
 * file it replaces. Whatever goes wrong in between leaves the old file, if there was one, and no debris. Only a killed process leaves its
 * temporary file, and the next one that writes to the directory removes it: name, owner and a mode that no other file has tell what was
 * being written, and a lock whether it still is.
 *
 * A link is followed: what it points at is replaced, and it stays. A FIFO or a character device is not replaced but written, as by cp;
 * folders, block devices, sockets and files that may not be written are refused. */
#ifndef STENO_TOOLS_ATOMIC_FILE_H
#define STENO_TOOLS_ATOMIC_FILE_H
#include <stdio.h>

struct atomic_file {
    FILE *f;    /* NULL: closed */
    int lock;   /* a second descriptor that keeps the lock until the file has its name; -1: none */
    char *path; /* of the file that is replaced, links followed */
    char *tmp;  /* NULL: that is written itself */
};

/* Calls return 0, or -1 with errno set. */
int atomic_file_open(struct atomic_file *o, const char *path); /* makes missing folders of `path` */
int atomic_file_commit(struct atomic_file *o); /* closes in any case; on failure the destination is as it was */
void atomic_file_abort(struct atomic_file *o); /* forget a file that is open; a closed one is left alone */

/* What `path` is when all links are followed, whether that exists or not. @return malloc'd text, or NULL with errno set */
char *output_target(const char *path);

/* Why `path`, which exists, cannot be an output; NULL: it can. Valid until the next call. */
const char *output_fault(const char *path);

/* Create directory `path` and its parents where they are missing, and see whether a file can be made in it. */
int output_dir_prepare(const char *path);

/* Remove temporary files that killed processes left in directory `path`; what cannot be removed stays. */
void output_sweep(const char *path);

/* dir + "/" + name, or name alone when dir is NULL. @return malloc'd text, or NULL */
char *output_join(const char *dir, const char *name);
#endif

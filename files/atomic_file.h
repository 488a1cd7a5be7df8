/* steno: output files that are whole or absent. SPDX-License-Identifier: MIT
 *
 * A file is written under a temporary name in the directory of its destination, synced, and renamed over it; it keeps mode and owner of the
 * file it replaces. Whatever goes wrong in between leaves the old file, if there was one, and no debris. Only a killed process leaves its
 * temporary file, and the next one that writes to the directory removes it: name, owner and a mode that no other file has tell what was
 * being written, and a lock whether it still is.
 *
 * A link is followed: what it points at is replaced, and it stays. A FIFO or a character device is not replaced but written, as by cp;
 * folders, block devices, sockets and files that may not be written are refused. */
#ifndef STENO_FILES_ATOMIC_FILE_H
#define STENO_FILES_ATOMIC_FILE_H
#include <stdio.h>

struct atomic_file {
    FILE *f;    /* NULL: closed */
    int lock;   /* a second descriptor that keeps the lock until the file has its name; -1: none */
    char *path; /* of the file that is replaced, links followed */
    char *tmp;  /* NULL: that is written itself */
};

/* Calls return 0, or -1 with errno set. */

/* For a process that a signal may end: `named` receives the name of every temporary file before the file is made (is_there 1), and again
 * when the file is gone or has its own name (0). One function for the process, set before the first file; NULL, as at first: none. */
void atomic_file_watch(void (*named)(const char *temp, int is_there));

int atomic_file_open(struct atomic_file *o, const char *path); /* begin a file; missing folders of `path` are made */
int atomic_file_commit(struct atomic_file *o); /* closes in any case; on failure the destination is as it was */
void atomic_file_abort(struct atomic_file *o); /* forget a file that is open; a closed one is left alone */

/* Why `path`, which exists, cannot be an output; NULL: it can. Valid until the next call. */
const char *atomic_file_fault(const char *path);

/* Create folder `dir` and its parents where they are missing, and see whether a file can be made in it. */
int atomic_file_prepare(const char *dir);

/* Remove temporary files that killed processes left in folder `dir`; what cannot be removed stays. */
void atomic_file_sweep(const char *dir);
#endif

/* steno: output files that are complete or absent. SPDX-License-Identifier: MIT
 *
 * A file is written under a temporary name in the directory of its destination, synced, and renamed over it. It keeps the mode and owner of
 * the file it replaces. An error in between leaves the old file, if there was one, and no debris. Only a killed process leaves its
 * temporary file, and the next process that writes to the directory removes it. Such files are recognised by name, owner and a mode that no
 * other file has; a lock shows if one is still in use.
 *
 * A link is followed: its target is replaced, and the link stays. A FIFO or a character device is written directly, as by cp. Folders,
 * block devices, sockets and read-only files are refused. */
#ifndef STENO_FILES_ATOMIC_FILE_H
#define STENO_FILES_ATOMIC_FILE_H
#include <stdio.h>

struct atomic_file {
    FILE *f;    /* NULL if closed */
    int lock;   /* a second descriptor that holds the lock until the file has its final name; -1: none */
    char *path; /* of the file that is replaced, with links resolved */
    char *tmp;  /* NULL if the path is written directly */
};

/* Calls return 0, or -1 with errno set. */

/* For a process that a signal may end. `named` receives the name of every temporary file before the file is created (is_there 1), and again
 * when the file is gone or renamed (0). There is one function per process, set before the first file; NULL, the default, disables it. */
void atomic_file_watch(void (*named)(const char *temp, int is_there));

int atomic_file_open(struct atomic_file *o, const char *path); /* begins a file; creates missing folders of `path` */
int atomic_file_commit(struct atomic_file *o); /* closes in any case; on failure the destination is unchanged */
void atomic_file_abort(struct atomic_file *o); /* discards an open file; does nothing if closed */

/* Why the existing `path` cannot be an output; NULL if it can. Valid until the next call. */
const char *atomic_file_fault(const char *path);

/* Creates folder `dir` and its missing parents, and checks that a file can be created in it. */
int atomic_file_prepare(const char *dir);

/* Removes temporary files that killed processes left in folder `dir`. A file that cannot be removed stays. */
void atomic_file_sweep(const char *dir);
#endif

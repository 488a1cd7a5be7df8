/* steno: the files that a run reads and writes. SPDX-License-Identifier: MIT
 *
 * No output may replace a file that the same run reads, under any name, and no two outputs may be the same file. So every file that is
 * opened for reading is recorded here. Every output is recorded before work begins, and checked again before it gets its name. Existing
 * files are identified by device and inode, which resolves links; others by folder and name. The time of a lookup does not depend on the
 * number of files. */
#ifndef STENO_FILES_PATH_GUARD_H
#define STENO_FILES_PATH_GUARD_H
#include <stddef.h>
#include <stdint.h>

struct path_guard_entry;

enum path_guard_status {
    LEDGER_OK,
    LEDGER_NO_MEMORY,
    LEDGER_READ,          /* path would replace a file that is read */
    LEDGER_PLANNED_TWICE, /* path and other would be the same file */
    LEDGER_WRITTEN,       /* path was already written in this run */
};

struct path_guard_refusal {
    int status;
    const char *path;  /* of the output */
    const char *what;  /* LEDGER_READ: description of the file that is read */
    const char *other; /* LEDGER_PLANNED_TWICE: the output that was planned first */
};

struct path_guard { /* {0} is empty */
    struct path_guard_entry *entry; /* [cap], open addressing */
    size_t n, cap;
    char *folder;               /* the last folder looked up, and its identity */
    uint64_t folder_dev, folder_ino;
    int64_t n_looks;            /* entries and files examined so far, as a measure of work */
    struct path_guard_refusal refused; /* of the last call that refused; its texts belong to the caller and the ledger */
};

/* Calls return enum path_guard_status. */

/* Records that this run reads `path`; "-" is standard input. A missing file is reported when it is opened. @param what  description for
 * messages: "an input", "the model"; static */
int path_guard_read(struct path_guard *l, const char *what, const char *path);

int path_guard_plan(struct path_guard *l, const char *path);  /* an output will be written there */
int path_guard_plan_open(struct path_guard *l, int fd, const char *name); /* results go to a descriptor, which may be a file that is read */
int path_guard_check(struct path_guard *l, const char *path); /* an output is about to be written there */
int path_guard_wrote(struct path_guard *l, const char *path); /* an output was written there */

void path_guard_free(struct path_guard *l);
#endif

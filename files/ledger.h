/* steno: what a run reads and what it writes. SPDX-License-Identifier: MIT
 *
 * No output may replace a file that the same run reads, under whatever name, and no two outputs may be one file. So whoever opens a file
 * to read says so here, and every output is entered before work begins and asked for again before it gets its name. Files are told apart
 * by device and inode, so that links are seen through; what does not exist yet by its folder and its name. A look-up takes the same time
 * however many files there are. */
#ifndef STENO_FILES_LEDGER_H
#define STENO_FILES_LEDGER_H
#include <stddef.h>
#include <stdint.h>

struct ledger_entry;

enum ledger_status {
    LEDGER_OK,
    LEDGER_NO_MEMORY,
    LEDGER_READ,          /* path would replace a file that is read */
    LEDGER_PLANNED_TWICE, /* path and other would be one file */
    LEDGER_WRITTEN,       /* path was written in this run already */
};

struct ledger_refusal {
    int status;
    const char *path;  /* of the output */
    const char *what;  /* LEDGER_READ: what the file is that is read */
    const char *other; /* LEDGER_PLANNED_TWICE: the output that was planned first */
};

struct ledger { /* {0} is empty */
    struct ledger_entry *entry; /* [cap], open addressing */
    size_t n, cap;
    char *folder;               /* asked about last, and what it is */
    uint64_t folder_dev, folder_ino;
    int64_t n_looks;            /* entries and files looked at so far: the work that was done */
    struct ledger_refusal refused; /* by the last call that refused; its texts are the caller's and the ledger's */
};

/* What the calls return: enum ledger_status. */

/* `path` is read in this run; "-" is standard input. What is not there is left to whoever opens it.
 * @param what  what it is, for messages: "an input", "the model"; static */
int ledger_read(struct ledger *l, const char *what, const char *path);

int ledger_plan(struct ledger *l, const char *path);  /* an output will be written there */
int ledger_plan_open(struct ledger *l, int fd, const char *name); /* results go to a descriptor, which may be a file that is read */
int ledger_check(struct ledger *l, const char *path); /* an output is about to be written there */
int ledger_wrote(struct ledger *l, const char *path); /* and was */

void ledger_free(struct ledger *l);
#endif

/* steno: results as files in an output folder. SPDX-License-Identifier: MIT
 *
 * The internal library steno-files, which the program and other users of results share. A file that is read is never replaced
 * (path_guard.h), and a file is complete or absent (atomic_file.h). Nothing here prints, ends the process or handles signals: the caller
 * receives the error and its reason. Names that collide with each other, or with a file that is read, are refused before any work is done.
 * Names that depend on the language or the number of channels are checked when these are known. */
#ifndef STENO_FILES_RESULT_FILES_H
#define STENO_FILES_RESULT_FILES_H
#include "path_guard.h"
#include "out_names.h"
#include "stamp.h"
#include "writers.h"

struct result_files {
    /* set by the caller */
    struct out_naming naming; /* with a folder */
    struct path_guard *path_guard; /* files that the run reads and writes */

    /* of the last call */
    char *path;         /* the file; NULL: no memory for its name */
    const char *reason; /* why it cannot be written; valid until the next call */
    int why;            /* the same as errno; 0: none */
    struct stamp_bytes bytes; /* of the written file */

    char *folder; /* folder that was swept last */
};

enum result_files_status {
    RESULT_FILES_OK,
    RESULT_FILES_NO_MEMORY, /* with a reason: memory ran out while writing */
    RESULT_FILES_REFUSED,   /* ledger->refused has the details */
    RESULT_FILES_FAILED,    /* r->reason has the reason */
};

/* Adds all names to the ledger, and checks that existing files may be written. */
int result_files_plan(struct result_files *r, const struct out_names *names);

/* Creates the output folder, or checks those of inputs[n] (at least 1) if results go beside them, and checks that files can be created
 * there. r->path: the folder that fails. */
int result_files_prepare(struct result_files *r, char *const *inputs, int n);

/* Writes the transcript of `input` in one format, an index of `writers`. */
int result_files_write(struct result_files *r, const char *input, const struct transcript *t, int format);

void result_files_free(struct result_files *r); /* does not free what the caller set */
#endif

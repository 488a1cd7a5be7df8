/* steno: results in files of an output folder. SPDX-License-Identifier: MIT
 *
 * The internal library steno-files, which the program and whoever else keeps results share: what is read is never replaced (ledger.h), a
 * file is whole or absent (atomic_file.h). Nothing here prints, ends the process or holds signals: the caller is told what failed, and why.
 * Names that would meet each other or anything that is read are refused before any work is done; what the language or the number of
 * channels decides is seen only when it is known, and refused then. */
#ifndef STENO_FILES_RESULT_FILES_H
#define STENO_FILES_RESULT_FILES_H
#include "ledger.h"
#include "out_names.h"
#include "writers.h"

struct result_files {
    /* yours to fill */
    struct out_naming naming; /* with a folder */
    struct ledger *ledger; /* what the run reads and writes */

    /* of the last call */
    char *path;         /* the file; NULL: there is no memory for its name */
    const char *reason; /* why it cannot be written; valid until the next call */
    int why;            /* the same as errno; 0: there is none */

    char *folder; /* swept last */
};

enum result_files_status {
    RESULT_FILES_OK,
    RESULT_FILES_NO_MEMORY, /* with a reason: while it was written */
    RESULT_FILES_REFUSED,   /* ledger->refused says by what */
    RESULT_FILES_FAILED,    /* for the reason */
};

/* Enter all names in the ledger, and see whether what is there already may be written. */
int result_files_plan(struct result_files *r, const struct out_names *names);

/* Make the folder, or those of inputs[n] (1 or more) where results go beside them, and see whether files can be made there; r->path: which
 * of them cannot. */
int result_files_prepare(struct result_files *r, char *const *inputs, int n);

/* Write the transcript of `input` in one format, an index of `writers`. */
int result_files_write(struct result_files *r, const char *input, const struct transcript *t, int format);

void result_files_free(struct result_files *r); /* what was filled by you stays yours */
#endif

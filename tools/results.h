/* steno: where the results of a run go. SPDX-License-Identifier: MIT
 *
 * Into files, named by a template in an output folder, or, in one format, to standard output. Names that would meet each other or anything
 * that is read (ledger.h) are refused before any work is done; what the language or the number of channels decides is seen only when it is
 * known, and refused then. An input may have
 * several results, for channels and tasks; each has a mark that stands behind the stem of its names. */
#ifndef STENO_TOOLS_RESULTS_H
#define STENO_TOOLS_RESULTS_H
#include "ledger.h"
#include "steno_out.h"
#include <stddef.h>

struct results {
    const char *dir;      /* NULL: standard output */
    const char *template; /* of names, NULL: OUT_NAME_DEFAULT */
    unsigned formats;     /* bit set over `writers` */
    char **files;         /* [n] the inputs */
    int n;
    struct ledger *ledger; /* what the run reads and writes */
    int marked;           /* whether inputs have several results */
    const char *mark;     /* of the one in hand, ".ch2"; NULL: none. At results_check one of the marks to come */
    struct sink *out;     /* where results go that are not files, NULL: standard output, where it fails at once */
    int quiet;            /* 1: what was written is not told */
    int hold_text;        /* 1: plain text goes out when an input is done, not as it comes */
    char *folder;         /* that was swept last */
};

/* Enter inputs and outputs in the ledger, judge names and make the folder.
 * @return EXIT_OK, or the exit code to end with, after a message */
int results_check(struct results *r);

/* Write the transcript of `input` in those formats that are in `mask`. @return EXIT_OK, EXIT_OUTPUT or EXIT_MEMORY, after a message */
int results_write(struct results *r, const char *input, const struct transcript *t, unsigned mask);

/* Whether plain text goes to standard output, segment by segment, and not through results_write. */
int results_stream_text(const struct results *r);

void results_free(struct results *r);
#endif

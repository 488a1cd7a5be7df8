/* steno: where the results of a run go. SPDX-License-Identifier: MIT
 *
 * Into files of an output folder (result_files.h), or, in one format, to standard output. Here what is refused and what fails becomes
 * messages and exit codes. */
#ifndef STENO_TOOLS_RESULTS_H
#define STENO_TOOLS_RESULTS_H
#include "result_files.h"
#include "transcribe_as.h"

struct results {
    struct result_files files; /* dir NULL: standard output; at results_check the mark is one of those to come */
    char **inputs;        /* [n] */
    int n;
    int marked;           /* whether inputs have several results */
    const struct transcribe_as *as; /* whose `write` stands in place of a format on standard output; NULL: the format does */
    struct sink *out;     /* where results go that are not files, NULL: standard output, where it fails at once */
    struct sink *names;   /* where names of files go that were written, each with its NUL; NULL: nobody wants them */
    int quiet;            /* 1: what was written is not told */
    const char *headed;   /* the input whose name was written last before its text */
    int (*make_room)(void *user); /* on a full disk: remove what counts less than a result; @return whether it did. NULL: none */
    void *room_user;
    int hold_text;        /* 1: plain text goes out when an input is done, not as it comes */
};

/* Enter inputs and outputs in the ledger, judge names and make the folder.
 * @return EXIT_OK, or the exit code to end with, after a message */
int results_check(struct results *r);

/* Write the transcript of `input` in those formats that are in `mask`; one that cannot be written does not keep the others back.
 * @return EXIT_OK, or of the first that failed EXIT_OUTPUT, EXIT_MEMORY or EXIT_USAGE, after a message */
int results_write(struct results *r, const char *input, const struct transcript *t, unsigned mask);

/* Before the first text of the index-th input on standard output its name, "==> a.wav <==" as head writes it: where several inputs give
 * plain text there, without --quiet. */
void results_head(struct results *r, struct sink *to, const char *input, int index);

/* Whether plain text goes to standard output, segment by segment, and not through results_write. */
int results_stream_text(const struct results *r);

void results_free(struct results *r);
#endif

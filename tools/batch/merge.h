/* steno: one result for each input of a manifest, from the journals of its shards. SPDX-License-Identifier: MIT
 *
 * Memory per input: the 18 to 37 bytes of ids.h, and as much again for the place of its result. */
#ifndef STENO_TOOLS_BATCH_MERGE_H
#define STENO_TOOLS_BATCH_MERGE_H

struct batch_merge {
    const char *manifest;
    const char *output;     /* "-": standard output */
    char *const *journals;  /* [n] */
    int n;
    int ordered;            /* in the manifest's order; else in that of the journals */
};

/* Write a line per input, without the member "run", and print the ids that have none, or a failure. Of several results of an input the last
 * one counts, and one with text counts more than a failure. @return the exit code, EXIT_SOME: an input has no text */
int batch_merge(const struct batch_merge *m);
#endif

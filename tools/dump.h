/* steno: what a network makes of an input, in files. SPDX-License-Identifier: MIT
 *
 * DIR/STEM.NAME.npy for each kind of rows (steno_rows), STEM.MS.NAME.npy of clips that begin later than the sound; DIR/STEM.fbank.npy is
 * what the front end makes of the whole sound. */
#ifndef STENO_TOOLS_DUMP_H
#define STENO_TOOLS_DUMP_H
#include "engine.h"
#include "sink.h"

struct dump_table {
    char name[32];
    int64_t at_ms, rows, width;
    struct sink_memory bytes;
};

struct dump {
    const char *dir;          /* NULL: nothing is written */
    struct dump_table *table; /* [n] of the input in hand */
    int n;
    int failed;               /* out of memory */
};

/* @return EXIT_OK, EXIT_OUTPUT: files cannot be made there, after a message */
int dump_open(struct dump *d);

void dump_add(struct dump *d, const steno_rows *r);

/* Write what came, and forget it; with `fbank` the sound's filter banks, too. @return an exit code, after a message */
int dump_write(struct dump *d, const steno_model *m, const char *input, int fbank);
void dump_free(struct dump *d);
#endif

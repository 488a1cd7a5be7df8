/* steno: intermediate results of a network, in files. SPDX-License-Identifier: MIT
 *
 * Writes DIR/STEM.NAME.npy for each kind of rows (steno_rows), and STEM.MS.NAME.npy for clips and windows that begin later in the sound.
 * DIR/STEM.fbank.npy holds the filter banks of the whole sound. If an input has several tracks or channels, STEM includes their numbers.
 * Existing files are never replaced. */
#ifndef STENO_TOOLS_DUMP_H
#define STENO_TOOLS_DUMP_H
#include "models/engine.h"
#include "sink.h"

struct dump_table {
    char name[32];
    int slot;                 /* of its input, among those that are decoded together */
    int64_t at_ms, rows, width;
    struct sink_memory bytes;
};

struct dump {
    const char *dir;          /* NULL disables it */
    char *const *inputs;      /* [n_inputs] inputs of the run */
    int n_inputs;
    struct dump_table *table; /* [n] of the current inputs */
    int n;
    int failed;               /* out of memory: no more is written */
};

/* Check that files can be created, that none exists, and that no name occurs twice. @return an exit code, after a message */
int dump_open(struct dump *d);

void dump_begin(struct dump *d, int slot); /* another input begins in the slot: drops the tables of one that failed */
void dump_add(struct dump *d, int slot, const steno_rows *r);

/* Write and free the tables of a slot; with `fbank` also the sound's filter banks. mark: appended to the stem. @return an exit code, after
 * a message */
int dump_write(struct dump *d, int slot, const steno_model *m, const char *input, const char *mark, int fbank);
void dump_free(struct dump *d);
#endif

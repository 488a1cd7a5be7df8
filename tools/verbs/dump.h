/* steno: intermediate results of a network, in files. SPDX-License-Identifier: MIT
 *
 * Writes DIR/STEM.NAME.npy for each kind of rows (steno_rows), and STEM.MS.NAME.npy for clips and windows that begin later in the sound.
 * DIR/STEM.fbank.npy holds the filter banks of the whole sound. If an input has several tracks or channels, STEM includes their numbers.
 * Of clips that begin at the same place, the second is STEM.MS.2.NAME.npy, and so on. Existing files are never replaced.
 *
 * Until an input is done its rows are in a temporary file in DIR (a spool), so memory does not grow with them. */
#ifndef STENO_TOOLS_DUMP_H
#define STENO_TOOLS_DUMP_H
#include "atomic_file.h"
#include "models/engine.h"

struct dump_piece { int64_t at, n; }; /* bytes [at, at + n) of the spool */

struct dump_table {
    char name[32];
    int slot;                 /* of its input, among those that are decoded together */
    int copy;                 /* from 1; above 1: earlier clips begin at the same place */
    int64_t at_ms, rows, width;
    struct dump_piece *piece; /* [n_pieces] */
    int n_pieces;
};

struct dump_spool {
    struct atomic_file file;  /* f NULL: not begun */
    int64_t size;
};

struct dump {
    const char *dir;          /* NULL disables it */
    char *const *inputs;      /* [n_inputs] inputs of the run */
    int n_inputs;
    struct dump_table *table; /* [n] of the current inputs */
    int n;
    struct dump_spool *spool; /* [n_spools] by slot */
    int n_spools;
    int why;                  /* errno of the first failure, ENOMEM: out of memory; no more is written */
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

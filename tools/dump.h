/* steno: what a network makes of an input, in files. SPDX-License-Identifier: MIT
 *
 * DIR/STEM.NAME.npy for each kind of rows (steno_rows), STEM.MS.NAME.npy of clips that begin later than the sound; DIR/STEM.fbank.npy is
 * what the front end makes of the whole sound. STEM has the track and the channel behind it where an input has
 * several. No file is replaced. */
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
    char *const *inputs;      /* [n_inputs] of the run */
    int n_inputs;
    struct dump_table *table; /* [n] of the current input */
    int n;
    int failed;               /* out of memory */
};

/* See that files can be made there, and that none is there already or would be made twice. @return an exit code, after a message */
int dump_open(struct dump *d);

void dump_add(struct dump *d, const steno_rows *r);

/* Write what came, and forget it; with `fbank` the sound's filter banks, too. mark: what stands behind the stem. @return an exit code,
 * after a message */
int dump_write(struct dump *d, const steno_model *m, const char *input, const char *mark, int fbank);
void dump_free(struct dump *d);
#endif

/* steno: transcribes the inputs of a batch. SPDX-License-Identifier: MIT
 *
 * The process that controls the batch is its own worker, or, with --isolate, has children that are. */
#ifndef STENO_TOOLS_BATCH_WORKER_H
#define STENO_TOOLS_BATCH_WORKER_H
#include "batch/input_hash.h"
#include "batch/out_files.h"
#include "batch/work.h"
#include "verbs/transcribe.h"

/* Where a worker's inputs come from, and its results go. */
struct batch_source {
    enum job_next (*next)(void *user, int n_busy, struct batch_work **w);
    int (*begun)(void *user, struct batch_work *w);  /* @return an exit code, as below; not EXIT_OK: end the run */
    int (*done)(void *user, struct batch_work *w, const struct batch_done *d); /* takes over w and d->line */
    int (*stopped)(void *user, struct batch_work *w); /* by a signal; takes over w */
    void (*tick)(void *user);   /* called often; may be NULL */
    void *user;
};

struct batch_slot {
    struct batch_work *w;    /* NULL: free */
    struct batch_done done;  /* line NULL: not yet */
};

struct batch_worker {
    struct transcription t;  /* its model is open */
    struct results results;
    double timeout_s;        /* of an input; 0: none */
    int n_slots;
    struct input_hashes hashes;
    struct batch_files files;
    const char *model_path;
    const struct batch_source *source;
    struct batch_slot *slot; /* [n_slots] */
    int code;
};

/* Open the rest of the models on a new team, and check the parameters. @return an exit code, after a message, as below */
int batch_worker_open(struct batch_worker *b, struct transcribe_opts *o);
int batch_worker_run(struct batch_worker *b); /* until its source has no more inputs */
void batch_worker_close(struct batch_worker *b);
#endif

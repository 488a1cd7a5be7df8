/* steno: which inputs of a batch run, and what becomes of them. SPDX-License-Identifier: MIT
 *
 * One process controls a shard: it reads the manifest line by line, chooses the inputs of its shard, leaves out those whose result the
 * journal has, and appends each result once. An input whose process was killed runs again alone, so that no other input is suspected.
 * After --retries such deaths its result is an error of the class poison. */
#ifndef STENO_TOOLS_BATCH_CONTROL_H
#define STENO_TOOLS_BATCH_CONTROL_H
#include "batch/ids.h"
#include "batch/manifest_reader.h"
#include "batch/out_files.h"
#include "batch/work.h"
#include "job.h"

struct batch_queue { struct batch_work *first, **last; int n; };

/* Results that wait for earlier ones, with --ordered. */
struct batch_held { char *line; size_t n; };

struct batch_control {
    /* set by the caller */
    const char *manifest; /* "-": standard input */
    int shard, n_shards;
    int retries, retry_failed, ordered, quiet;
    int64_t max_failures; /* 0: no limit */
    int n_held;           /* with `ordered`: maximum number of results that wait */
    struct batch_files *files; /* whose names are entered; NULL: the inputs have none */
    struct transcript_source source; /* of results that are written here */
    struct batch_journal journal;
    struct batch_header header;

    struct manifest_reader reader;
    struct id_set ids;
    struct batch_queue ready, again; /* to be dealt before the manifest's next line, and later */
    struct batch_held *held;         /* [n_held] */
    int64_t n_taken, n_written;      /* with `ordered`: places given out, results written */
    int64_t n_lines;      /* inputs of the manifest that were read, of all shards */
    int is_checked;       /* the whole manifest was read before */
    int is_read;          /* the manifest was read to its end */
    int is_over;          /* no other input may begin */
    int code;             /* exit code of a failure that ends the run, after a message; EXIT_OK: none */

    /* counts of this run, and of results that were there before */
    int64_t begun_us, n_inputs, n_ok, n_empty, n_failed, n_before, n_failed_before, audio_ms;
};

/* Read the whole manifest: check each line and the ids of the shard, and hash it. The run has these lines. A pipe is read later.
 * @return an exit code, after a message, as all functions below that return an int */
int batch_control_check(struct batch_control *c);

/* Open and lock the journal. may_exist: it may have lines. */
int batch_control_open(struct batch_control *c, const char *path, int may_exist);

/* Read the journal's lines, if it has any, compare its header with `header`, or write that. */
int batch_control_begin(struct batch_control *c);

/* The next input; n_busy: number of inputs that run in the asking process. If it is_alone, nothing else may run beside it.
 * @return as struct job_files.next */
enum job_next batch_control_next(struct batch_control *c, int n_busy, struct batch_work **w);

int batch_control_begun(struct batch_control *c, struct batch_work *w); /* write that an attempt begins */

/* The end of an attempt. Each takes over w. */
int batch_control_done(struct batch_control *c, struct batch_work *w, const struct batch_done *d); /* takes over d->line */
int batch_control_stopped(struct batch_control *c, struct batch_work *w); /* by a signal: it does not count */
int batch_control_killed(struct batch_control *c, struct batch_work *w);  /* its process died */
int batch_control_expired(struct batch_control *c, struct batch_work *w, double timeout_s); /* its process was killed after this time */
int batch_control_spared(struct batch_control *c, struct batch_work *w);  /* its process was killed because of another input */
void batch_control_returned(struct batch_control *c, struct batch_work *w); /* it was dealt and not begun */

void batch_control_tick(struct batch_control *c); /* call often: syncs the journal */
int batch_control_end(struct batch_control *c);   /* write the sums and close. @return the exit code of the run */
void batch_control_free(struct batch_control *c);
#endif

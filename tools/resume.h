/* steno: runs that go on where they were ended. SPDX-License-Identifier: MIT
 *
 * Of each input in hand a journal (journal.h) lies in a folder of the output folder: what the library could go on from, window by window.
 * It goes when the input's results are there. A run that was ended, in whatever way, leaves the journals of the inputs that it had in hand,
 * and says which ones were finished, with the names of their results: the same command with --resume leaves those out and goes on with the
 * others. Files of results carry the same key themselves (stamp.h), so that they are known behind a run without --resume, too. A journal
 * is of one input, model and set of options, which its key tells; one of others is begun anew. One that cannot be read stays as it is;
 * where none can be written the run goes on, and says so once. */
#ifndef STENO_TOOLS_RESUME_H
#define STENO_TOOLS_RESUME_H
#include "job.h"
#include "journal.h"
#include "out_names.h"
#include "sink.h"

struct resume_slot {
    struct journal journal;
    char *path, *key;    /* NULL: nothing is kept of the input in hand */
    int64_t at_ms;       /* decoded up to here */
    int64_t spent_us;    /* on it, in runs before */
    struct sink_memory written; /* names of its results below the output folder, each with its NUL */
    struct sink names;   /* which writes that */
    int failed, useless; /* useless: nobody can go on with what is kept */
};

struct resume {
    /* yours to fill */
    const char *dir;     /* the output folder, as of out_folder; NULL: nothing is kept */
    const struct out_naming *naming; /* with the same folder */
    int wanted, quiet;   /* --resume, -q */
    int n_inputs;        /* of the run */

    const char *run;     /* what is decoded by what */
    char *made;          /* the same, malloc'd */
    struct resume_slot *slot; /* [n_slots] */
    int n_slots;
    int n_finished;      /* inputs, with those of runs before */
    int n_kept;          /* inputs that failed, and of which something is kept */
    int told;            /* that something cannot be kept */
    char **finished;     /* [n_written] journals of finished inputs that this run has written */
    int n_written;
    int no_room;         /* the disk is full: nothing more is kept */
};

/* Begin a run of n_slots inputs at a time. run: model and options, in any words. @return EXIT_OK, or EXIT_MEMORY after a message */
int resume_begin(struct resume *r, int n_slots, const steno_model *m, const char *options);
/* Leave those of files[*n] out that are finished, where that is wished for. files, place: receive the others, in order; place[i]: which of
 * all inputs it is. @return EXIT_OK, or EXIT_MEMORY after a message */
int resume_skip(struct resume *r, char **files, int *place, int *n);

/* Of job_events. spent_us: on the input, in this run. */
const void *resume_data(struct resume *r, const struct job_input *in, size_t *n);
void resume_point(struct resume *r, const struct job_input *in, const void *data, size_t n, int64_t spent_us);
void resume_failed(struct resume *r, const struct job_input *in, int useless); /* useless: what is kept of it can go */
void resume_done(struct resume *r, const struct job_input *in);

/* The disk has no room for a result: remove what is kept of that input, and, called again, of all inputs; nothing more is kept then.
 * @return whether something was removed */
int resume_make_room(struct resume *r, const struct job_input *in);

int64_t resume_spent(const struct resume *r, const struct job_input *in); /* on the input, in runs before */
struct sink *resume_names(struct resume *r, const struct job_input *in);  /* where names of its results go; NULL: nobody wants them */

/* The run is over; ended: before all inputs were done, by a signal or a failure. files[n]: all of its inputs */
void resume_end(struct resume *r, char **files, int n, int ended);
#endif

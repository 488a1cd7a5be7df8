/* steno: runs that go on after they were ended. SPDX-License-Identifier: MIT
 *
 * Each running input has a journal (journal.h) in a folder of the output folder. The journal holds the state from which the library can
 * continue, window by window, and is removed when the input's results are complete.
 *
 * A run that ended early, in whatever way, leaves the journals of its unfinished inputs. It also records which inputs were finished,
 * with the names of their results. The same command with --resume skips the finished inputs and continues the others. Result files carry
 * the same key (stamp.h), so they are recognised even after a run without --resume. Parts of their names that only that run knew are found
 * by their form (out_pattern_match).
 *
 * A journal belongs to one input, one model and one set of options; its key records them. A journal with another key is started anew. A
 * journal that cannot be read stays unchanged. If no journal can be written, the run continues and reports this once. */
#ifndef STENO_TOOLS_RESUME_H
#define STENO_TOOLS_RESUME_H
#include "job.h"
#include "journal.h"
#include "out_names.h"
#include "stamp.h"

struct resume_slot {
    struct journal journal;
    char *path, *key;    /* NULL: no journal is kept for this input */
    int64_t at_ms;       /* decoded up to here */
    int64_t spent_us;    /* time spent on this input in earlier runs */
    struct resume_result { char *path, *name; struct stamp_bytes bytes; } *result; /* [n_results] its written files; name: for the stamp */
    int n_results;
    int unnamed;         /* the memory was not enough for a result's name */
    int failed, useless; /* useless: the kept data cannot be used to continue */
};

struct resume {
    /* filled by the caller */
    const char *dir;     /* the output folder, as returned by out_folder; NULL: no journals */
    const struct out_naming *naming; /* uses the same folder */
    int requested, quiet; /* --resume, -q */
    int n_inputs;        /* inputs of the run */

    const char *run;     /* the run's part of each key: version, model, processor, options */
    char *made;          /* malloc'd memory of `run` */
    struct resume_slot *slot; /* [n_slots] */
    int n_slots;
    int n_finished;      /* finished inputs, including earlier runs */
    int n_kept;          /* failed inputs that have a journal */
    int reported;            /* 1: a message that journals cannot be kept was printed */
    char **finished;     /* [n_written] journals of finished inputs that this run has written */
    int n_written;
    int no_room;         /* the disk is full: no journal is written any more */
};

/* Begin a run that processes n_slots inputs at a time. models[n]: those that make the results, the recogniser first; others may be NULL.
 * @return EXIT_OK, or EXIT_MEMORY after a message */
int resume_begin(struct resume *r, int n_slots, const steno_model *const *models, int n, const char *options);
/* With --resume, remove the finished inputs from files[*n]. files and place receive the others in order; place[i] is the position among
 * all inputs. @return EXIT_OK, or EXIT_MEMORY after a message */
int resume_skip(struct resume *r, char **files, int *place, int *n);

/* Callbacks of job_events. spent_us: time spent on the input in this run. */
const void *resume_data(struct resume *r, const struct job_input *in, size_t *n);
void resume_point(struct resume *r, const struct job_input *in, const void *data, size_t n, int64_t spent_us);
void resume_failed(struct resume *r, const struct job_input *in, int useless); /* useless: its kept data can be removed */
void resume_done(struct resume *r, const struct job_input *in);

/* The disk has no room for a result: remove the journal of that input. A second call removes the journals of all inputs, and no more are
 * kept. @return 1 if something was removed, else 0 */
int resume_make_room(struct resume *r, const struct job_input *in);

int64_t resume_spent(const struct resume *r, const struct job_input *in); /* time spent on the input in earlier runs */
/* A result of the input is written as `path`. */
void resume_wrote(struct resume *r, const struct job_input *in, const char *path, int format, const struct stamp_bytes *bytes);

/* End of the run. ended: a signal or a failure stopped it before all inputs were done. files[n]: all inputs of the run */
void resume_end(struct resume *r, char **files, int n, int ended);
#endif

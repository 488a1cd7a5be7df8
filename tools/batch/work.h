/* steno: an input of a batch, from its line to its result. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_BATCH_WORK_H
#define STENO_TOOLS_BATCH_WORK_H
#include "batch/journal.h"
#include "batch/manifest.h"
#include "transcript.h"

struct batch_work {
    struct manifest_item item;
    char *line;           /* its line of the manifest */
    int64_t place;        /* its place among the inputs of the run, from 0 */
    int64_t number;       /* its number in the manifest, from 1 */
    int attempt;          /* of the last attempt that was begun, from 1; 0: none */
    int is_alone;         /* nothing else may run in its process: an earlier process was killed */
    int64_t begun_us;     /* the last attempt */
    struct batch_work *next;
};

struct batch_work *batch_work_new(const char *line); /* @return NULL if out of memory; item is left to the caller */
void batch_work_free(struct batch_work *w);          /* may be NULL */

/* Write a line of its result: of the transcript, or of the reason why there is none. `source` has the model.
 * @return malloc'd text, [*n], or NULL if out of memory */
struct batch_outcome {
    enum batch_class class;
    const char *reason;       /* NULL: there is a transcript */
    struct batch_audio audio; /* of a transcript */
};
char *batch_work_line(size_t *n, const struct batch_work *w, const struct batch_outcome *how, struct transcript *t,
                      const struct transcript_source *source);

/* The reason of CLASS_TIMEOUT. */
enum { BATCH_REASON_SZ = 80 };
void batch_timeout_text(char out[BATCH_REASON_SZ], double timeout_s);

/* The end of an attempt. */
struct batch_done {
    enum batch_class class;
    int is_empty;         /* its text is empty */
    int64_t audio_ms;
    char *line;           /* [n] of its result, one line or several, malloc'd; NULL: out of memory */
    size_t n;
};
#endif

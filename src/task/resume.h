/* steno: requests that go on where others have ended. SPDX-License-Identifier: MIT
 *
 * What is known after a window becomes a record: what results have got since the record before, and the state that the next window depends
 * on. Whoever gives all records of a request to another one, of the same audio, model and parameters, gets the rest of its results behind
 * those of the records. Records are of this version on this kind of machine; each is checked as a whole, and so are the places in it. */
#ifndef STENO_TASK_RESUME_H
#define STENO_TASK_RESUME_H
#include "task/session.h"

enum { RESUME_BUFS = 13, RESUME_RESULTS = 2 };

struct resume {
    size_t told[RESUME_RESULTS][RESUME_BUFS]; /* bytes of results that records have */
    const void *state;                        /* [n_state] of the last record; NULL: the request begins at the beginning */
    size_t n_state;
};

/* Of a request that begins: what p->resume holds becomes results of s, n_results of them. STENO_EARG: it is none of this model's */
int resume_take(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results);

/* Tell p->on_resume_point of a record, if it asks. STENO_ENOMEM */
int resume_tell(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results, const void *state, size_t n_state);
#endif

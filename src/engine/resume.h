/* steno: requests that resume where others ended. SPDX-License-Identifier: MIT
 *
 * After a window, a record is written: the results added since the last record, and the state on which the next window depends. A new
 * request with the same audio, model and parameters takes all records of an earlier one. Its results are those of the records, followed by
 * the rest. Records are valid for this version on this kind of machine. Each record has a checksum, and the offsets in it are checked. */
#ifndef STENO_ENGINE_RESUME_H
#define STENO_ENGINE_RESUME_H
#include "engine/session.h"

enum { RESUME_BUFS = 13, RESUME_RESULTS = 2 };

struct resume {
    size_t recorded[RESUME_RESULTS][RESUME_BUFS]; /* bytes of results that are in records */
    const void *state;                        /* [n_state] of the last record; NULL: the request starts from the beginning */
    size_t n_state;
};

/* At the start of a request: converts p->resume to results of s, n_results of them. STENO_EARG: the records do not fit this model */
int resume_take(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results);

/* Passes a record to p->on_resume_point, if it is set. STENO_ENOMEM */
int resume_record(struct resume *r, steno_session *s, const steno_transcribe_params *p, int n_results, const void *state, size_t n_state);
#endif

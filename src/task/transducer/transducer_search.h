/* steno: beam search over the clips of a transducer. SPDX-License-Identifier: MIT
 *
 * The clips of a run are searched one after another. The hypotheses of a clip that are at one row run together. */
#ifndef STENO_TASK_TRANSDUCER_TRANSDUCER_SEARCH_H
#define STENO_TASK_TRANSDUCER_TRANSDUCER_SEARCH_H
#include "task/transducer/transducer_clips.h"

struct transducer_search;

void transducer_search_close(struct transducer_search *c); /* c may be NULL */
/* Decodes a lane whose request has beams. Its texts are those of the search, as many as the request asks for, at least one;
 * without memory, an error in a buffer of the lane. Returns a status of the executor. */
int transducer_search_run(struct steno_batch *b, struct transducer_lane *l);
#endif

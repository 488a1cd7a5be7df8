/* steno: results of an input. SPDX-License-Identifier: MIT
 *
 * Delivers the transcripts of the current channel, copied from the session: with punctuation, speakers and notes, and split as the job
 * requests. */
#ifndef STENO_JOB_INPUT_RESULTS_H
#define STENO_JOB_INPUT_RESULTS_H
#include "job.h"

/* Delivers the text, or the transcript and its translation. @return 0, or the value that ends the run */
int input_results(struct job_input *in);

int input_stops(const struct job_input *in); /* 1: nothing more of it may be processed */
#endif

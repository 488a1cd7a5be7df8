/* steno: what an input gives. SPDX-License-Identifier: MIT
 *
 * The transcripts of the channel in hand, out of the session that holds them: with marks, speakers and notes, cut where the job says so. */
#ifndef STENO_JOB_INPUT_RESULTS_H
#define STENO_JOB_INPUT_RESULTS_H
#include "job.h"

/* Give the one text, or the two of a transcript with its translation. @return 0, or what ends the run */
int input_results(struct job_input *in);

int input_stops(const struct job_input *in); /* nothing more of it is to be done */
#endif

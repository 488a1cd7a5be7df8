/* steno: one input of a job. SPDX-License-Identifier: MIT
 *
 * One channel after the other of one file, track by track: open, then begin, transcribe in->src and end for each, as long as there is
 * another. */
#ifndef STENO_JOB_INPUT_H
#define STENO_JOB_INPUT_H
#include "job.h"

void input_init(struct job_input *in, struct job *j, steno_session *s, int slot);
void input_free(struct job_input *in);

int input_open(struct job_input *in, const char *file, int index); /* @return 1, or 0 when it failed and was told */
int input_begin(struct job_input *in);           /* @return a status: what was heard before the model hears it */
int input_end(struct job_input *in, int status); /* @return 1 when the output was produced, 0 when it failed and was told */
int input_another(struct job_input *in, int *ok); /* @return 1 and go to the next channel or track; or 0, and where that failed, which was
                                                   * told, *ok is 0 */
void input_close(struct job_input *in);
void input_done(struct job_input *in, int ok);   /* close it where it is open, count it, tell that it is over */

int job_stops(const struct job *j);              /* nothing more is to begin */

/* Audio and parameters of what is to be transcribed now: nothing where nobody speaks. */
steno_source input_source(struct job_input *in);
steno_transcribe_params input_params(const struct job_input *in);

/* No audio, and parameters for it. */
steno_source input_no_audio(void);
steno_transcribe_params input_params_of_nothing(const struct job *j);
#endif

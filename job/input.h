/* steno: one input of a job. SPDX-License-Identifier: MIT
 *
 * Processes one channel at a time of one file, track by track. Call input_open. Then, for each channel, call input_begin, transcribe
 * in->src, and call input_end, while input_another returns 1. */
#ifndef STENO_JOB_INPUT_H
#define STENO_JOB_INPUT_H
#include "job.h"
#include <string.h>

void input_init(struct job_input *in, struct job *j, steno_session *s, int slot);
void input_free(struct job_input *in);

int input_open(struct job_input *in, const struct job_file *f); /* @return 1, or 0 if it failed, which was reported */
int input_begin(struct job_input *in);           /* reads audio before the model does (speakers, speech); @return a status */
int input_end(struct job_input *in, int status); /* @return 1 if the output was produced, 0 if it failed, which was reported */
/* Finds the times of the words of n inputs together, whose transcriptions have ended; input_end follows for each. at: [n] of the caller */
void input_align(struct job_input *const *in, steno_align_item **at, int n);
int input_needs_words(const struct job_input *in); /* 1: input_align applies to its result */
int input_another(struct job_input *in, int *ok); /* @return 1 and move on to the next channel or track; or 0. If that failed, which was
                                                   * reported, *ok is 0 */
void input_close(struct job_input *in);
void input_done(struct job_input *in, int ok);   /* closes it if open, counts it, reports its end */

int job_stops(const struct job *j);              /* 1: nothing more may begin */

/* Audio and parameters of the current transcription. The audio is empty if no speech was found. */
steno_source input_source(struct job_input *in);
steno_transcribe_params input_params(const struct job_input *in);

/* Is the language detected, maybe among several? */
static inline int input_detects(const steno_transcribe_params *p)
{
    return !p->language || strchr(p->language, ',');
}

/* An empty audio, and parameters for it. */
steno_source input_no_audio(void);
steno_transcribe_params input_params_of_nothing(const struct job *j);

/* Delivers the text, or the transcript and its translation. @return 0, or the value that ends the run */
int input_results(struct job_input *in);

int input_stops(const struct job_input *in); /* 1: nothing more of it may be processed */
/* Of the audio as it was transcribed: an aligner reads less of it, which counts damage anew. Zeros if it is not known. */
steno_media_state input_sound(const struct job_input *in);
#endif

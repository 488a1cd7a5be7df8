/* steno: the range of an input that is transcribed. SPDX-License-Identifier: MIT */
#ifndef STENO_JOB_INPUT_RANGE_H
#define STENO_JOB_INPUT_RANGE_H
#include "job.h"

/* The input's own range, or that of the job. */
struct input_range { int64_t begin_ms, duration_ms; };
struct input_range input_range_of(const struct job_input *in);

/* The rules by which speech is found in it. */
struct speech_rules input_speech_rules(const struct job_input *in);

/* Sets the range in in->params. The model reads from the start of the audio: the silence before it, which only represents the file's clock,
 * would change the text. @return a status */
int input_skip_start(struct job_input *in);
#endif

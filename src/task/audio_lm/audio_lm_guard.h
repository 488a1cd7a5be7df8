/* steno: repeated decoding of clips whose text loops. SPDX-License-Identifier: MIT
 *
 * An audio language model may loop until its context is full. With STENO_GUARDS_RETRY such a clip is stopped and decoded again, with a
 * repetition penalty that grows with each attempt. */
#ifndef STENO_TASK_AUDIO_LM_GUARD_H
#define STENO_TASK_AUDIO_LM_GUARD_H
#include "task/audio_lm/audio_lm_session.h"

void audio_lm_attempts_begin(struct steno_batch *b); /* the first attempt, for all clips of the current run */
/* Do the ids of a lane loop? Returns 1 only if a loop ends an attempt. */
int audio_lm_goes_round(steno_session *s, const struct sampler *p);
/* Checks the results of an attempt. *again: 1 if some lanes are decoded again; the other lanes hold their final text. STENO_ENOMEM */
int audio_lm_attempts_judge(struct steno_batch *b, int *again);
#endif

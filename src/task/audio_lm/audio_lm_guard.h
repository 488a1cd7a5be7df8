/* steno: what is decoded again. SPDX-License-Identifier: MIT
 *
 * A language model that hears may go round in circles, until there is no room for more. A request that asks for it (STENO_GUARDS_RETRY) has
 * such a clip stopped there and decoded again, with what it has said already less likely, and then still less. */
#ifndef STENO_TASK_AUDIO_LM_GUARD_H
#define STENO_TASK_AUDIO_LM_GUARD_H
#include "task/audio_lm/audio_lm_session.h"

void audio_lm_attempts_begin(struct steno_batch *b); /* the first one, of all clips of the run at hand */
/* Do the ids of a lane repeat themselves, where that ends an attempt? */
int audio_lm_goes_round(steno_session *s, const struct sampler *p);
/* Look at what an attempt has brought. *again: some lanes are to be read once more; what others have chosen is their text. STENO_ENOMEM */
int audio_lm_attempts_judge(struct steno_batch *b, int *again);
#endif

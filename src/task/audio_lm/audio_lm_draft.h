/* steno: draft models of audio language models. SPDX-License-Identifier: MIT
 *
 * The draft model encodes the clips of a run itself, from the same features, and reads their prompts with its own rows, in the lanes of the
 * same numbers. Then it drafts as in all tasks (decode/draft_model.h). */
#ifndef STENO_TASK_AUDIO_LM_AUDIO_LM_DRAFT_H
#define STENO_TASK_AUDIO_LM_AUDIO_LM_DRAFT_H
#include "task/audio_lm/audio_lm_session.h"

/* Implement struct task. */
size_t audio_lm_draft_memory(const steno_model *draft);
int audio_lm_draft_open(struct steno_batch *d, steno_error *e);

int audio_lm_draft_may(const struct steno_batch *b, const steno_session *s); /* may texts of the session use the draft model? */
/* Encodes the clips of the run, whose features are the input of the encoder, if a session may use it. Returns a status of the executor. */
int audio_lm_draft_encode(struct steno_batch *b);
/* Reads the prompts of all lanes that use it. Returns a status of the executor. */
int audio_lm_draft_read(struct steno_batch *b);
int audio_lm_draft_needed(struct steno_batch *b); /* does any text need draft tokens before the next replay? */
int audio_lm_draft_make(struct steno_batch *b);   /* drafts for all texts that need it. Returns a status of the executor */
/* The lane has taken its choices: n draft tokens, the first `right` of which were chosen. */
void audio_lm_draft_learn(struct steno_batch *b, uint32_t lane, int32_t n, int32_t right);
#endif

/* steno: the text of a clip. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AUDIO_LM_TEXT_H
#define STENO_TASK_AUDIO_LM_TEXT_H
#include "task/audio_lm/audio_lm_session.h"

/* Ids of a lane to a->ids, and their text for display to *text, without surrounding white space. STENO_ENOMEM */
int audio_lm_text_of(steno_session *s, const struct sampler *p, const char **text, size_t *n);
#endif

/* steno: vectors of texts by language models. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_EMBED_H
#define STENO_TASK_LM_EMBED_H
#include "task/embedding.h"

/* Append a vector for each text of the call. What the first lanes held, as many as there are texts, is gone. */
int lm_embed(steno_session *s, int plan, const struct embed_call *c);
#endif

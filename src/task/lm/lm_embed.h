/* steno: text embeddings by language models. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_EMBED_H
#define STENO_TASK_LM_EMBED_H
#include "task/embed/embedding.h"

/* Appends a vector for each text of the call. Overwrites the first lanes, one per text. */
int lm_embed(steno_session *s, int plan, const struct embed_call *c);
#endif

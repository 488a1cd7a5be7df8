/* steno: punctuation for a transcript. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_PUNCTUATION_PUNCTUATION_RESULT_H
#define STENO_TASK_PUNCTUATION_PUNCTUATION_RESULT_H
#include "task/punctuation/punctuation_run.h"

/* Inserts marks into the texts of *r: segments, words and the whole text. s: session of the punctuation model. Texts of bare words
 * (r->is_bare) are written as the reference writes text with marks. If it fails, *r is unchanged. */
int punctuation_put(steno_session *s, struct result *r, const steno_punctuate_params *p);
#endif

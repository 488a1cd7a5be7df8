/* steno: marks for a transcript. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_MARKS_MARKS_RESULT_H
#define STENO_TASK_MARKS_MARKS_RESULT_H
#include "task/marks/marks_run.h"

/* Put marks into the texts of *r: of its segments, their words, and the whole. s: the session that decides about them. Texts
 * that have none (r->is_bare) are written as the reference writes text with marks. On failure *r is as it was. */
int marks_put(steno_session *s, struct result *r, const steno_punctuate_params *p);
#endif

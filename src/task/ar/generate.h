/* steno: ids in, ids out. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_GENERATE_H
#define STENO_TASK_AR_GENERATE_H
#include "task/session.h"

int generate_encode(steno_session *s, const float *pcm, int64_t n);
int generate_ready(const steno_session *s); /* its window is the one in the first decode slot */
int generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again);
#endif

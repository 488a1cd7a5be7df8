/* steno: parts of the speech path one at a time, for measuring. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_BENCH_H
#define STENO_TASK_AR_BENCH_H
#include "task/session.h"

int64_t bench_phase(steno_session *s, const char *phase, int n);
/* Rules that bar the end of text, so that nothing ends before n tokens; of the first windows' lanes the first ones are put to use, and no
 * rows are wanted yet. */
int bench_lanes(steno_session *s, int n, int windows, int lanes);
#endif

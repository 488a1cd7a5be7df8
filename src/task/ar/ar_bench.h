/* steno: benchmarks of single stages of transcription. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_BENCH_H
#define STENO_TASK_AR_BENCH_H
#include "engine/session.h"

int64_t bench_phase(steno_session *s, const char *phase, int n);
/* Sets rules that suppress end-of-text, so that no lane ends before n tokens. Enables the first lanes of the first windows. Requests no
 * rows yet. */
int bench_lanes(steno_session *s, int n, int windows, int lanes);
#endif

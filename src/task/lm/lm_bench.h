/* steno: benchmarks of single phases of text generation. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_LM_LM_BENCH_H
#define STENO_TASK_LM_LM_BENCH_H
#include "engine/session.h"

/* "prompt": reads n ids. "decode": n steps after a prompt. "batch": the same in all lanes. @return microseconds, or a status */
int64_t lm_bench(steno_session *s, int plan, const char *phase, int n);
#endif

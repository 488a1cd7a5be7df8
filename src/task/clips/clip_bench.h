/* steno: parts of a transcription clip by clip, for measuring. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_BENCH_H
#define STENO_TASK_CLIPS_CLIP_BENCH_H
#include "task/clips/clip_session.h"

/* A phase behind the encoder; n: what steno_bench_phase was told. A status of the executor's */
struct clip_bench_phase {
    const char *name;
    int (*run)(struct steno_batch *b, int n);
    int is_of_tokens;  /* n is their number, over CLIP_BENCH_S seconds of frames; else n is seconds */
};
enum { CLIP_BENCH_S = 30 };

/* "features" and "encode" of n seconds, or one of the phases, ended by a NULL name. @return microseconds, or a status */
int64_t clip_bench(steno_session *s, const char *phase, int n, const struct clip_bench_phase *own);
#endif

/* steno: benchmarks of single phases of clip transcription. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CLIPS_CLIP_BENCH_H
#define STENO_TASK_CLIPS_CLIP_BENCH_H
#include "task/clips/clip_session.h"

/* A phase after the encoder. n: argument of steno_bench_phase. Returns a status of the executor. */
struct clip_bench_phase {
    const char *name;
    int (*run)(struct steno_batch *b, int n);
    int is_of_tokens;  /* 1: n is the number of tokens, for CLIP_BENCH_S seconds of frames; 0: n is seconds */
};
enum { CLIP_BENCH_S = 30 };

/* Times "features" or "encode" of n seconds, or one of the phases in `own`, a list that ends with a NULL name. @return microseconds, or a
 * status */
int64_t clip_bench(steno_session *s, const char *phase, int n, const struct clip_bench_phase *own);
#endif

/* steno: audio that lies in memory, and how long sources and front ends took. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_SOURCE_H
#define STENO_TASK_SOURCE_H
#include "base/err.h"

/* PCM in memory as a source; silence up to `all` samples behind it. */
struct pcm { const float *x; int64_t n, at, all; };
steno_source pcm_source(struct pcm *p);
/* *left samples of a saw, for measuring: silence would be less work. */
steno_source saw_source(int64_t *left);

enum { STREAM_WAITS = -1000 /* of streams over a source, no error: it has nothing yet */ };

/* What a session spent before its network ran. */
struct front_time { int64_t source_ns, features_ns; };
#endif

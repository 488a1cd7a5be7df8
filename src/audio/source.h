/* steno: audio sources in memory, and times of sources and front ends. SPDX-License-Identifier: MIT */
#ifndef STENO_AUDIO_SOURCE_H
#define STENO_AUDIO_SOURCE_H
#include "base/err.h"

/* PCM in memory as a source, followed by silence up to `all` samples. */
struct pcm { const float *x; int64_t n, at, all; };
steno_source pcm_source(struct pcm *p);
/* *left samples of a sawtooth, for benchmarks: silence would be less work. */
steno_source saw_source(int64_t *left);

enum { STREAM_WAITS = -1000 /* returned by streams over a source that has nothing yet; not an error */ };

/* Time that a session spent before its network ran. */
struct front_time { int64_t source_ns, features_ns; };
#endif

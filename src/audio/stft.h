/* steno: short-time spectra, the part that the front ends share. SPDX-License-Identifier: MIT
 *
 * A front end cuts frames out of a block of samples and selects their window. A kernel computes transform, power, bands and logarithm. This
 * file sanitises samples and distributes frames over a team. One thread computes a frame from its own samples, so results depend neither on
 * the pieces that audio arrives in nor on the number of threads. */
#ifndef STENO_AUDIO_STFT_H
#define STENO_AUDIO_STFT_H
#include "base/arena.h"
#include "base/err.h"
#include "base/team.h"
#include "kern/kern.h"

enum {
    STFT_GROUP = 16,    /* most frames that a thread computes at a time: a multiple of every vector's width */
    STFT_LANE = 16,     /* numbers handled together, so that compilers use vectors also at -O2 */
    STFT_ALONE = 256,   /* the caller computes up to this number of frames alone: it ends before another thread wakes up */
    STFT_THREADS = 8    /* most threads that work on one stream, which bounds its memory: for ten seconds of audio each then computes for a
                         * tenth of a millisecond */
};

/* dst[n] = x[n]; NaN becomes 0, other values are clamped to [-limit, limit]. */
void stft_samples(float *dst, const float *x, int64_t n, float limit);

/* Samples in two places: held[n_held], which are sanitised, then pcm[n], as they arrived. */
struct stft_span {
    const float *held, *pcm;
    int64_t n_held, n;
    float limit;
};
/* dst[n] = samples [from, from + n) of the span, sanitised. dst may be its `held`: samples then move to its front. */
void stft_copy(float *dst, const struct stft_span *s, int64_t from, int64_t n);

/* Threads that work on a stream that computes at most n frames at once. */
int stft_threads(const steno_team *team, int64_t n);
/* fn(arg, first, count, slot) for [0, n) in groups of at most STFT_GROUP, on stft_threads(team, n) threads. A slot is below that number and
 * belongs to one thread during the run. */
void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t first, int count, int slot), void *arg);
#endif

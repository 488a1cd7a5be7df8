/* steno: short-time spectra, the part that the front ends share. SPDX-License-Identifier: MIT
 *
 * A front end cuts frames out of a block of samples and says how they are windowed; transform, power, bands and logarithm are a kernel.
 * Here samples are made harmless and frames are shared out to a team. A frame is computed from its own samples by one thread, which is
 * why results can depend neither on the pieces that audio comes in nor on the number of threads. */
#ifndef STENO_AUDIO_STFT_H
#define STENO_AUDIO_STFT_H
#include "base/arena.h"
#include "base/err.h"
#include "base/team.h"
#include "kern/kern.h"

enum {
    STFT_GROUP = 32,    /* most frames that a thread takes at a time: a multiple of every vector's width */
    STFT_LANE = 16      /* numbers handled together, so that compilers use vectors also at -O2 */
};

/* dst[n] = x[n]; NaN becomes 0, and what is outside [-limit, limit] is brought to it. */
void stft_samples(float *dst, const float *x, int64_t n, float limit);

/* fn(arg, first, count, thread) for frames [0, n) in groups of at most STFT_GROUP; few frames are done by the caller's thread. And how many
 * threads that is at most, where n are as many as there ever are. */
int stft_threads(const steno_team *team, int64_t n);
void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t first, int count, int thread), void *arg);
#endif

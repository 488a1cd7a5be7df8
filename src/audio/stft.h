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
    STFT_GROUP = 16,    /* most frames that a thread takes at a time: a multiple of every vector's width */
    STFT_LANE = 16,     /* numbers handled together, so that compilers use vectors also at -O2 */
    STFT_ALONE = 256,   /* at most this number of frames is done by the caller alone: they end before another thread is awake */
    STFT_THREADS = 8    /* most threads that work on one stream, which bounds its memory: ten seconds of audio take each a tenth of a
                           millisecond then */
};

/* dst[n] = x[n]; NaN becomes 0, and what is outside [-limit, limit] is brought to it. */
void stft_samples(float *dst, const float *x, int64_t n, float limit);

/* Samples that lie in two places: held[n_held], which are harmless, then pcm[n], as they came. */
struct stft_span {
    const float *held, *pcm;
    int64_t n_held, n;
    float limit;
};
/* dst[n] = samples [from, from + n) of the span, harmless. dst may be its `held`: samples move to its front then. */
void stft_copy(float *dst, const struct stft_span *s, int64_t from, int64_t n);

/* Threads that work on a stream of which n frames are the most that are made at once. */
int stft_threads(const steno_team *team, int64_t n);
/* fn(arg, first, count, slot) for [0, n) in groups of at most STFT_GROUP, on stft_threads(team, n) threads. A slot is below that number
 * and belongs to one thread while this runs. */
void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t first, int count, int slot), void *arg);
#endif

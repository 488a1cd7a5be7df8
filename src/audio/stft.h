/* steno: short-time spectra, the part that the front ends share. SPDX-License-Identifier: MIT
 *
 * A front end cuts frames out of a block of samples and says how they are windowed; transform, power, weighted bands, logarithm and the
 * sharing out of frames to a team are the same for all and live here. A frame is computed from its own samples by one thread, which is
 * why results can depend neither on the pieces that audio comes in nor on the number of threads. */
#ifndef STENO_AUDIO_STFT_H
#define STENO_AUDIO_STFT_H
#include <kissfft/kiss_fftr.h>
#include "base/arena.h"
#include "base/err.h"
#include "base/team.h"

enum {
    STFT_MAX = 512,     /* points of a transform */
    STFT_BINS = STFT_MAX / 2 + 1,
    STFT_BANDS = 128,
    STFT_LANE = 16      /* numbers handled together, so that compilers use vectors also at -O2 */
};

/* What one thread needs for a frame. */
struct stft_thread {
    kiss_fftr_cfg fft; /* holds scratch: one per thread */
    float frame[STFT_MAX];
    kiss_fft_cpx spec[STFT_BINS];
    float power[STFT_BINS];
    float band[STFT_BANDS];
};
size_t stft_memory(int n_fft, int n_threads); /* bytes that stft_open takes */
int stft_open(struct stft_thread **out, struct arena *a, int n_fft, int n_threads, const char *what, steno_error *e);

/* dst[n] = x[n]; NaN becomes 0, and what is outside [-limit, limit] is brought to it. */
void stft_samples(float *dst, const float *x, int64_t n, float limit);
/* power[n_fft / 2 + 1] of frame[n_fft] */
void stft_power(struct stft_thread *t, int n_fft);

/* Weighted sums of bins. */
struct stft_bands {
    int n, n_bins;
    const float *weight; /* [n, n_bins]; all weights count, wherever they stand */
    uint16_t first[STFT_BANDS], last[STFT_BANDS]; /* bins with weight: [first, last) per band */
};
void stft_bands_init(struct stft_bands *b, const float *weight, int n, int n_bins); /* weight is kept, not copied */
void stft_bands_sum(float *out, const float *power, const struct stft_bands *b);

/* out[n] = log(x[n]), exactly floor_log where x <= floor; |error| < 1e-6 of log10, 2e-6 of ln. octave: log 2, unit: log e. */
struct stft_log { float floor, floor_log, octave, unit; };
void stft_log(float *out, const float *x, int n, const struct stft_log *l);

/* fn(arg, frame, thread) for frame in [0, n), shared out in groups; few frames are done by the caller's thread. */
void stft_run(steno_team *team, int64_t n, void (*fn)(void *arg, int64_t frame, int thread), void *arg);
#endif

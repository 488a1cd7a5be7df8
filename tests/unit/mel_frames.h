/* steno tests: log-mel frames of a sound, and frames by their definition. SPDX-License-Identifier: MIT
 *
 * The definition is computed in double precision: the reference's padding, a window, and a direct Fourier sum per bin. */
#ifndef STENO_TESTS_MEL_FRAMES_H
#define STENO_TESTS_MEL_FRAMES_H
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "audio/mel.h"

static const double PI = 3.14159265358979323846;
static struct kern kern; /* kernels of the level that main tests */
static uint32_t rng_state = 1;

static inline float noise(void)
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return (float)(int32_t)rng_state / 2147483648.0f;
}

static inline float *noise_new(int64_t n, uint32_t seed)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    rng_state = seed;
    for (int64_t i = 0; i < n; i++) x[i] = 0.3f * noise();
    return x;
}

static inline float *filters_new(int n_mels)
{
    float *f = calloc((size_t)n_mels * MEL_BINS, sizeof *f);
    assert_non_null(f);
    mel_filters_slaney(f, n_mels, MEL_FFT);
    return f;
}

struct spectrogram {
    float *v; /* [frames, n_mels], log10 */
    int64_t frames, content;
};

/* Push x[n] in pieces of `piece`, end with `extra`, on a team of `threads`. */
static inline struct spectrogram run(const float *x, int64_t n, int64_t piece, int64_t extra, const float *filters, int n_mels, int threads)
{
    steno_team *team = NULL;
    steno_error e;
    if (threads > 1) assert_int_equal(team_open(&team, threads, &e), STENO_OK);
    struct mel_bank *bank = calloc(1, sizeof *bank);
    assert_non_null(bank);
    mel_bank_init(bank, filters, n_mels, &kern);
    struct arena a;
    arena_init(&a);
    struct mel *m;
    assert_int_equal(mel_open(&m, &a, bank, team, &e), STENO_OK);

    struct spectrogram s = { 0 };
    s.v = malloc((size_t)(n / MEL_HOP + extra + 1) * (size_t)n_mels * sizeof *s.v);
    assert_non_null(s.v);
    s.content = mel_frames_for(m, n, 1);
    for (int64_t i = 0; i < n; i += piece) {
        const int64_t k = n - i < piece ? n - i : piece;
        const int64_t said = mel_frames_for(m, k, 0);
        const int64_t got = mel_push(m, x + i, k, s.v + s.frames * n_mels);
        assert_int_equal(got, said);
        s.frames += got;
    }
    assert_int_equal(mel_samples(m), n);
    s.frames += mel_end(m, extra, s.v + s.frames * n_mels);
    mel_close(m);
    arena_free(&a);
    free(bank);
    team_close(team);
    return s;
}

/* The reference's padded signal at index i: 200 mirrored samples, x[n], zeros. */
static inline double padded(const float *x, int64_t n, int64_t i)
{
    i -= 200;
    if (i < 0) i = -i;
    return i < n ? (double)x[i] : 0.0;
}

/* compute power[MEL_BINS] of frame t by the definition */
static inline void power_by_definition(double *power, const float *x, int64_t n, int64_t t)
{
    double frame[MEL_FFT];
    for (int i = 0; i < MEL_FFT; i++) frame[i] = padded(x, n, 160 * t + i) * 0.5 * (1.0 - cos(2.0 * PI * i / 400.0));
    for (int k = 0; k < MEL_BINS; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < MEL_FFT; i++) {
            const double w = 2.0 * PI * ((i * k) % MEL_FFT) / 400.0;
            re += frame[i] * cos(w);
            im -= frame[i] * sin(w);
        }
        power[k] = re * re + im * im;
    }
}
#endif

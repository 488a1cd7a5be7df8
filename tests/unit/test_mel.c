/* steno tests: log-mel spectrogram. SPDX-License-Identifier: MIT
 *
 * The oracle is the definition in double precision: pad as the reference pads, window, a direct Fourier sum per bin, filters, logarithm.
 * zh_phrases.mel.f32 holds every sixth frame of what openai-whisper computes for zh_phrases.wav ([121, 80], clamped and scaled). */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "audio/mel.h"
#include "crc32.h"

#ifndef STENO_TEST_DATA
#define STENO_TEST_DATA "tests/data"
#endif

static const double PI = 3.14159265358979323846;
static const uint32_t FILTERS_80_CRC = 0x848e96d8; /* of the f32 [80, 201] that model files store */

/* ---- helpers ----------------------------------------------------------------------------------------------------------------- */

static struct kern kern; /* of the level that main is at */
static uint32_t rng_state = 1;

static float noise(void)
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return (float)(int32_t)rng_state / 2147483648.0f;
}

static float *noise_new(int64_t n, uint32_t seed)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    rng_state = seed;
    for (int64_t i = 0; i < n; i++) x[i] = 0.3f * noise();
    return x;
}

static float *filters_new(int n_mels)
{
    float *f = calloc((size_t)n_mels * MEL_BINS, sizeof *f);
    assert_non_null(f);
    mel_filters_slaney(f, n_mels);
    return f;
}

/* Filter m passes bin first_bin + m alone, so that the output is log10 of the power of single bins. */
static float *filters_identity(int n_mels, int first_bin)
{
    float *f = calloc((size_t)n_mels * MEL_BINS, sizeof *f);
    assert_non_null(f);
    for (int m = 0; m < n_mels; m++) f[m * MEL_BINS + first_bin + m] = 1.0f;
    return f;
}

struct spectrogram {
    float *v; /* [frames, n_mels], log10 */
    int64_t frames, content;
};

/* Push x[n] in pieces of `piece`, end with `extra`, on a team of `threads`. */
static struct spectrogram run(const float *x, int64_t n, int64_t piece, int64_t extra, const float *filters, int n_mels, int threads)
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
static double padded(const float *x, int64_t n, int64_t i)
{
    i -= 200;
    if (i < 0) i = -i;
    return i < n ? (double)x[i] : 0.0;
}

/* power[MEL_BINS] of frame t by the definition */
static void power_by_definition(double *power, const float *x, int64_t n, int64_t t)
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

static void *file_read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    assert_non_null(p);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

/* ---- filters ----------------------------------------------------------------------------------------------------------------- */

static void test_filters_are_bit_equal_to_the_model_files(void **state)
{
    (void)state;
    float *f = filters_new(80);
    assert_int_equal(crc32_add(0, f, sizeof *f * 80 * MEL_BINS), FILTERS_80_CRC);
    int used = 0;
    for (int i = 0; i < 80 * MEL_BINS; i++) used += f[i] != 0;
    assert_int_equal(used, 391);
    for (int k = 0; k < MEL_BINS; k++) assert_true(k == 1 ? fabs(f[k] - 0.02486259) < 5e-9 : f[k] == 0);
    free(f);
}

static void test_filters_of_128_rows_have_the_reference_shape(void **state)
{
    (void)state;
    float *f = filters_new(128), top = 0;
    int used = 0;
    for (int i = 0; i < 128 * MEL_BINS; i++) {
        used += f[i] != 0;
        if (f[i] > top) top = f[i];
    }
    assert_int_equal(used, 394);
    assert_true(fabs(top - 0.04168) < 5e-6);
    for (int m = 0; m < 128; m++) assert_true(f[m * MEL_BINS] == 0 && f[m * MEL_BINS + 200] == 0);
    free(f);
}

static void test_filter_weight_on_last_bins_reaches_output(void **state)
{
    (void)state;
    float *x = noise_new(800, 3);
    for (int bin = 198; bin <= 200; bin++) {
        float *f = calloc(80 * MEL_BINS, sizeof *f);
        assert_non_null(f);
        f[5 * MEL_BINS + bin] = 2.0f;
        struct spectrogram s = run(x, 800, 800, 0, f, 80, 1);
        double power[MEL_BINS];
        power_by_definition(power, x, 800, 2);
        assert_true(fabs(s.v[2 * 80 + 5] - log10(2.0 * power[bin])) < 1e-4);
        assert_true(s.v[2 * 80 + 4] == -10.0f);
        free(s.v);
        free(f);
    }
    free(x);
}

static void test_doubled_filter_row_doubles_that_band(void **state)
{
    (void)state;
    float *x = noise_new(1600, 4), *f = filters_new(80);
    struct spectrogram a = run(x, 1600, 1600, 0, f, 80, 1);
    for (int k = 0; k < MEL_BINS; k++) f[7 * MEL_BINS + k] *= 2.0f;
    struct spectrogram b = run(x, 1600, 1600, 0, f, 80, 1);
    for (int64_t t = 0; t < a.frames; t++)
        for (int m = 0; m < 80; m++) {
            const double rise = (double)b.v[t * 80 + m] - a.v[t * 80 + m];
            assert_true(m == 7 ? fabs(rise - log10(2.0)) < 1e-5 : rise == 0);
        }
    free(a.v);
    free(b.v);
    free(f);
    free(x);
}

static void test_window_is_the_periodic_hann(void **state)
{
    (void)state;
    float *f = filters_new(80);
    struct mel_bank b;
    mel_bank_init(&b, f, 80, &kern);
    assert_true(b.spectrum.window[0] == 0.0f && b.spectrum.window[200] == 1.0f);
    assert_true(fabsf(b.spectrum.window[1] - b.spectrum.window[399]) < 1e-7f);
    for (int i = 0; i < MEL_FFT; i++) assert_true(fabs(b.spectrum.window[i] - 0.5 * (1 - cos(2 * PI * i / 400))) < 1e-7);
    free(f);
}

/* ---- framing ----------------------------------------------------------------------------------------------------------------- */

static void test_content_frames_are_samples_over_hop(void **state)
{
    (void)state;
    static const int64_t table[][2] = { { 80000, 500 }, { 480000, 3000 }, { 976000, 6100 }, { 472373, 2952 },
                                        { 472373 + 480000, 5952 /* with 30 s of padding */ }, { 16000, 100 }, { 0, 0 },
                                        { 1, 0 }, { 159, 0 }, { 160, 1 }, { 199, 1 }, { 200, 1 }, { 201, 1 }, { 319, 1 }, { 320, 2 },
                                        { 360, 2 }, { 400, 2 }, { 480040, 3000 } };
    float *f = filters_new(80), *x = noise_new(976000, 5);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct spectrogram s = run(x, table[i][0], 480000, 0, f, 80, 1);
        assert_int_equal(s.frames, table[i][1]);
        assert_int_equal(s.content, table[i][1]);
        free(s.v);
    }
    free(x);
    free(f);
}

static void test_frames_equal_the_definition_at_both_ends(void **state)
{
    (void)state;
    static const int lengths[] = { 1, 39, 40, 41, 119, 120, 121, 159, 160, 199, 200, 201, 202, 280, 281, 359, 360, 361, 400, 1000 };
    float *f = filters_new(80);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int64_t n = lengths[i];
        float *x = noise_new(n, 7 + (uint32_t)n);
        struct spectrogram s = run(x, n, 77, 3, f, 80, 1);
        assert_int_equal(s.frames, (n + 200 + 159) / 160); /* every frame that sees a sample, and no other */
        for (int64_t t = 0; t < s.frames; t++) {
            double power[MEL_BINS];
            power_by_definition(power, x, n, t);
            for (int m = 0; m < 80; m++) {
                double sum = 0;
                for (int k = 0; k < MEL_BINS; k++) sum += (double)f[m * MEL_BINS + k] * power[k];
                const double want = log10(sum > 1e-10 ? sum : 1e-10), got = s.v[t * 80 + m];
                /* far below the frame's own peak f32 rounding of the transform shows */
                if (fabs(got - want) > (want < -7 ? 2e-2 : 2e-4))
                    fail_msg("%d samples, frame %d, band %d: %.6f, want %.6f", (int)n, (int)t, m, got, want);
            }
        }
        free(s.v);
        free(x);
    }
    free(f);
}

static void test_extra_frames_stop_where_asked(void **state)
{
    (void)state;
    float *f = filters_new(80), *x = noise_new(1000, 9);
    for (int extra = 0; extra <= 5; extra++) {
        struct spectrogram s = run(x, 1000, 1000, extra, f, 80, 1);
        assert_int_equal(s.frames, extra < 2 ? 6 + extra : 8);
        assert_int_equal(s.content, 6);
        free(s.v);
    }
    free(x);
    free(f);
}

static void test_frames_do_not_depend_on_push_sizes(void **state)
{
    (void)state;
    static const int64_t pieces[] = { 1, 7, 160, 200, 201, 999, 163840, 480000 };
    const int64_t n = 400123;
    float *f = filters_new(80), *x = noise_new(n, 11);
    struct spectrogram a = run(x, n, n, 3, f, 80, 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        const int64_t k = pieces[i] < 160 ? 20000 : n; /* small pieces: a shorter sound is enough */
        struct spectrogram whole = run(x, k, k, 3, f, 80, 1), b = run(x, k, pieces[i], 3, f, 80, 1);
        assert_int_equal(whole.frames, b.frames);
        assert_memory_equal(whole.v, b.v, (size_t)b.frames * 80 * sizeof(float));
        free(whole.v);
        free(b.v);
    }
    free(a.v);
    free(x);
    free(f);
}

static void test_frames_are_identical_for_1_2_and_7_threads(void **state)
{
    (void)state;
    const int64_t n = 300000;
    float *f = filters_new(128), *x = noise_new(n, 13);
    memset(x + 100000, 0, 50000 * sizeof *x);
    struct spectrogram one = run(x, n, n, 3, f, 128, 1), two = run(x, n, n, 3, f, 128, 2), seven = run(x, n, 48000, 3, f, 128, 7);
    assert_int_equal(one.frames, two.frames);
    assert_int_equal(one.frames, seven.frames);
    assert_memory_equal(one.v, two.v, (size_t)one.frames * 128 * sizeof(float));
    assert_memory_equal(one.v, seven.v, (size_t)one.frames * 128 * sizeof(float));
    free(one.v);
    free(two.v);
    free(seven.v);
    free(x);
    free(f);
}

static void test_begin_forgets_the_previous_sound(void **state)
{
    (void)state;
    float *f = filters_new(80), *x = noise_new(5000, 17), first[40 * 80], second[40 * 80];
    struct mel_bank b;
    mel_bank_init(&b, f, 80, &kern);
    struct arena a;
    arena_init(&a);
    struct mel *m;
    assert_int_equal(mel_open(&m, &a, &b, NULL, NULL), STENO_OK);
    int64_t n = mel_push(m, x, 150, first);
    n += mel_end(m, 3, first + n * 80);
    assert_int_equal(n, 3);
    mel_begin(m);
    mel_push(m, x, 5000, second);
    mel_begin(m);
    assert_int_equal(mel_samples(m), 0);
    n = mel_push(m, x, 150, second);
    n += mel_end(m, 3, second + n * 80);
    assert_int_equal(n, 3);
    assert_memory_equal(first, second, 3 * 80 * sizeof(float));
    assert_true(a.total >= mel_memory(NULL));
    arena_free(&a);
    free(x);
    free(f);
}

/* ---- spectrum ---------------------------------------------------------------------------------------------------------------- */

static void test_sine_of_440_hz_peaks_at_bin_11(void **state)
{
    (void)state;
    float *f = filters_identity(128, 0), x[1600];
    for (int i = 0; i < 1600; i++) x[i] = (float)sin(2 * PI * 440 * i / 16000);
    struct spectrogram s = run(x, 1600, 1600, 0, f, 128, 1);
    int top = 0;
    for (int k = 1; k < 128; k++)
        if (s.v[4 * 128 + k] > s.v[4 * 128 + top]) top = k;
    assert_int_equal(top, 11);
    free(s.v);
    free(f);
}

/* power[MEL_BINS] of frame t as the library computes it, through two banks of single-bin filters */
static void power_by_library(double *power, const float *x, int64_t n, int64_t t)
{
    static const int firsts[] = { 0, MEL_BINS - 128 };
    for (int half = 0; half < 2; half++) {
        float *f = filters_identity(128, firsts[half]);
        struct spectrogram s = run(x, n, n, 0, f, 128, 1);
        assert_true(t < s.frames);
        for (int k = 0; k < 128; k++) power[firsts[half] + k] = pow(10.0, s.v[t * 128 + k]);
        free(s.v);
        free(f);
    }
}

static void test_bins_equal_a_double_fourier_sum(void **state)
{
    (void)state;
    float *x = noise_new(1600, 19);
    for (int t = 0; t < 6; t += 5) {
        double got[MEL_BINS], want[MEL_BINS];
        power_by_library(got, x, 1600, t);
        power_by_definition(want, x, 1600, t);
        for (int k = 0; k < MEL_BINS; k++) assert_true(fabs(got[k] - want[k]) <= 1e-4 * (want[k] + 1e-2));
    }
    free(x);
}

static void test_power_obeys_parseval(void **state)
{
    (void)state;
    float *x = noise_new(1600, 23);
    double power[MEL_BINS], energy = 0, sum = 0;
    power_by_library(power, x, 1600, 4);
    for (int i = 0; i < MEL_FFT; i++) {
        const double v = x[160 * 4 - 200 + i] * 0.5 * (1 - cos(2 * PI * i / 400));
        energy += v * v;
    }
    for (int k = 0; k < MEL_BINS; k++) sum += (k == 0 || k == 200 ? 1 : 2) * power[k];
    assert_true(fabs(sum / (400 * energy) - 1) < 1e-4);
    free(x);
}

/* ---- logarithm, silence, hostile samples ------------------------------------------------------------------------------------- */

static void test_logarithm_is_right_over_its_range(void **state)
{
    (void)state;
    float *f = calloc(80 * MEL_BINS, sizeof *f), *x = noise_new(800, 29);
    assert_non_null(f);
    double power[MEL_BINS];
    power_by_definition(power, x, 800, 2);
    for (int m = 0; m < 80; m++) f[m * MEL_BINS + 50] = (float)pow(10.0, m * 0.37 - 14); /* 1e-14 .. 1e15 */
    struct spectrogram s = run(x, 800, 800, 0, f, 80, 1);
    for (int m = 0; m < 80; m++) {
        const double want = log10((double)f[m * MEL_BINS + 50] * power[50]);
        assert_true(fabs(s.v[2 * 80 + m] - (want > -10 ? want : -10)) < 1e-4);
        assert_true(s.v[2 * 80 + m] >= -10.0f);
    }
    free(s.v);
    free(f);
    free(x);
}

static void test_silence_is_exactly_the_floor(void **state)
{
    (void)state;
    float *f = filters_new(80), *x = noise_new(48000, 31);
    memset(x + 16000, 0, 16000 * sizeof *x);
    struct spectrogram s = run(x, 48000, 48000, 0, f, 80, 1);
    for (int64_t t = 102; t < 198; t++) /* 160 t - 200 >= 16000 and 160 t + 200 <= 32000 */
        for (int m = 0; m < 80; m++) assert_true(s.v[t * 80 + m] == -10.0f);
    for (int m = 1; m < 80; m++) assert_true(s.v[101 * 80 + m] > -10.0f && s.v[199 * 80 + m] > -10.0f);
    free(s.v);
    free(x);
    free(f);
}

static void test_nan_counts_as_zero_and_huge_samples_stay_finite(void **state)
{
    (void)state;
    float *f = filters_new(80), *x = noise_new(3200, 37), *y = noise_new(3200, 37);
    x[700] = NAN;
    y[700] = 0;
    struct spectrogram a = run(x, 3200, 3200, 0, f, 80, 1), b = run(y, 3200, 3200, 0, f, 80, 1);
    assert_memory_equal(a.v, b.v, (size_t)a.frames * 80 * sizeof(float));
    free(a.v);
    for (int i = 500; i < 900; i++) x[i] = i & 1 ? INFINITY : i & 2 ? -INFINITY : 3e38f;
    a = run(x, 3200, 3200, 0, f, 80, 1);
    for (int64_t i = 0; i < a.frames * 80; i++) assert_true(isfinite(a.v[i]));
    free(a.v);
    free(b.v);
    free(x);
    free(y);
    free(f);
}

static void test_scale_raises_what_is_8_below_the_maximum(void **state)
{
    (void)state;
    float x[] = { 1.5f, -2.0f, -6.4f, -6.6f, -10.0f };
    static const float want[] = { 1.375f, 0.5f, -0.6f, -0.625f, -0.625f };
    mel_scale(x, 5, 1.5f);
    for (int i = 0; i < 5; i++) assert_true(fabsf(x[i] - want[i]) < 1e-6f);
    float quiet[] = { -10.0f }; /* a louder part elsewhere in the file raises the floor here */
    mel_scale(quiet, 1, 3.0f);
    assert_true(fabsf(quiet[0] + 0.25f) < 1e-6f);
}

/* ---- goldens ----------------------------------------------------------------------------------------------------------------- */

/* Log-mel of a 16-bit mono WAV with a 44-byte header or a LIST chunk: the samples are the last chunk. Clamped and scaled. */
static struct spectrogram golden_run(const char *path, const float *filters)
{
    size_t n;
    uint8_t *wav = file_read_all(path, &n);
    struct spectrogram s = { 0 };
    if (!wav) return s;
    size_t at = 12, size = 0;
    for (; at + 8 <= n; at += 8 + size + (size & 1)) {
        size = wav[at + 4] | (size_t)wav[at + 5] << 8 | (size_t)wav[at + 6] << 16 | (size_t)wav[at + 7] << 24;
        if (!memcmp(wav + at, "data", 4)) break;
    }
    assert_true(at + 8 <= n && size <= n - at - 8);
    const int64_t samples = (int64_t)(size / 2);
    float *x = calloc((size_t)samples + 1, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < samples; i++) x[i] = (float)(int16_t)(wav[at + 8 + 2 * i] | wav[at + 9 + 2 * i] << 8) / 32768.0f;
    s = run(x, samples, 16000, 0, filters, 80, 2);
    float top = -10.0f;
    for (int64_t i = 0; i < s.frames * 80; i++)
        if (s.v[i] > top) top = s.v[i];
    mel_scale(s.v, (size_t)s.frames * 80, top);
    free(x);
    free(wav);
    return s;
}

static void test_zh_phrases_equals_the_reference(void **state)
{
    (void)state;
    float *f = filters_new(80);
    size_t n;
    float *want = file_read_all(STENO_TEST_DATA "/zh_phrases.mel.f32", &n);
    assert_non_null(want);
    assert_int_equal(n, 121 * 80 * sizeof(float));
    struct spectrogram s = golden_run(STENO_TEST_DATA "/audio/zh_phrases.wav", f);
    assert_int_equal(s.frames, 721);
    for (int64_t i = 0; i < 121; i++)
        for (int m = 0; m < 80; m++) {
            const float got = s.v[i * 6 * 80 + m];
            if (!(fabsf(got - want[i * 80 + m]) < 1e-4f))
                fail_msg("zh_phrases.mel.f32: frame %d, band %d: %.6f, want %.6f", (int)i * 6, m, got, want[i * 80 + m]);
        }
    free(s.v);
    free(want);
    free(f);
}

/* Recordings that cannot be part of the project: compared where STENO_SHARED names the folder of the shared material. */
static void test_en_phrases_equals_the_reference(void **state)
{
    (void)state;
    const char *dir = getenv("STENO_SHARED");
    char path[1024];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/material/whisper-digits/golden/layers/en_phrases.mel.npy", dir ? dir : "");
    char *npy = dir ? file_read_all(path, &n) : NULL;
    if (!npy) skip();
    const size_t frames = 849, head = n - 80 * frames * sizeof(float);
    float *f = filters_new(80), *want = (float *)(void *)(npy + head); /* [80, 849]; the header is padded to 64 bytes */
    snprintf(path, sizeof path, "%s/material/whisper-digits/golden/audio/en_phrases.wav", dir);
    struct spectrogram s = golden_run(path, f);
    assert_int_equal(s.frames, frames);
    for (size_t t = 0; t < frames; t++)
        for (size_t m = 0; m < 80; m++)
            if (!(fabsf(s.v[t * 80 + m] - want[m * frames + t]) < 1e-4f))
                fail_msg("en_phrases.mel.npy: frame %zu, band %zu: %.6f, want %.6f", t, m, s.v[t * 80 + m], want[m * frames + t]);
    free(s.v);
    free(f);
    free(npy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters_are_bit_equal_to_the_model_files),
        cmocka_unit_test(test_filters_of_128_rows_have_the_reference_shape),
        cmocka_unit_test(test_filter_weight_on_last_bins_reaches_output),
        cmocka_unit_test(test_doubled_filter_row_doubles_that_band),
        cmocka_unit_test(test_window_is_the_periodic_hann),
        cmocka_unit_test(test_content_frames_are_samples_over_hop),
        cmocka_unit_test(test_frames_equal_the_definition_at_both_ends),
        cmocka_unit_test(test_extra_frames_stop_where_asked),
        cmocka_unit_test(test_frames_do_not_depend_on_push_sizes),
        cmocka_unit_test(test_frames_are_identical_for_1_2_and_7_threads),
        cmocka_unit_test(test_begin_forgets_the_previous_sound),
        cmocka_unit_test(test_sine_of_440_hz_peaks_at_bin_11),
        cmocka_unit_test(test_bins_equal_a_double_fourier_sum),
        cmocka_unit_test(test_power_obeys_parseval),
        cmocka_unit_test(test_logarithm_is_right_over_its_range),
        cmocka_unit_test(test_silence_is_exactly_the_floor),
        cmocka_unit_test(test_nan_counts_as_zero_and_huge_samples_stay_finite),
        cmocka_unit_test(test_scale_raises_what_is_8_below_the_maximum),
        cmocka_unit_test(test_zh_phrases_equals_the_reference),
        cmocka_unit_test(test_en_phrases_equals_the_reference),
    };
    int failed = 0;
    for (int level = 0; cpu_level_name(level); level++) {
        if (!cpu_level_usable(level)) continue;
        kern_init(&kern, level);
        failed += cmocka_run_group_tests_name(cpu_level_name(level), tests, NULL, NULL);
    }
    return failed;
}

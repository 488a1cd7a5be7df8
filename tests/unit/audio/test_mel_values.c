/* steno tests: log-mel spectrogram: spectrum, logarithm, and the values of the reference. SPDX-License-Identifier: MIT
 *
 * zh_phrases.mel.f32 holds every sixth frame of what openai-whisper computes for zh_phrases.wav ([121, 80], clamped and scaled). */
#include "mel_frames.h"

/* Filter m passes bin first_bin + m alone, so that the output is log10 of the power of single bins. */
static float *filters_identity(int n_mels, int first_bin)
{
    float *f = calloc((size_t)n_mels * MEL_BINS, sizeof *f);
    assert_non_null(f);
    for (int m = 0; m < n_mels; m++) f[m * MEL_BINS + first_bin + m] = 1.0f;
    return f;
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
    float *want = file_read_all("tests/data/zh_phrases.mel.f32", &n);
    assert_non_null(want);
    assert_int_equal(n, 121 * 80 * sizeof(float));
    struct spectrogram s = golden_run("tests/data/audio/zh_phrases.wav", f);
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
        if (!cpu_level_usable(level) || !level_is_checked(level, cpu_level_best())) continue;
        kern_init(&kern, level);
        failed += cmocka_run_group_tests_name(cpu_level_name(level), tests, NULL, NULL);
    }
    return failed;
}

/* steno tests: log-mel spectrogram: filters and frames. SPDX-License-Identifier: MIT */
#include "mel_frames.h"
#include "crc32.h"

static const uint32_t FILTERS_80_CRC = 0x848e96d8; /* of the f32 [80, 201] that model files store */

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
    };
    int failed = 0;
    for (int level = 0; cpu_level_name(level); level++) {
        if (!cpu_level_usable(level) || !level_is_checked(level, cpu_level_best())) continue;
        kern_init(&kern, level);
        failed += cmocka_run_group_tests_name(cpu_level_name(level), tests, NULL, NULL);
    }
    return failed;
}

/* steno tests: Kaldi's filter banks. SPDX-License-Identifier: MIT
 *
 * The oracle is the definition in double precision with a direct Fourier sum, and the stacking rule frame by frame. */
#include "fbank_rows.h"
#include "front_threads.h"

static float *noise_new(int64_t n, uint32_t seed)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = 0.3f * (float)(int32_t)seed / 2147483648.0f;
    }
    return x;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static void test_frames_equal_the_definition(void **state)
{
    (void)state;
    float *x = noise_new(2000, 3);
    for (int i = 700; i < 1500; i++) x[i] = 0.4f * (float)sin(2 * PI * 440 * i / 16000) + 0.1f; /* a tone on a constant */
    struct rows r = run(x, 2000, 2000, 1, 1, 1);
    assert_int_equal(r.n, 11);
    for (int64_t t = 0; t < r.n; t++) {
        double want[80];
        frame_by_definition(want, x, t);
        for (int m = 0; m < 80; m++)
            if (!(fabs(r.v[t * 80 + m] - want[m]) < 1e-3)) /* f32 rounding of the transform shows beside a loud tone */
                fail_msg("frame %d, band %d: %.6f, want %.6f", (int)t, m, (double)r.v[t * 80 + m], want[m]);
    }
    free(r.v);
    free(x);
}

static void test_constant_and_silent_sound_is_exactly_the_floor(void **state)
{
    (void)state;
    static const float level[] = { 0, 0.1f, -0.7f, 1.0f / 3 };
    float x[800];
    for (size_t l = 0; l < sizeof level / sizeof *level; l++) {
        for (int i = 0; i < 800; i++) x[i] = level[l];
        struct rows r = run(x, 800, 800, 1, 1, 1);
        for (int i = 0; i < 3 * 80; i++) assert_true(r.v[i] == FLOOR);
        free(r.v);
    }
}

static void test_a_constant_added_changes_nothing(void **state)
{
    (void)state;
    float *x = noise_new(1600, 5), y[1600];
    for (int i = 0; i < 1600; i++) y[i] = x[i] + 0.25f;
    struct rows a = run(x, 1600, 1600, 1, 1, 1), b = run(y, 1600, 1600, 1, 1, 1);
    for (int i = 0; i < 8 * 80; i++) assert_true(fabsf(a.v[i] - b.v[i]) < 1e-3f);
    free(a.v);
    free(b.v);
    free(x);
}

static void test_sound_divided_by_32768_is_lower_by_20_794(void **state)
{
    (void)state;
    float *x = noise_new(1600, 7), y[1600];
    for (int i = 0; i < 1600; i++) y[i] = x[i] / 32768;
    struct rows a = run(x, 1600, 1600, 1, 1, 1), b = run(y, 1600, 1600, 1, 1, 1);
    for (int i = 0; i < 8 * 80; i++) {
        assert_true(b.v[i] > FLOOR);
        assert_true(fabs((double)a.v[i] - b.v[i] - 30 * log(2)) < 5e-6);
    }
    free(a.v);
    free(b.v);
    free(x);
}

static void test_nan_counts_as_zero_and_huge_samples_stay_finite(void **state)
{
    (void)state;
    float *x = noise_new(3200, 37), *y = noise_new(3200, 37);
    x[700] = NAN;
    y[700] = 0;
    struct rows a = run(x, 3200, 3200, 7, 6, 1), b = run(y, 3200, 3200, 7, 6, 1);
    assert_memory_equal(a.v, b.v, (size_t)a.n * a.width * sizeof(float));
    free(a.v);
    free(b.v);
    for (int i = 500; i < 900; i++) x[i] = i & 1 ? INFINITY : i & 2 ? -INFINITY : 3e38f;
    a = run(x, 3200, 3200, 7, 6, 1);
    for (size_t i = 0; i < (size_t)a.n * a.width; i++) assert_true(isfinite(a.v[i]));
    free(a.v);
    free(x);
    free(y);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static void test_row_counts_are_ceil_of_frames_by_step(void **state)
{
    (void)state;
    static const int64_t table[][4] = { /* samples, frames, rows of 7/6, rows of 5/1 */
        { 0, 0, 0, 0 },       { 1, 0, 0, 0 },        { 399, 0, 0, 0 },        { 400, 1, 1, 1 },         { 559, 1, 1, 1 },
        { 560, 2, 1, 2 },     { 1359, 6, 1, 6 },     { 1360, 7, 2, 7 },       { 96000, 598, 100, 598 }, { 88747, 553, 93, 553 },
        { 79872, 497, 83, 497 }, { 1127530, 7045, 1175, 7045 },
    };
    float *x = noise_new(1127530, 9);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int64_t n = table[i][0], piece = n > 1000 ? n : 7;
        struct rows one = run(x, n, piece, 1, 1, 1), asr = run(x, n, piece, 7, 6, 1), vad = run(x, n, piece, 5, 1, 1);
        assert_int_equal(one.n, table[i][1]);
        assert_int_equal(asr.n, table[i][2]);
        assert_int_equal(vad.n, table[i][3]);
        free(one.v);
        free(asr.v);
        free(vad.v);
    }
    free(x);
}

static void test_rows_stack_frames_with_repeated_edges(void **state)
{
    (void)state;
    static const int kinds[][2] = { { 7, 6 }, { 5, 1 }, { 1, 1 }, { 4, 2 }, { 3, 3 }, { 32, 32 }, { 32, 1 }, { 2, 1 } };
    float *x = noise_new(400 + 160 * 70, 11);
    for (int frames = 1; frames <= 70; frames++) {
        const int64_t n = 400 + 160 * (frames - 1);
        struct rows one = run(x, n, n, 1, 1, 1);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const int m = kinds[k][0], step = kinds[k][1];
            struct rows r = run(x, n, frames % 2 ? n : 333, m, step, 1);
            assert_int_equal(r.n, (frames + step - 1) / step);
            for (int64_t i = 0; i < r.n; i++)
                for (int j = 0; j < m; j++) {
                    int64_t t = i * step + j - (m - 1) / 2;
                    t = t < 0 ? 0 : t > frames - 1 ? frames - 1 : t;
                    assert_memory_equal(r.v + (size_t)(i * m + j) * 80, one.v + (size_t)t * 80, 80 * sizeof(float));
                }
            free(r.v);
        }
        free(one.v);
    }
    free(x);
}

static void test_rows_come_as_soon_as_their_last_frame_is_complete(void **state)
{
    (void)state;
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, NULL, NULL }, &kern, NULL), STENO_OK);
    assert_int_equal(fbank_open(&f, &a, &bank, NULL, NULL), STENO_OK);
    float *x = noise_new(3000, 13), *out = calloc(20 * 560, sizeof *out);
    assert_non_null(out);
    fbank_begin(f);
    assert_int_equal(fbank_push(f, x, 400 + 160 * 3 - 1, out, 560), 0); /* frames 0..2 */
    assert_int_equal(fbank_push(f, x, 1, out, 560), 1);                 /* frame 3: row 0 is 0 0 0 0 1 2 3 */
    assert_int_equal(fbank_push(f, x, 160 * 6 - 1, out, 560), 0);
    assert_int_equal(fbank_push(f, x, 1, out, 560), 1); /* frame 9: row 1 is 3..9 */
    assert_int_equal(fbank_end(f, out, 560), 0);        /* 10 frames are two rows */
    free(x);
    free(out);
    arena_free(&a);
}

static void test_shift_and_scale_are_applied_per_column(void **state)
{
    (void)state;
    float *x = noise_new(4000, 15), shift[560], scale[560];
    for (int i = 0; i < 560; i++) {
        shift[i] = -8.0f - 0.01f * (float)i;
        scale[i] = 0.1f + 0.001f * (float)i;
    }
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, shift, scale }, &kern, NULL), STENO_OK);
    struct rows plain = run(x, 4000, 4000, 7, 6, 1), r = run_on(&bank, x, 4000, 4000, 1);
    assert_int_equal(r.n, plain.n);
    for (int64_t i = 0; i < r.n; i++)
        for (int k = 0; k < 560; k++) assert_true(r.v[i * 560 + k] == (plain.v[i * 560 + k] + shift[k]) * scale[k]);
    free(plain.v);
    free(r.v);
    free(x);
    arena_free(&a);
}

static void test_rows_do_not_depend_on_push_sizes_and_threads(void **state)
{
    (void)state;
    static const int64_t pieces[] = { 1, 7, 160, 399, 400, 401, 960, 81920, 82160, 200001 };
    const int64_t n = 200001;
    float *x = noise_new(n, 17);
    memset(x + 100000, 0, 5000 * sizeof *x);
    for (int kind = 0; kind < 2; kind++) {
        const int m = kind ? 5 : 7, step = kind ? 1 : 6;
        struct rows whole = run(x, n, n, m, step, 1);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i += SANITIZED ? 3 : 1) {
            const int64_t k = pieces[i] < 160 ? 20000 : n; /* small pieces: a shorter sound is enough */
            struct rows a = run(x, k, k, m, step, 1), b = run(x, k, pieces[i], m, step, i % 2 ? 3 : 1);
            assert_int_equal(a.n, b.n);
            assert_memory_equal(a.v, b.v, (size_t)a.n * a.width * sizeof(float));
            free(a.v);
            free(b.v);
        }
        struct rows seven = run(x, n, n, m, step, 7);
        assert_memory_equal(whole.v, seven.v, (size_t)whole.n * whole.width * sizeof(float));
        free(seven.v);
        free(whole.v);
    }
    free(x);
}

static void test_begin_forgets_the_previous_sound(void **state)
{
    (void)state;
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, NULL, NULL }, &kern, NULL), STENO_OK);
    assert_int_equal(fbank_open(&f, &a, &bank, NULL, NULL), STENO_OK);
    float *x = noise_new(3000, 19), first[4 * 560], second[4 * 560];
    int64_t n = fbank_push(f, x, 3000, first, 560);
    n += fbank_end(f, first + n * 560, 560);
    assert_int_equal(n, 3);
    fbank_begin(f);
    fbank_push(f, x + 100, 1234, second, 560);
    fbank_begin(f);
    assert_int_equal(fbank_samples(f), 0);
    assert_int_equal(fbank_rows_for(f, 3000, 1), 3);
    n = fbank_push(f, x, 3000, second, 560);
    fbank_end(f, second + n * 560, 560);
    assert_memory_equal(first, second, 3 * 560 * sizeof(float));
    free(x);
    arena_free(&a);
}

static void test_sizes_out_of_range_are_refused(void **state)
{
    (void)state;
    static const int bad[][3] = { { 0, 7, 6 }, { 129, 7, 6 }, { 80, 0, 1 }, { 80, 33, 1 }, { 80, 7, 0 }, { 80, 5, 6 }, { -1, 1, 1 } };
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_error e = { 0 };
        const struct fbank_params p = { bad[i][0], bad[i][1], bad[i][2], NULL, NULL };
        assert_int_equal(fbank_bank_init(&bank, &a, &p, &kern, &e), STENO_EUNSUPPORTED);
        assert_true(*e.text);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_equal_the_definition),
        cmocka_unit_test(test_constant_and_silent_sound_is_exactly_the_floor),
        cmocka_unit_test(test_a_constant_added_changes_nothing),
        cmocka_unit_test(test_sound_divided_by_32768_is_lower_by_20_794),
        cmocka_unit_test(test_nan_counts_as_zero_and_huge_samples_stay_finite),
        cmocka_unit_test(test_row_counts_are_ceil_of_frames_by_step),
        cmocka_unit_test(test_rows_stack_frames_with_repeated_edges),
        cmocka_unit_test(test_rows_come_as_soon_as_their_last_frame_is_complete),
        cmocka_unit_test(test_shift_and_scale_are_applied_per_column),
        cmocka_unit_test(test_rows_do_not_depend_on_push_sizes_and_threads),
        cmocka_unit_test(test_begin_forgets_the_previous_sound),
        cmocka_unit_test(test_sizes_out_of_range_are_refused),
    };
    int failed = 0;
    for (int level = 0; cpu_level_name(level); level++) {
        if (!cpu_level_usable(level) || !level_is_checked(level, cpu_level_best())) continue;
        kern_init(&kern, level);
        failed += cmocka_run_group_tests_name(cpu_level_name(level), tests, NULL, NULL);
    }
    return failed + front_threads_run();
}

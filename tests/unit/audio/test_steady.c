/* steno tests: levels of frames, and steady sounds. SPDX-License-Identifier: MIT */
#include <math.h>
#include "audio/steady.h"
#include "harness.h"

enum { FRAMES = 1000 };

static uint32_t seed = 5;

static float uniform(void) /* -1 to 1 */
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 2147483648.0f;
}

/* Levels around `mean`, up to `swing` bels from it, for `of` frames in every 20; peaks 3 bels above the last bit. */
static void levels_fill(struct frame_level *level, int n, float mean, float swing, int of)
{
    for (int t = 0; t < n; t++) level[t] = (struct frame_level){ mean + 0.02f * uniform() + (t % 20 < of ? swing : 0), 3 };
}

static void test_levels_of_the_last_bit_are_no_sound(void **state)
{
    struct frame_level level[FRAMES];
    (void)state;
    for (int n = 1; n <= FRAMES; n += 37) {
        for (int t = 0; t < n; t++) level[t] = (struct frame_level){ -8, -0.3f + (t % 7 ? 0.2f * uniform() : 0.6f) };
        assert_true(levels_lack_sound(level, n) == (n > 1));
        for (int t = 0; t < n; t++) level[t].peak = -0.2f;
        assert_true(levels_lack_sound(level, n) && levels_lack_speech(level, n));
        for (int t = n > 9 ? n - 9 : 0; t < n; t++) level[t] = (struct frame_level){ -8, 0.3f }; /* a word begins */
        assert_false(levels_lack_sound(level, n));
        assert_false(levels_lack_speech(level, n > 189 ? 189 : n) && n < 190);
        level[n - 1].peak = 2; /* a stream knows one frame of it */
        for (int t = 0; t < n - 1; t++) level[t].peak = -0.3f;
        assert_false(levels_lack_sound(level, n));
    }
    assert_int_equal(levels_lack_sound(level, 0), 0);
    assert_int_equal(levels_lack_speech(level, 0), 0);
}

static void test_even_levels_are_no_speech_for_two_seconds(void **state)
{
    struct frame_level level[FRAMES];
    (void)state;
    levels_fill(level, FRAMES, -3, 0, 0);
    assert_true(levels_lack_speech(level, 190));
    assert_true(levels_lack_speech(level, FRAMES));
    assert_false(levels_lack_speech(level, 189));
}

static void test_levels_that_move_are_speech(void **state)
{
    struct frame_level level[FRAMES];
    (void)state;
    levels_fill(level, FRAMES, -3, 0.2f, 10); /* 2 dB, for half of the time */
    assert_false(levels_lack_speech(level, FRAMES));
    levels_fill(level, FRAMES, -3, 0.1f, 10);
    assert_true(levels_lack_speech(level, FRAMES));
    levels_fill(level, FRAMES, -3, 0, 0);
    for (int t = 400; t < 412; t++) level[t].mean += 0.5f; /* a syllable of 0.12 s */
    assert_false(levels_lack_speech(level + 300, 206));
}

/* Faint speech fills few bands, so it changes the mean of all by little. */
static void test_loud_bands_that_move_are_speech(void **state)
{
    struct frame_level level[FRAMES];
    (void)state;
    for (int faint = 0; faint < 2; faint++)
        for (int wide = 0; wide < 2; wide++) {
            const float swing = (faint ? 0.25f : 0.6f) + (wide ? 0.15f : 0);
            levels_fill(level, FRAMES, -7, 0, 0);
            for (int t = 0; t < FRAMES; t++) level[t].peak = (faint ? 0.2f : 1.5f) + (t % 100 < 50 ? swing : 0);
            assert_int_equal(levels_lack_speech(level, FRAMES), !wide);
        }
}

/* ---- levels of frames: logarithms of bands, as Kaldi has them ---- */

static struct fbank_bank bank_of(int n_mels)
{
    struct fbank_bank b = { .kind = FBANK_KALDI, .n_mels = n_mels };
    for (int i = 0; i < n_mels; i++) b.last_bit[i] = 5 + 0.01f * (float)i;
    return b;
}

static void test_few_loud_bands_are_a_sound(void **state)
{
    float x[SPECTRUM_BANDS];
    const struct fbank_bank b = bank_of(80);
    (void)state;
    for (int from = 0; from <= 80 - 8; from += 3) {
        for (int i = 0; i < 80; i++) x[i] = b.last_bit[i] - 3 + (i >= from && i < from + 8 ? 3 + 1.6f : 0); /* 7 dB above */
        assert_true(level_of_frame(&b, x).peak > 0 && level_of_frame(&b, x).peak < 0.2f);
        x[from] -= 3; /* 6 dB */
        assert_true(level_of_frame(&b, x).peak < 0.05f);
    }
    for (int i = 0; i < 80; i++) x[i] = b.last_bit[i] + 1.2f; /* all bands, 5 dB above */
    assert_true(level_of_frame(&b, x).peak < 0);
    for (int n = 1; n < 10; n++) { /* fewer bands than a group has */
        const struct fbank_bank few = bank_of(n);
        for (int i = 0; i < n; i++) x[i] = few.last_bit[i] + 2;
        assert_true(level_of_frame(&few, x).peak > 0);
        for (int i = 0; i < n; i++) x[i] = few.last_bit[i] - 9;
        assert_true(level_of_frame(&few, x).peak < -0.59f);
    }
}

/* The guard of centred banks does not hide quiet sound. */
static void test_sound_below_the_guard_is_heard(void **state)
{
    struct fbank_bank b = { .kind = FBANK_CENTRED, .n_mels = 128 };
    float x[SPECTRUM_BANDS];
    (void)state;
    for (int i = 0; i < 128; i++) {
        b.last_power[i] = 1e-11f;
        b.last_bit[i] = logf(1e-11f);
    }
    for (int i = 0; i < 128; i++) x[i] = logf(0x1p-24f + (i >= 40 && i < 60 ? 1e-10f : 0));
    const struct frame_level quiet = level_of_frame(&b, x);
    assert_true(fabsf(quiet.peak - 0.4f) < 0.02f); /* 10 dB, less 6 */
    for (int i = 0; i < 128; i++) x[i] = -2;
    assert_true(fabsf(level_of_frame(&b, x).mean - -2 / 2.302585f) < 1e-5f);
}

static void test_a_steady_level_is_within_four_decibels(void **state)
{
    float level[FRAMES];
    (void)state;
    for (int t = 0; t < FRAMES; t++) level[t] = -3 + 0.02f * uniform() + (t % 20 < 10 ? 0.3f : 0);
    assert_true(levels_are_steady(level, FRAMES));
    for (int t = 0; t < FRAMES; t++) level[t] = -3 + 0.02f * uniform() + (t % 20 < 10 ? 0.5f : 0);
    assert_false(levels_are_steady(level, FRAMES));
    assert_true(levels_are_steady(level, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_the_last_bit_are_no_sound),
        cmocka_unit_test(test_even_levels_are_no_speech_for_two_seconds),
        cmocka_unit_test(test_levels_that_move_are_speech),
        cmocka_unit_test(test_loud_bands_that_move_are_speech),
        cmocka_unit_test(test_few_loud_bands_are_a_sound),
        cmocka_unit_test(test_sound_below_the_guard_is_heard),
        cmocka_unit_test(test_a_steady_level_is_within_four_decibels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

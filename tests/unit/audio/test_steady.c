/* steno tests: levels of frames, and steady sounds. SPDX-License-Identifier: MIT */
#include <math.h>
#include "audio/steady.h"
#include "harness.h"

enum { FRAMES = 1000 };
static const float QUIET = -8;

static uint32_t seed = 5;

static float uniform(void) /* -1 to 1 */
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 2147483648.0f;
}

/* Levels around `mean`, up to `swing` bels from it, for `of` frames in every 20. */
static void levels_fill(float *level, int n, float mean, float swing, int of)
{
    for (int t = 0; t < n; t++) level[t] = mean + 0.02f * uniform() + (t % 20 < of ? swing : 0);
}

static void test_levels_of_the_last_bit_are_no_sound(void **state)
{
    float level[FRAMES];
    (void)state;
    for (int n = 1; n <= FRAMES; n += 37) {
        for (int t = 0; t < n; t++) level[t] = QUIET - 1 - 0.9f * uniform();
        assert_true(levels_lack_speech(level, n, QUIET));
        for (int t = n > 9 ? n - 9 : 0; t < n; t++) level[t] = -2; /* a word begins */
        assert_false(levels_lack_speech(level, n, QUIET));
    }
    assert_int_equal(levels_lack_speech(level, 0, QUIET), 0);
}

static void test_even_levels_are_no_speech_for_two_seconds(void **state)
{
    float level[FRAMES];
    (void)state;
    levels_fill(level, FRAMES, -3, 0, 0);
    assert_true(levels_lack_speech(level, 190, QUIET));
    assert_true(levels_lack_speech(level, FRAMES, QUIET));
    assert_false(levels_lack_speech(level, 189, QUIET));
}

static void test_levels_that_move_are_speech(void **state)
{
    float level[FRAMES];
    (void)state;
    levels_fill(level, FRAMES, -3, 0.2f, 10); /* 2 dB, for half of the time */
    assert_false(levels_lack_speech(level, FRAMES, QUIET));
    levels_fill(level, FRAMES, -3, 0.1f, 10);
    assert_true(levels_lack_speech(level, FRAMES, QUIET));
    levels_fill(level, FRAMES, -3, 0, 0);
    for (int t = 400; t < 412; t++) level[t] += 0.5f; /* a syllable of 0.12 s */
    assert_false(levels_lack_speech(level + 300, 206, QUIET));
}

static void test_a_steady_level_is_within_four_decibels(void **state)
{
    float level[FRAMES];
    (void)state;
    levels_fill(level, FRAMES, -3, 0.3f, 10);
    assert_true(levels_are_steady(level, FRAMES));
    levels_fill(level, FRAMES, -3, 0.5f, 10);
    assert_false(levels_are_steady(level, FRAMES));
    assert_true(levels_are_steady(level, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_the_last_bit_are_no_sound),
        cmocka_unit_test(test_even_levels_are_no_speech_for_two_seconds),
        cmocka_unit_test(test_levels_that_move_are_speech),
        cmocka_unit_test(test_a_steady_level_is_within_four_decibels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: what to believe of a known text's alignment, and cutting the text. SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "harness.h"
#include "task/align/align_text.h"

/* ---- which words ---- */

static void expect_heard(const double *p, int32_t n, double enough, int32_t want_from, int32_t want_to)
{
    int32_t from = -1, to = -1;
    spoken_range(p, n, enough, &from, &to);
    if (from != want_from || to != want_to) fail_msg("[%d, %d), want [%d, %d)", (int)from, (int)to, (int)want_from, (int)want_to);
}

static void test_words_count_until_they_become_improbable(void **state)
{
    (void)state;
    const double p[] = { 0.9, 0.99, 0.05, 0.8, 0.1, 0.7, 0.01, 0.02, 0.3, 0.01, 0.02 };
    expect_heard(p, 11, HEARD_ENOUGH, 0, 6); /* one improbable token does not end it */
    expect_heard(p + 6, 5, HEARD_ENOUGH, 0, 0);
    expect_heard(p, 1, HEARD_ENOUGH, 0, 1);
    expect_heard(p, 1, HEARD_SKIPPING, 0, 0);
    expect_heard(p, 0, HEARD_ENOUGH, 0, 0);
    const double odd[] = { NAN, NAN, INFINITY, -1 };
    expect_heard(odd, 2, HEARD_ENOUGH, 0, 0);
    expect_heard(odd, 4, HEARD_ENOUGH, 0, 0);
}

static void test_words_are_left_out_only_for_strong_reasons(void **state)
{
    (void)state;
    double p[24];
    for (int i = 0; i < 24; i++) p[i] = i < 10 ? 0.001 : 0.99;
    expect_heard(p, 14, HEARD_ENOUGH, 0, 0);
    expect_heard(p, 20, HEARD_ENOUGH, 10, 20);
}

static struct known_word cue(double start, double end)
{
    return (struct known_word){ .start = start, .end = end, .probability = 1 };
}

static void test_words_settle_up_to_the_edge_or_the_first_that_went_wrong(void **state)
{
    (void)state;
    struct known_word w[] = { cue(0, 0.5), cue(0.5, 0.9), cue(0.9, 0.9), cue(0.9, 1.4), cue(1.4, 1.8) };
    assert_int_equal(settled_count(w, 5, 5, 10), 5);
    assert_int_equal(settled_count(w, 3, 5, 10), 3); /* one squeezed word is nothing unusual */
    assert_int_equal(settled_count(w, 5, 5, 1.4), 4);
    assert_int_equal(settled_count(w, 0, 5, 10), 0);
    struct known_word wrong[] = { cue(0, 0.5), cue(0.5, 0.9), cue(0.9, 2.1), cue(2.1, 2.1), cue(2.1, 2.1), cue(2.1, 3) };
    assert_int_equal(settled_count(wrong, 6, 6, 10), 2); /* the third took time of those behind it */
    struct known_word drawn[] = { cue(0, 0.5), cue(0.5, 0.9), cue(0.9, 5), cue(5, 5.5) };
    assert_int_equal(settled_count(drawn, 4, 4, 10), 1);
    struct known_word first[] = { cue(1, 5), cue(5, 5.5) };
    assert_int_equal(settled_count(first, 2, 2, 10), 2);
    assert_true(first[0].end == 2);
    struct known_word none[] = { cue(1, 1), cue(1, 1), cue(1, 2) };
    assert_int_equal(settled_count(none, 3, 3, 10), 0);
    struct known_word lacking[] = { cue(NAN, NAN), cue(NAN, NAN) };
    assert_int_equal(settled_count(lacking, 2, 2, 10), 0);
}

static void test_windows_are_left_at_a_pause(void **state)
{
    (void)state;
    struct known_word w[] = { cue(0, 0.5), cue(0.5, 1), cue(2, 2.4), cue(2.4, 2.9), cue(2.9, 3.4), cue(3.4, 3.5), cue(3.5, 4) };
    assert_int_equal(settled_count(w, 3, 7, 10), 2);
    assert_int_equal(settled_count(w, 6, 7, 10), 6); /* the pause is too far back */
    assert_int_equal(settled_count(w, 3, 3, 10), 3); /* nothing follows */
}

/* ---- sound ---- */

enum { FRAMES = 300 };

static void expect_sound(const double *level, int32_t n, int32_t begin, int32_t end)
{
    double scratch[FRAMES];
    int32_t got_begin, got_end;
    sound_find(&got_begin, &got_end, level, n, scratch);
    assert_in_range(got_begin, begin > 6 ? begin - 6 : 0, begin);
    assert_in_range(got_end, end, end + 6);
}

static void test_sound_is_what_lasts_and_stands_out(void **state)
{
    (void)state;
    double level[FRAMES];
    for (int i = 0; i < FRAMES; i++) level[i] = (i >= 100 && i < 130) || (i >= 200 && i < 220) ? 2 + i % 3 * 0.1 : -1 + i % 5 * 0.02;
    level[20] = 3; /* a click */
    expect_sound(level, FRAMES, 100, 220);
    for (int i = 0; i < FRAMES; i++) level[i] = 2 + i % 5 * 0.02; /* a hum */
    expect_sound(level, FRAMES, FRAMES, FRAMES);
    for (int i = 0; i < FRAMES; i++) level[i] = NAN;
    expect_sound(level, FRAMES, FRAMES, FRAMES);
    expect_sound(level, 5, 0, 5); /* too short to decide */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_count_until_they_become_improbable),
        cmocka_unit_test(test_words_are_left_out_only_for_strong_reasons),
        cmocka_unit_test(test_words_settle_up_to_the_edge_or_the_first_that_went_wrong),
        cmocka_unit_test(test_windows_are_left_at_a_pause),
        cmocka_unit_test(test_sound_is_what_lasts_and_stands_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

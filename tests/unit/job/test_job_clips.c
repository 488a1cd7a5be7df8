/* steno: spans of speech become clips that fit a window and keep their places. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "speech.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SPANS = 64 };

/* Spans from "start end" pairs in ms, -1 at the end. */
static int64_t spans_of(steno_span *spans, const int64_t *ms)
{
    int64_t n = 0;
    for (; ms[2 * n] >= 0; n++) spans[n] = (steno_span){ .size = sizeof *spans, .t0_ms = ms[2 * n], .t1_ms = ms[2 * n + 1] };
    return n;
}

static const struct clip_rules plain = { .pause_ms = 3000, .longest_ms = 30000, .end_ms = INT64_MAX };

/* The clips of `ms` are those of `want` (seconds, ends with -1). */
static void check(const struct clip_rules *r, const int64_t *ms, const double *want)
{
    steno_span spans[MAX_SPANS];
    double *clips;
    const int64_t n_spans = spans_of(spans, ms), n = clips_make(&clips, spans, n_spans, r);
    int64_t n_want = 0;
    while (want[n_want] >= 0) n_want++;
    assert_int_equal(2 * n, n_want);
    for (int64_t i = 0; i < 2 * n; i++)
        if (clips[i] != want[i]) fail_msg("number %d is %g, want %g", (int)i, clips[i], want[i]);
    if (n == 0) assert_null(clips);
    free(clips);
}

#define SPANS(...) (const int64_t[]){ __VA_ARGS__, -1 }
#define CLIPS(...) (const double[]){ __VA_ARGS__, -1 }

static void test_no_speech_gives_no_clips(void **state)
{
    (void)state;
    struct clip_rules r = plain;
    check(&r, (const int64_t[]){ -1 }, (const double[]){ -1 });
    r.min_speech_ms = 500;
    check(&r, SPANS(0, 490, 700, 1100), (const double[]){ -1 });
    r.begin_ms = 5000;
    r.end_ms = 6000;
    check(&r, SPANS(1000, 3000, 7000, 9000), (const double[]){ -1 });
    check(&r, SPANS(700, 700, 900, 100), (const double[]){ -1 }); /* what is no span at all */
}

static void test_spans_join_across_short_pauses_within_a_window(void **state)
{
    (void)state;
    check(&plain, SPANS(1000, 3000, 5000, 8000, 20000, 24000), CLIPS(1, 8, 20, 24));
    check(&plain, SPANS(0, 10000, 12000, 20000, 22000, 30000, 31000, 32000), CLIPS(0, 30, 31, 32));
    check(&plain, SPANS(0, 10000, 12000, 20000, 22000, 30010), CLIPS(0, 20, 22, 30.01));
    check(&plain, SPANS(0, 1000, 4000, 5000, 8010, 9000), CLIPS(0, 5, 8.01, 9));
}

static void test_long_spans_are_cut_into_equal_parts(void **state)
{
    (void)state;
    check(&plain, SPANS(1000, 31000), CLIPS(1, 31));
    check(&plain, SPANS(1000, 31010), CLIPS(1, 16, 16, 31.01));
    check(&plain, SPANS(0, 90000), CLIPS(0, 30, 30, 60, 60, 90));
    check(&plain, SPANS(0, 70000, 71000, 75000), CLIPS(0, 23.33, 23.33, 46.66, 46.66, 75)); /* the last part goes on */
}

static void test_pads_do_not_overlap_and_stay_in_the_audio(void **state)
{
    (void)state;
    struct clip_rules r = plain;
    r.pad_ms = 200;
    r.pause_ms = 0;
    r.end_ms = 10050;
    check(&r, SPANS(1000, 2000, 4000, 5000), CLIPS(0.8, 2.2, 3.8, 5.2));
    check(&r, SPANS(100, 2000, 9900, 10000), CLIPS(0, 2.2, 9.7, 10.05));
    r.longest_ms = 2000; /* so that they are not joined where their pads meet */
    check(&r, SPANS(1000, 2000, 2300, 3300), CLIPS(0.8, 2.15, 2.15, 3.5));
    check(&r, SPANS(1000, 2000, 2010, 3300), CLIPS(0.8, 2, 2, 3.5)); /* a pause of one cell cannot be halved */
}

static void test_times_lie_on_the_grid_and_spans_on_each_other_lose_their_beginnings(void **state)
{
    (void)state;
    struct clip_rules r = plain;
    r.pause_ms = -1;
    check(&r, SPANS(1005, 2001, 2005, 3009), CLIPS(1, 2.01, 2.01, 3.01));
    check(&r, SPANS(1000, 5000, 2000, 3000, 4000, 6000), CLIPS(1, 5, 5, 6));
    r.begin_ms = 1503;
    r.end_ms = 5508;
    check(&r, SPANS(1000, 5000, 4000, 6000), CLIPS(1.51, 5, 5, 5.5));
}

static int64_t ms_of(double s)
{
    return llrint(s * 1000);
}

/* Is all of [t0, t1) in one or another of the clips? */
static int is_covered(const double *clips, int64_t n, int64_t t0, int64_t t1)
{
    for (int64_t i = 0; i < n && t0 < t1; i++)
        if (ms_of(clips[2 * i]) <= t0 && ms_of(clips[2 * i + 1]) > t0) t0 = ms_of(clips[2 * i + 1]);
    return t0 >= t1;
}

static uint32_t draw(uint32_t *r, uint32_t n)
{
    *r = *r * 1664525u + 1013904223u;
    return (*r >> 8) % n;
}

static void test_any_speech_is_covered_by_clips_that_fit(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        steno_span spans[MAX_SPANS];
        const int64_t n_spans = draw(&seed, MAX_SPANS);
        int64_t at = 0;
        for (int64_t i = 0; i < n_spans; i++) {
            const int64_t t0 = at + draw(&seed, round & 1 ? 6000 : 300), t1 = t0 + draw(&seed, i % 7 ? 5000 : 80000);
            spans[i] = (steno_span){ .size = sizeof *spans, .t0_ms = t0, .t1_ms = at = t1 };
        }
        const int64_t end = round % 3 ? at : at / 2;
        const struct clip_rules r = { draw(&seed, 2) * 250, draw(&seed, 500), draw(&seed, 4000), 1000 + draw(&seed, 29001),
                                      round % 5 ? 0 : draw(&seed, 20000), end };
        double *clips;
        const int64_t n = clips_make(&clips, spans, n_spans, &r);
        assert_true(n >= 0 && !clips == (n == 0));
        for (int64_t i = 0; i < 2 * n; i++) {
            assert_true(ms_of(clips[i]) % 10 == 0 && clips[i] >= (i ? clips[i - 1] : (double)r.begin_ms / 1000));
            assert_true(ms_of(clips[i]) <= r.end_ms);
            if (i % 2) assert_true(clips[i] > clips[i - 1] && ms_of(clips[i]) - ms_of(clips[i - 1]) <= r.longest_ms);
        }
        for (int64_t i = 0; i < n_spans; i++) {
            const int64_t t0 = spans[i].t0_ms > r.begin_ms + 9 ? spans[i].t0_ms : r.begin_ms + 9;
            const int64_t t1 = spans[i].t1_ms < r.end_ms - 9 ? spans[i].t1_ms : r.end_ms - 9;
            if (spans[i].t1_ms - spans[i].t0_ms >= r.min_speech_ms && !is_covered(clips, n, t0, t1))
                fail_msg("round %d: speech from %d to %d ms is lost", round, (int)t0, (int)t1);
        }
        free(clips);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_speech_gives_no_clips),
        cmocka_unit_test(test_spans_join_across_short_pauses_within_a_window),
        cmocka_unit_test(test_long_spans_are_cut_into_equal_parts),
        cmocka_unit_test(test_pads_do_not_overlap_and_stay_in_the_audio),
        cmocka_unit_test(test_times_lie_on_the_grid_and_spans_on_each_other_lose_their_beginnings),
        cmocka_unit_test(test_any_speech_is_covered_by_clips_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

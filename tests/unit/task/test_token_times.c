/* steno tests: times of tokens without an alignment. SPDX-License-Identifier: MIT */
#include <string.h>
#include "harness.h"
#include "task/words/token_times.h"

enum { EOT = 8,
       TS = 10 };

static const char *const vocabulary[] = { " one", " two", ",", " 34", "。", "", "\xe3\x80", "ab" };

struct made {
    struct arena a;
    struct vocab v;
    struct token_roles t;
};

static int made_up(void **state)
{
    static struct made m;
    memset(&m, 0, sizeof m);
    arena_init(&m.a);
    assert_int_equal(vocab_init(&m.v, &m.a, 2000, EOT, NULL), STENO_OK);
    for (int32_t i = 0; i < EOT; i++) vocab_set(&m.v, i, (const uint8_t *)vocabulary[i], (uint32_t)strlen(vocabulary[i]));
    m.t.eot = m.t.n_text = EOT;
    m.t.timestamp_begin = TS;
    *state = &m;
    return 0;
}

static int made_down(void **state)
{
    struct made *m = *state;
    arena_free(&m->a);
    return 0;
}

static struct sampled_token token(int32_t id, int32_t ts_id, float ts_prob)
{
    return (struct sampled_token){ .id = id, .ts_id = ts_id, .ts_prob = ts_prob, .ts_prob_sum = 0.5f };
}

static void expect_times(const struct made *m, const struct sampled_token *tok, int32_t n, struct token_span span, double threshold,
                         const int64_t *want)
{
    struct token_time out[16];
    for (int i = 0; i < 16; i++) out[i].dtw = -7;
    token_times(out, tok, n, &m->v, &m->t, &span, threshold);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(out[i].dtw, -7);
        if (out[i].t0 != want[i] || out[i].t1 != want[i + 1])
            fail_msg("token %d: %lld..%lld, want %lld..%lld", (int)i, (long long)out[i].t0, (long long)out[i].t1, (long long)want[i],
                     (long long)want[i + 1]);
    }
}

static float length(const char *s)
{
    return voice_length((const uint8_t *)s, strlen(s));
}

static void test_characters_have_lengths(void **state)
{
    (void)state;
    assert_float_equal(length(" one"), 3.01, 1e-6);
    assert_float_equal(length("a,b.c!d?"), 4 + 2 + 9, 1e-6);
    assert_float_equal(length("09　"), 6.01, 1e-6);
    assert_float_equal(length("你好，、；："), 2 + 8, 1e-6);
    assert_float_equal(length("。！？．…９"), 18, 1e-6);
    assert_float_equal(length("\xe3\x80"
                              "a\xff"),
                       3, 1e-6); /* parts of characters */
    assert_float_equal(length(""), 0, 1e-6);
}

static void test_without_anchors_time_goes_by_length(void **state)
{
    const struct made *m = *state;
    /* <0.00> " one" "," "ab" <1.00>: lengths 3.01, 2, 2 of 7.01 */
    const struct sampled_token tok[] = { token(TS, TS, 1), token(0, TS + 20, 0.9f), token(2, TS + 30, 0.9f),
                                         token(7, -1, 0), token(TS + 50, TS + 50, 1) };
    const int64_t want[] = { 5000, 5000, 5000 + 429, 5000 + 714, 6000, 6000 };
    expect_times(m, tok, 5, (struct token_span){ 5000, 5000, 6000 }, 1, want);
}

static void test_likely_timestamps_are_anchors(void **state)
{
    const struct made *m = *state;
    /* "ab" is spoken at 0.60 s, where 3.01 + 2 units have 600 ms before it */
    struct sampled_token tok[] = { token(TS, TS, 1), token(0, TS + 1, 0.009f), token(2, TS + 2, 0.01f),
                                   token(7, TS + 30, 0.02f), token(TS + 50, TS + 50, 1) };
    const int64_t want[] = { 5000, 5000, 5000 + 360, 5600, 6000, 6000 };
    expect_times(m, tok, 5, (struct token_span){ 5000, 5000, 6000 }, 0.01, want);
    tok[3].ts_prob_sum = 0.01f; /* not likely enough that there is a timestamp at all */
    const int64_t plain[] = { 5000, 5000, 5000 + 429, 5000 + 714, 6000, 6000 };
    expect_times(m, tok, 5, (struct token_span){ 5000, 5000, 6000 }, 0.01, plain);
}

static void test_anchors_never_go_back_or_past_the_segment(void **state)
{
    const struct made *m = *state;
    const struct sampled_token tok[] = { token(TS + 10, TS + 10, 1), token(7, TS + 20, 1), token(7, TS + 15, 1),
                                         token(7, TS + 60, 1), token(TS + 50, TS + 50, 1) };
    const int64_t want[] = { 200, 400, 600, 800, 1000, 1000 }; /* from 400 on three equal parts; the start's own time lasts to the anchor */
    expect_times(m, tok, 5, (struct token_span){ 0, 200, 1000 }, 0.01, want);
}

static void test_times_count_from_the_window(void **state)
{
    const struct made *m = *state;
    const struct sampled_token tok[] = { token(7, -1, 0), token(7, TS + 100, 0.5f), token(7, -1, 0) };
    const int64_t want[] = { 61000, 62000, 62500, 63000 }; /* no timestamps at the ends: the last keeps its share */
    expect_times(m, tok, 3, (struct token_span){ 60000, 61000, 63000 }, 0.01, want);
}

static void test_segments_of_one_token_or_of_none_have_times_in_order(void **state)
{
    const struct made *m = *state;
    const struct sampled_token one[] = { token(0, -1, 0) };
    expect_times(m, one, 1, (struct token_span){ 0, 100, 300 }, 0.01, (const int64_t[]){ 100, 300 });
    expect_times(m, one, 1, (struct token_span){ 0, 300, 100 }, 0.01, (const int64_t[]){ 300, 300 });
    const struct sampled_token empty[] = { token(5, -1, 0), token(5, -1, 0), token(-3, 2000000000, 1), token(1999, -2000000000, 1) };
    expect_times(m, empty, 3, (struct token_span){ 0, 0, 300 }, 0.01, (const int64_t[]){ 0, 100, 200, 300 });
    expect_times(m, empty, 4, (struct token_span){ 0, 0, 300 }, 0.01, (const int64_t[]){ 0, 100, 200, 300, 300 });
    const struct sampled_token ts[] = { token(TS, TS, 1), token(TS + 5, TS + 5, 1) };
    expect_times(m, ts, 2, (struct token_span){ 0, 0, 100 }, 0.01, (const int64_t[]){ 0, 100, 100 });
    token_times(NULL, NULL, 0, &m->v, &m->t, &(struct token_span){ 0, 0, 1 }, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters_have_lengths),
        cmocka_unit_test(test_without_anchors_time_goes_by_length),
        cmocka_unit_test(test_likely_timestamps_are_anchors),
        cmocka_unit_test(test_anchors_never_go_back_or_past_the_segment),
        cmocka_unit_test(test_times_count_from_the_window),
        cmocka_unit_test(test_segments_of_one_token_or_of_none_have_times_in_order),
    };
    return cmocka_run_group_tests(tests, made_up, made_down);
}

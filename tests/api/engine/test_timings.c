/* steno tests: timings of a session count its own runs alone. SPDX-License-Identifier: MIT */
#include "batch.h"
#include "api/shipped_session.h"

static steno_timings timings_of(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), 0);
    return t;
}

/* @return calls of all operations together; *ns: their time */
static int64_t profile_of(const steno_session *s, int64_t *ns)
{
    const char *label;
    int64_t all = 0, one_ns, calls;
    *ns = 0;
    for (int i = 0; !steno_profile_get(s, i, &label, &one_ns, &calls); i++) {
        all += calls;
        *ns += one_ns;
    }
    return all;
}

static void expect_nothing(const steno_session *s)
{
    const steno_timings t = timings_of(s);
    int64_t ns;
    assert_int_equal(t.n_windows + t.n_encodes + t.n_prompts + t.n_steps + t.n_prompt_tokens + t.n_wakes, 0);
    assert_int_equal(t.source_us + t.mel_us + t.encode_us + t.cross_us + t.prompt_us + t.decode_us, 0);
    assert_int_equal(profile_of(s, &ns), 0);
    assert_int_equal(ns, 0);
}

static void test_one_session_of_a_batch_counts_and_resets_nothing_of_another(void **state)
{
    (void)state;
    steno_batch *b = batch_with(model, 2);
    steno_session *one = member_new(model, b), *other = member_new(model, b);
    int64_t ns;
    steno_profile_enable(one, 1);
    run_on(one, &demo, NULL);
    expect_nothing(other);
    assert_true(profile_of(one, &ns) > 0 && ns > 0);
    const steno_timings t = timings_of(one);
    assert_true(t.n_windows == 1 && t.n_steps > 0 && t.decode_us > 0);
    run_on(other, &many, NULL); /* which is not profiled */
    assert_int_equal(profile_of(other, &ns), 0);
    const steno_timings same = timings_of(one);
    assert_memory_equal(&same, &t, sizeof t);
    steno_timings_reset(other);
    expect_nothing(other);
    const steno_timings kept = timings_of(one);
    assert_memory_equal(&kept, &t, sizeof t);
    steno_session_close(one);
    steno_session_close(other);
    steno_batch_close(b);
}

struct pcm_tap { const struct audio *a; int64_t at; };

static int64_t tap_read(void *user, float *x, int64_t n)
{
    struct pcm_tap *t = user;
    const int64_t left = t->a->n - t->at, take = n < left ? n : left;
    memcpy(x, t->a->pcm + t->at, (size_t)take * sizeof *x);
    t->at += take;
    return take;
}

static int tap_rewind(void *user)
{
    ((struct pcm_tap *)user)->at = 0;
    return 0;
}

/* n calls that decode together: counts are those of a call alone, times are parts of one whole. */
static void expect_shares(int n, const steno_timings *alone)
{
    steno_batch *b = batch_with(model, n);
    steno_session *s[8];
    struct pcm_tap tap[8];
    int64_t ns, decode_us = 0;
    for (int i = 0; i < n; i++) {
        s[i] = member_new(model, b);
        tap[i] = (struct pcm_tap){ &demo, 0 };
        const steno_source src = { tap_read, tap_rewind, &tap[i] };
        steno_profile_enable(s[i], i % 2);
        assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < n; i++) {
        const steno_timings t = timings_of(s[i]);
        assert_int_equal(t.n_windows, alone->n_windows);
        assert_int_equal(t.n_encodes, alone->n_encodes);
        assert_int_equal(t.n_prompt_tokens, alone->n_prompt_tokens);
        assert_int_equal(t.n_prompts + t.n_steps, alone->n_prompts + alone->n_steps);
        assert_true(t.encode_us > 0 && t.prompt_us + t.decode_us > 0);
        assert_int_equal(profile_of(s[i], &ns) > 0, i % 2);
        decode_us += t.decode_us;
    }
    assert_true(decode_us > 0);
    for (int i = 0; i < n; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

static void test_sessions_that_decode_together_have_their_parts(void **state)
{
    (void)state;
    steno_batch *b = batch_with(model, 1);
    steno_session *s = member_new(model, b);
    run_on(s, &demo, NULL);
    const steno_timings alone = timings_of(s);
    steno_session_close(s);
    steno_batch_close(b);
    for (int n = 1; n <= 8; n *= 2) expect_shares(n, &alone);
}

static void test_each_request_has_times_of_its_own(void **state)
{
    (void)state;
    steno_batch *b = batch_with(model, 1);
    steno_session *s[2] = { member_new(model, b), member_new(model, b) };
    struct pcm_tap tap[2] = { { &many, 0 }, { &demo, 0 } };
    steno_request_timings t = { .size = sizeof t }, first = { .size = 8 };
    assert_int_equal(steno_request_timings_get(s[0], &t), STENO_EARG);
    for (int round = 0; round < 2; round++) { /* the second is canceled before it is read */
        for (int i = 0; i < 2; i++) {
            const steno_source src = { tap_read, tap_rewind, &tap[i] };
            tap[i].at = 0;
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
            if (round) steno_cancel(s[i]);
        }
        assert_int_equal(steno_request_timings_get(s[0], &t), STENO_EARG); /* queued */
        assert_int_equal(steno_batch_run(b), 0);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(steno_request_timings_get(s[i], &t), 0);
            if (round) {
                assert_true(t.n_windows == 0 && t.queued_us == -1 && t.first_window_us == -1 && t.encode_us == 0 && t.total_us >= 0);
                continue;
            }
            assert_true(t.n_windows == timings_of(s[i]).n_windows && t.n_windows > !i);
            assert_true(0 <= t.queued_us && t.queued_us <= t.first_window_us && t.first_window_us < t.total_us);
            assert_true(0 < t.encode_us && 0 < t.decode_us && t.encode_us + t.decode_us <= t.total_us + 1000);
        }
    }
    assert_int_equal(steno_request_timings_get(s[0], &first), 0);
    assert_true(first.size == 8 && first.total_us == 0);
    assert_int_equal(steno_request_timings_get(NULL, &t), STENO_EARG);
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_session_of_a_batch_counts_and_resets_nothing_of_another),
        cmocka_unit_test(test_each_request_has_times_of_its_own),
        cmocka_unit_test(test_sessions_that_decode_together_have_their_parts),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

/* steno tests: decoding a window again when the text is bad. SPDX-License-Identifier: MIT */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "shipped_session.h"
#include "internal.h"

enum { MOST = 200 };

static struct audio noisy;

struct log { int n; steno_attempt a[MOST]; };

static void log_attempt(void *user, const steno_attempt *a)
{
    struct log *l = user;
    assert_int_equal(a->size, sizeof *a);
    assert_true(l->n < MOST);
    l->a[l->n++] = *a;
}

static int open_all(void **state)
{
    uint32_t seed = 3;
    noisy = (struct audio){ malloc(RATE * sizeof(float)), RATE };
    for (int i = 0; i < RATE; i++) noisy.pcm[i] = 0.05f * noise(&seed);
    return shipped_session_open(state);
}

static int close_all(void **state)
{
    free(noisy.pcm);
    return shipped_session_close(state);
}

/* Only what a test sets is tried. */
static steno_transcribe_params quiet(struct log *l)
{
    steno_transcribe_params p = params_new();
    p.compression_ratio_threshold = p.logprob_threshold = p.no_speech_threshold = p.entropy_threshold = (double)NAN;
    p.guards = STENO_GUARDS_OFF; /* the last attempt is kept, as the reference does */
    p.user = l;
    p.on_attempt = log_attempt;
    if (l) l->n = 0;
    return p;
}

static void test_a_forced_ladder_climbs_in_fifths_to_one_and_encodes_once(void **state)
{
    (void)state;
    static const double want[] = { 0, 0.2, 0.4, 0.6, 0.8, 1 };
    struct log l;
    steno_transcribe_params p = quiet(&l);
    steno_timings t = { .size = sizeof t };
    p.logprob_threshold = 0;
    steno_timings_reset(session);
    run(&demo, &p);
    steno_timings_get(session, &t);
    assert_int_equal(l.n, 6);
    for (int i = 0; i < 6; i++) {
        assert_true(l.a[i].temperature == want[i]);
        assert_int_equal(l.a[i].index, i);
        assert_int_equal(l.a[i].at_ms, 0);
        assert_int_equal(l.a[i].kept, i == 5);
        assert_true(l.a[i].no_speech_prob == l.a[0].no_speech_prob && l.a[0].no_speech_prob > 0);
    }
    assert_int_equal(t.n_windows, 1);
    assert_int_equal(t.n_encodes, 1);
    assert_int_equal(t.n_prompts, 1); /* the others begin behind it */
    assert_int_equal(t.n_wakes, 1 + 6);
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    assert_true(g.temperature == 1 && g.attempt == 5);
}

static void test_the_ladder_ends_at_one_whatever_its_steps(void **state)
{
    (void)state;
    static const struct { double t, step; int n; } c[] = {
        { 0, 0, 1 }, { 0, (double)NAN, 1 }, { 0, 1, 2 }, { 0, 1.5, 1 }, { 0, 0.5, 3 }, { 0.4, 0.3, 3 }, { 0.9, 0.2, 1 }, { 1, 0.2, 1 },
        { 1.5, 0.2, 1 }, { 0, 0.01, 101 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        if (SANITIZED && c[i].n > 3) continue;
        struct log l;
        steno_transcribe_params p = quiet(&l);
        p.logprob_threshold = 0;
        p.no_speech_threshold = 1; /* no window is above it */
        p.temperature = c[i].t;
        p.temperature_increment_on_fallback = c[i].step;
        p.sample_len = 3;
        run(&demo, &p);
        assert_int_equal(l.n, c[i].n);
        assert_true(l.a[0].temperature == c[i].t);
        assert_true(l.a[l.n - 1].kept && (l.n == 1 || l.a[l.n - 1].temperature <= 1));
    }
}

/* A threshold one side of what the first attempt measures lets it pass, on the other side does not. */
static void check_trigger(const struct audio *a, size_t field, double lax, double strict)
{
    for (int i = 0; i < 2; i++) {
        struct log l;
        steno_transcribe_params p = quiet(&l);
        const double limit = i ? strict : lax;
        memcpy((char *)&p + field, &limit, sizeof limit);
        run(a, &p);
        assert_true(l.n > 0 && l.a[0].index == 0);
        assert_int_equal(l.a[0].kept, !i);
    }
}

static void test_listed_temperatures_are_those_of_the_attempts(void **state)
{
    (void)state;
    static const double list[] = { 0.3, 1, 1.7 }, fifths[] = { 0.2, 0.4, 0.6, 0.8, 1 };
    struct log l;
    steno_transcribe_params p = quiet(&l);
    p.logprob_threshold = 0; /* no attempt passes */
    p.fallback_temperatures = list;
    for (int n = 1; n <= 3; n++) {
        l.n = 0;
        p.n_fallback_temperatures = n;
        run(&demo, &p);
        assert_int_equal(l.n, n + 1);
        assert_true(l.a[0].temperature == 0);
        for (int i = 0; i < n; i++) assert_true(l.a[i + 1].temperature == list[i]);
    }
    p.fallback_temperatures = fifths;
    p.n_fallback_temperatures = 5;
    l.n = 0;
    run(&demo, &p);
    const uint64_t listed = result_digest(session);
    p.n_fallback_temperatures = 0;
    l.n = 0;
    run(&demo, &p);
    assert_true(result_digest(session) == listed);
}

static void test_a_list_of_temperatures_that_does_not_rise_is_refused(void **state)
{
    (void)state;
    static const double falls[] = { 0.5, 0.3 }, zero[] = { 0 }, nan[] = { (double)NAN }, one[] = { 0.4 }, high[] = { 101 };
    static const struct { const double *list; int32_t n; double first, step; const char *says; } bad[] = {
        { falls, 2, 0, 0.2, "fallback_temperatures: 0.3 at place 1 is not above 0.5, the temperature before it" },
        { one, 1, 0.4, 0.2, "fallback_temperatures: 0.4 at place 0 is not above 0.4, the temperature before it" },
        { zero, 1, 0, 0.2, "0 at place 0 is not a temperature" }, { nan, 1, 0, 0.2, "nan at place 0 is not a temperature" },
        { high, 1, 0, 0.2, "101 at place 0 is not a temperature" }, { one, 33, 0, 0.2, "n_fallback_temperatures is 33, want at most 32" },
        { NULL, 1, 0, 0.2, "fallback_temperatures is NULL" }, { one, -1, 0, 0.2, "n_fallback_temperatures is -1" },
        { one, 1, 0, 0.3, "temperature_increment_on_fallback and fallback_temperatures say the same twice" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_transcribe_params p = params_new();
        p.temperature = bad[i].first;
        p.temperature_increment_on_fallback = bad[i].step;
        p.fallback_temperatures = bad[i].list;
        p.n_fallback_temperatures = bad[i].n;
        assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
        if (!strstr(steno_last_error(session), bad[i].says)) fail_msg("%zu: %s", i, steno_last_error(session));
    }
}

static void test_each_trigger_works_alone_and_none_works_switched_off(void **state)
{
    (void)state;
    struct log l;
    steno_transcribe_params p = quiet(&l);
    run(&many, &p);
    for (int i = 0; i < l.n; i++) assert_true(l.a[i].kept && l.a[i].index == 0);
    assert_true(l.a[0].n_tokens > 32);
    const double ratio = l.a[0].compression_ratio, logprob = l.a[0].avg_logprob, entropy = l.a[0].entropy;
    check_trigger(&many, offsetof(steno_transcribe_params, compression_ratio_threshold), ratio, ratio - 1e-9);
    check_trigger(&many, offsetof(steno_transcribe_params, logprob_threshold), logprob, logprob + 1e-9);
    check_trigger(&many, offsetof(steno_transcribe_params, entropy_threshold), entropy, entropy + 1e-9);
    p = quiet(&l);
    p.entropy_threshold = 100; /* of too few tokens nothing is asked */
    run(&demo, &p);
    assert_in_range(l.a[0].n_tokens, 1, 32);
    assert_int_equal(l.n, 1);
}

static void test_silence_passes_however_repetitive_its_text(void **state)
{
    (void)state;
    struct log l;
    steno_transcribe_params p = quiet(&l);
    p.compression_ratio_threshold = 0; /* any text is above */
    p.logprob_threshold = -1;
    run(&noisy, &p);
    assert_true(l.n > 1);
    assert_true(l.a[0].avg_logprob < -1 && l.a[0].no_speech_prob > 0.6);
    p = quiet(&l);
    p.compression_ratio_threshold = 0;
    p.logprob_threshold = -1;
    p.no_speech_threshold = 0.6;
    run(&noisy, &p);
    assert_int_equal(l.n, 1);
    assert_int_equal(steno_segment_count(session), 0);
    p = quiet(&l);
    p.compression_ratio_threshold = 0;
    p.no_speech_threshold = 0.6; /* without a log-probability threshold there is no silence to pass, only to skip */
    run(&noisy, &p);
    assert_true(l.n > 1);
    assert_int_equal(steno_segment_count(session), 0);
}

static void test_an_attempt_that_goes_on_behind_the_prompt_computes_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct log l;
        steno_transcribe_params p = quiet(&l);
        p.logprob_threshold = 0;
        p.initial_prompt = i ? "one two three four five six seven eight nine zero one two three four five six seven eight nine" : NULL;
        p.temperature_increment_on_fallback = 0.01; /* hot in name only: the most probable token wins */
        run(&demo, &p);
        assert_true(l.a[1].temperature == 0.01 && l.a[2].temperature == 0.02);
        assert_true(l.a[1].avg_logprob == l.a[0].avg_logprob && l.a[2].avg_logprob == l.a[0].avg_logprob);
        assert_int_equal(l.a[1].n_tokens, l.a[0].n_tokens);
    }
}

static void test_a_seed_gives_one_text_whatever_the_threads_and_attempts_draw_apart(void **state)
{
    (void)state;
    uint64_t want = 0;
    for (int threads = 1; threads <= 3; threads++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads, NULL), 0);
        steno_session *s = session_new(model, team, 1);
        for (int again = 0; again < 2; again++) {
            struct log l;
            steno_transcribe_params p = quiet(&l);
            p.logprob_threshold = 0;
            p.seed = 11;
            assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
            if (!want) want = result_digest(s);
            assert_true(result_digest(s) == want);
        }
        steno_session_close(s);
        steno_team_close(team);
    }
    struct log l; /* the last rung alone is another stream than the last of six */
    steno_transcribe_params p = quiet(&l);
    p.temperature = 1;
    p.seed = 11;
    run(&demo, &p);
    assert_true(result_digest(session) != want);
    assert_true(rng_stream_of(3000, 1, 0) != rng_stream_of(3000, 0, 0) && rng_stream_of(3000, 0, 1) != rng_stream_of(3000, 0, 0));
    assert_true(rng_stream_of(3000, 0, 0) != rng_stream_of(3001, 0, 0) && rng_stream_of(3000, 1, 0) != rng_stream_of(3000, 0, 1));
}

static void test_text_kept_above_half_does_not_condition_the_next_window(void **state)
{
    (void)state;
    struct log l;
    steno_transcribe_params p = quiet(&l);
    p.temperature_increment_on_fallback = 0.5;
    p.sample_len = 60;
    run(&many, &p);
    assert_true(l.a[l.n - 1].at_ms > 0);
    assert_true(l.a[l.n - 1].with_previous);
    p.logprob_threshold = 0; /* 0, 0.5 and 1 */
    l.n = 0;
    run(&many, &p);
    for (int i = 0; i < l.n; i++) assert_false(l.a[i].with_previous);
    assert_int_equal(inside_prompt(session).id[0], inside_tokens(model)->sot);
    p.temperature = 0.5; /* is not above */
    p.logprob_threshold = (double)NAN;
    l.n = 0;
    run(&many, &p);
    assert_true(l.a[l.n - 1].with_previous);
}

static void test_the_temperature_that_resets_the_prompt_can_be_chosen(void **state)
{
    (void)state;
    static const struct { double temperature, reset; int with; } row[] = {
        { 0.4, 0.5, 1 }, { 0.4, 0.3, 0 }, { 0.4, 0.4, 1 }, { 0.6, 0.5, 0 }, { 0.6, 0.7, 1 }, { 0.6, (double)NAN, 1 }, { 0.2, 0, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct log l;
        steno_transcribe_params p = quiet(&l);
        p.sample_len = 60;
        p.temperature = row[i].temperature;
        p.temperature_increment_on_fallback = 0;
        p.prompt_reset_on_temperature = row[i].reset;
        run(&many, &p);
        assert_true(l.a[l.n - 1].at_ms > 0);
        if (l.a[l.n - 1].with_previous != row[i].with) fail_msg("row %zu: %d", i, l.a[l.n - 1].with_previous);
    }
    steno_transcribe_params p = params_new();
    p.prompt_reset_on_temperature = 0.3;
    p.condition_on_previous_text = 0;
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "without condition_on_previous_text there is none"));
}

static void test_entropy_is_that_of_the_last_32_tokens(void **state)
{
    (void)state;
    int32_t ids[40];
    for (int i = 0; i < 40; i++) ids[i] = i;
    assert_true(token_entropy(ids, 0) == 0);
    assert_true(fabs(token_entropy(ids, 40) - log(32)) < 1e-12);
    assert_true(fabs(token_entropy(ids, 10) - log(10)) < 1e-12);
    for (int i = 8; i < 40; i++) ids[i] = 7;
    assert_true(fabs(token_entropy(ids, 40)) < 1e-12);
    for (int i = 8; i < 16; i++) ids[i] = 5; /* a quarter and three quarters */
    assert_true(fabs(token_entropy(ids, 40) - (0.25 * log(4) + 0.75 * log(4. / 3))) < 1e-12);
}

/* failed, completed, has_ts and seek_delta_ms, each both ways. */
static void test_an_attempt_has_the_fields_that_whisper_cpp_records(void **state)
{
    (void)state;
    struct log l;
    steno_transcribe_params p = quiet(&l);
    run(&demo, &p);
    assert_int_equal(l.n, 1);
    assert_true(!l.a[0].failed && l.a[0].completed && l.a[0].has_ts);
    assert_in_range(l.a[0].seek_delta_ms, 1, demo.n / 16 + 20);
    p = quiet(&l);
    p.sample_len = 3; /* <|0.00|> and two words */
    run(&demo, &p);
    assert_true(!l.a[0].failed && !l.a[0].completed && !l.a[0].has_ts);
    assert_int_equal(l.a[0].n_tokens, 3);
    p = quiet(&l);
    p.without_timestamps = 1;
    run(&demo, &p);
    assert_true(l.a[0].completed && !l.a[0].has_ts);
    assert_int_equal(l.a[0].seek_delta_ms, demo.n / 160 * 10); /* all that there is */
    p = quiet(&l);
    p.logprob_threshold = 0; /* nothing passes */
    run(&demo, &p);
    assert_true(l.n > 1);
    for (int i = 0; i < l.n; i++) assert_true(l.a[i].failed);
    assert_true(l.a[l.n - 1].kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_attempt_has_the_fields_that_whisper_cpp_records),
        cmocka_unit_test(test_a_forced_ladder_climbs_in_fifths_to_one_and_encodes_once),
        cmocka_unit_test(test_the_ladder_ends_at_one_whatever_its_steps),
        cmocka_unit_test(test_listed_temperatures_are_those_of_the_attempts),
        cmocka_unit_test(test_a_list_of_temperatures_that_does_not_rise_is_refused),
        cmocka_unit_test(test_each_trigger_works_alone_and_none_works_switched_off),
        cmocka_unit_test(test_silence_passes_however_repetitive_its_text),
        cmocka_unit_test(test_an_attempt_that_goes_on_behind_the_prompt_computes_the_same),
        cmocka_unit_test(test_a_seed_gives_one_text_whatever_the_threads_and_attempts_draw_apart),
        cmocka_unit_test(test_text_kept_above_half_does_not_condition_the_next_window),
        cmocka_unit_test(test_the_temperature_that_resets_the_prompt_can_be_chosen),
        cmocka_unit_test(test_entropy_is_that_of_the_last_32_tokens),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

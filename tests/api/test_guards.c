/* steno tests: flags on undecided text, and decoding it again. SPDX-License-Identifier: MIT */
#include "task/repetition.h"
#include "shipped_session.h"

/* ---- sounds that are no speech ---- */

enum sound { SILENCE, WHITE, LOUD_WHITE, BROWN, TONE, HIGH_TONE, CHORD, HUM, SOUNDS };

static double sine(double hz, int i)
{
    return sin(2 * 3.14159265358979 * hz * i / RATE);
}

static struct audio sound_of(enum sound which, int n)
{
    struct audio a = { calloc((size_t)n, sizeof(float)), n };
    uint32_t seed = 17;
    double brown = 0;
    assert_non_null(a.pcm);
    for (int i = 0; i < n; i++) {
        const double white = (double)noise(&seed);
        double x = 0;
        brown = 0.999 * brown + 0.03 * white;
        if (which == WHITE || which == LOUD_WHITE) x = white * (which == WHITE ? 0.01 : 0.7);
        if (which == BROWN) x = 0.3 * brown;
        if (which == TONE) x = 0.5 * sine(440, i);
        if (which == HIGH_TONE) x = 0.1 * sine(3000, i);
        if (which == CHORD) x = 0.12 * (sine(220, i) + sine(277.18, i) + sine(329.63, i) + sine(440, i));
        for (int k = 1; which == HUM && k < 6; k++) x += 0.1 * sine(50 * k, i) / k;
        a.pcm[i] = (float)x;
    }
    return a;
}

static void test_under_retry_no_sound_without_speech_gives_text_whatever_the_thresholds(void **state)
{
    (void)state;
    static const int samples[] = { RATE / 20, RATE / 10, RATE, 5 * RATE, 33 * RATE };
    for (int which = 0; which < SOUNDS; which++)
        for (int i = 0; i < (SANITIZED ? 2 : 5); i++)
            for (int strict = 0; strict < 2; strict++) {
                struct audio a = sound_of((enum sound)which, samples[i]);
                steno_transcribe_params p = params_new();
                p.guards = STENO_GUARDS_RETRY;
                if (strict) p.no_speech_threshold = p.logprob_threshold = p.compression_ratio_threshold = (double)NAN;
                run(&a, &p);
                if (*steno_text(session)) fail_msg("sound %d, %d samples: text '%s'", which, samples[i], steno_text(session));
                free(a.pcm);
            }
}

static void test_sounds_without_speech_give_no_text_by_default_either(void **state)
{
    (void)state;
    for (int which = 0; which < SOUNDS; which++) {
        if (which == TONE) continue; /* loud: the reference writes a word there */
        struct audio a = sound_of((enum sound)which, 5 * RATE);
        const steno_transcribe_params p = params_new();
        run(&a, &p);
        if (*steno_text(session)) fail_msg("sound %d: text '%s'", which, steno_text(session));
        free(a.pcm);
    }
}

static void test_speech_is_not_steady_even_in_noise(void **state)
{
    (void)state;
    uint32_t seed = 4;
    steno_transcribe_params p = params_new();
    p.guards = STENO_GUARDS_RETRY;
    for (int noisy = 0; noisy < 2; noisy++) {
        struct audio a = demo_audio(RATE / 2, RATE / 2, 1);
        for (int64_t i = 0; noisy && i < a.n; i++) a.pcm[i] += 0.01f * noise(&seed);
        run(&a, &p);
        steno_segment g = { .size = sizeof g };
        assert_true(steno_segment_count(session) > 0);
        for (int i = 0; !steno_segment_get(session, i, &g); i++) {
            assert_false(g.flags & STENO_FLAG_NO_SPEECH);
            assert_true(*g.text);
        }
        free(a.pcm);
    }
}

/* ---- off and flag ---- */

static void test_off_and_flag_give_the_same_and_only_flag_has_flags(void **state)
{
    (void)state;
    struct audio sounds[] = { demo_audio(0, 0, 1), demo_audio(0, 0, 10), sound_of(WHITE, 3 * RATE), sound_of(SILENCE, 3 * RATE) };
    unsigned seen = 0;
    for (int i = 0; i < 4; i++)
        for (int strict = 0; strict < 2; strict++) {
            uint64_t digest[2];
            for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_FLAG; guards++) {
                steno_transcribe_params p = params_new();
                p.guards = guards;
                if (strict) p.no_speech_threshold = (double)NAN; /* text on silence is kept */
                if (strict) p.temperature_increment_on_fallback = 0;
                run(&sounds[i], &p);
                digest[guards] = result_digest_flags(session, 0);
                steno_segment g = { .size = sizeof g };
                for (int k = 0; !steno_segment_get(session, k, &g); k++) {
                    if (guards == STENO_GUARDS_OFF) assert_int_equal(g.flags, 0);
                    else seen |= g.flags;
                }
            }
            assert_true(digest[0] == digest[1]);
        }
    assert_true(seen & STENO_FLAG_NO_SPEECH && seen & STENO_FLAG_LOW_CONFIDENCE);
    for (int i = 0; i < 4; i++) free(sounds[i].pcm);
}

static unsigned flags_of(const struct audio *a, const steno_transcribe_params *p)
{
    steno_segment g = { .size = sizeof g };
    run(a, p);
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    return g.flags;
}

static void test_each_flag_follows_its_threshold(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 0, 1);
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    assert_int_equal(flags_of(&a, &p), 0);
    p.logprob_threshold = 0;
    assert_int_equal(flags_of(&a, &p), STENO_FLAG_LOW_CONFIDENCE);
    p.temperature_increment_on_fallback = 1;
    assert_int_equal(flags_of(&a, &p), STENO_FLAG_LOW_CONFIDENCE | STENO_FLAG_RETRIED);
    p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.compression_ratio_threshold = 0.1;
    assert_int_equal(flags_of(&a, &p), STENO_FLAG_REPETITION);
    p = params_new();
    p.no_speech_threshold = 0; /* the text is sure enough to stay */
    assert_int_equal(flags_of(&a, &p), STENO_FLAG_NO_SPEECH);
    free(a.pcm);
}

static void test_a_loop_is_the_same_few_tokens_four_times_and_at_least_eight(void **state)
{
    (void)state;
    enum { END = 100 };
    static const struct { int32_t ids[40]; int n, loop; } c[] = {
        { { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 9, 0 },
        { { 5, 5, 5, 5, 5, 5, 5 }, 7, 0 },
        { { 5, 5, 5, 5, 5, 5, 5, 5 }, 8, 1 },
        { { 9, 1, 2, 1, 2, 1, 2, 1 }, 8, 0 },
        { { 9, 1, 2, 1, 2, 1, 2, 1, 2 }, 9, 1 },
        { { 1, 2, 3, 1, 2, 3, 1, 2, 3 }, 9, 0 },
        { { 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8 }, 13, 1 },
        { { 1, 120, 2, 130, 1, 2, 140, 1, 2, 150, 160, 1, 2 }, 13, 1 }, /* times between them do not hide it */
        { { 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8 }, 32, 1 },
        { { 1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 5, 1, 2, 1, 6 }, 16, 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (tokens_loop(c[i].ids, c[i].n, END) != c[i].loop) fail_msg("list %zu: want %d", i, c[i].loop);
    assert_int_equal(tokens_loop(NULL, 0, END), 0);
}

/* ---- retry ---- */

struct log { int n; steno_attempt a[64]; };

static void log_attempt(void *user, const steno_attempt *a)
{
    struct log *l = user;
    assert_true(l->n < 64);
    l->a[l->n++] = *a;
}

static void test_retry_drops_the_text_before_first_then_climbs_and_keeps_the_best(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 0, 10);
    struct log l = { 0 };
    steno_transcribe_params p = params_new();
    p.guards = STENO_GUARDS_RETRY;
    p.logprob_threshold = 0; /* nothing passes */
    p.no_speech_threshold = 1;
    p.temperature_increment_on_fallback = 0.5;
    p.user = &l;
    p.on_attempt = log_attempt;
    p.initial_prompt = "one two";
    p.sample_len = 60;
    run(&a, &p);
    static const struct { double t; int with; } want[] = { { 0, 1 }, { 0, 0 }, { 0.5, 0 }, { 1, 0 } };
    int best = 0;
    for (int i = 0; i < 4; i++) {
        assert_true(l.a[i].temperature == want[i].t);
        assert_int_equal(l.a[i].with_previous, want[i].with);
        assert_int_equal(l.a[i].index, i);
        if (l.a[i].avg_logprob > l.a[best].avg_logprob) best = i;
    }
    assert_true(best < 3);
    assert_int_equal(l.a[4].index, best); /* once more, to the bit */
    assert_true(l.a[4].kept && l.a[4].avg_logprob == l.a[best].avg_logprob && l.a[4].n_tokens == l.a[best].n_tokens);
    for (int i = 0; i < 4; i++) assert_false(l.a[i].kept);
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    assert_true(g.avg_logprob == l.a[best].avg_logprob && g.attempt == best);
    free(a.pcm);
}

static void test_retry_leaves_text_that_passes_alone(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 0, 1);
    steno_transcribe_params p = params_new();
    run(&a, &p);
    const uint64_t want = result_digest(session);
    p.guards = STENO_GUARDS_RETRY;
    run(&a, &p);
    assert_true(result_digest(session) == want);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_under_retry_no_sound_without_speech_gives_text_whatever_the_thresholds),
        cmocka_unit_test(test_sounds_without_speech_give_no_text_by_default_either),
        cmocka_unit_test(test_speech_is_not_steady_even_in_noise),
        cmocka_unit_test(test_off_and_flag_give_the_same_and_only_flag_has_flags),
        cmocka_unit_test(test_each_flag_follows_its_threshold),
        cmocka_unit_test(test_a_loop_is_the_same_few_tokens_four_times_and_at_least_eight),
        cmocka_unit_test(test_retry_drops_the_text_before_first_then_climbs_and_keeps_the_best),
        cmocka_unit_test(test_retry_leaves_text_that_passes_alone),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

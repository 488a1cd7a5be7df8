/* steno tests: flags on undecided text, and decoding it again. SPDX-License-Identifier: MIT */
#include "text/repetition.h"
#include "shipped_session.h"
#include "task/ar/attempt.h"

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

/* The alignment puts both words of this phrase into its first 40 ms, where nothing is spoken. */
static void test_words_that_are_not_found_are_no_silence(void **state)
{
    (void)state;
    enum { BEGIN = 44 + 2 * 83680 };
    struct audio a = { calloc(2 * RATE, sizeof(float)), 0 };
    FILE *f = fopen("tests/data/audio/zh_phrases.wav", "rb");
    unsigned char b[2];
    assert_true(f && a.pcm && !fseek(f, BEGIN, SEEK_SET));
    while (a.n < 2 * RATE && fread(b, 1, 2, f) == 2) a.pcm[a.n++] = (float)(int16_t)(b[0] | b[1] << 8) / 32768;
    fclose(f);
    steno_transcribe_params p = params_new();
    p.language = "zh";
    for (int words = 0; words < 2; words++) {
        p.word_timestamps = words;
        run(&a, &p);
        assert_string_equal(steno_text(session), "五一。");
    }
    free(a.pcm);
}

/* ---- off and flag ---- */

static void test_off_and_flag_give_the_same_text_of_speech_and_only_flag_has_flags(void **state)
{
    (void)state;
    struct audio sounds[] = { demo_audio(0, 0, 1), demo_audio(0, 0, 4) };
    for (int i = 0; i < 2; i++) {
        char text[2][600];
        for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_FLAG; guards++) {
            steno_transcribe_params p = params_new();
            p.guards = guards;
            p.logprob_threshold = guards ? 0 : -1; /* so that there is something to flag */
            p.temperature_increment_on_fallback = 0;
            run(&sounds[i], &p);
            snprintf(text[guards], sizeof *text, "%s", steno_text(session));
            steno_segment g = { .size = sizeof g };
            for (int k = 0; !steno_segment_get(session, k, &g); k++)
                assert_int_equal(g.flags & STENO_FLAG_LOW_CONFIDENCE, guards ? STENO_FLAG_LOW_CONFIDENCE : 0);
            assert_int_equal(steno_left_out_count(session), 0);
        }
        assert_string_equal(text[0], text[1]);
        free(sounds[i].pcm);
    }
}

/* What the reference writes where there is no sound stands beside the result, and nowhere else. */
static void test_text_on_silence_is_left_out_and_listed(void **state)
{
    (void)state;
    int n = 0;
    for (int which = 0; which < SOUNDS; which++)
        for (int strict = 0; strict < 2; strict++) {
            struct audio a = sound_of((enum sound)which, 3 * RATE);
            steno_transcribe_params p = params_new();
            if (strict) p.no_speech_threshold = (double)NAN; /* the reference keeps the text then */
            p.temperature_increment_on_fallback = 0;
            run(&a, &p);
            assert_int_equal(steno_segment_count(session), 0);
            assert_string_equal(steno_text(session), "");
            steno_left_out l = { .size = sizeof l };
            for (int i = 0; !steno_left_out_get(session, i, &l); i++, n++) {
                assert_true(*l.text && l.flags & STENO_FLAG_NO_SPEECH);
                assert_true(l.t0_ms >= 0 && l.t0_ms <= l.t1_ms && l.t1_ms <= 3000);
                if (l.is_window && strict) /* what stands: a tone, hum */
                    assert_true(which != WHITE && which != LOUD_WHITE && which != BROWN);
            }
            assert_int_equal(steno_left_out_get(session, steno_left_out_count(session), &l), STENO_EARG);
            p.guards = STENO_GUARDS_OFF;
            run(&a, &p);
            assert_int_equal(steno_left_out_count(session), 0);
            free(a.pcm);
        }
    if (!n) fail_msg("nothing was left out");
}

static void test_omitted_sounds_do_not_change_the_speech_before_them(void **state)
{
    (void)state;
    struct audio a = demo_audio(0, 33 * RATE, 1);
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    run(&a, &p);
    assert_string_equal(steno_text(session), demo_text);
    free(a.pcm);
}

/* ---- the best of attempts that have all failed ---- */

static void test_of_failed_attempts_the_most_credible_is_kept(void **state)
{
    (void)state;
    enum { LOOP = STENO_FLAG_REPETITION, LOW = STENO_FLAG_LOW_CONFIDENCE };
    static const struct attempt best_last[] = {
        { .unfinished = 1, .completed = 1, .avg_logprob = -0.1 },
        { .completed = 0, .flags = LOOP, .avg_logprob = -0.1 },            /* round and round up to the limit */
        { .completed = 1, .flags = LOOP | LOW, .avg_logprob = -1.5 },
        { .completed = 1, .flags = LOW, .avg_logprob = -4.6 },             /* a bad draw */
        { .completed = 1, .flags = LOW, .avg_logprob = -1.2 },
        { .completed = 1, .flags = LOOP, .avg_logprob = -0.3 },            /* the speaker repeats it */
        { .completed = 1, .flags = LOOP | STENO_FLAG_NO_SPEECH, .avg_logprob = -0.2 },
    };
    const int n = sizeof best_last / sizeof *best_last;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (attempt_is_better(&best_last[i], &best_last[k]) != (i > k)) fail_msg("attempts %d and %d", i, k);
}

/* Speech that repeats itself fails at every temperature; no draw may take it for silence. */
static void test_speech_is_not_silence_because_a_draw_was_bad(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.compression_ratio_threshold = 0.1; /* as for a sentence that the speaker repeats: each attempt fails */
    p.logprob_threshold = -0.5;          /* and a bad draw is below this one, */
    p.no_speech_threshold = 0;           /* in a window that the model would rather have silent */
    p.temperature_increment_on_fallback = 1;
    p.guards = STENO_GUARDS_OFF;
    int lost = 0;
    for (uint64_t seed = 0; seed < 8 && !lost; seed++) {
        p.seed = seed;
        run(&demo, &p);
        lost = !*steno_text(session);
    }
    if (!lost) fail_msg("the reference loses nothing here: the test tries nothing");
    p.guards = STENO_GUARDS_FLAG;
    run(&demo, &p);
    assert_string_equal(steno_text(session), demo_text);
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    assert_true(g.flags & STENO_FLAG_REPETITION && g.temperature == 0);
    assert_int_equal(steno_left_out_count(session), 0);
}

struct log { int n; steno_attempt a[64]; };

static void log_attempt(void *user, const steno_attempt *a)
{
    struct log *l = user;
    assert_true(l->n < 64);
    l->a[l->n++] = *a;
}

/* Text before a window can make it silent. */
static void test_a_silent_window_is_tried_without_the_text_before_it(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) { /* with text before it; without any; with it on a sound that does not move */
        struct audio a = how < 2 ? demo_audio(0, 0, 1) : sound_of(WHITE, 3 * RATE);
        struct log l = { 0 };
        steno_transcribe_params p = params_new();
        p.no_speech_threshold = 0;
        p.logprob_threshold = 0; /* every attempt takes it for silence */
        p.initial_prompt = how == 1 ? NULL : "one two";
        p.user = &l;
        p.on_attempt = log_attempt;
        run(&a, &p);
        const int n = how ? 1 : 2;
        assert_int_equal(l.n, n);
        assert_true(l.a[n - 1].kept && l.a[n - 1].temperature == 0 && l.a[0].with_previous == (how != 1));
        if (!how) assert_true(!l.a[0].kept && !l.a[1].with_previous);
        assert_int_equal(steno_segment_count(session), 0);
        free(a.pcm);
    }
}

/* At temperature 0 one token 40 times, or an improbable text without a loop. Above it draws are improbable, except at the temperature
 * `sure`. */
struct looping { double sure; int loops; };

static void loop_at_zero(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    enum { LETTER_A = 32, TIMES = 40 };
    const struct looping *l = user;
    const int is_sure = at->temperature == 0 ? l->loops : at->temperature == l->sure;
    const int32_t next = n >= TIMES ? steno_token_id(model, STENO_TOKEN_END) : l->loops ? LETTER_A : LETTER_A + n;
    (void)tokens;
    for (int32_t i = 0; i < at->n_vocab; i++) logits[i] = is_sure && i != next ? -INFINITY : i == next && at->temperature == 0;
}

/* Office noise of 22 s had a loop of ten sentences, with a no-speech probability of 0.58 and 25 draws of which none was probable. */
static void test_a_loop_that_no_draw_confirms_is_no_speech(void **state)
{
    (void)state;
    /* the limit of the no-speech probability, in units of this window's */
    static const struct { double limit, sure; int loops, steps, is_speech; } c[] = {
        { 1.5, 0, 1, 5, 0 },
        { 1.5, 0, 1, 4, 1 },   /* too few draws */
        { 1.5, 0.4, 1, 5, 1 }, /* speech that repeats itself stays probable at some temperature */
        { 1.5, 0, 0, 5, 1 },   /* a text that is no loop */
        { 2.5, 0, 1, 5, 1 },   /* the model finds speech */
        { 0.9, 0, 1, 4, 0 },
    };
    struct audio a = demo_audio(0, 0, 1);
    steno_transcribe_params p = params_new();
    steno_segment g = { .size = sizeof g };
    p.without_timestamps = 1;
    p.suppress_tokens = "";
    run(&a, &p);
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    const double silence = g.no_speech_prob;
    p.logits_filter = loop_at_zero;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int guards = STENO_GUARDS_FLAG; guards <= STENO_GUARDS_RETRY; guards++) {
            struct looping l = { c[i].sure, c[i].loops };
            p.user = &l;
            p.guards = guards;
            p.no_speech_threshold = c[i].limit * silence;
            p.temperature_increment_on_fallback = c[i].steps == 5 ? 0.2 : 0.25;
            run(&a, &p);
            if ((*steno_text(session) != 0) != c[i].is_speech) fail_msg("case %zu: text '%s'", i, steno_text(session));
            assert_int_equal(steno_left_out_count(session), !c[i].is_speech);
        }
    free(a.pcm);
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
    p.temperature_increment_on_fallback = 1; /* the second attempt is worse */
    assert_int_equal(flags_of(&a, &p), STENO_FLAG_LOW_CONFIDENCE);
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
        cmocka_unit_test(test_words_that_are_not_found_are_no_silence),
        cmocka_unit_test(test_off_and_flag_give_the_same_text_of_speech_and_only_flag_has_flags),
        cmocka_unit_test(test_text_on_silence_is_left_out_and_listed),
        cmocka_unit_test(test_omitted_sounds_do_not_change_the_speech_before_them),
        cmocka_unit_test(test_of_failed_attempts_the_most_credible_is_kept),
        cmocka_unit_test(test_speech_is_not_silence_because_a_draw_was_bad),
        cmocka_unit_test(test_a_silent_window_is_tried_without_the_text_before_it),
        cmocka_unit_test(test_a_loop_that_no_draw_confirms_is_no_speech),
        cmocka_unit_test(test_each_flag_follows_its_threshold),
        cmocka_unit_test(test_a_loop_is_the_same_few_tokens_four_times_and_at_least_eight),
        cmocka_unit_test(test_retry_drops_the_text_before_first_then_climbs_and_keeps_the_best),
        cmocka_unit_test(test_retry_leaves_text_that_passes_alone),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

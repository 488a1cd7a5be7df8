/* steno tests: the language, detected from several windows. SPDX-License-Identifier: MIT */
#include "languages.h"

static void test_the_language_found_most_often_counts_and_the_more_probable_on_ties(void **state)
{
    (void)state;
    static const struct { int n, which[MOST], segments, want; } c[] = {
        { 2, { 1, 0 }, 1, 1 },    { 3, { 0, 1, 1 }, 3, 1 }, { 3, { 1, 1, 0 }, 4, 1 }, { 2, { 0, 1 }, 2, 0 },
        { 2, { 1, 0 }, 1000, 0 }, { 3, { 2, 1, 0 }, 3, 0 }, { 3, { 0, 2, 2 }, 2, 0 }, /* no more than asked for */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        assert_int_equal(listen_to(c[i].which, c[i].n, c[i].segments, 1), c[i].segments < c[i].n ? c[i].segments : c[i].n);
        if (found() != lang[c[i].want]) fail_msg("case %zu: language %d, want %d", i, found(), lang[c[i].want]);
        assert_true(fabsf(steno_language_prob(session, found()) - prob[c[i].want]) < 1e-3f);
    }
    assert_true(steno_language_prob(session, 99) < 0 && steno_language_prob(session, -1) < 0);
}

static void test_a_language_that_is_sure_ends_the_listening(void **state)
{
    (void)state;
    static int const which[] = { 2, 2, 1, 0 };
    const double between = ((double)prob[2] + (double)prob[1]) / 2;
    assert_int_equal(listen_to(which, 4, 4, between), 3);
    assert_int_equal(found(), CHINESE_AT); /* though it was found once */
    assert_int_equal(listen_to(which, 4, 4, 0), 1);
    assert_int_equal(found(), lang[2]);
}

static void test_detection_among_several_languages_chooses_one_of_them(void **state)
{
    (void)state;
    static const struct { const char *asked; int kind, place; } c[] = {
        { "en,zh", 0, ENGLISH_AT }, { "zh, en", 0, ENGLISH_AT }, { "Chinese,ja", 0, CHINESE_AT }, { "zh,zh", 0, CHINESE_AT },
        { "en,zh", 1, CHINESE_AT },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        double sum = 0;
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = c[i].asked;
        p.on_window = no_window;
        if (steno_transcribe(session, kind[c[i].kind], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_string_equal(steno_language(session), steno_model_language(model, c[i].place));
        for (int k = 0; k < 99; k++) sum += steno_language_prob(session, k);
        assert_true(fabs(sum - 1) < 1e-5);
        assert_true(steno_language_prob(session, 2) == 0); /* it was not asked for */
    }
}

static int64_t second_read(void *user, float *pcm, int64_t n)
{
    int64_t *at = user;
    const int64_t take = RATE - *at < n ? RATE - *at : n;
    memcpy(pcm, kind[0] + *at, (size_t)take * sizeof *pcm);
    *at += take;
    return take;
}

static void test_numbers_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { int segments; double threshold; const char *what; } c[] = {
        { 0, 0.5, "language_detection_segments is 0" }, { -1, 0.5, "language_detection_segments" },
        { 1, -0.1, "language_detection_threshold" },    { 1, 1.1, "language_detection_threshold" },
        { 1, (double)NAN, "language_detection_threshold" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language_detection_segments = c[i].segments;
        p.language_detection_threshold = c[i].threshold;
        for (int align = 0; align < 2; align++) {
            int64_t at = 0;
            const steno_source src = { second_read, NULL, &at };
            const int rc = align ? steno_align(session, &src, "one two", &p) : steno_transcribe(session, kind[0], RATE, &p);
            assert_int_equal(rc, STENO_EARG);
            assert_int_equal(at, 0); /* before any audio is read */
            if (!strstr(steno_last_error(session), c[i].what)) fail_msg("'%s' does not say '%s'", steno_last_error(session), c[i].what);
        }
    }
}

static void expect(steno_session *s, const char *language, int align, int status, const char *what)
{
    struct tap t = { .pcm = kind[0], .n = RATE / 10 };
    const steno_source src = tap_source(&t);
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = language;
    const int rc = align ? steno_align(s, &src, "one two", &p) : steno_transcribe_source(s, &src, &p);
    const char *why = rc ? steno_last_error(s) : steno_language(s);
    if (rc != status || (what && !strstr(why, what))) fail_msg("'%s'%s: status %d, %s", language, align ? " in align" : "", rc, why);
    if (rc) assert_int_equal(t.reads, 0);
}

static void test_languages_are_taken_by_their_usual_names_and_refused_with_help(void **state)
{
    (void)state;
    steno_model *english = random_model(&small_dims, DT_F16, 3, NULL), *ctc = funasr_open(ctc_folder, NULL);
    steno_session *one = session_new(english, NULL, 1), *few = session_new(ctc, NULL, 1);
    for (int align = 0; align < 2; align++) {
        expect(session, "en-US", align, 0, "en");
        expect(session, "ZH_cn", align, 0, "zh");
        expect(session, "deu", align, 0, "de");
        expect(session, "Auto", align, 0, NULL);
        expect(session, "zh,en", align, 0, NULL);
        expect(session, "en,jp", align, STENO_EARG, "did you mean ja?");
        expect(session, "en,", align, STENO_EARG, "is not known");
        expect(session, "en,auto", align, STENO_EARG, "language 'auto' is not known");
        expect(one, "en,de", align, STENO_EARG, "knows English only");
        expect(session, "jp", align, STENO_EARG, "did you mean ja? it knows en, zh, de,");
        expect(session, "klingon", align, STENO_EARG, "language 'klingon' is not known to this model; it knows en,");
        expect(one, "en", align, 0, "en");
        expect(one, "eng-GB", align, 0, "en");
        expect(one, "auto", align, 0, "en");
        expect(one, "de", align, STENO_EARG, "knows English only");
        expect(one, "klingon", align, STENO_EARG, "knows English only");
        expect(one, "", align, STENO_EARG, "knows English only");
    }
    expect(few, "ja-JP", 0, 0, NULL);
    expect(few, "zh-yue", 0, 0, NULL);
    expect(few, "nospeech", 0, 0, NULL);
    expect(few, "jp", 0, STENO_EARG, "did you mean ja? it knows zh, en, yue, ja, ko");
    expect(few, "deu", 0, STENO_EARG, "language 'deu' is not known to this model; it knows zh, en, yue, ja, ko");
    steno_session_close(one);
    steno_session_close(few);
    steno_model_close(english);
    steno_model_close(ctc);
}

/* ---- in a batch ---- */

enum { EIGHT = 8 };

struct heard { float prob[100], detected[100]; uint64_t digest; char language[8]; };

/* Sounds of different lengths and languages. */
static struct tap eighth(int i)
{
    return (struct tap){ .pcm = kind[i % KINDS], .n = i < 2 ? WINDOW - 100 * i : 2 * RATE + i * 4000, .piece = 7000 };
}

static void note(struct heard *h, const steno_session *s)
{
    for (int i = 0; i < 100; i++) h->prob[i] = steno_language_prob(s, i);
    h->digest = result_digest(s);
    snprintf(h->language, sizeof h->language, "%s", steno_language(s));
}

static void test_eight_in_a_batch_have_the_text_and_the_probabilities_of_each_alone(void **state)
{
    (void)state;
    static struct heard alone[EIGHT], together;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch *b;
    steno_session *s[EIGHT];
    struct tap t[EIGHT];
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.sample_len = 12;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = EIGHT;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
    sp.batch = b;
    for (int i = 0; i < EIGHT; i++) {
        struct tap one = eighth(i);
        const steno_source src = tap_source(&one);
        assert_int_equal(steno_transcribe_source(session, &src, &p), 0);
        note(&alone[i], session);
        one.at = 0;
        assert_true(steno_detect_language(session, &src, alone[i].detected, 100) >= 0);
        assert_string_equal(steno_language(session), alone[i].language);
        assert_memory_equal(alone[i].detected, alone[i].prob, 99 * sizeof(float));
        t[i] = eighth(i);
        assert_int_equal(steno_session_open(&s[i], model, NULL, &sp, NULL), 0);
        const steno_source again = tap_source(&t[i]);
        assert_int_equal(steno_batch_add(b, s[i], &again, &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < EIGHT; i++) {
        note(&together, s[i]);
        assert_memory_equal(together.prob, alone[i].prob, sizeof together.prob);
        assert_string_equal(together.language, alone[i].language);
        assert_true(together.digest == alone[i].digest);
        steno_session_close(s[i]);
    }
    for (int i = 1; i < KINDS; i++) assert_true(alone[i].prob[0] != alone[0].prob[0]); /* or nothing was compared */
    steno_batch_close(b);
}

/* Half a minute of nothing, then English: one window is not enough to know. */
static void test_speech_that_comes_late_is_found_by_listening_on(void **state)
{
    (void)state;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const struct audio a = demo_audio(30 * RATE, RATE, 1);
    uint32_t seed = 1;
    for (int i = 0; i < 30 * RATE; i++) a.pcm[i] = 0.001f * noise(&seed); /* windows of silence are passed over */
    steno_transcribe_params p = params_new();
    p.language = NULL;
    p.language_detection_segments = 2;
    p.language_detection_threshold = 0.99;
    p.on_window = no_window;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_string_equal(steno_language(s), "en");
    assert_true(steno_language_prob(s, 0) > 0.99f);
    p.language_detection_segments = 1;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_true(steno_language_prob(s, 0) < 0.99f);
    p.language_detection_segments = 2; /* and the text begins at the beginning all the same */
    p.on_window = NULL;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    const uint64_t want = result_digest(s);
    p.language = "en";
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_true(result_digest(s) == want);
    assert_int_equal(steno_segment_count(s) > 0, 1);
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_language_found_most_often_counts_and_the_more_probable_on_ties),
        cmocka_unit_test(test_a_language_that_is_sure_ends_the_listening),
        cmocka_unit_test(test_detection_among_several_languages_chooses_one_of_them),
        cmocka_unit_test(test_numbers_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(test_languages_are_taken_by_their_usual_names_and_refused_with_help),
        cmocka_unit_test(test_eight_in_a_batch_have_the_text_and_the_probabilities_of_each_alone),
        cmocka_unit_test(test_speech_that_comes_late_is_found_by_listening_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: which language is spoken, when several windows are heard for it. SPDX-License-Identifier: MIT
 *
 * Windows of three kinds, in the order of how sure the shipped model is of them: English, Chinese, and a whistle that sounds like
 * some language or other. */
#include "shipped.h"

enum { WINDOW = 30 * RATE, KINDS = 3, MOST = 4 };
enum { ENGLISH_AT, CHINESE_AT }; /* places in the list of languages */

static steno_model *model;
static steno_session *session;
static float *kind[KINDS]; /* [WINDOW] */
static int lang[KINDS];    /* what is found in each, */
static float prob[KINDS];  /* and how probable it is */

static int no_window(void *user, int64_t at_ms)
{
    (void)user;
    (void)at_ms;
    return 0;
}

/* Only the language of windows of these kinds. @return windows that were encoded for it */
static int listen_to(const int *which, int n, int segments, double threshold)
{
    static float pcm[MOST * WINDOW];
    steno_timings t = { .size = sizeof t };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language_detection_segments = segments;
    p.language_detection_threshold = threshold;
    p.on_window = no_window;
    for (int i = 0; i < n; i++) memcpy(pcm + i * WINDOW, kind[which[i]], WINDOW * sizeof *pcm);
    steno_timings_reset(session);
    if (steno_transcribe(session, pcm, (int64_t)n * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
    steno_timings_get(session, &t);
    return t.n_encodes;
}

static int found(void)
{
    int i = 0;
    while (strcmp(steno_model_language(model, i), steno_language(session)) != 0) i++;
    return i;
}

/* Sound into a window of its own, behind silence, before a sound as loud in all windows. */
static float *window_of(const float *pcm, int64_t n)
{
    float *w = calloc(WINDOW, sizeof *w);
    assert_non_null(w);
    for (int64_t i = 0; i < n; i++) w[RATE / 2 + i] = pcm[i];
    for (int i = 0; i < RATE / 20; i++) w[WINDOW - RATE + i] = 0.95f * (float)sin(0.3 * i);
    return w;
}

static struct audio chinese(void)
{
    enum { HEADER = 44, MOST_BYTES = 400000 };
    static uint8_t file[MOST_BYTES];
    FILE *f = fopen("tests/data/audio/zh_phrases.wav", "rb");
    assert_non_null(f);
    const size_t sz = fread(file, 1, sizeof file, f);
    fclose(f);
    assert_true(sz > HEADER);
    struct audio a = { calloc(sz / 2, sizeof(float)), (int64_t)(sz - HEADER) / 2 };
    assert_non_null(a.pcm);
    for (int64_t i = 0; i < a.n; i++) a.pcm[i] = (float)(int16_t)(file[HEADER + 2 * i] | file[HEADER + 2 * i + 1] << 8) / 32768;
    return a;
}

static int open_all(void **state)
{
    (void)state;
    const struct audio said[] = { demo_audio(0, 0, 1), chinese(), { calloc(3 * RATE, sizeof(float)), 3 * RATE } };
    model = shipped_open();
    session = session_new(model, NULL, 1);
    for (int i = 0; i < said[2].n; i++) said[2].pcm[i] = 0.3f * (float)sin(0.00001 * i * i);
    for (int i = 0; i < KINDS; i++) {
        kind[i] = window_of(said[i].pcm, said[i].n);
        free(said[i].pcm);
        listen_to(&i, 1, 1, 1);
        lang[i] = found();
        prob[i] = steno_language_prob(session, lang[i]);
    }
    return lang[0] == ENGLISH_AT && lang[1] == CHINESE_AT && lang[2] > CHINESE_AT && prob[0] > prob[1] && prob[1] > prob[2] ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < KINDS; i++) free(kind[i]);
    steno_session_close(session);
    steno_model_close(model);
    return 0;
}

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
            assert_int_equal(at, 0); /* before anything is heard */
            if (!strstr(steno_last_error(session), c[i].what)) fail_msg("'%s' does not say '%s'", steno_last_error(session), c[i].what);
        }
    }
}

/* Half a minute of nothing, then English: one window is not enough to know. */
static void test_speech_that_comes_late_is_found_by_listening_on(void **state)
{
    (void)state;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const struct audio a = demo_audio(30 * RATE, RATE, 1);
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
        cmocka_unit_test(test_numbers_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(test_speech_that_comes_late_is_found_by_listening_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: the language of each window. SPDX-License-Identifier: MIT */
#include "languages.h"

static steno_transcribe_params by_window(int on)
{
    steno_transcribe_params p = params_new();
    p.language_per_segment = on;
    p.without_timestamps = 1; /* a segment for each window */
    p.condition_on_previous_text = 0;
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    return p;
}

static void text_alone(char text[200], int which, const char *language)
{
    steno_transcribe_params p = by_window(0);
    p.language = language;
    if (steno_transcribe(session, kind[which], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
    snprintf(text, 200, "%s", steno_text(session));
}

/* Windows of two languages have the text that each has alone in its own language, whatever language is named. */
static void test_each_window_has_its_own_language(void **state)
{
    (void)state;
    enum { N = 4 };
    static int const order[N] = { ENGLISH_AT, CHINESE_AT, CHINESE_AT, ENGLISH_AT };
    static float pcm[N * WINDOW];
    static const char *const named[] = { NULL, "en", "de" };
    char want[2][200], other[200];
    assert_true(prob[ENGLISH_AT] >= 0.5f && prob[CHINESE_AT] >= 0.5f);
    text_alone(want[ENGLISH_AT], ENGLISH_AT, "en");
    text_alone(want[CHINESE_AT], CHINESE_AT, "zh");
    text_alone(other, CHINESE_AT, "en");
    assert_string_not_equal(want[CHINESE_AT], other); /* else the language decides nothing here */
    for (int i = 0; i < N; i++) memcpy(pcm + i * WINDOW, kind[order[i]], WINDOW * sizeof *pcm);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
        steno_transcribe_params p = by_window(1);
        steno_segment g = { .size = sizeof g };
        p.language = named[k];
        if (steno_transcribe(session, pcm, N * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_count(session), N);
        for (int i = 0; i < N; i++) {
            steno_segment_get(session, i, &g);
            assert_string_equal(g.text, want[order[i]]);
            assert_string_equal(g.language, order[i] == CHINESE_AT ? "zh" : "en");
        }
        assert_string_equal(steno_language(session), named[k] ? named[k] : "en");
    }
}

struct prompts { int n, with_previous[8]; };

static void note_prompt(void *user, const steno_attempt *a)
{
    struct prompts *q = user;
    assert_true(q->n < 8);
    q->with_previous[q->n++] = a->with_previous;
}

/* With English text before it, base wrote English text for a window of German. */
static void test_text_in_another_language_is_not_a_prompt(void **state)
{
    (void)state;
    enum { N = 5 };
    static int const order[N] = { ENGLISH_AT, ENGLISH_AT, CHINESE_AT, CHINESE_AT, ENGLISH_AT };
    static float pcm[N * WINDOW];
    for (int i = 0; i < N; i++) memcpy(pcm + i * WINDOW, kind[order[i]], WINDOW * sizeof *pcm);
    for (int on = 0; on < 2; on++)
        for (int prompted = 0; prompted < 2; prompted++) {
            struct prompts q = { 0 };
            steno_transcribe_params p = by_window(on);
            p.condition_on_previous_text = 1;
            p.logprob_threshold = p.compression_ratio_threshold = (double)NAN; /* no window is unsure, which would forget the text, too */
            p.language = "en";
            p.initial_prompt = prompted ? "zero" : NULL;
            p.user = &q;
            p.on_attempt = note_prompt;
            if (steno_transcribe(session, pcm, N * WINDOW, &p)) fail_msg("%s", steno_last_error(session));
            assert_int_equal(q.n, N);
            const int want[N] = { prompted, 1, !on, 1, !on };
            for (int i = 0; i < N; i++)
                if (q.with_previous[i] != want[i]) fail_msg("option %d, window %d: %d", on, i, q.with_previous[i]);
        }
}

/* Independent clips each begin with the prompt, alone and in a batch; a translation is English in every window. */
static void test_independent_clips_and_translations_keep_the_prompt(void **state)
{
    (void)state;
    static float pcm[2 * WINDOW];
    static const double clips[] = { 0, 30, 30, 60 };
    for (int i = 0; i < 2; i++) memcpy(pcm + i * WINDOW, kind[i ? CHINESE_AT : ENGLISH_AT], WINDOW * sizeof *pcm);
    for (int k = 0; k < 4; k++) {
        static const int want[4] = { 2, 2, 2, 1 };
        steno_session *s = session_new(model, NULL, k == 1 ? 4 : 1);
        struct prompts q = { 0 };
        steno_transcribe_params p = by_window(1);
        p.condition_on_previous_text = k >= 2;
        p.logprob_threshold = p.compression_ratio_threshold = (double)NAN;
        p.language = "en";
        p.initial_prompt = "zero";
        p.user = &q;
        p.on_attempt = note_prompt;
        if (k < 2) p.clip_timestamps = clips, p.n_clip_timestamps = 4, p.independent_clips = 1;
        if (k == 2) p.task = STENO_TRANSLATE;
        if (steno_transcribe(s, pcm, 2 * WINDOW, &p)) fail_msg("%s", steno_last_error(s));
        assert_int_equal(q.n, 2);
        if (q.with_previous[0] + q.with_previous[1] != want[k])
            fail_msg("%d: %d and %d", k, q.with_previous[0], q.with_previous[1]);
        steno_session_close(s);
    }
}

/* Without it one language is written, and a window that is doubtful in it names its likely language. */
static void test_a_doubtful_window_names_its_likely_language(void **state)
{
    (void)state;
    for (int guards = STENO_GUARDS_OFF; guards <= STENO_GUARDS_FLAG; guards++) {
        steno_transcribe_params p = by_window(0);
        steno_segment g = { .size = sizeof g };
        p.language = "en";
        p.guards = guards;
        p.no_speech_threshold = 0.6;
        p.logprob_threshold = -1e-6; /* every window is doubtful */
        if (steno_transcribe(session, kind[CHINESE_AT], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
        if (guards) assert_string_equal(g.language, "zh");
        else assert_null(g.language);
        p.language = "zh"; /* no other language is named where it is right */
        if (steno_transcribe(session, kind[CHINESE_AT], WINDOW, &p)) fail_msg("%s", steno_last_error(session));
        assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
        assert_null(g.language);
    }
}

/* Languages of a short window's segments and of its text that was left out, after a longer window of other audio was in its place. */
static void languages_after(int before, const float *pcm, int64_t n, int each, char *text, size_t size)
{
    steno_session *s = session_new(model, NULL, 1);
    steno_transcribe_params p = by_window(0);
    steno_segment g = { .size = sizeof g };
    steno_left_out l = { .size = sizeof l };
    size_t at = 0;
    p.language = "en";
    if (before >= 0 && steno_transcribe(s, kind[before], WINDOW, &p)) fail_msg("%s", steno_last_error(s));
    p = by_window(each);
    if (!each) p.language = "fr";
    p.audio_ctx = 150;
    p.logprob_threshold = -1e-6;
    p.sample_len = 12;
    if (steno_transcribe(s, pcm, n, &p)) fail_msg("%s", steno_last_error(s));
    for (int i = 0; !steno_segment_get(s, i, &g); i++)
        at += (size_t)snprintf(text + at, size - at, "%s ", g.language ? g.language : "-");
    for (int i = 0; !steno_left_out_get(s, i, &l); i++)
        at += (size_t)snprintf(text + at, size - at, "(%s) ", l.language ? l.language : "-");
    steno_session_close(s);
}

static void test_a_short_window_has_the_language_that_it_has_alone(void **state)
{
    (void)state;
    float *zeros = calloc(WINDOW, sizeof *zeros);
    const float *const audio[] = { kind[0], kind[1], kind[2], zeros };
    assert_non_null(zeros);
    for (int i = 0; i < 4; i++)
        for (int each = 0; each < 2; each++) {
            char alone[400] = "", after[400] = "";
            languages_after(-1, audio[i], 3 * RATE, each, alone, sizeof alone);
            assert_true(*alone);
            for (int k = 0; k < KINDS; k++) {
                languages_after(k, audio[i], 3 * RATE, each, after, sizeof after);
                if (strcmp(alone, after) != 0) fail_msg("audio %d after %d, each %d: '%s', alone '%s'", i, k, each, after, alone);
            }
        }
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_window_has_its_own_language),
        cmocka_unit_test(test_text_in_another_language_is_not_a_prompt),
        cmocka_unit_test(test_independent_clips_and_translations_keep_the_prompt),
        cmocka_unit_test(test_a_doubtful_window_names_its_likely_language),
        cmocka_unit_test(test_a_short_window_has_the_language_that_it_has_alone),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: callers that do it wrong. SPDX-License-Identifier: MIT
 *
 * Every refusal has its status and a reason that names what was wrong; nothing crashes, and what was open stays usable. */
#include "shipped_bytes.h"

static void no_tensor(void *user, const steno_tensor *t)
{
    (void)user;
    fail_msg("%s", t->name);
}

static void test_null_is_refused_or_harmless_everywhere(void **state)
{
    (void)state;
    int32_t id = 0;
    char text[8];
    int64_t ns;
    const char *label;
    steno_model_info info = { .size = sizeof info };
    steno_timings timings = { .size = sizeof timings };
    steno_segment seg = { .size = sizeof seg };
    steno_token tok = { .size = sizeof tok };
    steno_team_close(NULL);
    steno_model_close(NULL);
    steno_session_close(NULL);
    steno_cancel(NULL);
    steno_timings_reset(NULL);
    steno_profile_enable(NULL, 1);
    steno_model_params_init(NULL);
    steno_session_params_init(NULL);
    steno_transcribe_params_init(NULL);
    assert_int_equal(steno_team_open(NULL, 1, NULL), STENO_EARG);
    assert_int_equal(steno_team_threads(NULL), 1);
    assert_int_equal(steno_model_info_get(NULL, &info), STENO_EARG);
    assert_null(steno_model_language(NULL, 0));
    assert_int_equal(steno_plan_dump(NULL, no_line, NULL), STENO_EARG);
    assert_int_equal(steno_tokenize(NULL, "a", &id, 1), STENO_EARG);
    assert_int_equal(steno_detokenize(NULL, &id, 1, text, sizeof text), STENO_EARG);
    assert_int_equal(steno_session_memory(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe(NULL, NULL, 0, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe_source(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_detect_language(NULL, NULL, NULL, 0), STENO_EARG);
    assert_int_equal(steno_segment_count(NULL), 0);
    assert_int_equal(steno_segment_get(NULL, 0, &seg), STENO_EARG);
    assert_int_equal(steno_token_get(NULL, 0, 0, &tok), STENO_EARG);
    assert_string_equal(steno_text(NULL), "");
    assert_string_equal(steno_language(NULL), "");
    assert_non_null(steno_last_error(NULL));
    assert_int_equal(steno_duration_ms(NULL), 0);
    assert_int_equal(steno_timings_get(NULL, &timings), STENO_EARG);
    assert_int_equal(steno_profile_get(NULL, 0, &label, &ns, &ns), STENO_EARG);
    assert_int_equal(steno_bench_phase(NULL, "mel", 1), STENO_EARG);
}

static void test_null_is_refused_or_harmless_in_later_calls_too(void **state)
{
    (void)state;
    float x[8] = { 0 };
    int32_t n = 0;
    steno_span span = { .size = sizeof span };
    steno_model *m = bytes_open(file, NULL);
    steno_vad_params_init(NULL);
    assert_int_equal(steno_language_id(NULL, "en"), -1);
    assert_int_equal(steno_language_id(m, NULL), -1);
    assert_null(steno_language_name(NULL));
    assert_null(steno_language_name("klingon"));
    assert_null(steno_language_code(NULL));
    assert_null(steno_language_code("klingon"));
    assert_string_equal(steno_language_code("de-AT"), "de");
    assert_string_equal(steno_language_code("German"), "de");
    assert_int_equal(steno_token_id(NULL, STENO_TOKEN_END), -1);
    assert_int_equal(steno_token_id(m, (enum steno_special)77), -1);
    assert_int_equal(steno_token_id(m, (enum steno_special)99), -1);
    assert_int_equal(steno_mel(NULL, x, 8, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, NULL, 8, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, x, -1, x, 0), STENO_EARG);
    assert_int_equal(steno_mel(m, x, 8, NULL, 1), STENO_EARG);
    assert_int_equal(steno_mel(m, x, 8, x, -1), STENO_EARG);
    assert_int_equal(steno_mel(m, NULL, 0, NULL, 0), 0);
    assert_int_equal(steno_tokenize(m, NULL, &n, 1), STENO_EARG);
    assert_int_equal(steno_tokenize(m, "a", NULL, 1), STENO_EARG);
    assert_int_equal(steno_tokenize(m, "a", &n, -1), STENO_EARG);
    assert_int_equal(steno_detokenize(m, NULL, 1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_detokenize(m, &n, -1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_detokenize(m, &n, 1, NULL, 4), STENO_EARG);
    assert_null(steno_audio_features(NULL, &n, &n));
    assert_true(steno_language_prob(NULL, 0) < 0);
    assert_int_equal(steno_find_speech(NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_span_count(NULL), 0);
    assert_int_equal(steno_span_get(NULL, 0, &span), STENO_EARG);
    assert_int_equal(steno_plan_dump(m, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_tensors_list(NULL, no_tensor, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_tensors_list(shipped_model, NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_tensors_list("nowhere.bin", no_tensor, NULL, NULL), STENO_EIO);
    steno_model_close(m);
}

static void refuse(steno_session *s, const steno_transcribe_params *p, const char *what)
{
    const float x[RATE] = { 0 };
    const int rc = steno_transcribe(s, x, RATE, p);
    if (rc != STENO_EARG || !strstr(steno_last_error(s), what))
        fail_msg("status %d, want a refusal that names '%s': %s", rc, what, steno_last_error(s));
    assert_int_equal(steno_segment_count(s), 0);
}

/* A value for one of the parameters that the library lists: `i` of an integer, `v` of a number, `t` of a text. */
struct bad { const char *field; int64_t i; double v; const char *t, *says; }; /* says: a part of the message; NULL: the field's name */

static void param_set(steno_transcribe_params *p, const struct bad *b)
{
    steno_param q = { .size = sizeof q };
    int k = 0;
    while (!steno_param_get(NULL, STENO_CALL_TRANSCRIBE, k, &q) && strcmp(q.name, b->field) != 0) k++;
    assert_string_equal(q.name, b->field);
    void *at = (char *)p + q.offset;
    switch (q.kind) {
    case STENO_PARAM_INT64: *(int64_t *)at = b->i; break;
    case STENO_PARAM_NUMBER: *(double *)at = b->v; break;
    case STENO_PARAM_TEXT: *(const char **)at = b->t; break;
    default: *(int32_t *)at = (int32_t)b->i;
    }
}

#define NOWHERE(name) { #name, .v = (double)INFINITY }, { #name, .v = -(double)INFINITY }

static const struct bad bad_params[] = {
    { "task", .i = 3 }, { "task", .i = -1 }, { "guards", .i = 3 }, { "guards", .i = -1 }, { "guards", .i = INT32_MAX },
    { "itn", .i = 1 }, { "ban_unknown_emotion", .i = 1 }, { "tags", .i = 1 }, { "tags", .i = 3 },
    { "language", .t = "klingon", .says = "klingon" }, { "language", .t = "" },
    { "suppress_tokens", .t = "1,x" }, { "suppress_tokens", .t = "999999" }, { "suppress_tokens", .t = "-2" },
    { "suppress_tokens", .t = "1, ,2", .says = "suppress_tokens: ' ' at place 2 is not a token id" },
    { "suppress_tokens", .t = "1,", .says = "suppress_tokens: '' at place 2" },
    { "suppress_tokens", .t = "1 2", .says = "suppress_tokens: '1 2' at place 1" },
    { "sample_len", .i = -1 }, { "sample_len", .i = 449 }, { "sample_len", .i = INT32_MIN },
    { "offset_ms", .i = -1 }, { "offset_ms", .i = INT64_MAX }, { "offset_ms", .i = INT64_MIN },
    { "duration_ms", .i = -1 }, { "duration_ms", .i = INT64_MAX },
    { "max_initial_timestamp", .v = -0.1 }, { "max_initial_timestamp", .v = (double)NAN },
    { "temperature", .v = -0.1 }, { "temperature", .v = (double)NAN }, { "temperature", .v = 9.9e-7 }, { "temperature", .v = 100.1 },
    { "temperature", .v = 1e-310, .says = "temperature is 1e-310, want 1e-06 to 100, or 0" },
    { "temperature", .v = (double)INFINITY, .says = "temperature is" }, { "temperature", .v = -(double)INFINITY, .says = "temperature is" },
    { "temperature_increment_on_fallback", .v = -0.1 }, { "temperature_increment_on_fallback", .v = 0.001 },
    { "temperature_increment_on_fallback", .v = 101 }, NOWHERE(temperature_increment_on_fallback),
    { "logprob_threshold", .v = 0.1 }, NOWHERE(logprob_threshold),
    { "no_speech_threshold", .v = 1.1 }, NOWHERE(no_speech_threshold),
    { "compression_ratio_threshold", .v = -1 }, NOWHERE(compression_ratio_threshold),
    { "entropy_threshold", .v = -1 }, NOWHERE(entropy_threshold),
};

static void refuse_prompt(steno_session *s, const int32_t *ids, int32_t n, const char *text, const char *what)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.prompt_tokens = ids;
    p.n_prompt_tokens = n;
    p.initial_prompt = text;
    refuse(s, &p, what);
}

static void test_transcription_parameters_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    static const int32_t far[] = { 1, 51865 }, below[] = { 1, -1 };
    steno_transcribe_params p;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    for (size_t i = 0; i < sizeof bad_params / sizeof *bad_params; i++) {
        steno_transcribe_params_init(&p);
        param_set(&p, &bad_params[i]);
        refuse(s, &p, bad_params[i].says ? bad_params[i].says : bad_params[i].field);
    }
    steno_transcribe_params_init(&p);
    p.size = 8;
    refuse(s, &p, "steno_transcribe_params");
    refuse_prompt(s, NULL, 1, NULL, "n_prompt_tokens");
    refuse_prompt(s, NULL, -1, NULL, "n_prompt_tokens");
    refuse_prompt(s, far, INT32_MIN, NULL, "n_prompt_tokens");
    refuse_prompt(s, far, 2, NULL, "id 51865 at place 1");
    refuse_prompt(s, below, 2, NULL, "id -1 at place 1");
    refuse_prompt(s, far, 1, "one", "give one of them");
    steno_session_close(s);
    steno_model_close(m);
}

static void test_a_session_transcribes_after_it_has_refused_calls(void **state)
{
    (void)state;
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const float x[4] = { 0 };
    const steno_source none = { NULL, NULL, NULL };
    assert_int_equal(steno_transcribe(s, NULL, 4, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe(s, x, -1, NULL), STENO_EARG);
    assert_int_equal(steno_transcribe_source(s, &none, NULL), STENO_EARG);
    assert_true(*steno_last_error(s));
    assert_int_equal(steno_bench_phase(s, "dance", 1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "dance"));
    assert_int_equal(steno_bench_phase(s, "mel", 0), STENO_EARG);
    assert_true(steno_bench_phase(s, "beam5", 2) < 0); /* one lane */
    const struct audio a = demo_audio(0, 0, 1);
    const steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    assert_string_equal(steno_text(s), demo_text);
    assert_string_equal(steno_last_error(s), "");
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_the_least_and_the_most_temperature_choose_words_with_probabilities(void **state)
{
    (void)state;
    static double const at[] = { 1e-6, 1e-5, 0.5, 99, 100 };
    static float x[RATE];
    uint32_t seed = 5;
    for (int i = 0; i < RATE; i++) x[i] = 0.3f * noise(&seed);
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 2);
    steno_transcribe_params p = params_new();
    p.suppress_tokens = " -1 , 50 ,7 ";
    p.guards = STENO_GUARDS_OFF; /* the sound is noise: its text would be left out */
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    p.sample_len = 8;
    assert_int_equal(steno_transcribe(s, x, RATE, &p), 0);
    char *coldest = strdup(steno_text(s));
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (p.best_of = 0; p.best_of <= 2; p.best_of += 2) {
            p.temperature = at[i];
            if (steno_transcribe(s, x, RATE, &p)) fail_msg("%s", steno_last_error(s));
            steno_token t = { .size = sizeof t };
            int n = 0;
            for (int g = 0; g < steno_segment_count(s); g++)
                for (int j = 0; steno_token_get(s, g, j, &t) == STENO_OK; j++, n++)
                    if (!(t.p > 0 && t.p <= 1)) fail_msg("temperature %g: token %d has probability %g", at[i], j, (double)t.p);
            assert_true(n > 0);
            if (at[i] < 1e-4) assert_string_equal(steno_text(s), coldest);
        }
    free(coldest);
    steno_session_close(s);
    steno_model_close(m);
}

static int64_t count_read(void *user, float *pcm, int64_t n)
{
    (void)pcm, (void)n;
    ++*(int *)user;
    return 0;
}

static void test_a_text_without_words_is_refused_before_audio_is_read(void **state)
{
    (void)state;
    static const char *const empty[] = { "", " ", "\n\n \t", "\xe3\x80\x80" };
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 1);
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        int reads = 0;
        const steno_source src = { count_read, NULL, &reads };
        assert_int_equal(steno_align(s, &src, empty[i], NULL), STENO_EARG);
        assert_non_null(strstr(steno_last_error(s), "no words"));
        assert_int_equal(reads, 0);
    }
    steno_session_close(s);
    steno_model_close(m);
}

static void test_results_past_the_end_are_refused(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    const steno_transcribe_params p = params_new();
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    const char *label;
    int64_t ns, calls;
    int ops = 0;
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), 0);
    const int n = steno_segment_count(s);
    assert_int_equal(steno_segment_get(s, n, &g), STENO_EARG);
    assert_int_equal(steno_segment_get(s, -1, &g), STENO_EARG);
    assert_int_equal(steno_segment_get(s, 0, NULL), STENO_EARG);
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    assert_int_equal(steno_token_get(s, 0, g.n_tokens, &t), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, -1, &t), STENO_EARG);
    assert_int_equal(steno_token_get(s, n, 0, &t), STENO_EARG);
    while (!steno_profile_get(s, ops, &label, &ns, &calls)) ops++;
    assert_true(ops > 20);
    assert_int_equal(steno_profile_get(s, -1, &label, &ns, &calls), STENO_EARG);
    free(a.pcm);
    steno_session_close(s);
    steno_model_close(m);
}

static void assert_no_results(const steno_session *s)
{
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    int32_t n = 7;
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, 0, &t), STENO_EARG);
    assert_int_equal(steno_span_count(s), 0);
    assert_string_equal(steno_text(s), "");
    assert_string_equal(steno_language(s), "");
    assert_int_equal(steno_duration_ms(s), 0);
    assert_null(steno_audio_features(s, &n, &n));
    for (int i = -1; i < 101; i++) assert_true(steno_language_prob(s, i) < 0);
}

static int64_t source_gone(void *user, float *pcm, int64_t n)
{
    (void)user;
    (void)pcm;
    (void)n;
    return -1;
}

static int64_t source_speaks(void *user, float *pcm, int64_t n)
{
    int64_t *left = user;
    const int64_t take = *left < n ? *left : n;
    uint32_t state = 5;
    for (int64_t i = 0; i < take; i++) pcm[i] = 0.1f * noise(&state);
    *left -= take;
    return take;
}

static int at_once(void *user)
{
    (void)user;
    return 1;
}

/* Nothing of a result outlives the beginning of the next call, however that one ends. */
static void test_there_are_no_results_before_a_call_and_after_one_that_failed(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 1);
    steno_model *m = shipped_open();
    steno_session *s = session_new(m, NULL, 1);
    steno_transcribe_params good = params_new(), p;
    good.language = NULL;
    good.keep_audio_features = 1;
    const steno_source gone = { source_gone, NULL, NULL };
    float probs[4];
    assert_no_results(s);
    for (int i = 0; i < 7; i++) {
        int32_t ctx, width;
        assert_int_equal(steno_transcribe(s, a.pcm, a.n, &good), 0);
        assert_string_equal(steno_text(s), demo_text);
        assert_true(steno_language_prob(s, 0) >= 0);
        assert_non_null(steno_audio_features(s, &ctx, &width));
        p = params_new();
        if (i == 0) p.temperature = -1;
        if (i == 1) p.should_abort = at_once;
        if (i == 2) p.size = 4;
        if (i < 3) assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), i == 1 ? STENO_ECANCELED : STENO_EARG);
        if (i == 3) assert_int_equal(steno_transcribe_source(s, &gone, &p), STENO_ESOURCE);
        if (i == 4) assert_int_equal(steno_detect_language(s, &gone, probs, 4), STENO_ESOURCE);
        if (i == 5) assert_int_equal(steno_find_speech(s, &gone, NULL), STENO_EARG);
        if (i == 6) assert_int_equal(steno_bench_phase(s, "dance", 1), STENO_EARG);
        assert_true(*steno_last_error(s));
        assert_no_results(s);
    }
    int64_t left = 61 * RATE; /* longer than what is kept of a sound, and cannot be read again */
    const steno_source once = { source_speaks, NULL, &left };
    assert_int_equal(steno_transcribe_source(s, &once, NULL), STENO_ESOURCE);
    assert_non_null(strstr(steno_last_error(s), "cannot go back"));
    assert_int_equal(steno_detect_language(s, &once, probs, -1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "-1"));
    steno_session_close(s);
    steno_model_close(m);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_refused_or_harmless_everywhere),
        cmocka_unit_test(test_null_is_refused_or_harmless_in_later_calls_too),
        cmocka_unit_test(test_transcription_parameters_out_of_range_are_refused_by_name),
        cmocka_unit_test(test_a_session_transcribes_after_it_has_refused_calls),
        cmocka_unit_test(test_the_least_and_the_most_temperature_choose_words_with_probabilities),
        cmocka_unit_test(test_a_text_without_words_is_refused_before_audio_is_read),
        cmocka_unit_test(test_results_past_the_end_are_refused),
        cmocka_unit_test(test_there_are_no_results_before_a_call_and_after_one_that_failed),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}

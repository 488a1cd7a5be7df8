/* steno tests: what CTC and voice-activity models refuse. SPDX-License-Identifier: MIT */
#include "funasr_session.h"

/* ---- calls that a model does not serve ---- */

static void assert_declined(const steno_session *s, int64_t rc, const char *what)
{
    if (rc != STENO_EARG && rc != STENO_EUNSUPPORTED) fail_msg("%s: status %lld", what, (long long)rc);
    if (s && !*steno_last_error(s)) fail_msg("%s: no reason", what);
}

static void assert_no_results(const steno_session *s)
{
    int32_t n = 7;
    steno_segment g = { .size = sizeof g };
    steno_token t = { .size = sizeof t };
    steno_span v = { .size = sizeof v };
    assert_int_equal(steno_segment_count(s), 0);
    assert_int_equal(steno_span_count(s), 0);
    assert_int_equal(steno_segment_get(s, 0, &g), STENO_EARG);
    assert_int_equal(steno_token_get(s, 0, 0, &t), STENO_EARG);
    assert_int_equal(steno_span_get(s, 0, &v), STENO_EARG);
    assert_string_equal(steno_text(s), "");
    assert_string_equal(steno_language(s), "");
    assert_null(steno_audio_features(s, &n, &n));
    assert_true(steno_language_prob(s, 0) < 0);
}

static void test_calls_of_whisper_alone_are_refused(void **state)
{
    (void)state;
    static const char *const phase[] = { "mel", "encode", "cross", "prompt", "decode", "beam5", "dance" };
    steno_model *const model[] = { ctc, vad };
    for (int k = 0; k < 2; k++) {
        const steno_model *m = model[k];
        steno_session *s = session_new(m, NULL, 32);
        struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        float probs[4], frames[80];
        int32_t id = 0;
        assert_no_results(s);
        assert_declined(s, steno_detect_language(s, &src, probs, 4), "detect_language");
        for (int i = 0; i < 7; i++)
            if (strcmp(phase[i], "encode") != 0) assert_declined(s, steno_bench_phase(s, phase[i], 1), phase[i]);
        assert_declined(NULL, steno_tokenize(m, "one", &id, 1), "tokenize");
        assert_int_equal(steno_mel(m, audio.pcm, RATE, frames, 1), 98); /* they have features, too */
        assert_int_equal(steno_language_id(m, "en"), -1);
        assert_null(steno_model_language(m, 0));
        for (int w = STENO_TOKEN_END; w <= STENO_TOKEN_TIMESTAMP; w++) assert_int_equal(steno_token_id(m, (enum steno_special)w), -1);
        if (m == vad) {
            assert_declined(s, steno_transcribe(s, audio.pcm, RATE, NULL), "transcribe");
            assert_declined(s, steno_transcribe_source(s, &src, NULL), "transcribe_source");
            assert_declined(NULL, steno_detokenize(m, &id, 1, NULL, 0), "detokenize");
        } else {
            assert_declined(s, steno_find_speech(s, &src, NULL), "find_speech");
        }
        assert_no_results(s);
        steno_session_close(s);
    }
    steno_model *w = shipped_open();
    steno_session *s = session_new(w, NULL, 1);
    struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_declined(s, steno_find_speech(s, &src, NULL), "find_speech with a model that transcribes");
    assert_no_results(s);
    assert_int_equal(t.reads, 0);
    steno_session_close(s);
    steno_model_close(w);
}

static void test_a_request_that_the_model_cannot_meet_is_refused_by_name(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    steno_transcribe_params p = ctc_params();
    p.language = "klingon";
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "language");
    assert_non_null(strstr(steno_last_error(s), "klingon"));
    p = ctc_params();
    p.task = STENO_TRANSLATE;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "task");
    assert_non_null(strstr(steno_last_error(s), "task"));
    p = ctc_params();
    p.offset_ms = -1;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "offset_ms");
    assert_non_null(strstr(steno_last_error(s), "offset_ms"));
    static const int64_t far[] = { INT64_MAX, INT64_MIN, INT64_C(1000000000000001) };
    for (int i = 0; i < 6; i++) {
        p = ctc_params();
        *(i % 2 ? &p.offset_ms : &p.duration_ms) = far[i / 2];
        assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "offset_ms or duration_ms");
        assert_non_null(strstr(steno_last_error(s), i % 2 ? "offset_ms" : "duration_ms"));
    }
    p = ctc_params();
    p.keep_audio_features = 1;
    assert_declined(s, steno_transcribe(s, audio.pcm, RATE, &p), "keep_audio_features");
    assert_non_null(strstr(steno_last_error(s), "keep_audio_features"));
    p = ctc_params();
    p.language = "en";
    p.itn = p.ban_unknown_emotion = 1;
    ctc_run(s, audio.pcm, RATE, &p);
    steno_session_close(s);
}

static void test_vad_parameters_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    static const struct { double threshold; int64_t end_silence, segment; uint32_t size; const char *what; } wrong[] = {
        { 1.1, -1, -1, 0, "threshold" },       { -1.1, -1, -1, 0, "threshold" },       { (double)INFINITY, -1, -1, 0, "threshold" },
        { 0.5, INT64_MAX, -1, 0, "silence" },  { 0.5, -1, 0, 0, "max_segment_ms" },    { 0.5, -1, INT64_MAX, 0, "max_segment_ms" },
        { 0.5, -2, -1, 0, "silence" },         { 0.5, INT64_MIN, -1, 0, "silence" },  { 0.5, -1, -2, 0, "max_segment_ms" },
        { 0.5, -1, -1, 4, "steno_vad_params" }, { 0.5, -1, -1, 31, "steno_vad_params" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tap t = { audio.pcm, RATE, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t), none = { NULL, NULL, NULL };
        steno_vad_params p;
        steno_vad_params_init(&p);
        p.threshold = wrong[i].threshold;
        p.max_end_silence_ms = wrong[i].end_silence;
        p.max_segment_ms = wrong[i].segment;
        if (wrong[i].size) p.size = wrong[i].size;
        assert_declined(s, steno_find_speech(s, &src, &p), wrong[i].what);
        if (!strstr(steno_last_error(s), wrong[i].what)) fail_msg("want %s: %s", wrong[i].what, steno_last_error(s));
        assert_int_equal(t.reads, 0);
        assert_declined(s, steno_find_speech(s, &none, NULL), "no read function");
        assert_declined(s, steno_find_speech(s, NULL, NULL), "no source");
    }
    vad_run(s, audio.pcm, audio.n, 0);
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.threshold = -1; /* everything is speech */
    struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_find_speech(s, &src, &p), 0);
    steno_span v = { .size = sizeof v };
    assert_int_equal(steno_span_count(s), 1);
    steno_span_get(s, 0, &v);
    assert_true(v.t0_ms == 0 && v.t1_ms > 30900);
    steno_session_close(s);
}

/* The same call from programs built against the first header and against one to come; spans are filled as far as there is room. */
static void test_vad_structs_of_older_and_newer_callers_are_served(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    union { steno_vad_params p; uint8_t bytes[sizeof(steno_vad_params) + 16]; } u;
    union { steno_span v; uint8_t bytes[sizeof(steno_span) + 16]; } v;
    const uint64_t want = vad_run(s, audio.pcm, audio.n, 0);
    const uint32_t size[] = { offsetof(steno_vad_params, user), sizeof(steno_vad_params), sizeof u };
    for (int i = 0; i < 3; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        memset(&u, 0, sizeof u);
        steno_vad_params_init(&u.p);
        u.p.size = size[i];
        memset(u.bytes + size[i], 0xff, sizeof u - size[i]);
        assert_int_equal(steno_find_speech(s, &src, &u.p), 0);
        assert_true(spans_digest(s) == want);
    }
    memset(&v, 0xee, sizeof v);
    v.v.size = offsetof(steno_span, t1_ms);
    assert_int_equal(steno_span_get(s, 0, &v.v), 0);
    for (size_t i = offsetof(steno_span, t1_ms); i < sizeof v; i++) assert_int_equal(v.bytes[i], 0xee);
    v.v.size = sizeof v;
    assert_int_equal(steno_span_get(s, 0, &v.v), 0);
    assert_int_equal(v.v.size, sizeof v.v);
    v.v.size = 0;
    assert_int_equal(steno_span_get(s, 0, &v.v), STENO_EARG);
    assert_int_equal(steno_span_get(s, -1, &v.v), STENO_EARG);
    v.v.size = sizeof v.v;
    assert_int_equal(steno_span_get(s, steno_span_count(s), &v.v), STENO_EARG);
    assert_int_equal(steno_span_get(s, 0, NULL), STENO_EARG);
    steno_session_close(s);
}

/* A model that was trained with other features would decode nonsense. */
static void test_a_model_of_another_rate_is_refused(void **state)
{
    (void)state;
    static const struct { struct folder (*make)(void); const char *said, *why; int status; } scene[] = {
        { vad_folder, "\"fs\": 8000", "frontend_conf.fs is 8000", STENO_EUNSUPPORTED },
        { vad_folder, "\"fs\": \"16k\"", "frontend_conf.fs is ", STENO_EFORMAT },
        { vad_folder, "\"frame_shift\": 20", "frontend_conf.frame_shift is 20", STENO_EUNSUPPORTED },
        { ctc_folder, "\"frame_length\": 50", "frontend_conf.frame_length is 50", STENO_EUNSUPPORTED },
    };
    static const char key[] = "\"frontend_conf\": {";
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
        const struct folder d = scene[i].make();
        char config[2048], changed[2200];
        steno_model *m;
        steno_error e;
        FILE *f = fopen(folder_at(&d, "config.json").path, "rb");
        assert_non_null(f);
        config[fread(config, 1, sizeof config - 1, f)] = '\0';
        fclose(f);
        const char *at = strstr(config, key);
        assert_non_null(at);
        at += strlen(key);
        snprintf(changed, sizeof changed, "%.*s%s, %s", (int)(at - config), config, scene[i].said, at);
        folder_text(&d, "config.json", changed);
        const int rc = steno_model_open(&m, d.path, NULL, &e);
        if (rc != scene[i].status || !strstr(e.text, scene[i].why)) fail_msg("%s: status %d: %s", scene[i].said, rc, e.text);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_of_whisper_alone_are_refused),
        cmocka_unit_test(test_a_request_that_the_model_cannot_meet_is_refused_by_name),
        cmocka_unit_test(test_vad_parameters_out_of_range_are_refused_by_name),
        cmocka_unit_test(test_vad_structs_of_older_and_newer_callers_are_served),
        cmocka_unit_test(test_a_model_of_another_rate_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: voice activity detection that a request asks for. SPDX-License-Identifier: MIT */
#include "api/funasr_model.h"
#include "ask_request.h"
#include <math.h>

static steno_model *many, *ctc, *fsmn;

static int open_all(void **state)
{
    (void)state;
    many = shipped_open();
    ctc = funasr_open(ctc_folder, NULL);
    fsmn = funasr_open(vad_folder, NULL);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(many);
    steno_model_close(ctc);
    steno_model_close(fsmn);
    return 0;
}

static int fill(struct request *r, const steno_model *m)
{
    r->job.model = m;
    return ask_fill(&r->ask, &r->form, &r->job, m, &r->e);
}

static void begin(struct request *r, const char *fields)
{
    request_begin(r, fields);
    assert_int_equal(ask_read(&r->ask, &r->form, STENO_TRANSCRIBE, 0, &r->e), API_OK);
    steno_transcribe_params_init(&r->job.params);
}

/* A server that was started with a detector: FSMN-VAD with min_speech_ms, else Silero. */
static int fill_with_vad(struct request *r, const char *fields, int is_fsmn)
{
    begin(r, fields);
    r->job.params.condition_on_previous_text = 0;
    r->job.params.independent_clips = 1;
    steno_vad_params_init(&r->job.speech.params);
    r->ask.vad_default = 1;
    r->job.speech.min_speech_ms = is_fsmn ? 250 : 0;
    return fill(r, many);
}

/* The server has Silero for live turns; files use it on request, as with --vad silero. */
static void test_voice_activity_on_request(void **state)
{
    static const struct { const char *fields; int code, uses, condition, clips; int64_t offset_ms, begin_ms; } cases[] = {
        { "offset_ms=1000", API_OK, 0, 1, 0, 1000, 0 },
        { "vad_filter=0", API_OK, 0, 1, 0, 0, 0 },
        { "clip_timestamps=0,1", API_OK, 0, 1, 0, 0, 0 },
        { "chunking_strategy=auto&offset_ms=1000", API_OK, 1, 0, 1, 0, 1000 },
        { "vad_filter=1", API_OK, 1, 0, 1, 0, 0 },
        { "vad_filter=1&condition_on_previous_text=1", API_OK, 1, 1, 0, 0, 0 },
        { "vad_filter=1&clip_timestamps=0,1", API_invalid_value, 0, 0, 0, 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct request r;
        begin(&r, cases[i].fields);
        r.job.params.condition_on_previous_text = 1;
        steno_vad_params_init(&r.job.speech.params);
        const int code = fill(&r, many);
        if (code != cases[i].code) fail_msg("%s: %d, not %d", cases[i].fields, code, cases[i].code);
        const steno_transcribe_params *p = &r.job.params;
        if (code == API_OK && (r.ask.use_vad != cases[i].uses || p->condition_on_previous_text != cases[i].condition ||
                               p->independent_clips != cases[i].clips || p->offset_ms != cases[i].offset_ms ||
                               r.job.speech.begin_ms != cases[i].begin_ms))
            fail_msg("%s: use_vad %d, condition %d, clips %d", cases[i].fields, r.ask.use_vad, p->condition_on_previous_text,
                     p->independent_clips);
        request_free(&r);
    }
}

static void test_voice_activity(void **state)
{
    static const char object[] = "chunking_strategy={\"type\":\"server_vad\",\"threshold\":0.6,\"prefix_padding_ms\":200,"
                                 "\"silence_duration_ms\":500}";
    struct request r;
    (void)state;
    assert_int_equal(fill_with_vad(&r, "offset_ms=1000&duration_ms=5000", 1), API_OK); /* as the defaults */
    assert_true(r.ask.use_vad == 1 && r.job.params.independent_clips && r.job.speech.begin_ms == 1000 && r.job.speech.duration_ms == 5000);
    assert_true(r.job.params.offset_ms == 0 && r.job.params.duration_ms == 0);
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, "vad_filter=false&offset_ms=1000", 1), API_OK);
    assert_true(r.ask.use_vad == 0 && !r.job.params.independent_clips && r.job.params.condition_on_previous_text == 1);
    assert_true(r.job.params.offset_ms == 1000 && r.job.speech.begin_ms == 0);
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, "condition_on_previous_text=1&chunking_strategy=auto", 1), API_OK);
    assert_true(r.ask.use_vad == 1 && !r.job.params.independent_clips);
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, object, 1), API_OK);
    assert_true(fabs(r.job.speech.params.threshold - 0.2) < 1e-9 && r.job.speech.pad_ms == 200);
    assert_true(r.job.speech.params.max_end_silence_ms == 500 && r.job.speech.params.speech_pad_ms == -1);
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, object, 0), API_OK);
    assert_true(r.job.speech.params.threshold == 0.6 && r.job.speech.params.speech_pad_ms == 200 && r.job.speech.pad_ms == 0);
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, "clip_timestamps=0,1", 1), API_invalid_value);
    request_free(&r);
    begin(&r, "chunking_strategy=auto&user=me");
    assert_int_equal(fill(&r, many), API_OK); /* there is no detector */
    assert_true(r.ask.use_vad == 0 && r.job.params.condition_on_previous_text == 1);
    assert_string_equal(r.ask.ignored, "user, chunking_strategy");
    request_free(&r);
    assert_int_equal(fill_with_vad(&r, "clip_timestamps=0,1&vad_filter=0", 1), API_OK);
    request_free(&r);
}

static void test_voice_activity_within_a_model(void **state)
{
    struct request r;
    (void)state;
    for (int k = 0; k < 3; k++) {
        static const char *const fields[] = { "chunking_strategy[silence_duration_ms]=400", "vad_filter=no",
                                              "chunking_strategy[prefix_padding_ms]=9" };
        begin(&r, fields[k]);
        r.job.params.vad_model = fsmn;
        const int code = fill(&r, ctc);
        assert_int_equal(code, k < 2 ? API_OK : API_invalid_value);
        assert_int_equal(r.ask.use_vad, 0); /* the model does it */
        if (k == 0) assert_true(r.job.params.vad_model == fsmn && r.job.params.vad->max_end_silence_ms == 400);
        if (k == 1) assert_true(!r.job.params.vad_model && !r.job.params.vad);
        request_free(&r);
    }
}

/* The server has a detector for live turns; files use it on request, as with --vad. */
static void test_voice_activity_within_a_model_on_request(void **state)
{
    static const struct { const char *fields; int code, uses; int64_t silence_ms; } cases[] = {
        { "", API_OK, 0, 0 },
        { "vad_filter=0", API_OK, 0, 0 },
        { "clip_timestamps=0,1", API_OK, 0, 0 },
        { "vad_filter=1", API_OK, 1, 70 },
        { "chunking_strategy=auto", API_OK, 1, 70 },
        { "chunking_strategy[silence_duration_ms]=400", API_OK, 1, 400 },
        { "chunking_strategy[prefix_padding_ms]=9", API_invalid_value, 1, 70 }, /* FSMN-VAD has margins */
    };
    struct request r;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        begin(&r, cases[k].fields);
        steno_vad_params_init(&r.job.speech.params);
        r.job.speech.params.max_end_silence_ms = 70; /* of the server */
        r.ask.vad = fsmn;
        const int code = fill(&r, ctc);
        if (strstr(cases[k].fields, "clip_")) assert_true(code == API_OK || !strstr(r.e.message, "voice activity"));
        else assert_int_equal(code, cases[k].code);
        assert_int_equal(r.ask.use_vad, 0); /* the model does it */
        assert_ptr_equal(r.job.params.vad_model, cases[k].uses ? fsmn : NULL);
        assert_true(cases[k].uses ? r.job.params.vad->max_end_silence_ms == cases[k].silence_ms : !r.job.params.vad);
        request_free(&r);
    }
    begin(&r, "vad_filter=1");
    assert_int_equal(fill(&r, ctc), API_invalid_value); /* there is no detector */
    request_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_voice_activity),
        cmocka_unit_test(test_voice_activity_on_request),
        cmocka_unit_test(test_voice_activity_within_a_model),
        cmocka_unit_test(test_voice_activity_within_a_model_on_request),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: structs of callers that were compiled with another header. SPDX-License-Identifier: MIT */
#include "shipped_bytes.h"

static void test_structs_filled_by_an_older_caller_get_only_their_bytes(void **state)
{
    (void)state;
    steno_model *m = bytes_open(file, NULL);
    steno_session *s = session_new(m, NULL, 1);
    union { steno_model_info info; steno_timings timings; uint8_t bytes[sizeof(steno_model_info) + 16]; } u;
    memset(u.bytes, 0xee, sizeof u);
    u.info.size = offsetof(steno_model_info, name);
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_string_equal(u.info.family, "whisper");
    for (size_t i = offsetof(steno_model_info, name); i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.info.size = sizeof u.bytes; /* a newer one: what we do not know stays */
    assert_int_equal(steno_model_info_get(m, &u.info), 0);
    assert_int_equal(u.info.size, sizeof(steno_model_info));
    assert_int_equal(u.bytes[sizeof(steno_model_info)], 0xee);
    memset(u.bytes, 0xee, sizeof u);
    u.timings.size = 8;
    assert_int_equal(steno_timings_get(s, &u.timings), 0);
    for (size_t i = 8; i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.timings.size = 0;
    assert_int_equal(steno_timings_get(s, &u.timings), STENO_EARG);
    steno_session_close(s);
    steno_model_close(m);
}

/* The same call from programs built against the first header, this one, and one to come. */
static void test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    steno_session *s;
    union { steno_model_params p; uint8_t bytes[sizeof(steno_model_params) + 16]; } mp;
    union { steno_session_params p; uint8_t bytes[sizeof(steno_session_params) + 16]; } sp;
    union { steno_transcribe_params p; uint8_t bytes[sizeof(steno_transcribe_params) + 16]; } tp;
    const float x[4] = { 0 };
    for (int i = 0; i < 3; i++) { /* what lies behind an older caller's struct is not looked at */
        const size_t model_sz = offsetof(steno_model_params, vocab), session_sz = 8;
        const size_t sz = offsetof(steno_transcribe_params, temperature_increment_on_fallback);
        memset(&mp, 0, sizeof mp);
        memset(&sp, 0, sizeof sp);
        memset(&tp, 0, sizeof tp);
        steno_model_params_init(&mp.p);
        steno_session_params_init(&sp.p);
        steno_transcribe_params_init(&tp.p);
        tp.p.language = "en";
        if (i == 0) {
            memset(mp.bytes + model_sz, 0xff, sizeof mp - model_sz);
            memset(sp.bytes + session_sz, 0xff, sizeof sp - session_sz);
            memset(tp.bytes + sz, 0xff, sizeof tp - sz);
        }
        mp.p.size = (uint32_t)(i == 0 ? model_sz : i == 1 ? sizeof mp.p : sizeof mp);
        sp.p.size = (uint32_t)(i == 0 ? session_sz : i == 1 ? sizeof sp.p : sizeof sp);
        tp.p.size = (uint32_t)(i == 0 ? sz : i == 1 ? sizeof tp.p : sizeof tp);
        if (steno_model_open_memory(&m, file.p, file.n, &mp.p, &e)) fail_msg("%s", e.text);
        assert_true(steno_session_memory(m, NULL, &sp.p) > 0);
        assert_int_equal(steno_session_open(&s, m, NULL, &sp.p, NULL), 0);
        if (steno_transcribe(s, x, 4, &tp.p)) fail_msg("%s", steno_last_error(s));
        steno_session_close(s);
        steno_model_close(m);
    }
}

static void test_structs_have_the_layout_that_callers_were_compiled_with(void **state)
{
    (void)state;
    assert_int_equal(sizeof(steno_error), 1024);
    assert_int_equal(offsetof(steno_model_params, size), 0);
    assert_int_equal(offsetof(steno_session_params, size), 0);
    assert_int_equal(offsetof(steno_transcribe_params, size), 0);
    assert_int_equal(offsetof(steno_model_info, size), 0);
    assert_int_equal(offsetof(steno_timings, size), 0);
    if (sizeof(void *) != 8) skip();
    assert_int_equal(sizeof(steno_model_params), 88);
    assert_int_equal(sizeof(steno_session_params), 24);
    assert_int_equal(sizeof(steno_transcribe_params), 496);
    assert_int_equal(sizeof(steno_model_info), 256);
    assert_int_equal(sizeof(steno_segment), 160);
    assert_int_equal(sizeof(steno_word), 64);
    assert_int_equal(sizeof(steno_batch_params), 48);
    assert_int_equal(sizeof(steno_request_params), 56);
    assert_int_equal(sizeof(steno_heard), 24);
    assert_int_equal(sizeof(steno_request_timings), 56);
    assert_int_equal(sizeof(steno_attempt), 128);
    assert_int_equal(sizeof(steno_step), 32);
    assert_int_equal(sizeof(steno_token), 64);
    assert_int_equal(sizeof(steno_timings), 160);
    assert_int_equal(sizeof(steno_reader), 32);
    assert_int_equal(sizeof(steno_source), 24);
    assert_int_equal(sizeof(steno_span), 24);
    assert_int_equal(sizeof(steno_mark), 32);
    assert_int_equal(sizeof(steno_punctuate_params), 32);
    assert_int_equal(sizeof(steno_embed_params), 32);
    assert_int_equal(sizeof(steno_embedding), 32);
    assert_int_equal(sizeof(steno_vad_params), 128);
}

static void test_every_status_and_level_has_a_name(void **state)
{
    (void)state;
    for (int i = STENO_ESOURCE; i <= 0; i++) assert_string_not_equal(steno_status_text(i), "unknown status");
    assert_string_equal(steno_status_text(5), "unknown status");
    assert_string_equal(steno_status_text(-1000), "unknown status");
    assert_string_equal(steno_cpu_level_name(0), "c");
    assert_int_equal(steno_cpu_level_usable(0), 1);
    assert_null(steno_cpu_level_name(-1));
    assert_null(steno_cpu_level_name(99));
    assert_int_equal(steno_cpu_level_usable(99), 0);
    assert_int_equal(steno_cpu_level_usable(-1), 0);
    int major, minor, patch;
    assert_int_equal(sscanf(steno_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs_filled_by_an_older_caller_get_only_their_bytes),
        cmocka_unit_test(test_parameters_of_older_and_newer_callers_are_taken_for_what_they_have),
        cmocka_unit_test(test_structs_have_the_layout_that_callers_were_compiled_with),
        cmocka_unit_test(test_every_status_and_level_has_a_name),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}

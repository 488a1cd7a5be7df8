/* steno tests: realtime transcription: mistakes, failures and ends. SPDX-License-Identifier: MIT */
#include "realtime_expect.h"
#include <pthread.h>
#include <unistd.h>

/* ---- mistakes ---------------------------------------------------------------------------------------------------------------- */

#define LONG_512 \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct { const char *text, *code, *param, *event_id; } mistakes[] = {
    { "", "invalid_json", NULL, NULL }, { "{", "invalid_json", NULL, NULL }, { "hello", "invalid_json", NULL, NULL },
    { "{\"type\":\"a\",\"type\":\"b\"}", "invalid_json", NULL, NULL }, { "{\"type\":\"\xff\"}", "invalid_json", NULL, NULL },
    { "[]", "invalid_event", NULL, NULL }, { "{}", "invalid_event", "type", NULL }, { "{\"type\":7}", "invalid_event", "type", NULL },
    { "{\"type\":\"session.delete\",\"event_id\":\"a\"}", "invalid_event", "type", "a" },
    { "{\"type\":\"input_audio_buffer.append\",\"event_id\":7}", "invalid_value", "event_id", NULL },
    { "{\"type\":\"x\",\"event_id\":\"" LONG_512 "\"}", "invalid_event", "type", LONG_512 },
    { "{\"type\":\"x\",\"event_id\":\"" LONG_512 "1\"}", "invalid_value", "event_id", NULL },
    { "{\"type\":\"response.create\",\"event_id\":\"b\"}", "invalid_value", "type", "b" },
    { "{\"type\":\"conversation.item.create\"}", "invalid_value", "type", NULL },
    { "{\"type\":\"input_audio_buffer.append\"}", "missing_required_parameter", "audio", NULL },
    { "{\"type\":\"input_audio_buffer.append\",\"audio\":[1]}", "invalid_value", "audio", NULL },
    { "{\"type\":\"input_audio_buffer.append\",\"audio\":\"AAA\"}", "invalid_value", "audio", NULL },
    { "{\"type\":\"input_audio_buffer.append\",\"audio\":\"A A=\",\"event_id\":\"c\"}", "invalid_value", "audio", "c" },
    { "{\"type\":\"input_audio_buffer.commit\",\"event_id\":\"d\"}", "input_audio_buffer_commit_empty", NULL, "d" },
    { "{\"type\":\"session.update\"}", "missing_required_parameter", "session", NULL },
    { "{\"type\":\"session.update\",\"session\":1,\"event_id\":\"e\"}", "invalid_value", "session", "e" },
    { "{\"type\":\"session.update\",\"session\":{\"voice\":\"a\"}}", "unknown_parameter", "session.voice", NULL },
    { "{\"type\":\"session.update\",\"session\":{\"model\":\"huge\"}}", "invalid_value", "session.audio.input.transcription.model", NULL },
};

/* Each is one error event, and the session stays. */
static void mistakes_are_errors(void **state)
{
    (void)state;
    p.refuses_model = 1;
    next_is("session.created");
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        client(mistakes[i].text);
        error_is(mistakes[i].code, mistakes[i].param, mistakes[i].event_id);
        none_left();
        assert_int_equal(p.closed, 0);
    }
    client("{\"type\":\"\\u0000\"}");
    assert_string_equal(text_at(json_object_get(next_is("error"), "error"), "message"),
                        "The event has a NUL character (\\u0000): line 1, column 16.");
    client("{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\"}}");
    error_is("invalid_value", "session.type", NULL);
    assert_int_equal(p.closed, CLOSE_UNSERVED);
    client("{\"type\":\"session.update\",\"session\":{}}"); /* nothing is read after it */
    append_ms(100);
    assert_int_equal(p.n_open, 0);
    none_left();
}

static void no_live_session(void **state)
{
    static const struct { int code, close, has_error; } cases[] = {
        { API_too_many_sessions, CLOSE_BUSY, 0 }, { API_loading, CLOSE_BUSY, 0 }, { API_overloaded, CLOSE_BUSY, 0 },
        { API_draining, CLOSE_GOING, 0 }, { API_internal_error, CLOSE_BROKEN, 0 }, { API_invalid_value, CLOSE_UNSERVED, 1 },
        { API_model_not_found, CLOSE_UNSERVED, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        p.fails_to_open = cases[i].code;
        append_ms(100);
        assert_int_equal(p.closed, cases[i].close);
        next_is("session.created");
        if (cases[i].has_error) error_is("invalid_value", NULL, NULL);
        none_left();
        assert_int_equal(end(state), 0);
        assert_int_equal(begin(state), 0);
    }
}

/* ---- failures and ends ------------------------------------------------------------------------------------------------------- */

static void failed_is(const char *id)
{
    const json_t *e = next_is(PREFIX "failed"), *error = json_object_get(e, "error");
    text_is(e, "item_id", id);
    text_is(error, "type", "server_error");
    text_is(error, "code", "transcription_failed");
    text_is(error, "message", "out of luck");
    text_is(error, "param", NULL);
}

static void failures_manual(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    append_ms(500);
    client("{\"type\":\"input_audio_buffer.commit\"}");
    append_ms(500);
    commit_is("item_7f_1", NULL);
    played_ended(&p, "out of luck");
    failed_is("item_7f_1");
    none_left();
    client("{\"type\":\"input_audio_buffer.commit\"}"); /* no error event: it is not the client's mistake */
    commit_is("item_7f_2", "item_7f_1");
    failed_is("item_7f_2");
    append_ms(500); /* the session goes on */
    client("{\"type\":\"input_audio_buffer.commit\"}");
    played_flushed(&p);
    commit_is("item_7f_3", "item_7f_2");
    completed_is("item_7f_3", "", 1);
    p.is_lost = 1; /* a push finds that the session is over */
    append_ms(200);
    assert_true(p.is_paused);
    played_ended(&p, "out of luck");
    assert_int_equal(p.n_open, 3);
    client("{\"type\":\"input_audio_buffer.commit\"}");
    played_flushed(&p);
    commit_is("item_7f_4", "item_7f_3");
    completed_is("item_7f_4", "", 1);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(p.closed, 0);
        append_ms(200);
        played_ended(&p, "out of luck");
    }
    assert_int_equal(p.closed, CLOSE_BROKEN);
}

static void failures_of_voice(void **state)
{
    (void)state;
    next_is("session.created");
    append_ms(500);
    realtime_live_speech(p.rt, 1, 0);
    next_is("input_audio_buffer.speech_started");
    played_ended(&p, "out of luck");
    next_is("input_audio_buffer.speech_stopped");
    commit_is("item_7f_1", NULL);
    failed_is("item_7f_1");
    append_ms(500);
    realtime_live_speech(p.rt, 1, 100);
    const json_t *e = next_is("input_audio_buffer.speech_started");
    assert_int_equal(json_integer_value(json_object_get(e, "audio_start_ms")), 600); /* of all audio */
    client("{\"type\":\"input_audio_buffer.commit\"}");
    played_ended(&p, "out of luck");
    next_is("input_audio_buffer.speech_stopped");
    commit_is("item_7f_2", "item_7f_1");
    failed_is("item_7f_2");
    append_ms(200);
    client("{\"type\":\"input_audio_buffer.commit\"}");
    played_ended(&p, "out of luck");
    commit_is("item_7f_3", "item_7f_2");
    failed_is("item_7f_3");
    none_left();
}

static void drains(void **state)
{
    for (int has_vad = 0; has_vad < 2; has_vad++) {
        for (int is_expired = 0; is_expired < 2; is_expired++) {
            next_is("session.created");
            if (!has_vad) client(MANUAL);
            p.n_taken = json_array_size(p.sent);
            append_ms(1000);
            if (has_vad) realtime_live_speech(p.rt, 1, 0);
            if (has_vad) next_is("input_audio_buffer.speech_started");
            realtime_end(p.rt, is_expired);
            if (is_expired) error_is("session_expired", NULL, NULL);
            append_ms(1000); /* too late */
            assert_int_equal(p.n_bytes, 48000);
            assert_int_equal(p.ends, 1);
            assert_int_equal(p.closed, 0);
            played_words(&p, LIVE_FINAL, " one", 0, 900);
            delta_is("item_7f_1", "one");
            if (has_vad) played_words(&p, LIVE_ENDPOINT, " one", 0, 1000);
            played_ended(&p, NULL);
            if (has_vad) next_is("input_audio_buffer.speech_stopped");
            commit_is("item_7f_1", NULL);
            completed_is("item_7f_1", "one", 1);
            none_left();
            assert_int_equal(p.closed, CLOSE_GOING);
            assert_null(promises_broken(&p, 1));
            end(state);
            begin(state);
        }
    }
    realtime_end(p.rt, 0); /* without audio: at once */
    assert_int_equal(p.closed, CLOSE_GOING);
}

static void gone_in_the_middle(void **state)
{
    (void)state;
    append_ms(500);
    realtime_live_speech(p.rt, 1, 0);
    realtime_gone(p.rt);
    assert_true(p.is_cancelled);
    assert_false(p.is_over);
    const size_t n = json_array_size(p.sent);
    played_words(&p, LIVE_FINAL, " one", 0, 400);
    assert_int_equal(json_array_size(p.sent), n);
    played_ended(&p, NULL);
    assert_true(p.is_over);
    json_decref(p.sent);
    begin(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
/* ---- callbacks of another thread --------------------------------------------------------------------------------------------- */

/* A live session whose callbacks are called while the call that leads to them has not returned. */
static struct { struct realtime *rt; pthread_t thread; int ends_early, n_open, is_paused, code, is_over; } early;

static void *early_ended(void *rt)
{
    const struct api_error e = { .code = API_internal_error, .message = "it fails" };
    realtime_live_ended(rt, &e);
    return NULL;
}

static void *early_room(void *rt) { realtime_live_room(rt); return NULL; }

static void early_start(void *(*call)(void *))
{
    assert_int_equal(pthread_create(&early.thread, NULL, call, early.rt), 0);
    usleep(20000);
}

static void *early_open(void *user, const struct realtime_config *c, struct realtime *rt, struct api_error *e)
{
    (void)user, (void)c, (void)rt, (void)e;
    if (early.n_open++ == 0 && early.ends_early) early_start(early_ended);
    return &early;
}

static int early_push(void *live, const void *bytes, size_t n)
{
    (void)live, (void)bytes, (void)n;
    if (early.ends_early) return early.n_open == 1 ? -1 : 0;
    early_start(early_room);
    return 1;
}

static void early_nothing(void *live) { (void)live; }
static void early_send(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }
static void early_closes(void *user, int code, const char *reason) { (void)user, (void)reason; early.code = code; }
static void early_pause(void *user, int on) { (void)user; early.is_paused = on; }
static void early_over(void *user) { (void)user; early.is_over = 1; }

static void callbacks_before_their_calls_return(void **state)
{
    static const struct realtime_audio audio = { early_open, early_push, early_nothing, early_nothing, early_nothing, early_nothing,
                                                 early_nothing };
    const struct realtime_params params = { .seed = "7f", .model = "base", .audio = &audio, .send = early_send, .close = early_closes,
                                            .pause = early_pause, .over = early_over };
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        early.ends_early = ends;
        early.is_over = early.is_paused = early.code = early.n_open = 0;
        assert_int_equal(realtime_open(&early.rt, &params), 0);
        realtime_begin(early.rt);
        realtime_binary(early.rt, "abcd", 4);
        pthread_join(early.thread, NULL);
        assert_int_equal(early.is_paused, 0); /* the pause came first */
        assert_int_equal(early.n_open, 1 + ends); /* the audio went to another one */
        realtime_live_ended(early.rt, NULL);
        realtime_gone(early.rt);
        assert_int_equal(early.is_over, 1); /* no live session is left */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mistakes_are_errors), TEST(no_live_session), TEST(failures_manual), TEST(failures_of_voice), TEST(drains),
        TEST(gone_in_the_middle), cmocka_unit_test(callbacks_before_their_calls_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

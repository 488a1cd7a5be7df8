/* steno tests: secrets that open realtime sessions. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "realtime_secrets.h"
#include <stdio.h>

static struct secrets *secrets;
static struct api_error error;

static int begin(void **state)
{
    (void)state;
    secrets = secrets_open();
    return !secrets;
}

static int end(void **state)
{
    (void)state;
    secrets_close(secrets);
    return 0;
}

/* @return the answer; NULL with `error` */
static json_t *create(const char *body, int is_flat, int64_t now)
{
    char *text;
    size_t n;
    error = (struct api_error){ 0 };
    const struct secret_request q = { .body = body, .n = strlen(body), .is_flat = is_flat, .model = "base", .now = now };
    const int code = secrets_create(secrets, &q, &text, &n, &error);
    assert_int_equal(code, error.code);
    if (code) {
        assert_null(text);
        return NULL;
    }
    json_t *v = json_loadb(text, n, 0, NULL);
    free(text);
    assert_non_null(v);
    return v;
}

static const char *text_at(const json_t *v, const char *key)
{
    const char *text = json_string_value(json_object_get(v, key));
    return text ? text : "";
}

static void current_shape(void **state)
{
    json_t *session;
    (void)state;
    json_t *v = create("{\"expires_after\":{\"anchor\":\"created_at\",\"seconds\":60},\"session\":{\"type\":\"transcription\",\"audio\":"
                       "{\"input\":{\"turn_detection\":null}}}}", 0, 1000);
    const char *value = text_at(v, "value");
    assert_int_equal(strlen(value), SECRET_SZ - 1);
    assert_true(!strncmp(value, "ek_", 3) && strspn(value + 3, "0123456789abcdef") == 64);
    assert_int_equal(json_integer_value(json_object_get(v, "expires_at")), 1060);
    const json_t *s = json_object_get(v, "session");
    assert_string_equal(text_at(s, "object"), "realtime.transcription_session");
    assert_true(json_is_null(json_object_get(json_object_get(json_object_get(s, "audio"), "input"), "turn_detection")));
    assert_true(secrets_check(secrets, value, 1059, NULL));
    assert_true(secrets_check(secrets, value, 1000, &session)); /* again */
    assert_true(json_is_null(json_object_get(json_object_get(json_object_get(session, "audio"), "input"), "turn_detection")));
    struct realtime_session begun;
    struct realtime_error why = { 0 };
    assert_int_equal(realtime_session_init(&begun, "other"), 0); /* what is kept is an update */
    assert_int_equal(realtime_session_update(&begun, session, &why), 0);
    realtime_session_free(&begun);
    json_decref(session);
    assert_false(secrets_check(secrets, value, 1060, NULL)); /* expired */
    char other[SECRET_SZ];
    for (int i = 0; i < SECRET_SZ - 1; i++) { /* each character counts */
        memcpy(other, value, SECRET_SZ);
        other[i] ^= 1;
        assert_false(secrets_check(secrets, other, 1000, NULL));
    }
    memcpy(other, value, SECRET_SZ);
    other[SECRET_SZ - 2] = '\0';
    assert_false(secrets_check(secrets, other, 1000, NULL));
    assert_false(secrets_check(secrets, "", 1000, &session));
    assert_null(session);
    json_decref(v);
}

static void flat_shape(void **state)
{
    (void)state;
    json_t *v = create("{\"input_audio_format\":\"g711_ulaw\",\"client_secret\":{\"expires_after\":{\"seconds\":10}}}", 1, 1000);
    const json_t *secret = json_object_get(v, "client_secret");
    assert_string_equal(text_at(v, "input_audio_format"), "g711_ulaw");
    assert_int_equal(json_integer_value(json_object_get(secret, "expires_at")), 1010);
    assert_true(secrets_check(secrets, text_at(secret, "value"), 1000, NULL));
    json_decref(v);
}

static void defaults(void **state)
{
    static const char *const bodies[] = { "", "{}", "{\"session\":{}}", "{\"session\":null,\"expires_after\":null}" };
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        json_t *v = create(bodies[i], 0, 1000);
        assert_int_equal(json_integer_value(json_object_get(v, "expires_at")), 1600);
        json_decref(v);
    }
}

static const struct { const char *body; int is_flat, code; const char *param; } bad[] = {
    { "{", 0, API_invalid_json, "" }, { "[]", 0, API_invalid_json, "" }, { "{\"a\":1,\"a\":2}", 0, API_invalid_json, "" },
    { "{\"model\":\"x\"}", 0, API_unknown_parameter, "model" }, { "{\"expires_after\":60}", 0, API_invalid_value, "expires_after" },
    { "{\"expires_after\":{\"seconds\":9}}", 0, API_invalid_value, "expires_after.seconds" },
    { "{\"expires_after\":{\"seconds\":7201}}", 0, API_invalid_value, "expires_after.seconds" },
    { "{\"expires_after\":{\"seconds\":60.5}}", 0, API_invalid_value, "expires_after.seconds" },
    { "{\"expires_after\":{\"anchor\":\"now\"}}", 0, API_invalid_value, "expires_after.anchor" },
    { "{\"expires_after\":{\"minutes\":1}}", 0, API_unknown_parameter, "expires_after" },
    { "{\"session\":7}", 0, API_invalid_value, "session" },
    { "{\"session\":{\"type\":\"realtime\"}}", 0, API_invalid_value, "session.type" },
    { "{\"voice\":\"x\"}", 1, API_unknown_parameter, "session.voice" },
    { "{\"client_secret\":{\"expires_after\":{\"seconds\":1}}}", 1, API_invalid_value, "expires_after.seconds" },
};

static void bad_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(create(bad[i].body, bad[i].is_flat, 1000));
        assert_int_equal(error.code, bad[i].code);
        assert_string_equal(error.param, bad[i].param);
        assert_true(*error.message);
    }
}

/* The table is full, and expired secrets give their places back. */
static void full(void **state)
{
    (void)state;
    for (int i = 0; i < SECRETS_MAX; i++) json_decref(create("{}", 0, 1000 + i % 2));
    assert_null(create("{}", 0, 1599));
    assert_int_equal(error.code, API_too_many_sessions);
    assert_true(error.retry_after_s > 0);
    json_t *v = create("{}", 0, 1600);
    assert_non_null(v);
    json_decref(v);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = { TEST(current_shape), TEST(flat_shape), TEST(defaults), TEST(bad_bodies), TEST(full) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

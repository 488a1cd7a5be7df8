/* steno: errors of the server: codes, bodies, header fields. SPDX-License-Identifier: MIT */
#include "api_error.h"
#include "harness.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *field_of(const struct api_headers *h, const char *name)
{
    for (int i = 0; h->header[i].name; i++)
        if (strcmp(h->header[i].name, name) == 0) return h->header[i].value;
    return NULL;
}

static void test_the_body_has_four_keys_in_the_order_of_the_api(void **state)
{
    (void)state;
    struct api_error e = { 0 };
    size_t n;
    assert_int_equal(api_fail(&e, API_invalid_value, "beam_size", "\"%s\" is not a number", "x"), API_invalid_value);
    char *text = api_error_json(&e, &n);
    assert_string_equal(text, "{\"error\":{\"message\":\"\\\"x\\\" is not a number\",\"type\":\"invalid_request_error\","
                              "\"param\":\"beam_size\",\"code\":\"invalid_value\"}}");
    assert_int_equal(n, strlen(text));
    free(text);
    e = (struct api_error){ 0 };
    api_fail(&e, API_queue_full, NULL, "64 requests wait");
    text = api_error_json(&e, &n);
    assert_string_equal(text, "{\"error\":{\"message\":\"64 requests wait\",\"type\":\"rate_limit_error\",\"param\":null,"
                              "\"code\":\"queue_full\"}}");
    free(text);
}

static void test_the_first_error_stays(void **state)
{
    (void)state;
    struct api_error e = { 0 };
    api_fail(&e, API_invalid_audio, "file", "first");
    assert_int_equal(api_fail(&e, API_internal_error, NULL, "second"), API_invalid_audio);
    assert_string_equal(e.message, "first");
    assert_string_equal(e.param, "file");
}

/* Parts of requests are in messages: they must not break a line of the log, nor the body. */
static void test_bytes_of_a_request_are_printable(void **state)
{
    (void)state;
    static const char *const hostile[] = { "\xff\xfe", "a\nb\r\n", "\x1b[31m", "\xf0\x9f\x98", "\xed\xa0\x80", "\"}\\", "\xe2\x80\xae" };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct api_error e = { 0 };
        size_t n;
        api_fail(&e, API_invalid_value, hostile[i], "value %s", hostile[i]);
        char *text = api_error_json(&e, &n);
        assert_non_null(text);
        json_t *o = json_loads(text, 0, NULL);
        assert_non_null(o);
        for (size_t k = 0; k < n; k++) assert_in_range((unsigned char)text[k], 0x20, 0xff);
        assert_null(strchr(e.message, '\n'));
        json_decref(o);
        free(text);
    }
}

/* Lengths just below, at and far above the limits; a character at the border is whole or absent. */
static void test_long_texts_end_with_a_whole_character(void **state)
{
    (void)state;
    static const size_t lengths[] = { 1, 61, 62, 63, 64, 65, 509, 510, 511, 512, 513, 1022, 1023, 1024, 1025, 20000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int wide = 0; wide < 2; wide++) {
            char *long_text = calloc(1, 3 * lengths[i] + 1);
            assert_non_null(long_text);
            for (size_t k = 0; k < lengths[i]; k++) strcat(long_text + (wide ? 3 * k : k), wide ? "\xe2\x82\xac" : "a");
            struct api_error e = { 0 };
            size_t n;
            api_fail(&e, API_not_found, long_text, "%s", long_text);
            assert_in_range(strlen(e.message), 1, sizeof e.message - 1);
            assert_in_range(strlen(e.param), 1, sizeof e.param - 1);
            char *text = api_error_json(&e, &n);
            assert_non_null(text);
            assert_null(strstr(text, "\\\\x"));
            free(text);
            free(long_text);
        }
    }
}

static void test_header_fields_follow_the_status(void **state)
{
    (void)state;
    for (int code = API_OK + 1; code < API_N_CODES; code++) {
        const struct api_error e = { .code = (enum api_code)code };
        const int status = api_status(e.code), waits = status == 429 || status == 503;
        struct api_headers h;
        api_error_headers(&h, &e);
        assert_int_equal(!!field_of(&h, "Retry-After"), waits);
        assert_int_equal(!!field_of(&h, "retry-after-ms"), waits);
        assert_int_equal(!!field_of(&h, "x-should-retry"), status == 500 || status == 504);
        assert_int_equal(!!field_of(&h, "WWW-Authenticate"), status == 401);
        const int is_server = status >= 499; /* 499 is logged, never sent */
        const char *type = status == 429 ? "rate_limit_error" : is_server ? "server_error" : "invalid_request_error";
        assert_string_equal(api_type(e.code), type);
        assert_in_range(status, 400, 599);
        assert_true(api_code_name(e.code)[0]);
    }
}

static void test_waits_are_between_1_and_120_seconds(void **state)
{
    (void)state;
    static const struct { int wait; const char *seconds, *ms; } of[] = {
        { -5, "1", "1000" }, { 0, "1", "1000" }, { 1, "1", "1000" }, { 119, "119", "119000" }, { 120, "120", "120000" },
        { 121, "120", "120000" }, { 2147483647, "120", "120000" },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct api_error e = { .code = API_queue_full, .retry_after_s = of[i].wait };
        struct api_headers h;
        api_error_headers(&h, &e);
        assert_string_equal(field_of(&h, "Retry-After"), of[i].seconds);
        assert_string_equal(field_of(&h, "retry-after-ms"), of[i].ms);
    }
}

static void test_a_number_that_is_no_code_is_an_internal_error(void **state)
{
    (void)state;
    assert_int_equal(api_status((enum api_code)9999), 500);
    assert_int_equal(api_status((enum api_code)(API_N_CODES + 1)), 500);
    assert_string_equal(api_code_name(API_N_CODES), "internal_error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_body_has_four_keys_in_the_order_of_the_api),
        cmocka_unit_test(test_the_first_error_stays),
        cmocka_unit_test(test_bytes_of_a_request_are_printable),
        cmocka_unit_test(test_long_texts_end_with_a_whole_character),
        cmocka_unit_test(test_header_fields_follow_the_status),
        cmocka_unit_test(test_waits_are_between_1_and_120_seconds),
        cmocka_unit_test(test_a_number_that_is_no_code_is_an_internal_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno: lines of the server's log. SPDX-License-Identifier: MIT */
#include "access_log.h"
#include "harness.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>

static json_t *line(const struct access_record *r, int log_text)
{
    size_t n;
    char *text = access_line(r, log_text, &n);
    assert_non_null(text);
    assert_int_equal(strlen(text), n);
    for (size_t i = 0; i < n; i++) assert_in_range((unsigned char)text[i], 0x20, 0x7e);
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    free(text);
    return o;
}

static void test_a_request_is_one_object(void **state)
{
    (void)state;
    const struct access_record r = { .time_ms = 1795813200042, .id = "req-1", .client = "127.0.0.1", .method = "POST",
                                     .route = "transcriptions", .code = 200, .bytes_in = 1000, .bytes_out = 99, .audio_s = 12.5,
                                     .queue_s = 0.0004, .total_s = 2.5, .model = "base", .language = "de", .file = "a.wav",
                                     .text = "secret" };
    size_t n;
    char *text = access_line(&r, 0, &n);
    assert_string_equal(text, "{\"time\": \"2026-11-27T21:00:00.042Z\", \"id\": \"req-1\", \"client\": \"127.0.0.1\", "
                              "\"method\": \"POST\", \"route\": \"transcriptions\", \"code\": 200, \"bytes_in\": 1000, \"bytes_out\": 99, "
                              "\"audio\": 12.5, \"queue\": 0.0, \"total\": 2.5, \"speed\": 5.0, \"model\": \"base\", "
                              "\"language\": \"de\", \"reason\": null, \"file\": \"a.wav\"}");
    free(text);
    json_t *o = line(&r, 1);
    assert_string_equal(json_string_value(json_object_get(o, "text")), "secret");
    json_decref(o);
}

static void test_unknown_values_are_null(void **state)
{
    (void)state;
    static const char *const keys[] = { "time", "id", "client", "method", "route", "code", "bytes_in", "bytes_out", "audio", "queue",
                                        "total", "speed", "model", "language", "reason", "file" };
    const double unknown[] = { -1, NAN, -INFINITY };
    for (size_t k = 0; k < 3; k++) {
        const struct access_record r = { .time_ms = -1, .code = -1, .bytes_in = -1, .bytes_out = -1, .audio_s = unknown[k],
                                         .queue_s = unknown[k], .total_s = unknown[k] };
        json_t *o = line(&r, 1);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) assert_true(json_is_null(json_object_get(o, keys[i])));
        assert_int_equal(json_object_size(o), sizeof keys / sizeof *keys);
        json_decref(o);
    }
}

/* Names of clients: control bytes, invalid UTF-8, quotes, and lengths around the limit. */
static void test_names_of_clients_are_short_and_printable(void **state)
{
    (void)state;
    static const char *const hostile[] = { "a\nb", "\x1b[2J", "\xff\xfe\x80", "\"},{\"", ("\xe2\x80\xae" "gpj.wav"), "" };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        const struct access_record r = { .file = hostile[i], .id = hostile[i], .client = hostile[i], .route = hostile[i],
                                         .model = hostile[i], .method = hostile[i], .language = hostile[i], .reason = hostile[i] };
        json_decref(line(&r, 0));
    }
    static const size_t lengths[] = { 0, 1, 63, 64, 65, 127, 128, 129, 5000 };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *name = calloc(1, lengths[i] + 1);
        assert_non_null(name);
        memset(name, 'x', lengths[i]);
        json_t *o = line(&(struct access_record){ .file = name, .id = name }, 0);
        assert_int_equal(json_string_length(json_object_get(o, "file")), lengths[i] < 64 ? lengths[i] : 64);
        assert_int_equal(json_string_length(json_object_get(o, "id")), lengths[i] < 128 ? lengths[i] : 128);
        json_decref(o);
        free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_one_object),
        cmocka_unit_test(test_unknown_values_are_null),
        cmocka_unit_test(test_names_of_clients_are_short_and_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

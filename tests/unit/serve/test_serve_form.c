/* steno tests: values of fields. SPDX-License-Identifier: MIT */
#include "form.h"
#include "harness.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct form *f, const char *name, const char *value)
{
    struct api_error e = { 0 };
    assert_int_equal(form_add(f, name, value, strlen(value), &e), API_OK);
}

static void expect(const struct api_error *e, enum api_code code, const char *param, const char *part)
{
    if (e->code != code || strcmp(e->param, param) != 0 || !strstr(e->message, part))
        fail_msg("%s %s: %s, not %s %s: %s", api_code_name(e->code), e->param, e->message, api_code_name(code), param, part);
}

static void test_booleans(void **state)
{
    static const struct { const char *text; int value; } good[] = {
        { "true", 1 }, { "True", 1 }, { "TRUE", 1 }, { "1", 1 }, { "yes", 1 }, { "on", 1 }, { "On", 1 }, { "false", 0 }, { "False", 0 },
        { "0", 0 }, { "no", 0 }, { "off", 0 }, { "", -7 },
    };
    static const char *const bad[] = { "2", "tru", "truee", "y", " true", "null", "-1", "none", "true\n" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct form f = { 0 };
        struct api_error e = { 0 };
        int x = -7;
        add(&f, "b", good[i].text);
        assert_int_equal(form_bool(&f, "b", &x, &e), API_OK);
        assert_int_equal(x, good[i].value);
        form_free(&f);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct form f = { 0 };
        struct api_error e = { 0 };
        int x = -7;
        add(&f, "b", bad[i]);
        assert_int_equal(form_bool(&f, "b", &x, &e), API_invalid_value);
        expect(&e, API_invalid_value, "b", "neither true nor false");
        assert_int_equal(x, -7);
        form_free(&f);
    }
}

static int64_t read_int(const char *text, int64_t lo, int64_t hi, int *code)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    int64_t x = -7;
    add(&f, "n", text);
    *code = form_int(&f, "n", lo, hi, &x, &e);
    if (*code) expect(&e, API_invalid_value, "n", "whole number");
    form_free(&f);
    return x;
}

static void test_whole_numbers(void **state)
{
    static const struct { const char *text; int64_t value; } good[] = {
        { "0", 0 }, { "-3", -3 }, { "+5", 5 }, { "007", 7 }, { "5.0", 5 }, { "1e3", 1000 }, { "9223372036854775807",
        INT64_MAX }, { "", -7 },
    };
    static const char *const bad[] = { "-", "+", "5.5", "1e400", "0x10", "5 ", " 5", "1,5", "nan", "inf",
                                       "9223372036854775808", "five", "1e18",
                                       "--5", "5-" };
    int code;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(read_int(good[i].text, INT64_MIN, INT64_MAX, &code), good[i].value);
        assert_int_equal(code, API_OK);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_int(bad[i], INT64_MIN, INT64_MAX, &code), -7);
        assert_int_equal(code, API_invalid_value);
    }
    for (int64_t x = -1; x <= 10; x++) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)x);
        read_int(text, 1, 8, &code);
        assert_int_equal(code == API_OK, x >= 1 && x <= 8);
    }
}

static void test_numbers_are_finite_and_in_range(void **state)
{
    static const char *const good[] = { "0", "1", "0.5", ".5", "1.", "1e-3", "+0.25" };
    static const char *const bad[] = { "1.01", "-0.1", "nan", "inf", "-inf", "NAN", "infinity", "1e999", "0,5", "0x1p-1",
                                       "0.5f", "..", "e", "0.5 " };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
        const size_t n = sizeof good / sizeof *good;
        const char *text = i < n ? good[i] : bad[i - n];
        struct form f = { 0 };
        struct api_error e = { 0 };
        double x = -7;
        add(&f, "temperature", text);
        assert_int_equal(form_number(&f, "temperature", 0, 1, &x, &e), i < n ? API_OK : API_invalid_value);
        if (i >= n) expect(&e, API_invalid_value, "temperature", "is not a number from 0 to 1");
        assert_true((x != -7) == (i < n));
        form_free(&f);
    }
}

static void test_words_have_a_nearest_one(void **state)
{
    static const char words[] = "json|text|srt|verbose_json|vtt";
    static const struct { const char *text; int index; const char *part; } cases[] = {
        { "json", 0, NULL }, { "vtt", 4, NULL }, { "verbose_json", 3, NULL }, { "", -7, NULL },
        { "jsn", -7, "did you mean json?" }, { "VTT", -7, "did you mean vtt?" }, { "verbose-json", -7, "did you mean verbose_json?" },
        { "docx", -7, "is not json, text, srt, verbose_json or vtt" }, { "json|text", -7, "json|text" }, { "x\001y", -7, "x\\x01y" },
        { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", -7, "aaa...\"" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct form f = { 0 };
        struct api_error e = { 0 };
        int x = -7;
        add(&f, "w", cases[i].text);
        assert_int_equal(form_word(&f, "w", words, &x, &e), cases[i].part ? API_invalid_value : API_OK);
        assert_int_equal(x, cases[i].index);
        if (cases[i].part) expect(&e, API_invalid_value, "w", cases[i].part);
        form_free(&f);
    }
}

static void test_a_scalar_is_given_once(void **state)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    const char *text = "default";
    double x;
    (void)state;
    add(&f, "a", "1");
    add(&f, "a[]", "1");
    assert_int_equal(form_text(&f, "a", &text, &e), API_duplicate_parameter);
    expect(&e, API_duplicate_parameter, "a", "twice");
    e = (struct api_error){ 0 };
    assert_int_equal(form_number(&f, "a", 0, 9, &x, &e), API_duplicate_parameter);
    e = (struct api_error){ 0 };
    assert_int_equal(form_text(&f, "absent", &text, &e), API_OK);
    assert_string_equal(text, "default");
    form_free(&f);
}

static const char *joined(struct form *f, const char *name)
{
    static char all[256];
    struct api_error e = { 0 };
    const char **list;
    int n;
    all[0] = '\0';
    assert_int_equal(form_list(f, name, &list, &n, &e), API_OK);
    assert_int_equal(n > 0, list != NULL);
    for (int i = 0; i < n; i++) {
        strcat(all, i ? "|" : "");
        strcat(all, list[i]);
    }
    free(list);
    return all;
}

static void test_lists_have_three_forms(void **state)
{
    struct form f = { 0 };
    (void)state;
    add(&f, "a[]", "x");
    add(&f, "b", "x");
    add(&f, "a[]", "y");
    add(&f, "a", "");
    add(&f, "b", "y");
    add(&f, "c", " [\"x\", \"y\", 3, null, true]");
    add(&f, "d[]", "[\"one\"]");
    add(&f, "e", "[music]");
    add(&f, "g", "[]");
    assert_string_equal(joined(&f, "a"), "x|y");
    assert_string_equal(joined(&f, "b"), "x|y");
    assert_string_equal(joined(&f, "c"), "x|y|3|true");
    assert_string_equal(joined(&f, "c"), "x|y|3|true");
    assert_string_equal(joined(&f, "d"), "one");
    assert_string_equal(joined(&f, "e"), "[music]");
    assert_string_equal(joined(&f, "g"), "");
    assert_string_equal(joined(&f, "absent"), "");
    form_free(&f);
}

static void test_members_have_two_forms(void **state)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    const char *text = NULL;
    char unused[64];
    (void)state;
    add(&f, "a[type]", "server_vad");
    add(&f, "a[threshold]", "0.5");
    add(&f, "b", "{\"type\": \"server_vad\", \"threshold\": 0.25, \"more\": [1, 2], \"none\": null}");
    assert_int_equal(form_member(&f, "a", "type", &text, &e), API_OK);
    assert_string_equal(text, "server_vad");
    assert_int_equal(form_member(&f, "b", "threshold", &text, &e), API_OK);
    assert_string_equal(text, "0.25");
    assert_int_equal(form_member(&f, "b", "none", &text, &e), API_OK);
    assert_string_equal(text, "0.25");
    assert_int_equal(form_unused(&f, unused, sizeof unused), 3);
    assert_string_equal(unused, "a[threshold], b[type], b[more]");
    assert_int_equal(form_unused(&f, unused, 16), 3); /* what fits */
    assert_string_equal(unused, "a[threshold]");
    form_free(&f);
    add(&f, "c", "{\"type\": ");
    assert_int_equal(form_member(&f, "c", "type", &text, &e), API_invalid_value);
    expect(&e, API_invalid_value, "c", "not a JSON object");
    form_free(&f);
    e = (struct api_error){ 0 };
    add(&f, "c", "{\"a\": 1, \"a\": 2}");
    assert_int_equal(form_member(&f, "c", "a", &text, &e), API_invalid_value);
    form_free(&f);
}

static void test_other_names(void **state)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    const char *text = NULL;
    (void)state;
    add(&f, "temperature_inc", "0.2");
    add(&f, "o[key]", "1");
    add(&f, "ox", "2");
    assert_true(form_has(&f, "o") && form_has(&f, "ox") && !form_has(&f, "temperature"));
    assert_int_equal(form_rename(&f, "temperature_inc", "step", &e), API_OK);
    assert_int_equal(form_rename(&f, "o", "p", &e), API_OK);
    assert_int_equal(form_text(&f, "step", &text, &e), API_OK);
    assert_string_equal(text, "0.2");
    assert_int_equal(form_member(&f, "p", "key", &text, &e), API_OK);
    assert_string_equal(text, "1");
    assert_true(!form_has(&f, "o") && form_has(&f, "ox"));
    form_free(&f);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------------- */

static int add_of(struct form *f, const char *name, size_t n, struct api_error *e)
{
    char *value = malloc(n + 1);
    assert_non_null(value);
    memset(value, 'v', n);
    *e = (struct api_error){ 0 };
    const int code = form_add(f, name, value, n, e);
    free(value);
    return code;
}

static void test_limits(void **state)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    char name[FORM_NAME_MAX + 2];
    (void)state;
    assert_int_equal(add_of(&f, "a", FORM_VALUE_MAX, &e), API_OK);
    assert_int_equal(add_of(&f, "a", FORM_VALUE_MAX + 1, &e), API_invalid_value);
    expect(&e, API_invalid_value, "a", "16384 bytes");
    for (int i = 1; i < FORM_FIELDS_MAX; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_int_equal(add_of(&f, name, 1, &e), API_OK);
    }
    assert_int_equal(add_of(&f, "more", 1, &e), API_bad_request);
    expect(&e, API_bad_request, "more", "64 names");
    for (int i = FORM_FIELDS_MAX; i < FORM_VALUES_MAX; i++) assert_int_equal(add_of(&f, "f1", 1, &e), API_OK);
    assert_int_equal(add_of(&f, "f1", 1, &e), API_bad_request);
    expect(&e, API_bad_request, "f1", "256 values");
    form_free(&f);
    for (int i = 0; i < 63; i++) assert_int_equal(add_of(&f, "a", FORM_VALUE_MAX, &e), API_OK);
    assert_int_equal(add_of(&f, "a", FORM_VALUE_MAX - 63, &e), API_bad_request);
    expect(&e, API_bad_request, "a", "1048576 bytes");
    assert_int_equal(add_of(&f, "a", FORM_VALUE_MAX - 64, &e), API_OK);
    form_free(&f);
    memset(name, 'n', sizeof name);
    name[FORM_NAME_MAX + 1] = '\0';
    assert_int_equal(add_of(&f, name, 1, &e), API_bad_request);
    name[FORM_NAME_MAX] = '\0';
    assert_int_equal(add_of(&f, name, 1, &e), API_OK);
    assert_int_equal(add_of(&f, "", 1, &e), API_bad_request);
    assert_int_equal(add_of(&f, "\377", 1, &e), API_bad_request);
    e = (struct api_error){ 0 };
    assert_int_equal(form_add(&f, "a", "x\0y", 3, &e), API_invalid_value);
    expect(&e, API_invalid_value, "a", "NUL");
    e = (struct api_error){ 0 };
    assert_int_equal(form_add(&f, "a", "\303", 1, &e), API_invalid_value);
    expect(&e, API_invalid_value, "a", "UTF-8");
    form_free(&f);
}

/* A JSON list has no more values than a form. */
static void test_limits_of_json(void **state)
{
    struct form f = { 0 };
    struct api_error e = { 0 };
    const char **list;
    int n;
    char text[2 * 300 + 2] = "[";
    (void)state;
    for (int i = 0; i < 300; i++) strcat(text, i ? ",1" : "1");
    strcat(text, "]");
    add(&f, "a", text);
    assert_int_equal(form_list(&f, "a", &list, &n, &e), API_bad_request);
    assert_null(list);
    form_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_numbers_are_finite_and_in_range),
        cmocka_unit_test(test_words_have_a_nearest_one),
        cmocka_unit_test(test_a_scalar_is_given_once),
        cmocka_unit_test(test_lists_have_three_forms),
        cmocka_unit_test(test_members_have_two_forms),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_of_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

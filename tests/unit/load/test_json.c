/* steno tests: JSON, decimal numbers, and settings made flat. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "folder.h"
#include "load/decimal.h"
#include "load/flat.h"
#include "load/json.h"

struct read { struct arena arena; struct meta meta; steno_error e; int rc; };

static struct read *read_text(const void *text, size_t n)
{
    struct read *r = calloc(1, sizeof *r);
    struct file f;
    assert_non_null(r);
    arena_init(&r->arena);
    meta_init(&r->meta, &r->arena);
    file_from_memory(&f, "x.json", text, n);
    r->rc = meta_read_json(&r->meta, NULL, &f, &r->e);
    return r;
}

static void read_free(struct read *r)
{
    arena_free(&r->arena);
    free(r);
}

static const struct meta_entry *entry(const struct read *r, const char *key)
{
    const struct meta_entry *it = meta_find(&r->meta, key);
    if (!it) fail_msg("no key %s", key);
    return it;
}

static void test_every_kind_of_value_gets_its_flat_key(void **state)
{
    (void)state;
    static const char text[] = " {\"a\": 1, \"b\": {\"c\": [true, null, {\"d\": \"x\"}], \"e\": -2.5e3}, \"\": [], \"f\": [[7]] }\r\n";
    struct read *r = read_text(text, sizeof text - 1);
    if (r->rc) fail_msg("%s", r->e.text);
    assert_int_equal(r->meta.n, 6);
    assert_int_equal(entry(r, "a")->i, 1);
    assert_int_equal(entry(r, "b.c.0")->kind, META_BOOL);
    assert_int_equal(entry(r, "b.c.0")->i, 1);
    assert_int_equal(entry(r, "b.c.1")->kind, META_NULL);
    assert_string_equal(entry(r, "b.c.2.d")->text, "x");
    assert_true(entry(r, "b.e")->x == -2500);
    assert_int_equal(entry(r, "f.0.0")->i, 7);
    assert_string_equal(entry(r, "f.0.0")->source, "x.json");
    read_free(r);
}

static void test_a_prefix_stands_before_every_key(void **state)
{
    (void)state;
    struct arena a;
    struct meta m;
    struct file f;
    arena_init(&a);
    meta_init(&m, &a);
    file_from_memory(&f, "x.json", "{\"a\":{\"b\":1}}", 13);
    assert_int_equal(meta_read_json(&m, "pre", &f, NULL), STENO_OK);
    assert_non_null(meta_find(&m, "pre.a.b"));
    arena_free(&a);
}

static void test_escapes_become_utf8(void **state)
{
    (void)state;
    static const char text[] = "{\"k\": \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\xe2\x82\xac\"}";
    struct read *r = read_text(text, sizeof text - 1);
    if (r->rc) fail_msg("%s", r->e.text);
    assert_string_equal(entry(r, "k")->text, "a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x82\xac");
    read_free(r);
}

static void test_invalid_json_is_refused_with_line_and_cause(void **state)
{
    (void)state;
    static const struct { const char *text, *says; } bad[] = {
        { "", "line 1" }, { "  ", "ends inside" }, { "[1]", "object of settings" }, { "7", "object of settings" },
        { "{\"a\":1", "ends inside" }, { "{\"a\":1,}", "key in quotes" }, { "{\"a\":1}x", "text follows" }, { "{\"a\" 1}", "colon" },
        { "{\"a\":[1,]}", "want a value" }, { "{\"a\":[1 2]}", "comma" }, { "{\"a\":tru}", "want a value" }, { "{a:1}", "quotes" },
        { "{\"a\":01}", "number" }, { "{\"a\":-}", "number" }, { "{\"a\":1.}", "number" }, { "{\"a\":.5}", "want a value" },
        { "{\"a\":1e}", "number" }, { "{\"a\":NaN}", "want a value" }, { "{\"a\":'x'}", "want a value" },
        { "{\"a\":\"x}", "inside a string" },
        { "{\"a\":\"\\x\"}", "escape" }, { "{\"a\":\"\\u00\"}", "escape" }, { "{\"a\":\"\\ud800\"}", "escape" },
        { "{\"a\":\"\\ud800\\u0041\"}", "escape" }, { "{\"a\":\"\\udc00\"}", "escape" }, { "{\"a\":\"\\u0000\"}", "escape" },
        { "{\"a\":\"\t\"}", "control" }, { "{\"a\":\"\xff\"}", "UTF-8" }, { "{\"a\":\"\xc0\x80\"}", "UTF-8" },
        { "{\"a\":\"\xed\xa0\x80\"}", "UTF-8" }, { "{\"a\":\"\xe2\x82\"}", "UTF-8" }, { "{\"a\":\"\xf4\x90\x80\x80\"}", "UTF-8" },
        { "{\"a\":1]", "comma" }, { "{\"a\":[}", "want a value" }, { "\xef\xbb\xbf{}", "want a value" },
        { "{\"a\":1,\n \"b\":2,\n \"a\":3}", "line 3: key 'a' is written twice" },
        { "{\"a\":{\"b\":1},\"a\":{\"c\":1}}", "key 'a' is written twice" }, { "{\"a\":{},\"a\":[]}", "twice" },
        { "{\"a.b\":1,\"a\":{\"b\":2}}", "key 'a.b' is written twice" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *own = malloc(strlen(bad[i].text) + 1); /* of its own, so that reading past the end is seen */
        memcpy(own, bad[i].text, strlen(bad[i].text));
        struct read *r = read_text(own, strlen(bad[i].text));
        if (r->rc != STENO_EFORMAT || !strstr(r->e.text, bad[i].says) || strncmp(r->e.text, "x.json: line ", 13) != 0)
            fail_msg("'%s' gives %d, '%s', want '%s'", bad[i].text, r->rc, r->e.text, bad[i].says);
        read_free(r);
        free(own);
    }
}

static void nested(struct buf *b, int depth, const char *open, const char *close)
{
    buf_clear(b);
    buf_str(b, "{\"k\":");
    for (int i = 1; i < depth; i++) buf_str(b, open);
    buf_str(b, "1");
    for (int i = 1; i < depth; i++) buf_str(b, close);
    buf_str(b, "}");
}

static void test_depth_and_key_length_have_limits(void **state)
{
    (void)state;
    struct buf b = { 0 };
    static const struct { int depth, rc; } at[] = { { META_DEPTH_MAX, 0 }, { META_DEPTH_MAX + 1, STENO_EFORMAT }, { 5000, STENO_EFORMAT } };
    for (int i = 0; i < 6; i++) {
        nested(&b, at[i / 2].depth, i % 2 ? "[" : "{\"k\":", i % 2 ? "]" : "}");
        struct read *r = read_text(b.p, b.len);
        assert_int_equal(r->rc, at[i / 2].rc);
        read_free(r);
    }
    for (int extra = 0; extra < 2; extra++) {
        buf_clear(&b);
        buf_fmt(&b, "{\"kk\":{\"%0*d\":1}}", META_KEY_MAX - 3 + extra, 0);
        struct read *r = read_text(b.p, b.len);
        assert_int_equal(r->rc, extra ? STENO_EFORMAT : STENO_OK);
        read_free(r);
    }
    buf_free(&b);
}

static void test_a_list_longer_than_settings_are_is_left_out_whole(void **state)
{
    (void)state;
    struct buf b = { 0 };
    for (int extra = 0; extra < 2; extra++) {
        buf_clear(&b);
        buf_str(&b, "{\"before\": [1, [2]], \"tokens\": [");
        for (int i = 0; i < FLAT_LONG + extra; i++) buf_str(&b, i ? ",[0]" : "{\"x\":0}");
        buf_str(&b, "], \"map\": {\"tokens\": 1}, \"after\": 2}");
        struct read *r = read_text(b.p, b.len);
        if (r->rc) fail_msg("%s", r->e.text);
        assert_int_equal(r->meta.n, 4 + (extra ? 0 : FLAT_LONG));
        assert_int_equal(entry(r, "before.1.0")->i, 2);
        assert_int_equal(entry(r, "map.tokens")->i, 1);
        assert_int_equal(entry(r, "after")->i, 2);
        assert_int_equal(meta_find(&r->meta, "tokens.0.x") == NULL, extra);
        read_free(r);
    }
    buf_free(&b);
}

static int take_text(void *user, uint64_t i, const char *s, size_t n)
{
    char want[24];
    const int len = snprintf(want, sizeof want, "t%llu", (unsigned long long)i);
    *(uint64_t *)user += (int)n == len && !memcmp(s, want, n);
    return STENO_OK;
}

static void test_a_long_list_of_numbers_or_texts_is_read_where_it_lies(void **state)
{
    (void)state;
    enum { N = FLAT_LONG + 3 };
    struct buf b = { 0 };
    double x[2];
    uint64_t n = 0;
    buf_str(&b, "{\"a\": {\"ints\": [");
    for (int i = 0; i < N; i++) buf_fmt(&b, i ? ",%d" : "%d", i - 5);
    buf_str(&b, "], \"mixed\": [");
    for (int i = 0; i < N; i++) buf_fmt(&b, i == N - 1 ? ",%d.5" : i ? ",%d" : "%d", i);
    buf_str(&b, "]}, \"texts\": [");
    for (int i = 0; i < N; i++) buf_fmt(&b, i ? ",\"t%d\"" : "\"t%d\"", i);
    buf_str(&b, "], \"both\": [");
    for (int i = 0; i < N; i++) buf_str(&b, i ? ",1" : "\"1\"");
    buf_str(&b, "]}");
    struct read *r = read_text(b.p, b.len);
    if (r->rc) fail_msg("%s", r->e.text);
    const struct meta_list *ints = meta_find_list(&r->meta, "a.ints"), *mixed = meta_find_list(&r->meta, "a.mixed");
    const struct meta_list *texts = meta_find_list(&r->meta, "texts");
    assert_true(ints && mixed && texts);
    assert_null(meta_find_list(&r->meta, "both"));
    assert_int_equal(r->meta.n, 0);
    assert_int_equal(ints->n, N);
    assert_int_equal(meta_list_numbers(ints, N - 2, 2, x, &r->e), STENO_OK);
    assert_true(x[0] == N - 7 && x[1] == N - 6);
    assert_int_equal(meta_list_numbers(mixed, N - 2, 2, x, &r->e), STENO_OK);
    assert_true(x[0] == N - 2 && x[1] == N - 0.5);
    assert_int_equal(meta_list_numbers(ints, N - 1, 2, x, &r->e), STENO_EFORMAT);
    assert_int_equal(meta_list_numbers(texts, 0, 1, x, &r->e), STENO_EFORMAT);
    assert_int_equal(meta_list_texts(texts, 5, take_text, &n, &r->e), STENO_OK);
    assert_int_equal(n, N);
    assert_int_equal(meta_list_texts(texts, 4, take_text, &n, &r->e), STENO_EFORMAT);
    assert_int_equal(meta_list_texts(ints, 5, take_text, &n, &r->e), STENO_EFORMAT);
    read_free(r);
    buf_free(&b);
}

static void test_the_number_of_settings_has_a_limit(void **state)
{
    (void)state;
    struct buf b = { 0 };
    for (int extra = 0; extra < 2; extra++) {
        buf_clear(&b);
        for (int i = 0; i < META_ENTRIES_MAX + extra; i++) buf_fmt(&b, "%c\"%x\":0", i ? ',' : '{', i);
        buf_str(&b, "}");
        struct read *r = read_text(b.p, b.len);
        assert_int_equal(r->rc, extra ? STENO_EFORMAT : STENO_OK);
        read_free(r);
    }
    buf_free(&b);
}

static void test_skipping_a_value_ends_behind_it(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":[1,{\"c\":[]}],\"d\":\"]}\"},\"e\":5}";
    struct file f;
    struct arena a;
    struct json_reader j;
    arena_init(&a);
    file_from_memory(&f, "x", text, sizeof text - 1);
    assert_int_equal(json_open(&j, &f, 0, f.size, &a, NULL), STENO_OK);
    assert_int_equal(json_next(&j), JSON_OBJECT);
    assert_int_equal(json_next(&j), JSON_KEY);
    json_skip(&j, json_next(&j));
    assert_int_equal(json_next(&j), JSON_KEY);
    assert_string_equal(j.s, "e");
    json_skip(&j, json_next(&j));
    assert_int_equal(json_next(&j), JSON_CLOSE);
    assert_int_equal(json_next(&j), JSON_EOF);
    arena_free(&a);
}

/* ---- numbers ---- */

static void test_decimal_values_are_those_of_strtod(void **state)
{
    (void)state;
    static const char *const text[] = {
        "0", "1", "-1", "0.1", "0.45", "1e-5", "1e22", "1e23", "123456789012345678", "3.141592653589793", "2.2250738585072014e-308",
        "1.7976931348623157e308", "5e-324", "1e400", "1e-400", "0.000001", "9007199254740993", "1E+2", "-0.0", "1e99999999999", "0e99999",
        "123456789012345678901234567890", "0.30000000000000004", "100000000000000000000000e-23",
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        int whole;
        const size_t n = strlen(text[i]);
        if (decimal_scan(text[i], n, 1, &whole) != n) fail_msg("%s is not taken for a number", text[i]);
        const double got = decimal_value(text[i], n), want = strtod(text[i], NULL);
        if (got != want || signbit(got) != signbit(want)) fail_msg("%s is %.17g, want %.17g", text[i], got, want);
    }
}

static void test_random_decimals_are_within_one_unit_of_strtod(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        char text[40];
        int whole;
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int n = snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(seed >> 44),
                               (unsigned long long)(seed >> 8 & 0xffffff), (int)(seed >> 32) % 300);
        assert_int_equal(decimal_scan(text, (size_t)n, 1, &whole), n);
        const double got = decimal_value(text, (size_t)n), want = strtod(text, NULL);
        if (got != want && got != nextafter(want, got)) fail_msg("%s is %.17g, want %.17g", text, got, want);
    }
}

static void test_whole_numbers_keep_all_64_bits(void **state)
{
    (void)state;
    int64_t v;
    assert_true(decimal_whole("9223372036854775807", 19, &v) && v == INT64_MAX);
    assert_true(decimal_whole("-9223372036854775808", 20, &v) && v == INT64_MIN);
    assert_false(decimal_whole("9223372036854775808", 19, &v));
    assert_false(decimal_whole("-9223372036854775809", 20, &v));
    assert_true(decimal_whole("-0", 2, &v) && v == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_value_gets_its_flat_key),
        cmocka_unit_test(test_a_prefix_stands_before_every_key),
        cmocka_unit_test(test_escapes_become_utf8),
        cmocka_unit_test(test_invalid_json_is_refused_with_line_and_cause),
        cmocka_unit_test(test_depth_and_key_length_have_limits),
        cmocka_unit_test(test_a_list_longer_than_settings_are_is_left_out_whole),
        cmocka_unit_test(test_a_long_list_of_numbers_or_texts_is_read_where_it_lies),
        cmocka_unit_test(test_the_number_of_settings_has_a_limit),
        cmocka_unit_test(test_skipping_a_value_ends_behind_it),
        cmocka_unit_test(test_decimal_values_are_those_of_strtod),
        cmocka_unit_test(test_random_decimals_are_within_one_unit_of_strtod),
        cmocka_unit_test(test_whole_numbers_keep_all_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

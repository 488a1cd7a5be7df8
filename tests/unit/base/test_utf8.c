/* steno tests: UTF-8. SPDX-License-Identifier: MIT
 *
 * The replacement table was made with Python's bytes.decode("utf-8", "replace"). */
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include "base/utf8.h"
#include "harness.h"

#define R "\xef\xbf\xbd"

static void test_every_character_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x110000; cp++) {
        char s[4];
        uint32_t back = 0;
        const size_t n = utf8_put(s, cp);
        const int is_one = (cp < 0xd800 || cp > 0xdfff) && cp <= 0x10ffff;
        if (utf8_next(s, n, &back) != (is_one ? n : 0) || (is_one && (back != cp || utf8_len((uint8_t)s[0]) != n))) fail_msg("U+%04X", cp);
        if (utf8_next(s, n - 1, &back)) fail_msg("U+%04X without its last byte", cp);
    }
}

static void test_no_overlong_form_is_read(void **state)
{
    (void)state;
    static const char *const s[] = { "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf" };
    uint32_t cp;
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) assert_int_equal(utf8_next(s[i], strlen(s[i]), &cp), 0);
}

static void test_strip_leaves_what_python_leaves(void **state)
{
    (void)state;
    static const struct { const char *in, *out; } c[] = {
        { "", "" }, { " \t\n", "" }, { " a b ", "a b" }, { "\xe3\x80\x80\xe3\x81\x82\xc2\xa0", "\xe3\x81\x82" }, { "\x1f|\x1c", "|" },
        { "\xe2\x80\x8b", "\xe2\x80\x8b" }, /* U+200B is no white space */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *s = c[i].in;
        size_t n = strlen(s);
        text_strip(&s, &n);
        assert_int_equal(n, strlen(c[i].out));
        if (n) assert_memory_equal(s, c[i].out, n);
    }
}

static void test_each_maximal_ill_formed_part_becomes_one_replacement(void **state)
{
    (void)state;
    static const struct { const char *in, *out; } c[] = {
        { "", "" }, { "plain", "plain" }, { "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x89", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x89" },
        { "a\xe2\x82" "b", "a" R "b" }, { "\xe2\x82", R }, { "\xf0\x9f\x98", R }, { "\xed\xa0\x80", R R R }, { "\xc0\xaf", R R },
        { "\xf4\x90\x80\x80", R R R R }, { "\xe0\x80\xaf", R R R }, { "\xf0\x80\x80\x80", R R R R }, { "\x80\xbf", R R },
        { "\xff\xfe", R R }, { "\xe2\x82\xac\xe2\x82", "\xe2\x82\xac" R }, { "\xf1\x80\x80" "a\xc3\xa9", R "a\xc3\xa9" },
        { "\xf0\x90(", R "(" }, { "\xc3\xc3\xa9", R "\xc3\xa9" }, { "\xf4\x8f\xbf\xbf\xef\xbf\xbf", "\xf4\x8f\xbf\xbf\xef\xbf\xbf" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct buf b = { 0 };
        utf8_append(&b, (const uint8_t *)c[i].in, strlen(c[i].in));
        assert_int_equal(b.len, strlen(c[i].out));
        if (b.len) assert_memory_equal(b.p, c[i].out, b.len);
        buf_free(&b);
    }
}

static void test_a_zero_does_not_end_a_string(void **state)
{
    (void)state;
    struct buf b = { 0 };
    static const char in[] = "\0a\xc3\0\xc3\xa9\0", out[] = "\xef\xbf\xbd" "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd";
    utf8_append_string(&b, (const uint8_t *)in, sizeof in - 1);
    assert_int_equal(b.len, sizeof out - 1);
    assert_memory_equal(b.p, out, b.len);
    buf_free(&b);
}

static void test_valid_prefix_ends_before_the_first_ill_formed_byte(void **state)
{
    (void)state;
    assert_int_equal(utf8_valid((const uint8_t *)"ab\xc3\xa9", 4), 4);
    assert_int_equal(utf8_valid((const uint8_t *)"ab\xc3\xa9", 3), 2);
    assert_int_equal(utf8_valid((const uint8_t *)"\x80", 1), 0);
    assert_int_equal(utf8_valid((const uint8_t *)"a\0b\xff", 4), 3);
    assert_int_equal(utf8_valid(NULL, 0), 0);
}

static void test_complete_prefix_leaves_out_only_a_character_that_may_still_grow(void **state)
{
    (void)state;
    static const struct { const char *s; size_t want; } c[] = {
        { "", 0 }, { "abc", 3 }, { "a\xc3", 1 }, { "a\xc3\xa9", 3 }, { "a\xe2", 1 }, { "a\xe2\x82", 1 }, { "a\xe2\x82\xac", 4 },
        { "\xf0\x9f\x8e", 0 }, { "\xf0\x9f", 0 }, { "\xf0", 0 }, { "\xf0\x9f\x8e\x89", 4 },
        { "a\x80", 2 }, { "a\xff", 2 }, { "\xc0", 1 }, { "\xe0\x80", 2 }, { "\xed\xa0", 2 }, { "\xf4\x90", 2 }, /* never well-formed */
        { "a\x80\x80\x80\x80", 5 }, { "\xc3\xa9\xa9", 3 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (utf8_complete((const uint8_t *)c[i].s, strlen(c[i].s)) != c[i].want) fail_msg("case %zu", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character_is_read_as_it_was_written),
        cmocka_unit_test(test_no_overlong_form_is_read),
        cmocka_unit_test(test_strip_leaves_what_python_leaves),
        cmocka_unit_test(test_each_maximal_ill_formed_part_becomes_one_replacement),
        cmocka_unit_test(test_a_zero_does_not_end_a_string),
        cmocka_unit_test(test_valid_prefix_ends_before_the_first_ill_formed_byte),
        cmocka_unit_test(test_complete_prefix_leaves_out_only_a_character_that_may_still_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

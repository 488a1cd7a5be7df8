/* steno tests: vocabularies and UTF-8. SPDX-License-Identifier: MIT
 *
 * The replacement table was made with Python's bytes.decode("utf-8", "replace"). */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "text/vocab.h"

#define R "\xef\xbf\xbd"

static void test_find_returns_the_lowest_id_of_equal_bytes_below_n_text(void **state)
{
    (void)state;
    static const char *const s[] = { "a", "b", "ab", "b", "", "c" };
    struct arena a;
    struct vocab v;
    steno_error e;
    arena_init(&a);
    assert_int_equal(vocab_init(&v, &a, 7, 5, &e), STENO_OK);
    for (int32_t i = 0; i < 6; i++) vocab_set(&v, i, (const uint8_t *)s[i], (uint32_t)strlen(s[i]));
    vocab_set(&v, 7, (const uint8_t *)"x", 1); /* past the end: ignored */
    vocab_set(&v, -1, (const uint8_t *)"x", 1);
    assert_int_equal(vocab_index(&v, &a, &e), STENO_OK);
    assert_int_equal(vocab_find(&v, (const uint8_t *)"a", 1), 0);
    assert_int_equal(vocab_find(&v, (const uint8_t *)"b", 1), 1);
    assert_int_equal(vocab_find(&v, (const uint8_t *)"ab", 2), 2);
    assert_int_equal(vocab_find(&v, (const uint8_t *)"c", 1), -1); /* not ordinary text */
    assert_int_equal(vocab_find(&v, (const uint8_t *)"x", 1), -1);
    assert_int_equal(vocab_find(&v, (const uint8_t *)"", 0), -1);
    arena_free(&a);
}

static void test_append_joins_bytes_and_ignores_ids_without_any(void **state)
{
    (void)state;
    struct arena a;
    struct vocab v;
    steno_error e;
    struct buf b = { 0 };
    arena_init(&a);
    assert_int_equal(vocab_init(&v, &a, 3, 3, &e), STENO_OK);
    vocab_set(&v, 0, (const uint8_t *)"\xc3", 1);
    vocab_set(&v, 2, (const uint8_t *)"\xa9", 1);
    const int32_t ids[] = { 0, 1, 2, 3, -1 };
    for (size_t i = 0; i < 5; i++) vocab_append(&v, ids[i], &b);
    assert_int_equal(b.len, 2);
    assert_string_equal(b.p, "é");
    buf_free(&b);
    arena_free(&a);
}

static void test_impossible_sizes_are_refused(void **state)
{
    (void)state;
    struct arena a;
    struct vocab v;
    steno_error e;
    arena_init(&a);
    assert_int_equal(vocab_init(&v, &a, 0, 0, &e), STENO_EARG);
    assert_int_equal(vocab_init(&v, &a, 3, 4, &e), STENO_EARG);
    assert_int_equal(vocab_init(&v, &a, 3, -1, &e), STENO_EARG);
    arena_free(&a);
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
        cmocka_unit_test(test_find_returns_the_lowest_id_of_equal_bytes_below_n_text),
        cmocka_unit_test(test_append_joins_bytes_and_ignores_ids_without_any),
        cmocka_unit_test(test_impossible_sizes_are_refused),
        cmocka_unit_test(test_each_maximal_ill_formed_part_becomes_one_replacement),
        cmocka_unit_test(test_valid_prefix_ends_before_the_first_ill_formed_byte),
        cmocka_unit_test(test_complete_prefix_leaves_out_only_a_character_that_may_still_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: vocabularies. SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "text/vocab.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_returns_the_lowest_id_of_equal_bytes_below_n_text),
        cmocka_unit_test(test_append_joins_bytes_and_ignores_ids_without_any),
        cmocka_unit_test(test_impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

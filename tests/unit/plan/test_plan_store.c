/* steno tests: where packed weights go. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "plan/packing.h"

enum { MB = 1 << 20, MOST = 64 };

struct taken { uint8_t *p; size_t n; };

/* A byte of each page, and all of the last. */
static size_t next(size_t k, size_t n)
{
    return n - k > 4096 ? k + 4096 : k + 1;
}

/* Zeroed and aligned; then marked, so that the next ones can be seen to be elsewhere. */
static void mark(struct taken *t, int i)
{
    assert_non_null(t->p);
    assert_int_equal((uintptr_t)t->p % 64, 0);
    for (size_t k = 0; k < t->n; k = next(k, t->n)) assert_int_equal(t->p[k], 0);
    for (size_t k = 0; k < t->n; k = next(k, t->n)) t->p[k] = (uint8_t)(i + 1);
}

static void check(const struct taken *t, int n)
{
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < t[i].n; k = next(k, t[i].n)) assert_int_equal(t[i].p[k], i + 1);
}

static void test_places_are_apart_and_little_more_is_asked_for_than_is_used(void **state)
{
    (void)state;
    static const size_t size[] = { 1, 0, 63, 64, 65, 2 * MB - 129, 2 * MB - 128, 2 * MB, 3 * MB + 7, 100, 5 * MB, 16 * MB, 16 * MB - 64,
                                   16 * MB + 64, 32 * MB - 64, 32 * MB, 33 * MB, 1, 12 * MB, 9 * MB, 9 * MB, 4, 40 * MB, 31 * MB, 77 };
    struct weight_store s = { 0 };
    struct taken t[MOST];
    int n = 0;
    for (; n < (int)(sizeof size / sizeof *size); n++) {
        t[n] = (struct taken){ weight_store_take(&s, size[n]), size[n] };
        mark(&t[n], n);
        assert_true(weight_store_memory(&s) <= s.used + STORE_PIECE_MAX + (size_t)n * 4096);
    }
    check(t, n);
    weight_store_trim(&s);
    check(t, n);
    if (weight_store_memory(&s) > s.used + (size_t)n * 64) fail_msg("%zu bytes held, %zu used", weight_store_memory(&s), s.used);
    weight_store_close(&s);
    assert_int_equal(s.held, 0);
}

/* Matrices as small models have them: every piece but the last is full. */
static void test_small_weights_share_pieces(void **state)
{
    (void)state;
    struct weight_store s = { 0 };
    for (int i = 0; i < 3000; i++) {
        uint8_t *p = weight_store_take(&s, 1000 + (size_t)i % 7 * 3000);
        assert_non_null(p);
        assert_true(weight_store_memory(&s) <= 2 * s.used + 5 * MB);
    }
    weight_store_trim(&s);
    assert_true(weight_store_memory(&s) < s.used + s.used / 100);
    weight_store_close(&s);
}

static void test_a_dry_store_counts_the_same_and_takes_nothing(void **state)
{
    (void)state;
    struct weight_store s = { 0 }, dry = { .dry = 1 };
    for (size_t n = 0; n < 5000; n += 77) {
        assert_non_null(weight_store_take(&s, n));
        assert_non_null(weight_store_take(&dry, n));
    }
    assert_non_null(weight_store_take(&dry, (size_t)1 << 40));
    assert_int_equal(dry.used, s.used + ((size_t)1 << 40));
    assert_null(dry.piece);
    assert_int_equal(weight_store_memory(&dry), dry.used);
    weight_store_trim(&dry);
    weight_store_close(&dry);
    weight_store_close(&s);
}

static void test_a_failed_allocation_leaves_the_store_unchanged(void **state)
{
    (void)state;
    struct weight_store s = { 0 };
    assert_null(weight_store_take(&s, SIZE_MAX));
    assert_null(weight_store_take(&s, SIZE_MAX / 2));
    assert_null(weight_store_take(&s, SIZE_MAX / 2 - 4096));
    assert_int_equal(weight_store_memory(&s), 0);
    struct taken t = { weight_store_take(&s, 100), 100 };
    mark(&t, 0);
    assert_null(weight_store_take(&s, SIZE_MAX / 4));
    check(&t, 1);
    assert_int_equal(s.used, 128);
    weight_store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_are_apart_and_little_more_is_asked_for_than_is_used),
        cmocka_unit_test(test_small_weights_share_pieces),
        cmocka_unit_test(test_a_dry_store_counts_the_same_and_takes_nothing),
        cmocka_unit_test(test_a_failed_allocation_leaves_the_store_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

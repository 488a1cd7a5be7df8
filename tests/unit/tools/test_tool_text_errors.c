/* steno tests: how many characters and words of a text are wrong. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "verbs/text_errors.h"
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

/* Words of few letters, and with a fault at every n-th place, in `most` characters. */
static void random_pair(char *a, char *b, uint32_t most, uint32_t faults)
{
    const uint32_t n = below(most);
    for (uint32_t i = 0; i < n; i++) {
        const char c = " abc"[below(4)];
        const uint32_t fault = faults ? below(faults) : 4;
        if (fault != 1) *a++ = c;
        if (fault != 2) *b++ = fault ? c : " abc"[below(4)];
        if (fault == 3) *b++ = 'a';
    }
    *a = *b = '\0';
}

static long long wrong(const struct text_errors *e)
{
    return e->more + e->less + e->others;
}

static void test_both_ways_find_as_many_errors(void **state)
{
    (void)state;
    char a[400], b[800];
    for (int round = 0; round < 3000; round++) {
        struct text_errors all[TEXT_ERRORS] = { { 0 } }, few[TEXT_ERRORS] = { { 0 } };
        random_pair(a, b, 1 + (uint32_t)round % 190, (uint32_t)round % 7 ? 4 + below(30) : 0);
        assert_null(text_errors_add_by(all, a, b, UINT64_MAX));
        assert_null(text_errors_add_by(few, a, b, 0));
        for (int k = 0; k < TEXT_ERRORS; k++) {
            assert_int_equal(few[k].units, all[k].units);
            if (wrong(&few[k]) != wrong(&all[k])) fail_msg("\"%s\", \"%s\": %lld, not %lld", a, b, wrong(&few[k]), wrong(&all[k]));
            assert_int_equal(few[k].more - few[k].less, all[k].more - all[k].less);
            assert_true(few[k].more >= 0 && few[k].less >= 0 && few[k].others >= 0);
        }
    }
}

static void test_megabytes_are_compared(void **state)
{
    (void)state;
    enum { N = 2000000, FAULTS = 500 };
    char *a = malloc(N + 1), *b = malloc(N + 1);
    struct text_errors e[TEXT_ERRORS] = { { 0 } };
    assert_true(a && b);
    for (int i = 0; i < N; i++) a[i] = " abcdefghijklmnop"[below(17)];
    a[N] = '\0';
    memcpy(b, a, N + 1);
    for (int i = 1; i <= FAULTS; i++) b[i * (N / FAULTS) - 1] = 'z';
    assert_null(text_errors_add(e, a, b));
    assert_true(wrong(&e[TEXT_ERRORS_CHARACTERS]) <= FAULTS && wrong(&e[TEXT_ERRORS_CHARACTERS]) > FAULTS * 9 / 10);
    assert_true(wrong(&e[TEXT_ERRORS_WORDS]) <= 2 * FAULTS && wrong(&e[TEXT_ERRORS_WORDS]) > FAULTS / 2);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways_find_as_many_errors),
        cmocka_unit_test(test_megabytes_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

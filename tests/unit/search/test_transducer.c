/* steno tests: greedy search of a transducer. SPDX-License-Identifier: MIT
 *
 * Tables stand for the network: the best id and duration of each row, by the number of tokens found so far. */
#include "harness.h"
#include "search/transducer.h"

enum { BLANK = 9, ROWS_MAX = 64, TOKENS_MAX = 64 };

typedef struct joint_best table_fn(int32_t row, int32_t n_tokens);
struct found { struct transducer_token token[TOKENS_MAX]; int32_t n; };

/* Searches with `ahead` rows computed per state. */
static struct found search(struct transducer s, int32_t n_rows, int32_t ahead, table_fn *table)
{
    struct found f = { .n = 0 };
    transducer_begin(&s, n_rows);
    while (!transducer_is_done(&s)) {
        struct joint_best best[ROWS_MAX];
        const int32_t first = s.row, left = n_rows - first, n = left < ahead ? left : ahead;
        for (int32_t i = 0; i < n; i++) best[i] = table(first + i, f.n);
        assert_true(f.n < TOKENS_MAX);
        f.n += transducer_feed(&s, first, best, n, &f.token[f.n]);
    }
    return f;
}

/* The same result for any number of rows ahead. */
static struct found search_any(struct transducer s, int32_t n_rows, table_fn *table)
{
    const struct found one = search(s, n_rows, 1, table);
    for (int32_t ahead = 2; ahead <= 9; ahead++) {
        const struct found more = search(s, n_rows, ahead, table);
        assert_int_equal(more.n, one.n);
        if (one.n) assert_memory_equal(more.token, one.token, (size_t)one.n * sizeof *one.token);
    }
    return one;
}

static void found_is(const struct found *f, const struct transducer_token *want, int32_t n)
{
    assert_int_equal(f->n, n);
    for (int32_t i = 0; i < n; i++)
        if (f->token[i].id != want[i].id || f->token[i].row != want[i].row || f->token[i].duration != want[i].duration)
            fail_msg("token %d is %d at row %d for %d rows", (int)i, (int)f->token[i].id, (int)f->token[i].row, (int)f->token[i].duration);
}

static struct transducer const tdt = { .blank = BLANK, .max_symbols = 10, .has_durations = 1 };
static struct transducer const rnnt = { .blank = BLANK, .max_symbols = 10 };

static struct joint_best always_token(int32_t row, int32_t n_tokens)
{
    (void)row;
    return (struct joint_best){ n_tokens % BLANK, 0 };
}

static void test_a_row_has_at_most_max_symbols_tokens_without_duration(void **state)
{
    (void)state;
    const struct found f = search_any(tdt, 3, always_token);
    assert_int_equal(f.n, 30);
    for (int32_t i = 0; i < 30; i++) assert_int_equal(f.token[i].row, i / 10);
    struct transducer one = tdt;
    one.max_symbols = 1;
    const struct found g = search_any(one, 5, always_token);
    assert_int_equal(g.n, 5);
    for (int32_t i = 0; i < 5; i++) assert_int_equal(g.token[i].row, i);
    assert_int_equal(search_any(rnnt, 3, always_token).n, 30);
}

static struct joint_best blank_without_duration(int32_t row, int32_t n_tokens)
{
    (void)n_tokens;
    return (struct joint_best){ row == 5 ? 3 : BLANK, row == 5 ? 2 : 0 };
}

static void test_a_blank_without_duration_counts_as_one_row(void **state)
{
    (void)state;
    const struct found f = search_any(tdt, 7, blank_without_duration);
    found_is(&f, (const struct transducer_token[]){ { 3, 5, 2 } }, 1);
}

static struct joint_best long_steps(int32_t row, int32_t n_tokens)
{
    if (row == 0) return (struct joint_best){ n_tokens ? BLANK : 1, n_tokens ? 4 : 0 };
    return (struct joint_best){ row == 4 ? 2 : 7, row == 4 ? INT32_MAX : 1 };
}

static void test_durations_skip_rows_and_may_pass_the_end(void **state)
{
    (void)state;
    const struct found f = search_any(tdt, 9, long_steps);
    found_is(&f, (const struct transducer_token[]){ { 1, 0, 0 }, { 2, 4, INT32_MAX } }, 2);
}

static struct joint_best token_with_duration(int32_t row, int32_t n_tokens)
{
    return (struct joint_best){ row == 1 && n_tokens < 3 ? n_tokens : BLANK, 3 };
}

static void test_without_durations_they_do_not_count(void **state)
{
    (void)state;
    const struct found f = search_any(rnnt, 4, token_with_duration);
    found_is(&f, (const struct transducer_token[]){ { 0, 1, 0 }, { 1, 1, 0 }, { 2, 1, 0 } }, 3);
}

static void test_no_rows_give_no_tokens(void **state)
{
    (void)state;
    assert_int_equal(search_any(tdt, 0, always_token).n, 0);
    struct transducer s = tdt;
    struct transducer_token token;
    transducer_begin(&s, 0);
    assert_int_equal(transducer_feed(&s, 0, &(struct joint_best){ 1, 1 }, 1, &token), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_has_at_most_max_symbols_tokens_without_duration),
        cmocka_unit_test(test_a_blank_without_duration_counts_as_one_row),
        cmocka_unit_test(test_durations_skip_rows_and_may_pass_the_end),
        cmocka_unit_test(test_without_durations_they_do_not_count),
        cmocka_unit_test(test_no_rows_give_no_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

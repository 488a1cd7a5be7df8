/* steno tests: dynamic time warping. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "search/dtw.h"

enum { ROWS = 12,
       FRAMES = 40 };

static void expect_path(const float *x, size_t ld, int32_t n, int32_t m, const int32_t *want)
{
    int32_t jump[ROWS];
    assert_int_equal(dtw_path(jump, x, ld, n, m), 0);
    for (int32_t i = 0; i < n; i++)
        if (jump[i] != want[i]) fail_msg("row %d of %dx%d begins at %d, want %d", (int)i, (int)n, (int)m, (int)jump[i], (int)want[i]);
}

static void test_a_known_diagonal_is_the_path(void **state)
{
    (void)state;
    float x[4][12];
    static const int32_t want[] = { 0, 3, 4, 9 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 12; j++) x[i][j] = j >= want[i] && (i == 3 || j < want[i + 1]) ? 1.0f : -1.0f;
    expect_path(x[0], 12, 4, 12, want);
}

static void test_one_row_or_one_frame(void **state)
{
    (void)state;
    const float x[5] = { 1, -2, 3, 0, 5 };
    expect_path(x, 5, 1, 5, (const int32_t[]){ 0 });
    expect_path(x, 1, 5, 1, (const int32_t[]){ 0, 0, 0, 0, 0 });
    expect_path(x, 1, 1, 1, (const int32_t[]){ 0 });
}

/* The definition, with whole tables: cost column by column, a way per cell, and the walk back with its forced edges. */
static void slow_path(int32_t *jump, const float *x, size_t ld, int32_t n, int32_t m)
{
    static double cost[ROWS + 1][FRAMES + 1];
    static int way[ROWS + 1][FRAMES + 1];
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) cost[i][j] = INFINITY;
    cost[0][0] = 0;
    for (int j = 1; j <= m; j++)
        for (int i = 1; i <= n; i++) {
            const double c0 = cost[i - 1][j - 1], c1 = cost[i - 1][j], c2 = cost[i][j - 1];
            way[i][j] = c0 < c1 && c0 < c2 ? 0 : c1 < c0 && c1 < c2 ? 1
                                                                    : 2;
            const double c = way[i][j] == 0 ? c0 : way[i][j] == 1 ? c1
                                                                  : c2;
            cost[i][j] = -(double)x[(size_t)(i - 1) * ld + (size_t)(j - 1)] + c;
        }
    for (int j = 0; j <= m; j++) way[0][j] = 2;
    for (int i = 0; i <= n; i++) way[i][0] = 1;
    for (int i = n, j = m; i > 0 || j > 0;) {
        if (i > 0) jump[i - 1] = j > 0 ? j - 1 : 0;
        const int w = way[i][j];
        if (w != 2) i--;
        if (w != 1) j--;
    }
}

static float value(uint32_t *seed, int kind)
{
    *seed = *seed * 1664525u + 1013904223u;
    const uint32_t r = *seed >> 9;
    if (kind == 0) return (float)(r % 3); /* ties everywhere */
    if (kind == 1) return (float)r / 4194304.0f - 1;
    if (kind == 2) return r % 5 ? (float)(r % 3) : NAN;
    if (kind == 3) return r % 7 == 0 ? INFINITY : r % 7 == 1 ? -INFINITY
                                                             : (float)r;
    return (float)r * 1e30f; /* sums that overflow */
}

static void test_ties_and_hostile_values_go_as_defined(void **state)
{
    (void)state;
    static float x[ROWS * (FRAMES + 3)];
    uint32_t seed = 7;
    for (int run = 0; run < 2000; run++) {
        const int32_t n = 1 + run % ROWS, m = 1 + run * 7 % FRAMES;
        const size_t ld = (size_t)m + (size_t)(run % 4);
        int32_t want[ROWS], last = 0;
        for (size_t i = 0; i < (size_t)n * ld; i++) x[i] = value(&seed, run % 5);
        slow_path(want, x, ld, n, m);
        expect_path(x, ld, n, m, want);
        for (int32_t i = 0; i < n; i++) {
            assert_in_range(want[i], last, m - 1);
            last = want[i];
        }
    }
}

static void test_all_equal_and_all_nan_give_a_path(void **state)
{
    (void)state;
    float x[6 * 9];
    int32_t jump[6];
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < 54; i++) x[i] = kind == 0 ? 0 : kind == 1 ? NAN
                                                        : kind == 2   ? INFINITY
                                                                      : -INFINITY;
        assert_int_equal(dtw_path(jump, x, 9, 6, 9), 0);
        for (int i = 0; i < 6; i++) assert_in_range(jump[i], i ? jump[i - 1] : 0, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_known_diagonal_is_the_path),
        cmocka_unit_test(test_one_row_or_one_frame),
        cmocka_unit_test(test_ties_and_hostile_values_go_as_defined),
        cmocka_unit_test(test_all_equal_and_all_nan_give_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: times of an alignment that do not fall. SPDX-License-Identifier: MIT
 *
 * Against the reference's tables, and against its definition, which tries every pair of times. */
#include "search/align_repair.h"
#include <jansson.h>
#include <string.h>
#include "api/heap.h"

enum { N_MAX = 40 };

static uint32_t seed = 1;

static int32_t draw(int32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (int32_t)((seed >> 8) % (uint32_t)below);
}

/* The times that are kept: for each, the longest sequence of times before it that do not fall, the earliest of those that are as long. */
static void keep_by_pairs(const int32_t *ms, int n, int *kept)
{
    int len[N_MAX], parent[N_MAX], last = 0;
    memset(kept, 0, (size_t)n * sizeof *kept);
    for (int i = 0; i < n; i++) {
        len[i] = 1, parent[i] = -1;
        for (int k = 0; k < i; k++)
            if (ms[k] <= ms[i] && len[k] + 1 > len[i]) len[i] = len[k] + 1, parent[i] = k;
        if (len[i] > len[last]) last = i;
    }
    for (; last >= 0; last = parent[last]) kept[last] = 1;
}

static int32_t repaired_at(const int32_t *ms, int n, const int *kept, int k)
{
    int i = k, j = k;
    if (kept[k]) return ms[k];
    while (i >= 0 && !kept[i]) i--;
    while (j < n && !kept[j]) j++;
    if (i < 0) return ms[j];
    if (j == n) return ms[i];
    if (j - i - 1 <= 2) return k - i <= j - k ? ms[i] : ms[j];
    const double step = (double)(ms[j] - ms[i]) / (j - i);
    return (int32_t)(ms[i] + step * (k - i));
}

static void test_the_references_tables(void **state)
{
    (void)state;
    json_error_t e;
    json_t *all = json_load_file("tests/data/qwen3_aligner/golden.json", 0, &e), *row;
    struct buf scratch = { 0 };
    size_t i;
    assert_non_null(all);
    json_array_foreach(json_object_get(all, "fix"), i, row) {
        json_t *in = json_object_get(row, "in"), *out = json_object_get(row, "out");
        int32_t ms[N_MAX];
        const size_t n = json_array_size(in);
        for (size_t k = 0; k < n; k++) ms[k] = (int32_t)json_integer_value(json_array_get(in, k));
        assert_int_equal(align_repair(ms, (int32_t)n, &scratch), 0);
        for (size_t k = 0; k < n; k++) assert_int_equal(ms[k], json_integer_value(json_array_get(out, k)));
    }
    assert_int_equal(i, 8);
    buf_free(&scratch);
    json_decref(all);
}

static void test_random_times_are_repaired_as_the_definition_says(void **state)
{
    (void)state;
    struct buf scratch = { 0 };
    for (int round = 0; round < 20000; round++) {
        int32_t ms[N_MAX], was[N_MAX];
        int kept[N_MAX];
        const int n = 1 + draw(N_MAX), below = 1 + draw(round % 3 ? 12 : 400);
        for (int i = 0; i < n; i++) ms[i] = was[i] = 80 * (draw(below) + (round % 2 ? i / 2 : 0));
        keep_by_pairs(was, n, kept);
        assert_int_equal(align_repair(ms, n, &scratch), 0);
        for (int i = 0; i < n; i++) {
            if (ms[i] != repaired_at(was, n, kept, i)) fail_msg("round %d: time %d of %d is %d", round, i, n, (int)ms[i]);
            if (i) assert_true(ms[i] >= ms[i - 1]);
        }
    }
    buf_free(&scratch);
}

static void test_no_times(void **state)
{
    (void)state;
    struct buf scratch = { 0 };
    assert_int_equal(align_repair(NULL, 0, &scratch), 0);
    buf_free(&scratch);
}

static void test_without_memory_nothing_changes(void **state)
{
    (void)state;
    int32_t ms[3] = { 3, 2, 1 };
    struct buf scratch = { 0 };
    need_counting();
    count_begin(0);
    const int rc = align_repair(ms, 3, &scratch);
    count_end();
    assert_int_equal(rc, STENO_ENOMEM);
    assert_int_equal(ms[0], 3);
    buf_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_references_tables),
        cmocka_unit_test(test_random_times_are_repaired_as_the_definition_says),
        cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

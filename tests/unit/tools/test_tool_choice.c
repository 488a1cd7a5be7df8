/* steno tests: which model is taken when none is named. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "models/model_choice.h"
#include <stdlib.h>
#include <string.h>

#define MB 1000000LL

/* The names of files in the order in which they are tried on a machine. */
static void order(const char **out, const char *const *path, const int64_t *size, size_t n, const struct choice_host *h)
{
    struct choice c[16];
    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) choice_judge(&c[i], path[i], size ? size[i] : 100 * MB, h);
    qsort(c, n, sizeof *c, choice_order);
    for (size_t i = 0; i < n; i++) out[i] = c[i].path;
}

static const char *const all[] = {
    "/c/ggml-tiny.bin", "/c/ggml-base.bin", "/c/ggml-small.bin", "/c/ggml-medium.bin", "/c/ggml-large-v3.bin", "/c/ggml-large-v3-turbo.bin",
};
enum { N_ALL = sizeof all / sizeof *all };

static void test_a_fast_machine_takes_the_best(void **state)
{
    const struct choice_host h = { .gflops = 2000, .gbytes = 24, .memory = 64000 * MB };
    const char *got[N_ALL];
    (void)state;
    order(got, all, NULL, N_ALL, &h);
    static const int want[] = { 4, 5, 3, 2, 1, 0 };
    for (int i = 0; i < N_ALL; i++) assert_string_equal(got[i], all[want[i]]);
}

static void test_a_slower_one_takes_the_best_that_keeps_up(void **state)
{
    const struct choice_host slow = { .gflops = 30, .gbytes = 16, .memory = 64000 * MB }, slowest = { .gflops = 1, .gbytes = 1 };
    const char *got[N_ALL];
    (void)state;
    order(got, all, NULL, N_ALL, &slow);
    assert_string_equal(got[0], "/c/ggml-small.bin");
    order(got, all, NULL, N_ALL, &slowest); /* none does: the fastest */
    assert_string_equal(got[0], "/c/ggml-tiny.bin");
    assert_string_equal(got[1], "/c/ggml-base.bin");
}

static void test_models_larger_than_memory_come_last(void **state)
{
    const struct choice_host h = { .gflops = 2000, .gbytes = 24, .memory = 1000 * MB };
    const char *got[N_ALL];
    struct choice c;
    (void)state;
    order(got, all, NULL, N_ALL, &h);
    assert_string_equal(got[0], "/c/ggml-small.bin");
    choice_judge(&c, all[4], 1, &h);
    assert_false(c.fits);
    choice_judge(&c, all[0], 950 * MB, &h); /* with any name */
    assert_false(c.fits);
}

static void test_of_one_size_many_languages_and_more_bits_go_first(void **state)
{
    static const char *const path[] = { "/c/ggml-base.en.bin", "/c/ggml-base-q5_1.bin", "/c/ggml-base.bin", "/c/ggml-tiny.bin" };
    static const int64_t size[] = { 148 * MB, 60 * MB, 148 * MB, 3000 * MB };
    const struct choice_host h = { .gflops = 2000, .gbytes = 24 };
    const char *got[4];
    (void)state;
    order(got, path, size, 4, &h);
    assert_string_equal(got[0], path[2]);
    assert_string_equal(got[1], path[1]);
    assert_string_equal(got[2], path[0]);
    assert_string_equal(got[3], path[3]);
}

static void test_an_unknown_name_is_judged_by_its_size(void **state)
{
    static const char *const path[] = {
        "/small/mine.bin", "/c/models--openai--whisper-medium/snapshots/0123", "/c/x/snapshots/0/ggml-tiny.bin",
    };
    const struct choice_host h = { .gflops = 2000, .gbytes = 24 };
    struct choice c, medium, tiny;
    (void)state;
    choice_judge(&medium, "ggml-medium.bin", 1, &h);
    choice_judge(&tiny, "tiny.pt", 1, &h);
    choice_judge(&c, path[0], 77 * MB, &h);
    assert_int_equal(c.quality, tiny.quality);
    choice_judge(&c, path[0], 1530 * MB, &h);
    assert_int_equal(c.quality, medium.quality);
    choice_judge(&c, path[1], 3000 * MB, &h);
    assert_int_equal(c.quality, medium.quality);
    choice_judge(&c, path[2], 1, &h);
    assert_int_equal(c.quality, tiny.quality);
    choice_judge(&c, path[0], 99999 * MB, &h);
    assert_true(c.quality > medium.quality);
}

static void test_this_machine_has_figures(void **state)
{
    struct choice_host h = { 0 };
    (void)state;
    choice_host_get(&h);
    assert_true(h.gflops >= 2 && h.gbytes >= 8 && h.memory >= 0);
}

static void test_measured_figures_decide(void **state)
{
    /* 30 s of large-v3 are 2260 GFLOP and 91 GB: with 8 GB/s the steps alone take 11.4 s, which leaves 18.6 s for the encoder. */
    const struct choice_host enough = { .gflops = 123, .gbytes = 8 };
    const struct choice_host short_of = { .gflops = 120, .gbytes = 8 };
    const struct choice_host thin = { .gflops = 1e5, .gbytes = 3.0 };
    struct choice c;
    (void)state;
    choice_judge(&c, all[4], 1, &enough);
    assert_true(c.speed >= 1);
    choice_judge(&c, all[4], 1, &short_of);
    assert_true(c.speed < 1);
    choice_judge(&c, all[4], 1, &thin); /* what is read counts as much as what is computed */
    assert_true(c.speed < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fast_machine_takes_the_best),
        cmocka_unit_test(test_a_slower_one_takes_the_best_that_keeps_up),
        cmocka_unit_test(test_models_larger_than_memory_come_last),
        cmocka_unit_test(test_of_one_size_many_languages_and_more_bits_go_first),
        cmocka_unit_test(test_an_unknown_name_is_judged_by_its_size),
        cmocka_unit_test(test_measured_figures_decide),
        cmocka_unit_test(test_this_machine_has_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: the model and recordings of this tree against the reference's results. SPDX-License-Identifier: MIT
 *
 * tests/data/golden/golden.json is the part of the reference's results whose sound files may be kept here. The shipped model holds the
 * reference's own weights (f16), so everything must be equal: tokens, times, texts, and numbers to 1e-4. */
#include "golden.h"

static char const shipped[] = "models/whisper-digits/whisper-digits.bin";

/* Of the files up to a length the sets that `only` (NULL: all) names. */
static void run_tree(struct tally *t, const char *level, int threads, int64_t most_samples, const char *only)
{
    json_t *golden = json_open("tests/data/golden/golden.json"), *file;
    struct engine g;
    engine_open(&g, shipped, level, threads);
    steno_model_info info = { .size = sizeof info };
    assert_int_equal(steno_model_info_get(g.model, &info), 0);
    assert_string_equal(info.weight_type, "f16");
    struct tolerance numbers = exact_numbers;
    const char *name;
    json_object_foreach(json_object_get(golden, "files"), name, file)
    {
        char path[256];
        snprintf(path, sizeof path, "tests/data/%s", json_string_value(json_object_get(file, "path")));
        if (json_integer_value(json_object_get(file, "samples")) > most_samples) continue;
        file_run(t, &g, golden, name, path, only, case_equal, &numbers);
    }
    engine_close(&g);
    json_decref(golden);
    print_message("%s, %d threads: %d cases, %d differ, %d files not decodable by this build\n", info.cpu_level, threads, t->cases,
                  t->differ, t->undecoded);
}

static void test_shipped_model_gives_the_results_of_the_reference(void **state)
{
    (void)state;
    struct tally t = { 0 };
    const int is_repeated = SANITIZED || is_there(shared_file("golden/golden.json").s); /* golden.reference has every case of these */
    run_tree(&t, NULL, 2, is_repeated ? 46000 : INT64_MAX, NULL);
    assert_int_equal(t.differ, 0);
    assert_int_equal(t.unstable, 0);
    assert_true(t.cases >= 10);
}

static void test_shipped_model_gives_the_results_of_the_reference_at_every_level(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    for (int i = 0; i < n && !SANITIZED; i++) {
        struct tally t = { 0 };
        run_tree(&t, level[i], 1, 46000, i ? NULL : "greedy"); /* plain C takes its time */
        assert_int_equal(t.differ, 0);
        assert_true(t.cases > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped_model_gives_the_results_of_the_reference),
        cmocka_unit_test(test_shipped_model_gives_the_results_of_the_reference_at_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: texts of the quantised models against the reference's. SPDX-License-Identifier: MIT
 *
 * Quantised weights are other weights, so results may rightly differ from what the reference made of the f16 file. As measured when
 * the blocks were first read right, texts of the 169 cases of files below 30 s differ in none (q8_0), 3 (q5_1) and 13 (q4_0) of them, and
 * in 6, 22 and 23 of the 24 long ones. The bounds here stand close to that: a fault in one block type shows at once. Needs the
 * collection named by STENO_SHARED. */
#include "golden.h"

static int case_text_equal(void *user, const char *file, const char *set, const steno_session *s, const json_t *want)
{
    (void)user;
    const char *text = json_string_value(json_object_get(want, "text"));
    if (!strcmp(steno_text(s), text)) return 0;
    print_message("  %s, %s: '%.80s', reference '%.80s'\n", file, set, steno_text(s), text);
    return 1;
}

static void run_model(struct tally *t, const char *model)
{
    const struct golden_path json = shared_file("golden/golden.json"), path = shared_file(model);
    json_t *golden = json_open(json.s), *file;
    struct engine g;
    engine_open(&g, path.s, NULL, 1);
    const char *name;
    json_object_foreach(json_object_get(golden, "files"), name, file)
    {
        if (json_integer_value(json_object_get(file, "samples")) > (SANITIZED ? 40000 : 480000)) continue;
        const char *sets = SANITIZED ? "greedy" : "greedy without_timestamps prompt";
        file_run(t, &g, golden, name, audio_of(name).s, sets, case_text_equal, NULL);
    }
    engine_close(&g);
    json_decref(golden);
    print_message("%s: %d of %d texts differ\n", model, t->differ, t->cases);
    assert_true(t->cases >= (SANITIZED ? 1 : 40)); /* few that differ are few of many */
}

static void test_q8_0_gives_the_texts_of_f16(void **state)
{
    (void)state;
    struct tally t = { 0 };
    run_model(&t, "whisper-digits-q8_0.bin");
    assert_int_equal(t.differ, 0);
}

static void test_q5_1_gives_most_texts_of_f16(void **state)
{
    (void)state;
    struct tally t = { 0 };
    run_model(&t, "whisper-digits-q5_1.bin");
    assert_true(t.differ <= 4);
}

static void test_q4_0_gives_most_texts_of_f16(void **state)
{
    (void)state;
    struct tally t = { 0 };
    run_model(&t, "whisper-digits-q4_0.bin");
    assert_true(t.differ <= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_q8_0_gives_the_texts_of_f16),
        cmocka_unit_test(test_q5_1_gives_most_texts_of_f16),
        cmocka_unit_test(test_q4_0_gives_most_texts_of_f16),
    };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno: names of output files stay in their folder, and no two are one. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "out_name.h"
#include "out_names.h"
#include "steno_out.h"
#include <stdlib.h>

static void check_name(const char *template, const char *input, const char *want)
{
    char *stem = out_stem(input), *name = out_name(template, stem, "srt", "de");
    assert_string_equal(name, want);
    free(stem);
    free(name);
}

static void test_templates_are_filled(void **state)
{
    (void)state;
    check_name(OUT_NAME_DEFAULT, "a/b.c/talk.one.wav", "talk.one.srt");
    check_name("{stem}.{language}.{format}", "talk.wav", "talk.de.srt");
    check_name("{language}/{stem}{stem}", "x/y", "de/yy");
    check_name("{", "y", "{");
    check_name("{stem", "y", "{stem");
    check_name("{stem}.{format}", "{format}.wav", "{format}.srt"); /* what was put in is not read again */
    check_name("{stem}", "-", "stdin");
    check_name("{stem}", "dir/.hidden", ".hidden");
    check_name("{stem}", "..a.b", "..a");
    check_name("{stem}", "...", "...");
}

static void test_words_a_template_does_not_know_are_found(void **state)
{
    (void)state;
    const char *at = NULL;
    assert_int_equal(out_template_unknown("{stem}{lang}.x", &at), 6);
    assert_memory_equal(at, "{lang}", 6);
    assert_int_equal(out_template_unknown("{}", &at), 2);
    assert_int_equal(out_template_unknown("{stem}.{format}.{language}{", &at), 0);
}

static void test_names_that_leave_the_folder_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "/etc/x", "..", "../x", "a/../x", "a/..", "a/", ".", "a/.", "/" };
    static const char *const good[] = { "x", "...", "..x", "a/b", "a/.b", "a/..b/c", ".x", "a//b", "./x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!out_name_fault(bad[i])) fail_msg("\"%s\" is taken", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (out_name_fault(good[i])) fail_msg("\"%s\" %s", good[i], out_name_fault(good[i]));
}

static void check_list(const char *template, unsigned formats, const char *mark, char *const *inputs, int n, int want, const char *bad)
{
    const struct out_naming naming = { .template = template, .mark = mark, .formats = formats };
    struct out_names list;
    const int got = out_names_list(&list, &naming, inputs, n);
    if (got != want) fail_msg("%s gives %d, want %d", template ? template : "the default", got, want);
    if (bad) assert_string_equal(list.bad, bad);
    else assert_null(list.bad);
    out_names_free(&list);
}

static void test_results_that_would_meet_are_refused(void **state)
{
    (void)state;
    char *two[] = { "a/x.wav", "b/x.wav" }, *apart[] = { "a/x.wav", "a/y.wav" };
    const unsigned txt = 1u << WRITER_TXT, both = txt | 1u << WRITER_SRT;
    check_list(NULL, both, NULL, apart, 2, OUT_NAMES_OK, NULL);
    check_list(NULL, 0, NULL, apart, 2, OUT_NAMES_OK, NULL);
    check_list(NULL, txt, NULL, two, 2, OUT_NAMES_TWO_INPUTS, "x.txt");
    check_list("{stem}", both, NULL, apart, 1, OUT_NAMES_TWO_FORMATS, "x");
    check_list("{stem}.{language}", txt, ".ch0", apart, 1, OUT_NAMES_OK, NULL);
    check_list("../{stem}", txt, ".ch0", apart, 1, OUT_NAMES_FAULT, "../x.ch0");
}

static void test_a_mark_stands_behind_the_stem(void **state)
{
    (void)state;
    const struct out_naming naming = { .template = "{language}/{stem}.{format}", .mark = ".ch1" };
    char *name = out_names_one(&naming, "talk.one.wav", WRITER_SCORE, "de");
    assert_string_equal(name, "de/talk.one.ch1.score.txt");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_are_filled),
        cmocka_unit_test(test_words_a_template_does_not_know_are_found),
        cmocka_unit_test(test_names_that_leave_the_folder_are_refused),
        cmocka_unit_test(test_results_that_would_meet_are_refused),
        cmocka_unit_test(test_a_mark_stands_behind_the_stem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

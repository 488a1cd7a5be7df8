/* steno: names of output files stay in their folder, and no two are one. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "out_name.h"
#include "out_names.h"
#include "writers.h"
#include <stdlib.h>

static void check_name(const char *template, const char *input, const char *want)
{
    char *stem = out_stem(input), *dir = out_dir_of(input);
    const struct out_words words = { .stem = stem, .ext = out_ext(input), .format = "srt", .language = "de", .dir = dir, .number = "07",
                                     .date = "2026-03-01", .time = "14-05-59", .model = NULL };
    char *name = out_name(template, &words);
    assert_string_equal(name, want);
    free(stem);
    free(dir);
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
    check_name("{stem}.{ext}", "a.b/x.y.wav", "x.y.wav");
    check_name("{stem}.{ext}", "a.b/.hidden", ".hidden.");
    check_name("{stem}.{ext}", "-", "stdin.");
    check_name("{stem}", "dir/.hidden", ".hidden");
    check_name("{stem}", "..a.b", "..a");
    check_name("{stem}", "...", "...");
    check_name("{n}-{date}_{time}", "y", "07-2026-03-01_14-05-59");
    check_name("{dir}/{stem}", "a/b/c.wav", "a/b/c");
    check_name("{model}/{stem}", "y", "{model}/y"); /* not known yet */
}

static void check_dir(const char *input, const char *want)
{
    char *dir = out_dir_of(input);
    assert_string_equal(dir, want);
    free(dir);
}

static void test_a_folder_of_an_input_does_not_lead_out(void **state)
{
    (void)state;
    check_dir("x.wav", ".");
    check_dir("-", ".");
    check_dir("/x.wav", ".");
    check_dir("/a/b/x.wav", "a/b");
    check_dir("../../a/./b/../x.wav", "a/b");
    check_dir("..//../x.wav", ".");
    check_dir("a/..b/.c/x.wav", "a/..b/.c");
    check_dir("https://host/talks/x.wav", "host/talks");
}

static void check_part(const char *text, const char *want)
{
    char *part = out_part(text);
    assert_string_equal(part, want);
    free(part);
}

static void test_a_name_with_slashes_is_one_part(void **state)
{
    (void)state;
    check_part("base.en", "base.en");
    check_part("openai/whisper-tiny", "openai-whisper-tiny");
    check_part("../../etc/x", "-.-..-etc-x");
    check_part(".hidden", "-hidden");
    check_part("a\nb\x1b[2J\x7f", "a-b-[2J-");
    check_part("a\xc2\x9b" "31m\xc2\xa0\xc3\x9f", "a-31m\xc2\xa0\xc3\x9f");
    check_part("a\xc2", "a\xc2");
    check_part("..", "-");
    check_part(".", "-");
    check_part("", "-");
    check_part("/", "-");
}

static void test_numbers_are_as_wide_as_the_last(void **state)
{
    (void)state;
    static const struct { int index, n; const char *want; } of[] = {
        { 0, 1, "1" }, { 0, 9, "1" }, { 8, 9, "9" }, { 0, 10, "01" }, { 9, 10, "10" }, { 98, 100, "099" },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[OUT_NUMBER_SZ];
        out_number_text(text, of[i].index, of[i].n);
        assert_string_equal(text, of[i].want);
    }
}

static void check_folder(const char *dir, const char *input, const char *want)
{
    char *folder = out_folder(dir, input);
    assert_string_equal(folder, want);
    free(folder);
}

static void test_results_may_stand_beside_their_inputs(void **state)
{
    (void)state;
    check_folder("@", "a/b/x.wav", "a/b");
    check_folder("@", "x.wav", ".");
    check_folder("@", "/x.wav", "/");
    check_folder("@/texts", "a/x.wav", "a/texts");
    check_folder("@/texts", "/x.wav", "//texts");
    check_folder("@/..", "a/b/x.wav", "a/b/..");
    check_folder("@x", "a/x.wav", "@x");
    check_folder("./@", "a/x.wav", "./@");
    check_folder("out", "a/x.wav", "out");
    assert_int_equal(out_input_has_folder("-"), 0);
    assert_int_equal(out_input_has_folder("https://host/x.wav"), 0);
    assert_int_equal(out_input_has_folder("x.wav"), 1);
}

static void test_words_a_template_does_not_know_are_found(void **state)
{
    (void)state;
    const char *at = NULL;
    assert_int_equal(out_template_unknown("{stem}{lang}.x", &at), 6);
    assert_memory_equal(at, "{lang}", 6);
    assert_int_equal(out_template_unknown("{}", &at), 2);
    assert_int_equal(out_template_unknown("{stem}.{ext}.{format}.{language}{dir}{n}{date}{time}{model}{", &at), 0);
    assert_int_equal(out_template_unknown("{n2}", &at), 4);
    assert_true(out_template_has(NULL, "{stem}") && !out_template_has("x", "{stem}"));
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

static void check_list_in(const char *dir, const char *template, unsigned formats, const char *mark, char *const *inputs, int n, int want,
                          const char *bad)
{
    const struct out_naming naming = { .dir = dir, .template = template, .mark = mark, .formats = formats };
    struct out_names list;
    const int got = out_names_list(&list, &naming, inputs, n);
    if (got != want) fail_msg("%s gives %d, want %d", template ? template : "the default", got, want);
    if (bad) assert_string_equal(list.bad, bad);
    else assert_null(list.bad);
    out_names_free(&list);
}

static void check_list(const char *template, unsigned formats, const char *mark, char *const *inputs, int n, int want, const char *bad)
{
    check_list_in(NULL, template, formats, mark, inputs, n, want, bad);
}

static void test_results_that_would_meet_are_refused(void **state)
{
    (void)state;
    char *two[] = { "a/x.wav", "b/x.wav" }, *beside[] = { "a/x.wav", "a/x.mp3" }, *apart[] = { "a/x.wav", "a/y.wav" };
    const unsigned txt = 1u << WRITER_TXT, both = txt | 1u << WRITER_SRT;
    check_list(NULL, both, NULL, apart, 2, OUT_NAMES_OK, NULL);
    check_list(NULL, 0, NULL, apart, 2, OUT_NAMES_OK, NULL);
    check_list(NULL, txt, NULL, two, 2, OUT_NAMES_TWO_INPUTS, "x.txt");
    check_list("{stem}", both, NULL, apart, 1, OUT_NAMES_TWO_FORMATS, "x");
    check_list("{stem}.{language}", txt, ".ch0", apart, 1, OUT_NAMES_OK, NULL);
    check_list("../{stem}", txt, ".ch0", apart, 1, OUT_NAMES_FAULT, "../x.ch0");
    check_list("{dir}/{stem}", txt, NULL, two, 2, OUT_NAMES_OK, NULL);
    check_list("{n}-{stem}", txt, NULL, two, 2, OUT_NAMES_OK, NULL);
    check_list("{date}-{model}-{stem}", txt, NULL, two, 2, OUT_NAMES_TWO_INPUTS, "{date}-{model}-x");
    check_list_in("@", NULL, both, NULL, two, 2, OUT_NAMES_OK, NULL);
    check_list_in("@", NULL, txt, NULL, beside, 2, OUT_NAMES_TWO_INPUTS, "a/x.txt");
    check_list_in("@", "../{stem}", txt, NULL, beside, 1, OUT_NAMES_FAULT, "../x");
    check_list_in("/", "/{stem}", txt, NULL, beside, 1, OUT_NAMES_FAULT, "/x");
}

static void test_a_pattern_matches_what_runs_may_have_written(void **state)
{
    (void)state;
    static const struct { const char *template; int is_marked; const char *name; int matches; } c[] = {
        { "{stem}.{format}", 0, "talk.srt", 1 }, { "{stem}.{format}", 0, "talk.srt2", 0 }, { "{stem}.{format}", 0, "talk", 0 },
        { "{stem}.{format}", 0, "talk.ch0.srt", 0 }, { "{stem}.{format}", 1, "talk.ch0.srt", 1 }, { "{stem}.{format}", 1, "talk.srt", 1 },
        { "{stem}.{format}", 1, "talk.track12.ch3.translation.srt", 1 }, { "{stem}.{format}", 1, "talk.ch3.track1.srt", 0 },
        { "{stem}.{format}", 1, "talk.track.srt", 0 }, { "{stem}.{format}", 1, "talk.old.srt", 0 }, { NULL, 1, "talk.ch0.srt", 1 },
        { "{date}", 0, "2026-03-01", 1 }, { "{date}", 0, "2026-03-1", 0 }, { "{date}", 0, "2026-03-011", 0 }, { "{date}", 0, "", 0 },
        { "{time}{date}", 0, "14-05-592026-03-01", 1 }, { "{date}/{time}", 0, "2026-03-01/14-05-59", 1 },
        { "{language}", 0, "", 1 }, { "{language}", 0, "unknown", 1 }, { "{language}", 0, "a/b", 0 }, { "{language}", 0, "EN", 0 },
        { "{language}{language}-{stem}", 0, "zhzh-talk", 1 }, { "{stem}{language}", 0, "talktalk", 1 }, { "{ext}.{x}", 0, "wav.{x}", 1 },
        { "", 0, "", 1 }, { "", 0, "a", 0 },
    };
    struct out_words words = { .stem = "talk", .ext = "wav", .format = "srt", .dir = ".", .number = "1", .model = "m" };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct out_pattern p;
        assert_int_equal(out_pattern_make(&p, c[i].template, &words, c[i].is_marked), 0);
        if (out_pattern_match(&p, 0, p.n, c[i].name) != c[i].matches) fail_msg("%s, %s", c[i].template, c[i].name);
        out_pattern_free(&p);
    }
}

static void test_a_pattern_has_limits(void **state)
{
    (void)state;
    static char name[OUT_PATTERN_MAX + 2];
    struct out_words words = { .stem = name, .ext = "", .format = "srt", .dir = ".", .number = "1", .model = "m" };
    for (size_t n = OUT_PATTERN_MAX - 1; n <= OUT_PATTERN_MAX + 1; n++) {
        struct out_pattern p;
        memset(name, 'a', n);
        name[n] = '\0';
        assert_int_equal(out_pattern_make(&p, "{stem}{language}", &words, 0), 0);
        assert_int_equal(out_pattern_match(&p, 0, p.n, name), n <= OUT_PATTERN_MAX);
        out_pattern_free(&p);
    }
    words.stem = "{date}*"; /* values are never words */
    struct out_pattern p;
    assert_int_equal(out_pattern_make(&p, "{stem}", &words, 0), 0);
    assert_true(out_pattern_is_name(&p) && out_pattern_match(&p, 0, p.n, "{date}*"));
    assert_false(out_pattern_match(&p, 0, p.n, "2026-03-01*"));
    out_pattern_free(&p);
}

static void test_a_mark_stands_behind_the_stem(void **state)
{
    (void)state;
    const struct out_naming naming = { .template = "{language}/{stem}.{format}", .mark = ".ch1" };
    char *name = out_names_one(NULL, &naming, "talk.one.wav", WRITER_SCORE, "de");
    assert_string_equal(name, "de/talk.one.ch1.score.txt");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_templates_are_filled),
        cmocka_unit_test(test_a_folder_of_an_input_does_not_lead_out),
        cmocka_unit_test(test_a_name_with_slashes_is_one_part),
        cmocka_unit_test(test_numbers_are_as_wide_as_the_last),
        cmocka_unit_test(test_results_may_stand_beside_their_inputs),
        cmocka_unit_test(test_words_a_template_does_not_know_are_found),
        cmocka_unit_test(test_names_that_leave_the_folder_are_refused),
        cmocka_unit_test(test_results_that_would_meet_are_refused),
        cmocka_unit_test(test_a_pattern_matches_what_runs_may_have_written),
        cmocka_unit_test(test_a_pattern_has_limits),
        cmocka_unit_test(test_a_mark_stands_behind_the_stem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

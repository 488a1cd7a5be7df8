/* steno: the table of options parses what it describes. SPDX-License-Identifier: MIT
 *
 * Messages about mistakes go to standard error and are looked at by tests/cli; here only their exit codes count. */
#include "cli/args.h"
#include "harness.h"
#include "cli/message.h"
#include "utf8.h"
#include "cli/words.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct opts {
    int flag, quiet, pair, word;
    unsigned list;
    int64_t number;
    int64_t ms;
    double real, seconds;
    const char *text, *maybe;
};

#define AT(field) offsetof(struct opts, field)

static const struct arg rows[] = {
    ARG_HEADING("Group"),
    { .name = "flag", .letter = 'f', .kind = ARG_FLAG, .at = AT(flag), .help = "a flag" },
    { .name = "quiet", .letter = 'q', .kind = ARG_FLAG, .at = AT(quiet), .help = "another" },
    { .name = "some-pair", .kind = ARG_PAIR, .at = AT(pair), .dflt = "on", .help = "a pair" },
    { .name = "word", .letter = 'w', .kind = ARG_WORD, .at = AT(word), .value = "zero|one|two", .dflt = "one", .help = "a word" },
    { .name = "list", .kind = ARG_LIST, .at = AT(list), .value = "a|b|c|all", .dflt = "a", .help = "words" },
    { .name = "number", .letter = 'n', .kind = ARG_INT, .at = AT(number), .value = "N", .dflt = "7", .lo = -10, .hi = 100,
      .help = "a number" },
    { .name = "real", .kind = ARG_NUM, .none = 1, .at = AT(real), .value = "X|none", .dflt = "0.5", .lo = -1, .hi = 1,
      .help = "a real number" },
    { .name = "time-ms", .kind = ARG_MS, .at = AT(ms), .value = "MS", .hi = 3600000, .help = "milliseconds" },
    { .name = "time", .kind = ARG_S, .none = 1, .at = AT(seconds), .value = "S|none", .hi = 3600, .help = "seconds" },
    { .name = "text", .letter = 't', .kind = ARG_TEXT, .at = AT(text), .value = "TEXT", .help = "text" },
    { .name = "maybe", .kind = ARG_TEXT, .none = 1, .at = AT(maybe), .value = "TEXT", .dflt = "", .help = "text, perhaps empty" },
    { 0 },
};

static const struct args table = { "test", "", "", rows };

/* Parse the words, which end with NULL. */
static int parse(struct opts *o, int *n_operands, char **argv, ...)
{
    va_list ap;
    int n = 0;
    va_start(ap, argv);
    for (char *s = va_arg(ap, char *); s; s = va_arg(ap, char *)) argv[n++] = s;
    va_end(ap);
    memset(o, 0, sizeof *o);
    return args_parse(&table, o, NULL, n, argv, n_operands);
}

#define PARSE(...) parse(&o, &n, argv, __VA_ARGS__, (char *)NULL)
#define LOCALS struct opts o; char *argv[16]; int n; (void)state

static void test_defaults_come_from_the_table(void **state)
{
    LOCALS;
    assert_int_equal(PARSE("file"), ARGS_RUN);
    assert_int_equal(o.flag, 0);
    assert_int_equal(o.pair, 1);
    assert_int_equal(o.word, 1);
    assert_int_equal(o.list, 1);
    assert_int_equal(o.number, 7);
    assert_true(o.real == 0.5);
    assert_null(o.text);
    assert_string_equal(o.maybe, "");
    assert_int_equal(n, 1);
}

static void test_every_spelling_of_an_option_is_taken(void **state)
{
    LOCALS;
    assert_int_equal(PARSE("--number=8", "--some_pair", "-fq", "-wtwo"), ARGS_RUN);
    assert_int_equal(o.number, 8);
    assert_int_equal(o.word, 2);
    assert_true(o.flag && o.quiet && o.pair && n == 0);
    assert_int_equal(PARSE("--number", "-9", "--no_some-pair", "-qn", "10", "-t", "-x"), ARGS_RUN);
    assert_int_equal(o.number, 10);
    assert_int_equal(o.pair, 0);
    assert_string_equal(o.text, "-x");
    assert_int_equal(PARSE("-fn11"), ARGS_RUN);
    assert_int_equal(o.number, 11);
}

static void test_operands_keep_their_order_and_two_dashes_end_the_options(void **state)
{
    LOCALS;
    assert_int_equal(PARSE("a", "-f", "-", "--", "-q", "--"), ARGS_RUN);
    assert_int_equal(n, 4);
    assert_string_equal(argv[0], "a");
    assert_string_equal(argv[1], "-");
    assert_string_equal(argv[2], "-q");
    assert_string_equal(argv[3], "--");
    assert_int_equal(o.quiet, 0);
}

static void test_lists_none_and_empty_text_are_values(void **state)
{
    LOCALS;
    assert_int_equal(PARSE("--list", "c,a", "--real", "none", "--maybe="), ARGS_RUN);
    assert_int_equal(o.list, 5);
    assert_true(isnan(o.real));
    assert_int_equal(PARSE("--list=all", "--real=-1"), ARGS_RUN);
    assert_int_equal(o.list, 7);
    assert_true(o.real == -1);
}

static void test_mistakes_end_with_the_exit_code_of_usage(void **state)
{
    LOCALS;
    char longest[300];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest, "--", 2);
    static const char *const wrong[] = {
        "--nothing", "-Z", "--flag=1", "--number", "--number=", "--number=101", "--number=1e3", "--number= 5", "--real=2", "--real=inf",
        "--text=", "--word=three", "--list=", "--list=a,,b", "--list=a,d", "--no-flag", "--no-", "--=", "-n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char word[32];
        strcpy(word, wrong[i]);
        if (PARSE(word) != EXIT_USAGE) fail_msg("%s is taken", wrong[i]);
    }
    assert_int_equal(PARSE(longest), EXIT_USAGE);
}

static void test_likeness_finds_slips_and_beginnings_but_not_strangers(void **state)
{
    (void)state;
    assert_int_equal(word_distance("kitten", "sitting"), 3);
    assert_int_equal(word_distance("ab", "ba"), 1);
    assert_int_equal(word_distance("", "abc"), 3);
    assert_true(word_near("langauge", "language") >= 0);
    assert_int_equal(word_near("lang", "language"), 0);
    assert_int_equal(word_near("xyzzy", "language"), -1);
    assert_int_equal(word_near("z", "q"), -1);
}

static void test_messages_are_valid_utf8_without_control_characters(void **state)
{
    (void)state;
    char out[64];
    utf8_printable(out, sizeof out, "a\x1b[2J\xc3\xa9\xff\n\xc2\x9b\xed\xa0\x80");
    assert_string_equal(out, "a\\x1b[2J\xc3\xa9\\xff\\x0a\\u009b\\xed\\xa0\\x80");
    utf8_printable(out, 4, "abcdef");
    assert_string_equal(out, "abc");
    utf8_printable(out, 4, "ab\xc3\xa9");
    assert_string_equal(out, "ab");
    assert_int_equal(utf8_invalid_at("ok \xe2\x82\xac"), -1);
    assert_int_equal(utf8_invalid_at("ok \xe2\x82"), 3);
    assert_int_equal(utf8_invalid_at("\xc0\xaf"), 0);
    assert_int_equal(utf8_invalid_at("\xf4\x90\x80\x80"), 0);
}

static void test_all_can_stand_for_the_first_words_only(void **state)
{
    (void)state;
    static const struct arg few_rows[] = {
        { .name = "list", .kind = ARG_LIST, .at = AT(list), .value = "a|b|c|d|all", .dflt = "a", .hi = 2, .help = "words" },
        { 0 },
    };
    static const struct args few = { "test", "", "", few_rows };
    struct opts o = { 0 };
    int n;
    char all[] = "--list=all", more[] = "--list=d,all", *argv[] = { all, more };
    assert_int_equal(args_parse(&few, &o, NULL, 1, argv, &n), ARGS_RUN);
    assert_int_equal(o.list, 3);
    assert_int_equal(args_parse(&few, &o, NULL, 1, argv + 1, &n), ARGS_RUN);
    assert_int_equal(o.list, 11);
}

static void test_values_as_json_have_the_type_of_their_option(void **state)
{
    (void)state;
    const struct opts o = { .flag = 1, .word = 2, .list = 5, .number = -3, .real = NAN, .maybe = "\"" };
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    args_json(&to, rows, &o, "Nothing");
    sink_char(&to, '\n');
    args_json(&to, rows, &o, "Nothing|Group");
    assert_false(to.failed);
    assert_string_equal(text.p, "{\"flag\": true, \"quiet\": false, \"some-pair\": false, \"word\": \"two\", \"list\": [\"a\", \"c\"], "
                                "\"number\": -3, \"real\": null, \"time-ms\": 0, \"time\": 0.0, \"text\": null, \"maybe\": \"\\\"\"}\n{}");
    free(text.p);
}

static void test_times_are_written_as_numbers_or_with_colons(void **state)
{
    LOCALS;
    assert_int_equal(PARSE("--time-ms", "1:30.25", "--time", "1:30.25"), ARGS_RUN);
    assert_true(o.ms == 90250 && o.seconds == 90.25);
    assert_int_equal(PARSE("--time-ms", "1:00:00", "--time", "1:00:00"), ARGS_RUN); /* the most there may be */
    assert_true(o.ms == 3600000 && o.seconds == 3600);
    assert_int_equal(PARSE("--time-ms", "1500", "--time", "1.5"), ARGS_RUN);
    assert_true(o.ms == 1500 && o.seconds == 1.5);
    assert_int_equal(PARSE("--time", "none"), ARGS_RUN);
    assert_true(isnan(o.seconds));
    assert_int_equal(PARSE("--time-ms", "1:00:00.001"), EXIT_USAGE);
    assert_int_equal(PARSE("--time", "1:00:00.001"), EXIT_USAGE);
    assert_int_equal(PARSE("--time", "0:61"), EXIT_USAGE);
    assert_int_equal(PARSE("--time", "1:30,"), EXIT_USAGE);
    assert_int_equal(PARSE("--time", "1:30x"), EXIT_USAGE);
    assert_int_equal(PARSE("--real", "0:00.5"), EXIT_USAGE); /* no time */
    assert_int_equal(PARSE("--number", "0:01"), EXIT_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_come_from_the_table),
        cmocka_unit_test(test_times_are_written_as_numbers_or_with_colons),
        cmocka_unit_test(test_every_spelling_of_an_option_is_taken),
        cmocka_unit_test(test_operands_keep_their_order_and_two_dashes_end_the_options),
        cmocka_unit_test(test_lists_none_and_empty_text_are_values),
        cmocka_unit_test(test_all_can_stand_for_the_first_words_only),
        cmocka_unit_test(test_values_as_json_have_the_type_of_their_option),
        cmocka_unit_test(test_mistakes_end_with_the_exit_code_of_usage),
        cmocka_unit_test(test_likeness_finds_slips_and_beginnings_but_not_strangers),
        cmocka_unit_test(test_messages_are_valid_utf8_without_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

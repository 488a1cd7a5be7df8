/* steno tests: lines of transcripts, read back. SPDX-License-Identifier: MIT */
#include <string.h>
#include "harness.h"
#include "transcript_lines.h"

struct want { const char *text; int64_t t0_ms, t1_ms, number; };

/* The lines of a file called `name`, up to a text that is NULL. bad: it ends where it is no such file any more. */
static void expect(const char *name, const char *file, const struct want *want, int bad)
{
    char text[2048];
    struct transcript_lines l;
    struct transcript_line line;
    assert_true(strlen(file) < sizeof text);
    strcpy(text, file);
    transcript_lines_begin(&l, transcript_form_of(name, text), text);
    for (; want->text; want++) {
        if (!transcript_line_next(&l, &line)) fail_msg("%s: no line, want '%s'", name, want->text);
        assert_string_equal(line.text, want->text);
        assert_int_equal(line.t0_ms, want->t0_ms);
        assert_int_equal(line.t1_ms, want->t1_ms);
        assert_int_equal(line.number, want->number);
    }
    if (transcript_line_next(&l, &line)) fail_msg("%s: another line, '%s'", name, line.text);
    assert_int_equal(l.is_bad, bad);
}

#define LINES(...) (const struct want[]){ __VA_ARGS__, { 0 } }

static void test_forms_have_their_lines(void **state)
{
    (void)state;
    expect("a.txt", "\xef\xbb\xbfone\r\n\n  two three \nfour",
           LINES({ "one", -1, -1, 1 }, { "two three", -1, -1, 3 }, { "four", -1, -1, 4 }), 0);
    expect("a.srt", "1\n00:00:01,020 --> 01:00:02,500\none\ntwo\n\n2\r\n00:00:03,000 --> 00:00:04,000\r\nthree\r\n\r\n",
           LINES({ "one two", 1020, 3602500, 1 }, { "three", 3000, 4000, 2 }), 0);
    expect("a.vtt", "WEBVTT\nNOTE x\n\nid\n00:01.000 --> 00:02.000 align:start\none", LINES({ "one", 1000, 2000, 1 }), 0);
    expect("stdin", "WEBVTT\n\n00:01.000 --> 00:02.000\none\n", LINES({ "one", 1000, 2000, 1 }), 0);
    expect("a.tsv", "start\tend\ttext\n10\t20\tone\ttwo\nx\n30\t40\t \n50\t60\tthree",
           LINES({ "one\ttwo", 10, 20, 2 }, { "three", 50, 60, 5 }), 0);
    expect("a.csv", "start,end,text\n10,20,\" one \"\"two\"\", three\"\n30,40,\"a\nb\"\n50,60,c",
           LINES({ "one \"two\", three", 10, 20, 2 }, { "a b", 30, 40, 3 }, { "c", 50, 60, 5 }), 0);
    expect("a.lrc", "[by:x]\n[00:01.50] one\n[61:00.00]two\n[bad\n", LINES({ "one", 1500, -1, 2 }, { "two", 3660000, -1, 3 }), 0);
}

static void test_json_has_segments_wherever_they_are(void **state)
{
    (void)state;
    static const char whole[] = "{\"text\": \"all\", \"segments\": [{\"words\": [{\"text\": \"w\", \"start\": 9}], \"start\": 1.5, "
                                "\"end\": 2, \"text\": \" o\\u00e9\\n\"}, {\"text\": \"\"}, {\"start\": 4, \"text\": \"b\"}], "
                                "\"language\": \"en\"}";
    static const char full[] = "{\"transcription\": [{\"offsets\": {\"from\": 10, \"to\": 20}, \"text\": \"a\", "
                               "\"tokens\": [{\"offsets\": {\"from\": 1}}]}]}";
    expect("a.json", whole,
           LINES({ "o\xc3\xa9", 1500, 2000, 1 }, { "b", 4000, -1, 3 }), 0);
    expect("a.jsonl", "{\"segments\": [{\"text\": \"a\"}]}\n{\"error\": null}\n{\"x\": {\"segments\": [{\"text\": \"b\"}]}}\n",
           LINES({ "a", -1, -1, 1 }, { "b", -1, -1, 2 }), 0);
    expect("a.json_full", full, LINES({ "a", 10, 20, 1 }), 0);
    expect("a.funasr.json", "[{\"key\": \"k\", \"text\": \"a b\", \"timestamp\": [[1, 2]]}]", LINES({ "a b", -1, -1, 1 }), 0);
    expect("x", "{\"sentence_info\": [{\"text\": \"\\ud83d\\ude00\\ud800\", \"start\": 30, \"end\": 40}]}",
           LINES({ "\xf0\x9f\x98\x80\xef\xbf\xbd", 30, 40, 1 }), 0);
}

static void test_what_is_no_json_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{", "{\"segments\": [}", "{\"a\" 1}", "{\"a\": 1,}", "[1 2]", "{\"segments\": [{\"text\": \"x\"", "\"\\u12\"",
        "\"\\q\"", "\"a\nb\"",
        "[tru]", "{\"a\": \"b}", "]", "[1]]", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect("a.json", bad[i], (const struct want[]){ { 0 } }, 1);
    expect("a.json", "{\"segments\": [{\"text\": \"a\"}, {\"text\": ", LINES({ "a", -1, -1, 1 }), 1);
    expect("a.json", "", (const struct want[]){ { 0 } }, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_have_their_lines),
        cmocka_unit_test(test_json_has_segments_wherever_they_are),
        cmocka_unit_test(test_what_is_no_json_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

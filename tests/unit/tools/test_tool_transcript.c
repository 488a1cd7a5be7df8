/* steno tests: lines of transcripts, read back. SPDX-License-Identifier: MIT */
#include <string.h>
#include "harness.h"
#include "input/transcript_lines.h"

struct want { const char *text; int64_t t0_ms, t1_ms, number; };

/* The lines of a file called `name`, up to a text that is NULL. bad: it ends where it is no such file any more. */
static void expect(const char *name, const char *file, const struct want *want, int bad)
{
    char text[2048];
    struct transcript_lines l;
    struct transcript_line line;
    assert_true(strlen(file) < sizeof text);
    strcpy(text, file);
    transcript_lines_begin(&l, name, text);
    for (; want->text; want++) {
        if (!transcript_line_next(&l, &line)) fail_msg("%s: no line, want '%s'", name, want->text);
        assert_string_equal(line.text, want->text);
        assert_int_equal(line.t0_ms, want->t0_ms);
        assert_int_equal(line.t1_ms, want->t1_ms);
        assert_int_equal(line.number, want->number);
    }
    if (transcript_line_next(&l, &line)) fail_msg("%s: another line, '%s'", name, line.text);
    assert_int_equal(l.is_bad, bad);
    transcript_lines_end(&l);
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
    expect("a.lrc", "[by:x]\n[00:01.50] one\n[61:00.00]two\n[bad\n", LINES({ "one", 1500, 3660000, 1 }, { "two", 3660000, -1, 2 }), 0);
}

static void test_subtitles_are_read_as_people_have_them(void **state)
{
    (void)state;
    static const struct want two[] = { { "tom & jerry", 0, 2000, 1 }, { "second line", 2000, 3000, 2 }, { 0 } };
    static const char *const same[][2] = {
        { "a.srt", "1\r\n00:00:00,000 --> 00:00:02,000\r\ntom & jerry\r\n\r\n2\r\n00:00:02,000 --> 00:00:03,000\r\nsecond line\r\n" },
        { "a.SRT", "\xef\xbb\xbf" "1\n00:00:00,000 --> 00:00:02,000\ntom & jerry\n \t\n2\n00:00:02,000 --> 00:00:03,000\nsecond line" },
        { "-", "\xef\xbb\xbf\n1\r00:00:00,000 --> 00:00:02,000\rtom & jerry\r\r2\r00:00:02,000 --> 00:00:03,000\rsecond\rline\r" },
        { "a.srt", "1\r\r\n00:00:00,000 --> 00:00:02,000\r\r\ntom & jerry\r\r\n\r\r\n2\r\r\n00:00:02,000 --> 00:00:03,000\r\r\n"
                   "second\r\r\nline\r\r\n" }, /* converted twice */
        { "-", "start\tend\tspeaker\ttext\r\r\n0\t2000\t0\ttom & jerry\r\r\n2000\t3000\t1\tsecond line\r\r\n" },
        { "-", "1\n00:00:00,000 --> 00:00:02,000\ntom & jerry\n2\n00:00:02,000 --> 00:00:03,000\nsecond line\n" },
        { "a.srt", "1\n00:00:00,000 --> 00:00:02,000\n<i>tom</i> &amp; {\\an8}jerry\n\n2\n00:00:02,000 --> 00:00:03,000\n"
                   "<font color=\"#f00\">second</font> line\n" },
        { "-", "WEBVTT\nKind: captions\n\n00:00:00.000 --> 00:00:02.000 align:start\n \n<v Ann>tom<00:00:01.000><c> &amp;</c> jerry\n\n"
               "00:02.000 --> 00:03.000\nsecond&nbsp;<u>line</u>\n" },
        { "a.ssa", "[Script Info]\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
                   "Dialogue: 0,0:00:00.00,0:00:02.00,Default,,0,0,0,,{\\i1}tom &{\\i0} jerry\n"
                   "Dialogue: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,second\\Nline\n" },
        { "-", "#!/bin/sh\n# --> is none\ncat <<'END'\n[Script Info]\n[Events]\nDialogue: 0,0:00:00.00,0:00:02.00,D,,0,0,0,,tom & jerry\n"
               "Dialogue: 0,0:00:02.00,0:00:03.00,D,,0,0,0,,{\\k50}second{\\k50} line\nEND\n" },
        { "-", "0:00:00.000,0:00:02.000\ntom & jerry\n\n0:00:02.000,0:00:03.000\nsecond\nline\n" },
        { "-", "start\tend\tspeaker\ttext\n0\t2000\t0\ttom & jerry\r\n2000\t3000\t1\tsecond line" },
        { "a.CSV", "start,end,speaker,text\r\n0,2000,0,\"tom & jerry\"\r\n2000,3000,?,\"second\r\nline\"\r\n" },
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[2048];
        struct transcript_lines l;
        struct transcript_line line;
        const int counts_lines = transcript_form_of(same[i][0], same[i][1]) != TRANSCRIPT_CUES;
        strcpy(text, same[i][1]);
        transcript_lines_begin(&l, same[i][0], text);
        for (const struct want *want = two; want->text; want++) {
            if (!transcript_line_next(&l, &line)) fail_msg("%zu: no line, want '%s'", i, want->text);
            for (char *p; (p = strstr(line.text, "\xc2\xa0")) != NULL;) *p = ' ', memmove(p + 1, p + 2, strlen(p + 1));
            if (strcmp(line.text, want->text) != 0) fail_msg("%zu: '%s', not '%s'", i, line.text, want->text);
            assert_int_equal(line.t0_ms, want->t0_ms);
            assert_int_equal(line.t1_ms, want->t1_ms);
            assert_int_equal(line.number, want->number + counts_lines);
        }
        if (transcript_line_next(&l, &line)) fail_msg("%zu: another line, '%s'", i, line.text);
        transcript_lines_end(&l);
    }
    expect("-", "[Music] one\n{laughs}\n", LINES({ "[Music] one", -1, -1, 1 }, { "{laughs}", -1, -1, 2 }), 0); /* no JSON */
    expect("-", "[ar:x]\n[00:01.5]<00:01.50>one <00:02.00> two\n[00:03][00:09.00]three\n",
           LINES({ "one  two", 1500, 3000, 1 }, { "three", 3000, -1, 2 }), 0);
    expect("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nit&#39;s &#x27;&#x1F600; &#0; &#xD800; &bad;\n",
           LINES({ "it's '\xf0\x9f\x98\x80 &#0; &#xD800; &bad;", 1000, 2000, 1 }), 0);
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

static void test_invalid_json_is_reported(void **state)
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
        cmocka_unit_test(test_subtitles_are_read_as_people_have_them),
        cmocka_unit_test(test_json_has_segments_wherever_they_are),
        cmocka_unit_test(test_invalid_json_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno: subtitles that are read back, their faults, and failed allocations. SPDX-License-Identifier: MIT */
#include "api/heap.h"
#include "sub_check.h"
#include "write_help.h"

/* ---- what is read ------------------------------------------------------------------------------------------------------------- */

static struct sub_file read_back(enum sub_form form, const char *bytes)
{
    struct sub_file f;
    assert_int_equal(sub_read(&f, form, bytes, strlen(bytes)), 0);
    return f;
}

static void check_cue(const struct sub_file *f, size_t i, int64_t line, int64_t t0, int64_t t1, const char *text)
{
    char got[256];
    assert_true(i < f->n);
    const struct sub_cue *c = &f->cue[i];
    snprintf(got, sizeof got, "%.*s", (int)c->n, f->text + c->text);
    assert_string_equal(got, text);
    assert_int_equal(c->line, line);
    assert_int_equal(c->t0_ms, t0);
    assert_int_equal(c->t1_ms, t1);
}

static void test_srt_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "\xef\xbb\xbf" "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>One</i> {\\an8}<font color=\"red\">two</font>\r\n"
                                "a < b <c\r\n\r\n\r\n2 \n01:00:00,001 --> 123:59:59,999 X1:1\nthree";
    struct sub_file f = read_back(SUB_SRT, bytes);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.n_strays, 0);
    check_cue(&f, 0, 2, 1000, 2500, "One two\na < b <c");
    check_cue(&f, 1, 8, 3600001, 123 * 3600000ll + 3599999, "three");
    assert_int_equal(f.cue[1].number, 2);
    sub_free(&f);
}

static void test_a_line_end_that_was_converted_twice_is_one(void **state)
{
    (void)state;
    struct sub_file f = read_back(SUB_SRT, "1\r\r\n00:00:01,000 --> 00:00:02,500\r\r\none\r\r\ntwo\r\r\n\r\r\n2\r\r\n"
                                           "00:00:03,000 --> 00:00:04,000\r\r\nthree\r\r");
    assert_int_equal(f.n, 2);
    assert_int_equal(f.n_strays, 0);
    check_cue(&f, 0, 2, 1000, 2500, "one\ntwo");
    check_cue(&f, 1, 7, 3000, 4000, "three");
    sub_free(&f);
}

static void test_vtt_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "WEBVTT - title\n\nSTYLE\n::cue { color: red }\n\nNOTE\nnothing\n\nname\n"
                                "00:01.000 --> 00:02.000 line:0 align:start\n<v Ann>One &amp; <c.red>two</c>&lt;\n\n"
                                "01:00:00.000 --> 01:00:00.500\n<00:00:01.000>x";
    struct sub_file f = read_back(SUB_VTT, bytes);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.n_strays, 0);
    check_cue(&f, 0, 10, 1000, 2000, "One & two<");
    check_cue(&f, 1, 13, 3600000, 3600500, "x");
    sub_free(&f);
}

static void test_blocks_of_vtt_are_distinguished_from_cues(void **state)
{
    (void)state;
    static const char bytes[] = "WEBVTT\n\nNOTES\n00:01.000 --> 00:02.000\none\n \ntwo\n\nSTYLES 2\n00:03.000 --> 00:04.000\nthree\n\n"
                                "NOTE\tx\n00:05.000 --> 00:06.000\nfour\n\nREGION\nid:a\n";
    struct sub_file f = read_back(SUB_VTT, bytes);
    assert_int_equal(f.n, 3);
    assert_int_equal(f.n_strays, 0);
    check_cue(&f, 0, 4, 1000, 2000, "one\n \ntwo");
    check_cue(&f, 1, 10, 3000, 4000, "three");
    check_cue(&f, 2, 14, 5000, 6000, "four");
    sub_free(&f);
}

static void test_ass_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "[Script Info]\nTitle: Dialogue: x\n\n[Events]\nFormat: Start, End, Style, Text\n"
                                "Comment: 0:00:00.00,0:00:00.00,x,y\n"
                                "Dialogue: 0:00:01.00,0:00:02.05,x,{\\k10}One,{\\k2} two\\Nthree\\{\\}\\h.\nDialogue: 0:00\n";
    struct sub_file f = read_back(SUB_ASS, bytes);
    assert_int_equal(f.n, 2);
    check_cue(&f, 0, 7, 1000, 2050, "One, two\nthree{}\xc2\xa0.");
    check_cue(&f, 1, 8, -1, -1, "");
    sub_free(&f);
}

static void test_forms_are_known_by_name_or_by_bytes(void **state)
{
    (void)state;
    assert_int_equal(sub_form_of("a.VTT", "", 0), SUB_VTT);
    assert_int_equal(sub_form_of("a.ssa", "", 0), SUB_ASS);
    assert_int_equal(sub_form_of("a", "\xef\xbb\xbfWEBVTT", 9), SUB_VTT);
    assert_int_equal(sub_form_of("a.txt", "[Script Info]", 13), SUB_ASS);
    assert_int_equal(sub_form_of("-", "1\n", 2), SUB_SRT);
    assert_int_equal(sub_form_of("-", "", 0), SUB_SRT);
}

/* ---- what is found wrong ------------------------------------------------------------------------------------------------------ */

struct found {
    char text[1024];
    size_t n;
};

static void note(void *user, const struct sub_fault *fault)
{
    struct found *f = user;
    const char *rule = sub_rule_name(fault->rule);
    f->n += (size_t)snprintf(f->text + f->n, sizeof f->text - f->n, "%lld/%zu %s; ", (long long)fault->line, fault->cue, rule);
    assert_true(f->n < sizeof f->text);
}

static void check_faults(enum sub_form form, const struct cue_rules *r, const char *bytes, const char *want)
{
    struct found found = { .n = 0 };
    struct sub_file f = read_back(form, bytes);
    assert_int_equal(sub_check(&f, r, note, &found), 0);
    assert_string_equal(found.text, want);
    sub_free(&f);
}

#define CUE(number, from, to, text) number "\n00:00:" from " --> 00:00:" to "\n" text "\n\n"

static void test_faults_of_any_subtitle_are_found(void **state)
{
    (void)state;
    check_faults(SUB_SRT, NULL, CUE("1", "01,000", "02,000", "a") CUE("2", "02,000", "03,000", "b"), "");
    check_faults(SUB_SRT, NULL, CUE("1", "01,000", "02,000", "a") CUE("3", "02,000", "03,000", "b"), "6/2 number out of sequence; ");
    check_faults(SUB_SRT, NULL, CUE("7", "01,000", "02,000", "a") CUE("8", "02,000", "03,000", "b"), "");
    check_faults(SUB_SRT, NULL, "00:00:01,000 --> 00:00:02,000\na\n", "1/1 number out of sequence; ");
    check_faults(SUB_SRT, NULL, CUE("1", "01,000", "02,000", "a") CUE("2", "01,999", "03,000", "b"), "6/2 overlap; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "a") CUE("2", "01,000", "02,000", "b"), "6/2 out of order; ");
    check_faults(SUB_SRT, NULL, "1\n00:00:01,000 --> 00:00:02,000\na b\nc\n2\n00:00:02,000 --> 00:00:03,000\nb\n3\n"
                                "00:00:03,000 --> 00:00:04,000\nc\n", "5/1 no blank line before; 8/2 no blank line before; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "05,000", "a"), "2/1 no duration; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "04,000", "a"), "2/1 out of order; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", " "), "2/1 empty; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "<i></i>"), "2/1 empty; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "Well\n..."), "4/1 lone punctuation; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "Well\nthis is long"), "3/1 orphan word; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "- Well\n- this is long"), "");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "Ann: Well\nthis is long"), "");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "\xe2\x99\xaa"), "");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,000", "a\xff"), "3/1 bad UTF-8; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05,000", "06,00", "a"), "2/1 bad time; ");
    check_faults(SUB_SRT, NULL, CUE("1", "05.000", "06.000", "a"), "2/1 bad time; ");
    check_faults(SUB_SRT, NULL, CUE("1", "65,000", "66,000", "a"), "2/1 bad time; ");
    check_faults(SUB_SRT, NULL, "Hello\nthere\n\n" CUE("1", "05,000", "06,000", "a"), "1/0 bad time; ");
    check_faults(SUB_VTT, NULL, "00:01.000 --> 00:02.000\na\n", "1/0 bad head; ");
    check_faults(SUB_VTT, NULL, "WEBVTTX\n\n00:01.000 --> 00:02.000\na\n", "1/0 bad head; ");
    check_faults(SUB_VTT, NULL, "WEBVTT\n00:01.000 --> 00:02.000\na\n", "2/0 bad head; ");
    check_faults(SUB_VTT, NULL, "WEBVTT\n\n00:01,000 --> 00:02,000\na\n", "3/1 bad time; ");
    check_faults(SUB_VTT, NULL, "", "0/0 bad head; ");
    check_faults(SUB_SRT, NULL, "", "");
}

static void test_faults_against_rules_are_found(void **state)
{
    (void)state;
    const struct cue_rules r = { .line_cells = 10, .lines = 1, .min_ms = 1000, .max_ms = 3000, .gap_ms = 80, .close_ms = 500,
                                 .cells_per_s = 10, .cells_per_character = 1 };
    const struct cue_rules w = { .ms_per_word = 300, .cells_per_character = 1 };
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "a") CUE("2", "02,080", "03,080", "b") CUE("3", "03,580", "05,000", "c"), "");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "a") CUE("2", "02,079", "03,080", "b"), "6/2 bad gap; ");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "a") CUE("2", "02,499", "04,000", "b"), "6/2 bad gap; ");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "01,999", "a"), "2/1 too short; ");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "04,001", "a"), "2/1 too long; ");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "1234567890"), "");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "12345678901"), "2/1 too fast; 3/1 line too long; ");
    check_faults(SUB_SRT, &r, CUE("1", "01,000", "02,000", "a\nb"), "2/1 too many lines; ");
    check_faults(SUB_SRT, &w, CUE("1", "01,000", "02,200", "one two three four"), "");
    check_faults(SUB_SRT, &w, CUE("1", "01,000", "02,199", "one two three four"), "2/1 too fast; ");
}

static void test_a_million_tags_that_never_end_take_no_time(void **state)
{
    (void)state;
    static const struct { enum sub_form form; const char *head, *part; } of[] = {
        { SUB_VTT, "WEBVTT\n\n00:00.000 --> 00:01.000\n", "<c" }, { SUB_SRT, "1\n00:00:00,000 --> 00:00:01,000\n", "{\\<b " },
        { SUB_ASS, "[Events]\nDialogue: 0,0:00:00.00,0:00:01.00,a,b,0,0,0,,", "{x" },
    };
    enum { TIMES = 1000000 };
    for (size_t i = 0; i < 3; i++) {
        struct sink_memory text = { 0 };
        struct sink to = sink_to_memory(&text);
        struct sub_file f;
        sink_text(&to, of[i].head);
        for (int k = 0; k < TIMES; k++) sink_text(&to, of[i].part);
        assert_int_equal(sub_read(&f, of[i].form, text.p, text.n), 0);
        assert_int_equal(f.n, 1);
        assert_int_equal(f.cue[0].n, TIMES * strlen(of[i].part));
        sub_free(&f);
        free(text.p);
    }
}

/* ---- failed allocations ------------------------------------------------------------------------------------------------------- */

static const steno_word nomem_words[] = { WORD(" one", 0, 500), WORD(" two.", 600, 1000), WORD(" three", 4500, 5000) };

/* Everything that writes, reads and judges; 1: memory sufficed. */
static int work_through(int format)
{
    static const int32_t first[] = { 0 };
    struct write_layout l = { .cues = CUE_CHOICE_UNSET };
    const steno_segment seg = { .t1_ms = 5000, .text = " one two. three", .n_words = 3 };
    const struct transcript t = { .segs = &seg, .n = 1, .text = "", .language = "en", .first_timestamp = -1, .word_times = 1,
                                  .words = nomem_words, .first_word = first, .layout = &l };
    static const enum sub_form forms[] = { [SRT] = SUB_SRT, [VTT] = SUB_VTT, [ASS] = SUB_ASS };
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    struct found found = { .n = 0 };
    struct sub_file f = { 0 };
    l.cues.on = 1;
    writers[format].write(&to, &t);
    int ok = !to.failed && sub_read(&f, forms[format], text.p, text.n) == 0;
    if (ok) ok = sub_check(&f, NULL, note, &found) == 0;
    if (ok) {
        assert_int_equal(f.n, 2);
        assert_string_equal(found.text, "");
    }
    sub_free(&f);
    free(text.p);
    return ok;
}

static void test_every_allocation_may_fail(void **state)
{
    static const int formats[] = { SRT, VTT, ASS };
    (void)state;
    need_counting();
    for (size_t i = 0; i < 3; i++) {
        for (int64_t fail_at = 0;; fail_at++) {
            count_begin(fail_at);
            const int ok = work_through(formats[i]);
            const struct heap h = count_end();
            assert_int_equal(h.bytes, 0);
            if (fail_at >= h.calls) {
                assert_true(ok);
                break;
            }
            assert_false(ok);
            assert_true(fail_at < 200);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_srt_is_read),
        cmocka_unit_test(test_a_line_end_that_was_converted_twice_is_one),
        cmocka_unit_test(test_vtt_is_read),
        cmocka_unit_test(test_blocks_of_vtt_are_distinguished_from_cues),
        cmocka_unit_test(test_ass_is_read),
        cmocka_unit_test(test_forms_are_known_by_name_or_by_bytes),
        cmocka_unit_test(test_faults_of_any_subtitle_are_found),
        cmocka_unit_test(test_faults_against_rules_are_found),
        cmocka_unit_test(test_a_million_tags_that_never_end_take_no_time),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

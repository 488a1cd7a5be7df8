/* steno: the writers give the reference's bytes. SPDX-License-Identifier: MIT
 *
 * tests/data/writers holds the files of openai-whisper's writers; the segments below are its own numbers, so that every byte, the last
 * digit of every number included, has to be the same. */
#include "write.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { FIRST_TIMESTAMP = 50364 };

static const int32_t zh_phrases_0[] = { 50378, 30566, 6306, 114, 29920, 33453, 1543, 50484 };
static const int32_t zh_phrases_1[] = { 50541, 6306, 114, 10960, 43145, 1543, 50622 };
static const int32_t zh_phrases_2[] = { 50668, 21001, 2257, 1543, 50709 };
static const steno_segment zh_phrases[] = {
    { 0, 8, 0, 280, 2400, "六零七八。", zh_phrases_0, 0, -0.4630597886585054, 0.9, 1.4585198326866333e-10 },
    { 1, 7, 0, 3540, 5160, "零三九。", zh_phrases_1, 0, -0.4630597886585054, 0.9, 1.4585198326866333e-10 },
    { 2, 5, 0, 6080, 6900, "五一。", zh_phrases_2, 0, -0.4630597886585054, 0.9, 1.4585198326866333e-10 },
};

static const int32_t edge34_es_0[] = { 50396, 15890, 15890, 269, 2032, 269, 2032, 15890, 28233, 28233, 13, 50594 };
static const int32_t edge34_es_1[] = { 50623, 21350, 269, 2032, 269, 2032, 40719, 13, 50738 };
static const int32_t edge34_es_2[] = { 50778, 8526, 3795, 78, 28795, 3795, 78, 21350, 10412, 303, 8526, 3795, 78, 21350, 8526, 13, 51024 };
static const int32_t edge34_es_3[] = { 51077, 40719, 269, 2032, 8526, 15890, 40719, 13, 51303 };
static const int32_t edge34_es_4[] = { 51343, 8526, 3795, 78, 40719, 269, 2032, 8526, 3795, 78, 13, 51427 };
static const int32_t edge34_es_5[] = { 51467, 28233, 21350, 40719, 15890, 13, 51516 };
static const int32_t edge34_es_6[] = { 51568, 28233, 13, 51610 };
/* Temperature, mean log-probability, compression and no-speech probability belong to the window, which all segments share. */
#define EDGE_WINDOW 0, -0.8008061798525529, 2.188888888888889, 1.2425451245690056e-07

static const steno_segment edge34_es[] = {
    { 0, 12, 0, 640, 4600, " tres tres cero cero tres seis seis.", edge34_es_0, EDGE_WINDOW },
    { 1, 9, 0, 5180, 7480, " cinco cero cero siete.", edge34_es_1, EDGE_WINDOW },
    { 2, 17, 0, 8280, 13200, " uno ocho cuatro ocho cinco nueve uno ocho cinco uno.", edge34_es_2, EDGE_WINDOW },
    { 3, 9, 0, 14260, 18780, " siete cero uno tres siete.", edge34_es_3, EDGE_WINDOW },
    { 4, 12, 0, 19580, 21260, " uno ocho siete cero uno ocho.", edge34_es_4, EDGE_WINDOW },
    { 5, 7, 0, 22060, 23040, " seis cinco siete tres.", edge34_es_5, EDGE_WINDOW },
    { 6, 4, 0, 24080, 24920, " seis.", edge34_es_6, EDGE_WINDOW },
};

static char *written(const struct writer *w, const struct transcript *t, size_t *n)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, n);
    assert_non_null(f);
    w->write(f, t);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void check_against_files(const char *name, const struct transcript *t)
{
    for (const struct writer *w = writers; w->name; w++) {
        char path[256], want[8192];
        size_t n, k = 0;
        snprintf(path, sizeof path, "tests/data/writers/%s.%s", name, w->name);
        FILE *f = fopen(path, "rb");
        if (!f) fail_msg("%s cannot be opened", path);
        const size_t n_want = fread(want, 1, sizeof want, f);
        fclose(f);
        char *got = written(w, t, &n);
        while (k < n && k < n_want && got[k] == want[k]) k++;
        if (n != n_want || k != n) fail_msg("%s: byte %zu: \"%.20s\", not \"%.20s\"", path, k, got + k, k < n_want ? want + k : "");
        free(got);
    }
}

static void test_every_format_of_chinese_digits_equals_the_reference(void **state)
{
    (void)state;
    const struct transcript t = { zh_phrases, 3, "六零七八。零三九。五一。", "zh", FIRST_TIMESTAMP, 0 };
    check_against_files("zh_phrases", &t);
}

static void test_every_format_of_spanish_digits_equals_the_reference(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int i = 0; i < 7; i++) strcat(text, edge34_es[i].text);
    const struct transcript t = { edge34_es, 7, text, "es", FIRST_TIMESTAMP, 0 };
    check_against_files("edge34_es", &t);
}

static void check_text(const struct transcript *t, int format, const char *want)
{
    size_t n;
    char *got = written(&writers[format], t, &n);
    assert_string_equal(got, want);
    free(got);
}

enum { TXT, SRT, VTT, TSV, JSON };

static void test_no_segments_give_empty_files_with_their_headers(void **state)
{
    (void)state;
    const struct transcript t = { NULL, 0, "", "en", FIRST_TIMESTAMP, 0 };
    check_text(&t, TXT, "");
    check_text(&t, SRT, "");
    check_text(&t, VTT, "WEBVTT\n\n");
    check_text(&t, TSV, "start\tend\ttext\n");
    check_text(&t, JSON, "{\"text\": \"\", \"segments\": [], \"language\": \"en\"}");
}

static void test_arrows_tabs_and_wide_spaces_in_text_are_made_harmless(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = 0, .t1_ms = 1000, .text = "\xe3\x80\x80 a\tb --> c\xc2\xa0" };
    const struct transcript t = { &s, 1, "", "en", FIRST_TIMESTAMP, 0 };
    check_text(&t, TXT, "a\tb --> c\n");
    check_text(&t, SRT, "1\n00:00:00,000 --> 00:00:01,000\na\tb -> c\n\n");
    check_text(&t, TSV, "start\tend\ttext\n0\t1000\ta b --> c\n");
}

static void test_hours_are_written_by_vtt_when_there_are_any_and_by_srt_always(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = 3599990, .t1_ms = 36000000, .text = "x" };
    const struct transcript t = { &s, 1, "", "en", FIRST_TIMESTAMP, 0 };
    check_text(&t, SRT, "1\n00:59:59,990 --> 10:00:00,000\nx\n\n");
    check_text(&t, VTT, "WEBVTT\n\n59:59.990 --> 10:00:00.000\nx\n\n");
}

static void test_json_escapes_everything_that_is_not_printable_ascii(void **state)
{
    (void)state;
    const struct transcript t = { NULL, 0, "\"\\/\n\r\t\b\f\x01\x7f\xc3\xa9\xf0\x9f\x98\x80\xff", "en", FIRST_TIMESTAMP, 0 };
    check_text(&t, JSON, "{\"text\": \"\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u007f\\u00e9\\ud83d\\ude00\\ufffd\", \"segments\": [], "
                         "\"language\": \"en\"}");
}

static void test_emptied_segment_carries_an_empty_list_of_words(void **state)
{
    (void)state;
    const steno_segment s = { .id = 18, .seek_frames = 6000, .t0_ms = 60000, .t1_ms = 90000, .text = "", .avg_logprob = -0.5 };
    const struct transcript t = { &s, 1, "", "en", FIRST_TIMESTAMP, 0 };
    check_text(&t, JSON, "{\"text\": \"\", \"segments\": [{\"id\": 18, \"seek\": 6000, \"start\": 60.0, \"end\": 90.0, \"text\": \"\", "
                         "\"tokens\": [], \"temperature\": 0.0, \"avg_logprob\": -0.5, \"compression_ratio\": 0.0, "
                         "\"no_speech_prob\": 0.0, \"words\": []}], \"language\": \"en\"}");
}

/* 24.080000000000002 is 1204 * 0.02; 7.21 is 721 frames of 0.01 s, which no token can say. */
static void test_seconds_are_the_doubles_of_the_reference(void **state)
{
    (void)state;
    const int32_t with[] = { FIRST_TIMESTAMP + 10, 400, FIRST_TIMESTAMP + 1204 }, zero[] = { FIRST_TIMESTAMP, 400 }, without[] = { 400 };
    double start, end;
    const steno_segment by_token = { .n_tokens = 3, .tokens = with, .t0_ms = 200, .t1_ms = 24080 };
    write_seconds(&by_token, FIRST_TIMESTAMP, &start, &end);
    assert_true(start == 10 * 0.02);
    assert_true(end == 1204 * 0.02);
    const steno_segment by_window = { .n_tokens = 1, .tokens = without, .t1_ms = 7210 };
    write_seconds(&by_window, FIRST_TIMESTAMP, &start, &end);
    assert_true(end == 721 * 160 / 16000.0);
    const steno_segment opened = { .n_tokens = 2, .tokens = zero, .seek_frames = 2386, .t0_ms = 23860, .t1_ms = 53860 };
    write_seconds(&opened, FIRST_TIMESTAMP, &start, &end);
    assert_true(start == 23.86);
    assert_true(end == 23.86 + 30.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_of_chinese_digits_equals_the_reference),
        cmocka_unit_test(test_every_format_of_spanish_digits_equals_the_reference),
        cmocka_unit_test(test_no_segments_give_empty_files_with_their_headers),
        cmocka_unit_test(test_arrows_tabs_and_wide_spaces_in_text_are_made_harmless),
        cmocka_unit_test(test_hours_are_written_by_vtt_when_there_are_any_and_by_srt_always),
        cmocka_unit_test(test_json_escapes_everything_that_is_not_printable_ascii),
        cmocka_unit_test(test_emptied_segment_carries_an_empty_list_of_words),
        cmocka_unit_test(test_seconds_are_the_doubles_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

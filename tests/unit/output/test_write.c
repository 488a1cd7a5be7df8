/* steno: the writers give the reference's bytes. SPDX-License-Identifier: MIT
 *
 * tests/data/writers holds the files of openai-whisper's writers; the segments below are its own numbers, so that every byte, the last
 * digit of every number included, has to be the same. Formats that it does not have are compared with what their readers expect. */
#include "harness.h"
#include "writers.h"
#include "write.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_TIMESTAMP = 50364 };

/* Temperature, mean log-probability, compression and no-speech probability belong to the window, which all segments share. */
#define SEG(i, from, to, string, ids, lp, cr, ns) \
    { .size = sizeof(steno_segment), .id = i, .n_tokens = sizeof ids / sizeof *ids, .t0_ms = from, .t1_ms = to, .text = string, \
      .tokens = ids, .avg_logprob = lp, .compression_ratio = cr, .no_speech_prob = ns }

static const int32_t zh_phrases_0[] = { 50378, 30566, 6306, 114, 29920, 33453, 1543, 50484 };
static const int32_t zh_phrases_1[] = { 50541, 6306, 114, 10960, 43145, 1543, 50622 };
static const int32_t zh_phrases_2[] = { 50668, 21001, 2257, 1543, 50709 };
static const steno_segment zh_phrases[] = {
    SEG(0, 280, 2400, "六零七八。", zh_phrases_0, -0.4630597886585054, 0.9, 1.4585198326866333e-10),
    SEG(1, 3540, 5160, "零三九。", zh_phrases_1, -0.4630597886585054, 0.9, 1.4585198326866333e-10),
    SEG(2, 6080, 6900, "五一。", zh_phrases_2, -0.4630597886585054, 0.9, 1.4585198326866333e-10),
};

static const int32_t edge34_es_0[] = { 50396, 15890, 15890, 269, 2032, 269, 2032, 15890, 28233, 28233, 13, 50594 };
static const int32_t edge34_es_1[] = { 50623, 21350, 269, 2032, 269, 2032, 40719, 13, 50738 };
static const int32_t edge34_es_2[] = { 50778, 8526, 3795, 78, 28795, 3795, 78, 21350, 10412, 303, 8526, 3795, 78, 21350, 8526, 13, 51024 };
static const int32_t edge34_es_3[] = { 51077, 40719, 269, 2032, 8526, 15890, 40719, 13, 51303 };
static const int32_t edge34_es_4[] = { 51343, 8526, 3795, 78, 40719, 269, 2032, 8526, 3795, 78, 13, 51427 };
static const int32_t edge34_es_5[] = { 51467, 28233, 21350, 40719, 15890, 13, 51516 };
static const int32_t edge34_es_6[] = { 51568, 28233, 13, 51610 };
#define EDGE(i, from, to, string, ids) SEG(i, from, to, string, ids, -0.8008061798525529, 2.188888888888889, 1.2425451245690056e-07)

static const steno_segment edge34_es[] = {
    EDGE(0, 640, 4600, " tres tres cero cero tres seis seis.", edge34_es_0),
    EDGE(1, 5180, 7480, " cinco cero cero siete.", edge34_es_1),
    EDGE(2, 8280, 13200, " uno ocho cuatro ocho cinco nueve uno ocho cinco uno.", edge34_es_2),
    EDGE(3, 14260, 18780, " siete cero uno tres siete.", edge34_es_3),
    EDGE(4, 19580, 21260, " uno ocho siete cero uno ocho.", edge34_es_4),
    EDGE(5, 22060, 23040, " seis cinco siete tres.", edge34_es_5),
    EDGE(6, 24080, 24920, " seis.", edge34_es_6),
};

static char *written(const struct writer *w, const struct transcript *t, size_t *n)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    w->write(&to, t);
    assert_false(to.failed);
    *n = text.n;
    return text.p ? text.p : calloc(1, 1);
}

static void check_against_files(const char *name, const struct transcript *t)
{
    for (const struct writer *w = writers; w < writers + N_WRITERS_ALL; w++) {
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
    const struct transcript t = { .segs = zh_phrases, .n = 3, .text = "六零七八。零三九。五一。",
                                  .language = "zh", .first_timestamp = FIRST_TIMESTAMP };
    check_against_files("zh_phrases", &t);
}

static void test_every_format_of_spanish_digits_equals_the_reference(void **state)
{
    (void)state;
    char text[1024] = "";
    for (int i = 0; i < 7; i++) strcat(text, edge34_es[i].text);
    const struct transcript t = { .segs = edge34_es, .n = 7, .text = text, .language = "es", .first_timestamp = FIRST_TIMESTAMP };
    check_against_files("edge34_es", &t);
}

static void check_text(const struct transcript *t, int format, const char *want)
{
    size_t n;
    char *got = written(&writers[format], t, &n);
    assert_string_equal(got, want);
    free(got);
}

enum { TXT, SRT, VTT, TSV, JSON, VERBOSE_JSON, JSONL, CSV, LRC, WTS, ASS, SCORE };

static void test_no_segments_give_empty_files_with_their_headers(void **state)
{
    (void)state;
    const struct transcript t = { .segs = NULL, .n = 0, .text = "", .language = "en", .first_timestamp = FIRST_TIMESTAMP };
    check_text(&t, TXT, "");
    check_text(&t, SRT, "");
    check_text(&t, VTT, "WEBVTT\n\n");
    check_text(&t, TSV, "start\tend\ttext\n");
    check_text(&t, JSON, "{\"text\": \"\", \"segments\": [], \"language\": \"en\"}");
    check_text(&t, VERBOSE_JSON, "{\"task\": \"transcribe\", \"language\": \"english\", \"duration\": 0.0, \"text\": \"\", "
                                 "\"segments\": []}");
    check_text(&t, CSV, "start,end,text\n");
    check_text(&t, LRC, "");
}

static void test_arrows_tabs_and_wide_spaces_in_text_are_made_harmless(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = 0, .t1_ms = 1000, .text = "\xe3\x80\x80 a\tb --> c\xc2\xa0" };
    const struct transcript t = { .segs = &s, .n = 1, .text = "", .language = "en", .first_timestamp = FIRST_TIMESTAMP };
    check_text(&t, TXT, "a\tb --> c\n");
    check_text(&t, SRT, "1\n00:00:00,000 --> 00:00:01,000\na\tb -> c\n\n");
    check_text(&t, TSV, "start\tend\ttext\n0\t1000\ta b --> c\n");
}

static void test_hours_are_written_by_vtt_when_there_are_any_and_by_srt_always(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = 3599990, .t1_ms = 36000000, .text = "x" };
    const struct transcript t = { .segs = &s, .n = 1, .text = "", .language = "en", .first_timestamp = FIRST_TIMESTAMP };
    check_text(&t, SRT, "1\n00:59:59,990 --> 10:00:00,000\nx\n\n");
    check_text(&t, VTT, "WEBVTT\n\n59:59.990 --> 10:00:00.000\nx\n\n");
}

static void test_json_escapes_everything_that_is_not_printable_ascii(void **state)
{
    (void)state;
    const struct transcript t = { .segs = NULL, .n = 0, .text = "\"\\/\n\r\t\b\f\x01\x7f\xc3\xa9\xf0\x9f\x98\x80\xff",
                                  .language = "en", .first_timestamp = FIRST_TIMESTAMP };
    check_text(&t, JSON, "{\"text\": \"\\\"\\\\/\\n\\r\\t\\b\\f\\u0001\\u007f\\u00e9\\ud83d\\ude00\\ufffd\", \"segments\": [], "
                         "\"language\": \"en\"}");
}

static void test_emptied_segment_carries_an_empty_list_of_words(void **state)
{
    (void)state;
    const steno_segment s = { .id = 18, .seek_frames = 6000, .t0_ms = 60000, .t1_ms = 90000, .text = "", .avg_logprob = -0.5 };
    const struct transcript t = { .segs = &s, .n = 1, .text = "", .language = "en", .first_timestamp = FIRST_TIMESTAMP };
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

static void test_csv_doubles_quotes_and_keeps_blanks(void **state)
{
    (void)state;
    const steno_segment s[] = { { .t0_ms = 420, .t1_ms = 2040, .text = " one, \"two\"" },
                                { .t0_ms = 3600000, .t1_ms = 3600010, .text = "" } };
    const struct transcript t = { .segs = s, .n = 2 };
    check_text(&t, CSV, "start,end,text\n420,2040,\" one, \"\"two\"\"\"\n3600000,3600010,\"\"\n");
}

static void test_lrc_counts_minutes_beyond_an_hour_and_cuts_hundredths(void **state)
{
    (void)state;
    const steno_segment s[] = { { .t0_ms = 3020, .text = " five" }, { .t0_ms = 59999, .text = "b" }, { .t0_ms = 7265430, .text = "c" } };
    const struct transcript t = { .segs = s, .n = 3 };
    check_text(&t, LRC, "[00:03.02] five\n[00:59.99]b\n[121:05.43]c\n");
}

static void test_verbose_json_is_the_apis_object_without_nan(void **state)
{
    (void)state;
    static const int32_t ids[] = { FIRST_TIMESTAMP, 400, FIRST_TIMESTAMP + 100 };
    const steno_segment s = { .n_tokens = 3, .tokens = ids, .t1_ms = 2000, .text = " x", .temperature = 0.2, .avg_logprob = NAN,
                              .compression_ratio = 1.5, .no_speech_prob = NAN };
    const struct transcript t = { .segs = &s, .n = 1, .text = " x ", .language = "yue", .first_timestamp = FIRST_TIMESTAMP,
                                  .task = STENO_TRANSLATE, .duration_ms = 2872 };
    check_text(&t, VERBOSE_JSON, "{\"task\": \"translate\", \"language\": \"cantonese\", \"duration\": 2.872, \"text\": \"x\", "
                                 "\"segments\": [{\"id\": 0, \"seek\": 0, \"start\": 0.0, \"end\": 2.0, \"text\": \" x\", "
                                 "\"tokens\": [50364, 400, 50464], \"temperature\": 0.2, "
                                 "\"avg_logprob\": null, \"compression_ratio\": 1.5, \"no_speech_prob\": null}]}");
}

static void test_a_time_that_is_not_known_is_null(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = -1, .t1_ms = -1, .text = "x" };
    const struct transcript t = { .segs = &s, .n = 1, .text = "x", .language = "xx" };
    size_t n;
    char *got = written(&writers[VERBOSE_JSON], &t, &n);
    assert_non_null(strstr(got, "\"language\": \"xx\""));
    assert_non_null(strstr(got, "\"start\": null, \"end\": null, \"text\": \"x\""));
    free(got);
}

static void test_additional_facts_have_keys_of_their_own(void **state)
{
    (void)state;
    const steno_segment s = { .t1_ms = 1000, .text = "x", .flags = STENO_FLAG_REPETITION | STENO_FLAG_RETRIED, .emotion = "HAPPY",
                              .event = "BGM", .language = "zh" };
    const struct transcript t = { .segs = &s, .n = 1, .text = "x", .language = "zh", .first_timestamp = -1 };
    static const int formats[] = { JSON, VERBOSE_JSON };
    for (int i = 0; i < 2; i++) {
        size_t n;
        char *got = written(&writers[formats[i]], &t, &n);
        assert_non_null(strstr(got, "\"no_speech_prob\": 0.0, \"flags\": [\"repetition\", \"retried\"], \"language\": \"zh\", "
                                    "\"emotion\": \"HAPPY\", \"events\": [\"BGM\"]}"));
        free(got);
    }
}

static void test_models_without_timestamps_give_their_milliseconds(void **state)
{
    (void)state;
    const steno_segment s = { .t0_ms = 1234, .t1_ms = 5678, .text = "x" };
    double start, end;
    write_seconds(&s, -1, &start, &end);
    assert_true(start == 1.234);
    assert_true(end == 5.678);
}

static void write_options(struct sink *f, const void *opts)
{
    sink_format(f, "{\"seed\": %d}", *(const int *)opts);
}

static void test_jsonl_gives_every_key_whether_an_input_failed_or_not(void **state)
{
    (void)state;
    const int seed = 7;
    const steno_segment s = { .t1_ms = 1000, .text = " \xc3\xa9", .avg_logprob = NAN };
    struct transcript_source r = { .input = "a\n.wav", .sha256 = "00ff", .model = "m.bin", .spent_us = 80000,
                                   .options = write_options, .opts = &seed };
    struct transcript t = { .segs = &s, .n = 1, .text = " \xc3\xa9", .language = "fr", .duration_ms = 1000, .source = &r };
    char want[1024];
    snprintf(want, sizeof want,
             "{\"type\": \"transcript\", \"schema_version\": 2, "
             "\"input\": \"a\\n.wav\", \"sha256\": \"00ff\", \"model\": \"m.bin\", "
             "\"engine_version\": \"%s\", \"duration\": 1.0, \"seconds\": 0.08, \"speed\": 12.5, "
             "\"status\": \"ok\", \"error\": null, \"language\": \"fr\", \"language_probability\": null, "
             "\"text\": \"\\u00e9\", \"segments\": [{\"id\": 0, "
             "\"seek\": 0, \"start\": 0.0, \"end\": 1.0, \"text\": \" \\u00e9\", \"tokens\": [], \"temperature\": 0.0, "
             "\"avg_logprob\": null, \"compression_ratio\": 0.0, "
             "\"no_speech_prob\": 0.0}], \"notes\": [], \"flags\": []}\n", steno_version());
    check_text(&t, JSONL, want);
    r = (struct transcript_source){ .input = "b.wav", .error = "b.wav: no sound in it", .spent_us = WRITE_TIME_UNKNOWN };
    t = (struct transcript){ .text = "", .language = "", .duration_ms = -1, .source = &r };
    snprintf(want, sizeof want,
             "{\"type\": \"transcript\", \"schema_version\": 2, "
             "\"input\": \"b.wav\", \"sha256\": null, \"model\": null, \"engine_version\": "
             "\"%s\", \"duration\": null, \"seconds\": null, \"speed\": null, "
             "\"status\": \"error\", \"error\": \"b.wav: no sound in it\", \"language\": "
             "null, \"language_probability\": null, \"text\": null, "
             "\"segments\": null, \"notes\": null, \"flags\": null}\n", steno_version());
    check_text(&t, JSONL, want);
}

static void test_jsonl_gives_the_options_once_and_the_sums_at_the_end(void **state)
{
    (void)state;
    const int seed = 7;
    char want[512];
    const struct transcript_source job = { .model = "m \"1\".bin", .options = write_options, .opts = &seed }, bare = { .input = "-" };
    const struct transcript_sums sums = { .n_inputs = 4, .n_ok = 3, .n_empty = 1, .n_failed = 1, .audio_ms = 9500, .spent_us = 4000000 };
    struct transcript_sums none = { .n_inputs = 2, .n_failed = 2 };
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    writers[WRITER_JSONL].begin(&f, &job);
    writers[WRITER_JSONL].begin(&f, &bare);
    writers[WRITER_JSONL].end(&f, &sums);
    writers[WRITER_JSONL].end(&f, &none);
    none.spent_us = WRITE_TIME_UNKNOWN;
    writers[WRITER_JSONL].end(&f, &none);
    snprintf(want, sizeof want, "{\"type\": \"job\", \"schema_version\": 2, \"model\": \"m \\\"1\\\".bin\", \"engine_version\": \"%s\", "
             "\"options\": {\"seed\": 7}}\n", steno_version());
    assert_memory_equal(m.p, want, strlen(want));
    assert_non_null(strstr(m.p, "\"model\": null, "));
    assert_non_null(strstr(m.p, "\"options\": null}\n{\"type\": \"summary\", \"schema_version\": 2, "
                                "\"inputs\": 4, \"ok\": 3, \"empty\": 1, "
                                "\"failed\": 1, \"duration\": 9.5, \"seconds\": 4.0, \"speed\": 2.38}\n"));
    assert_non_null(strstr(m.p, "\"duration\": 0.0, \"seconds\": 0.0, \"speed\": null}\n"));
    assert_non_null(strstr(m.p, "\"duration\": 0.0, \"seconds\": null, \"speed\": null}\n"));
    free(m.p);
    for (int i = 0; i < N_WRITERS; i++) assert_true((i == WRITER_JSONL) == (writers[i].begin != NULL)); /* one file, one record alone */
}

/* The library takes a language by its English name and answers with its code: both lists must agree. */
static void test_every_language_of_the_model_has_the_name_the_library_knows(void **state)
{
    (void)state;
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_error e;
    const char *code;
    assert_int_equal(steno_model_open(&m, "models/whisper-digits/whisper-digits.bin", NULL, &e), STENO_OK);
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, &e), STENO_OK);
    int n = 0;
    for (; (code = steno_model_language(m, n)) != NULL; n++) {
        const float none = 0;
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.language = steno_language_name(code);
        assert_string_not_equal(p.language, code);
        assert_int_equal(steno_transcribe(s, &none, 0, &p), STENO_OK);
        assert_string_equal(steno_language(s), code);
    }
    assert_true(n >= 99);
    assert_string_equal(steno_language_name("yue"), "cantonese"); /* newer models have one more */
    assert_null(steno_language_name("xx"));
    assert_null(steno_language_name(NULL));
    steno_session_close(s);
    steno_model_close(m);
}

static void test_formats_stand_in_the_order_of_their_names(void **state)
{
    (void)state;
    char names[128] = "";
    for (const struct writer *w = writers; w->name; w++) {
        if (names[0]) strcat(names, "|");
        strcat(names, w->name);
    }
    assert_string_equal(names, WRITER_NAMES);
    assert_string_equal(writers[WRITER_TXT].name, "txt");
    assert_string_equal(writers[WRITER_JSONL].name, "jsonl");
    assert_null(writers[N_WRITERS].name);
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
        cmocka_unit_test(test_csv_doubles_quotes_and_keeps_blanks),
        cmocka_unit_test(test_lrc_counts_minutes_beyond_an_hour_and_cuts_hundredths),
        cmocka_unit_test(test_verbose_json_is_the_apis_object_without_nan),
        cmocka_unit_test(test_a_time_that_is_not_known_is_null),
        cmocka_unit_test(test_additional_facts_have_keys_of_their_own),
        cmocka_unit_test(test_models_without_timestamps_give_their_milliseconds),
        cmocka_unit_test(test_jsonl_gives_every_key_whether_an_input_failed_or_not),
        cmocka_unit_test(test_jsonl_gives_the_options_once_and_the_sums_at_the_end),
        cmocka_unit_test(test_every_language_of_the_model_has_the_name_the_library_knows),
        cmocka_unit_test(test_formats_stand_in_the_order_of_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno: subtitles: cues, lines, words, speakers. SPDX-License-Identifier: MIT
 *
 * That whole files equal the reference's is for tests/golden; here are the rules that its recordings do not touch, and our own. */
#include "write_help.h"

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

static const steno_word two_words[] = { WORD(" one", 0, 500), WORD(" two.", 600, 1000),
                                        WORD(" three", 4500, 5000), WORD(" four.", 5000, 5600) };
static const int32_t two_first[] = { 0, 2 };
static const steno_segment two_segs[] = {
    { .id = 0, .t0_ms = 0, .t1_ms = 1000, .text = " one two.", .n_words = 2 },
    { .id = 1, .t0_ms = 4500, .t1_ms = 5600, .text = " three four.", .n_words = 2 },
};

static struct transcript two(const struct write_layout *l)
{
    return (struct transcript){ .segs = two_segs, .n = 2, .text = " one two. three four.", .language = "en", .first_timestamp = -1,
                                .word_times = 1, .words = two_words, .first_word = two_first, .layout = l };
}

static void test_long_pause_begins_a_cue_where_cues_run_over_segments(void **state)
{
    (void)state;
    const struct write_layout l = { .max_line_width = 40, .max_line_count = 2 };
    const struct transcript t = two(&l);
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:01,000\none two.\n\n2\n00:00:04,500 --> 00:00:05,600\nthree four.\n\n");
}

static void test_pause_of_three_seconds_is_not_long(void **state)
{
    (void)state;
    const struct write_layout l = { .max_line_width = 40, .max_line_count = 2 };
    steno_word words[4];
    memcpy(words, two_words, sizeof words);
    words[1].start = 1.5;
    struct transcript t = two(&l);
    t.words = words;
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:05,600\none two. three four.\n\n");
}

static void test_cue_has_no_more_lines_than_allowed(void **state)
{
    (void)state;
    const struct write_layout l = { .max_line_width = 5, .max_line_count = 2 };
    const struct transcript t = two(&l);
    check_written(VTT, &t, "WEBVTT\n\n00:00.000 --> 00:01.000\none\ntwo.\n\n00:04.500 --> 00:05.600\nthree\nfour.\n\n");
}

static void test_pause_inside_a_highlighted_cue_is_a_cue_without_mark(void **state)
{
    (void)state;
    const struct write_layout l = { .highlight_words = 1 };
    struct transcript t = two(&l);
    t.n = 1;
    t.index_offset = 10;
    check_written(SRT, &t, "11\n00:00:00,000 --> 00:00:00,500\n<u>one</u> two.\n\n12\n00:00:00,500 --> 00:00:00,600\none two.\n\n"
                           "13\n00:00:00,600 --> 00:00:01,000\none <u>two.</u>\n\n");
}

static void test_width_counts_characters_not_bytes(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD("\xc3\xa9\xc3\xa9", 0, 100), WORD(" \xc3\xa9\xc3\xa9", 100, 200), WORD(" x", 200, 300) };
    static const int32_t first[] = { 0 };
    const steno_segment s = { .t1_ms = 300, .text = "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9 x", .n_words = 3 };
    const struct write_layout l = { .max_line_width = 5 };
    struct transcript t = { .segs = &s, .n = 1, .word_times = 1, .words = words, .first_word = first, .layout = &l };
    check_holds(SRT, &t, "\n\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\nx\n\n");
    t.word_times = 0;
    check_holds(SRT, &t, "\n\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\nx\n\n");
}

/* Where the reference's writers fail with a KeyError. */
static void test_emptied_first_segment_is_a_cue_without_text_or_with_words_none(void **state)
{
    (void)state;
    steno_segment segs[2] = { { .t1_ms = 900, .text = "" }, two_segs[0] };
    static const int32_t first[] = { 0, 0 };
    struct transcript t = two(NULL);
    segs[1].t0_ms = 900;
    t.segs = segs;
    t.first_word = first;
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:01,000\none two.\n\n");
    t.word_times = 0;
    check_written(SRT, &t, "1\n00:00:00,900 --> 00:00:01,000\none two.\n\n");
    t.empty_cues = 1; /* as the reference has it */
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:00,900\n\n\n2\n00:00:00,900 --> 00:00:01,000\none two.\n\n");
}

static void test_arrow_over_two_words_is_made_harmless(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" a--", 0, 100), WORD("> b", 100, 200), WORD(" -- > ---> -", 200, 300) };
    static const int32_t first[] = { 0 };
    const steno_segment s = { .t1_ms = 300, .text = "", .n_words = 3 };
    const struct transcript t = { .segs = &s, .n = 1, .word_times = 1, .words = words, .first_word = first };
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:00,300\na-> b -- > --> -\n\n");
}

static void test_words_without_times_leave_them_to_their_neighbours(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" a", -1, -1), WORD(" b", 100, 200), WORD(" c", -1, -1), WORD(" d", -1, -1) };
    static const int32_t first[] = { 0, 3 };
    const steno_segment segs[] = { { .t0_ms = 50, .t1_ms = 300, .n_words = 3 }, { .t0_ms = 400, .t1_ms = 500, .n_words = 1 } };
    struct write_layout l = { 0 };
    struct transcript t = { .segs = segs, .n = 2, .word_times = 1, .words = words, .first_word = first, .layout = &l };
    check_written(SRT, &t, "1\n00:00:00,100 --> 00:00:00,200\na b c\n\n2\n00:00:00,400 --> 00:00:00,500\nd\n\n");
    l.highlight_words = 1;
    check_holds(SRT, &t, "1\n00:00:00,100 --> 00:00:00,200\na <u>b</u> c\n\n");
}

/* ---- text without words ------------------------------------------------------------------------------------------------------ */

static void test_lines_without_words_break_at_spaces(void **state)
{
    (void)state;
    const struct write_layout l = { .max_line_width = 10 };
    const steno_segment s = { .t1_ms = 4000, .text = " one two  three unbreakable! six " };
    struct transcript t = { .segs = &s, .n = 1, .layout = &l };
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:04,000\none two\nthree\nunbreakable!\nsix\n\n");
    t.layout = NULL;
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:04,000\none two  three unbreakable! six\n\n");
}

static void test_cues_without_words_share_the_segments_time_by_length(void **state)
{
    (void)state;
    const struct write_layout l = { .max_line_width = 4, .max_line_count = 2 };
    const steno_segment s = { .t0_ms = 1000, .t1_ms = 3000, .text = " aaaa bbbb cccc ddddd" };
    const struct transcript t = { .segs = &s, .n = 1, .layout = &l };
    check_written(SRT, &t, "1\n00:00:01,000 --> 00:00:02,000\naaaa\nbbbb\n\n2\n00:00:02,000 --> 00:00:03,000\ncccc\nddddd\n\n");
}

/* ---- speakers ---------------------------------------------------------------------------------------------------------------- */

static void test_speakers_are_named_where_a_transcript_has_them(void **state)
{
    (void)state;
    static const int32_t speakers[] = { 0, WRITE_SPEAKER_UNKNOWN };
    struct transcript t = two(NULL);
    t.word_times = 0;
    t.speakers = speakers;
    check_written(TXT, &t, "(speaker 0) one two.\n(speaker ?) three four.\n");
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:01,000\n(speaker 0) one two.\n\n"
                           "2\n00:00:04,500 --> 00:00:05,600\n(speaker ?) three four.\n\n");
    check_written(VTT, &t, "WEBVTT\n\n00:00.000 --> 00:01.000\n<v Speaker0>one two.\n\n"
                           "00:04.500 --> 00:05.600\n<v Speaker?>three four.\n\n");
    check_written(CSV, &t, "start,end,speaker,text\n0,1000,0,\" one two.\"\n4500,5600,?,\" three four.\"\n");
    check_written(TSV, &t, "start\tend\tspeaker\ttext\n0\t1000\t0\tone two.\n4500\t5600\t?\tthree four.\n");
    check_written(LRC, &t, "[00:00.00](speaker 0) one two.\n[00:04.50](speaker ?) three four.\n");
    char *json = written(JSON, &t);
    assert_non_null(strstr(json, "\"speaker\": 0}, {\"id\": 1"));
    assert_null(strstr(json, "-1"));
    free(json);
    check_holds(ASS, &t, ",Line,Speaker0,0,0,0,,(speaker 0) one two.\n");
}

static void test_another_speaker_begins_a_cue(void **state)
{
    (void)state;
    static const int32_t speakers[] = { 0, 1 };
    const struct write_layout l = { .max_line_width = 40, .max_line_count = 2 };
    steno_word words[4];
    memcpy(words, two_words, sizeof words);
    words[1].start = 1.5; /* no long pause */
    struct transcript t = two(&l);
    t.words = words;
    t.speakers = speakers;
    check_written(SRT, &t, "1\n00:00:00,000 --> 00:00:01,000\n(speaker 0) one two.\n\n"
                           "2\n00:00:04,500 --> 00:00:05,600\n(speaker 1) three four.\n\n");
}

static void test_turn_of_speakers_is_marked_behind_the_segment(void **state)
{
    (void)state;
    const struct write_layout run_on = { .max_line_width = 40, .max_line_count = 9 }, narrow = { .max_line_width = 4, .max_line_count = 1 };
    steno_segment segs[2] = { two_segs[0], two_segs[1] };
    steno_word words[4];
    memcpy(words, two_words, sizeof words);
    words[1].start = 1.5;
    segs[0].speaker_turn = 1;
    struct transcript t = two(&run_on);
    t.segs = segs;
    t.words = words;
    check_written(TXT, &t, "one two. [SPEAKER_TURN]\nthree four.\n");
    check_holds(SRT, &t, "\none two. [SPEAKER_TURN] three four.\n\n");
    check_holds(VTT, &t, "\none two. [SPEAKER_TURN] three four.\n\n");
    check_holds(JSON, &t, "\"speaker_turn\": true}, {");
    t.word_times = 0;
    check_holds(SRT, &t, "\none two. [SPEAKER_TURN]\n\n2\n");
    t.layout = &narrow;
    check_holds(SRT, &t, "\none\n\n");
    check_holds(SRT, &t, "\ntwo. [SPEAKER_TURN]\n\n");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------------- */

static void test_words_are_listed_in_segments_and_by_the_api_at_top_level(void **state)
{
    (void)state;
    struct transcript t = two(NULL);
    steno_word words[4];
    memcpy(words, two_words, sizeof words);
    words[3].start = NAN;
    t.words = words;
    check_holds(JSON, &t, "\"no_speech_prob\": 0.0, \"words\": [{\"word\": \" one\", \"start\": 0.0, \"end\": 0.5, \"probability\": 0.5}, "
                          "{\"word\": \" two.\", \"start\": 0.6, \"end\": 1.0, \"probability\": 0.5}]}, {\"id\": 1,");
    check_holds(JSON, &t, "{\"word\": \" four.\", \"start\": null,");
    check_holds(VERBOSE_JSON, &t, "], \"words\": [{\"word\": \"one\", \"start\": 0.0, \"end\": 0.5}, {\"word\": \"two.\", \"start\": 0.6, "
                                  "\"end\": 1.0}, {\"word\": \"three\", \"start\": 4.5, \"end\": 5.0}, "
                                  "{\"word\": \"four.\", \"start\": null, \"end\": 5.6}]}");
    t.word_times = 0;
    char *json = written(VERBOSE_JSON, &t);
    assert_null(strstr(json, "words"));
    free(json);
}

static void test_seconds_that_a_segment_carries_are_written_as_they_are(void **state)
{
    (void)state;
    static const int32_t ids[] = { 50364, 400, 50464 };
    double start, end;
    steno_segment s = { .n_tokens = 3, .tokens = ids, .t0_ms = 480, .t1_ms = 2260, .start = 0.48, .end = 2.2600000000000002 };
    write_seconds(&s, 50364, &start, &end);
    assert_true(start == 0.48 && end == 2.2600000000000002);
    s.start = s.end = NAN;
    write_seconds(&s, 50364, &start, &end);
    assert_true(start == 24 * 0.02 && end == 113 * 0.02);
    s.start = s.end = 0; /* they are not set */
    write_seconds(&s, 50364, &start, &end);
    assert_true(start == 24 * 0.02 && end == 113 * 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_pause_begins_a_cue_where_cues_run_over_segments),
        cmocka_unit_test(test_pause_of_three_seconds_is_not_long),
        cmocka_unit_test(test_cue_has_no_more_lines_than_allowed),
        cmocka_unit_test(test_pause_inside_a_highlighted_cue_is_a_cue_without_mark),
        cmocka_unit_test(test_width_counts_characters_not_bytes),
        cmocka_unit_test(test_emptied_first_segment_is_a_cue_without_text_or_with_words_none),
        cmocka_unit_test(test_arrow_over_two_words_is_made_harmless),
        cmocka_unit_test(test_words_without_times_leave_them_to_their_neighbours),
        cmocka_unit_test(test_lines_without_words_break_at_spaces),
        cmocka_unit_test(test_cues_without_words_share_the_segments_time_by_length),
        cmocka_unit_test(test_speakers_are_named_where_a_transcript_has_them),
        cmocka_unit_test(test_another_speaker_begins_a_cue),
        cmocka_unit_test(test_turn_of_speakers_is_marked_behind_the_segment),
        cmocka_unit_test(test_words_are_listed_in_segments_and_by_the_api_at_top_level),
        cmocka_unit_test(test_seconds_that_a_segment_carries_are_written_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

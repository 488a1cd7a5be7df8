/* steno: cues built by rules: properties for any text, and their look where there is a choice. SPDX-License-Identifier: MIT */
#include "cue_build.h"
#include "text_shape.h"
#include "sub_check.h"
#include "write_help.h"

/* ---- a transcript of one segment, or several ---------------------------------------------------------------------------------- */

enum { WORDS_MAX = 12000, SEGS_MAX = 400 };

struct cue_case {
    struct transcript t;
    struct write_layout layout;
    steno_word *words;
    int32_t first[SEGS_MAX], speakers[SEGS_MAX];
    steno_segment segs[SEGS_MAX];
    char (*text)[48]; /* [WORDS_MAX] */
    int n;            /* words */
};

static void cue_case_open(struct cue_case *s)
{
    memset(s, 0, sizeof *s);
    s->words = calloc(WORDS_MAX, sizeof *s->words);
    s->text = calloc(WORDS_MAX, sizeof *s->text);
    assert_true(s->words && s->text);
    s->layout.cues = (struct cue_choice)CUE_CHOICE_UNSET;
    s->layout.cues.on = 1;
    s->t = (struct transcript){ .segs = s->segs, .text = "", .language = "en", .first_timestamp = -1, .word_times = 1, .words = s->words,
                                .first_word = s->first, .layout = &s->layout };
}

static void cue_case_close(struct cue_case *s)
{
    free(s->words);
    free(s->text);
}

static void begin_segment(struct cue_case *s, int32_t speaker, int turn)
{
    if (s->t.n && turn) s->segs[s->t.n - 1].speaker_turn = 1;
    s->first[s->t.n] = s->n;
    s->speakers[s->t.n] = speaker;
    s->segs[s->t.n] = (steno_segment){ .id = s->t.n, .text = "" };
    s->t.n++;
}

static void say(struct cue_case *s, const char *word, int64_t t0, int64_t t1)
{
    assert_true(s->n < WORDS_MAX);
    snprintf(s->text[s->n], sizeof *s->text, "%s", word);
    s->words[s->n] = (steno_word){ .text = s->text[s->n], .t0_ms = t0, .t1_ms = t1 };
    s->segs[s->t.n - 1].n_words++;
    s->n++;
}

/* Words of a text, each `ms` long. */
static void say_text(struct cue_case *s, const char *text, int64_t from, int64_t ms)
{
    for (; *text; from += ms) {
        char word[48];
        const size_t n = 1 + strcspn(text + 1, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        say(s, word, from, from + ms);
        text += n;
    }
}

static void one_text(struct cue_case *s, const char *text, int64_t ms)
{
    cue_case_open(s);
    begin_segment(s, 0, 0);
    say_text(s, text, 0, ms);
}

/* ---- how cues look ------------------------------------------------------------------------------------------------------------ */

static void test_lines_are_balanced_and_end_behind_a_comma(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " When the rain had stopped at last, we went out again.", 300);
    check_written(SRT, &s.t, "1\n00:00:00,000 --> 00:00:03,300\nWhen the rain had stopped at last,\nwe went out again.\n\n");
    s.layout.cues.line_width = 60;
    check_holds(SRT, &s.t, "\nWhen the rain had stopped at last, we went out again.\n\n");
    cue_case_close(&s);
}

static void test_cues_end_with_sentences(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " It was late. Nobody in the whole house had thought of closing the windows. Then it began to rain again.", 400);
    check_written(SRT, &s.t, "1\n00:00:00,000 --> 00:00:01,120\nIt was late.\n\n"
                             "2\n00:00:01,200 --> 00:00:05,520\nNobody in the whole house\nhad thought of closing the windows.\n\n"
                             "3\n00:00:05,600 --> 00:00:08,000\nThen it began to rain again.\n\n");
    cue_case_close(&s);
}

static void test_text_and_speaker_are_one_sentence(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " \"Who?\" he asked. Dr. Smith did not know.", 400);
    check_holds(SRT, &s.t, "\n\"Who?\" he asked.\n\n");
    check_holds(SRT, &s.t, "\nDr. Smith did not know.\n\n");
    cue_case_close(&s);
}

static void test_last_word_is_not_left_alone(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen", 300);
    char *got = written(SRT, &s.t);
    assert_null(strstr(got, "\nseventeen\n"));
    free(got);
    cue_case_close(&s);
}

static void test_marks_stay_with_their_words(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " Well - said he , ... no !", 1000);
    s.layout.cues.line_width = 4;
    check_holds(SRT, &s.t, "Well -\n");
    check_holds(SRT, &s.t, "\nhe , ...\n");
    check_holds(SRT, &s.t, "\nno !\n");
    cue_case_close(&s);
}

static void test_characters_of_several_code_points_are_not_cut(void **state)
{
    (void)state;
    struct cue_case s; /* a family, a flag, a letter with marks, in one word */
    one_text(&s, "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7\xf0\x9f\x87\xab\xf0\x9f\x87\xb7"
                 "\xe6\x97\xa5\xe6\x9c\xac" "e\xcc\x81\xcc\xa3", 500);
    s.layout.cues.line_width = 1;
    s.layout.cues.lines = 0;
    check_holds(SRT, &s.t, "\n\xe6\x97\xa5\n\xe6\x9c\xac\n" "e\xcc\x81\xcc\xa3\n");
    char *got = written(SRT, &s.t);
    assert_non_null(strstr(got, "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"));
    assert_non_null(strstr(got, "\xf0\x9f\x87\xab\xf0\x9f\x87\xb7"));
    free(got);
    cue_case_close(&s);
}

static void test_a_wide_character_counts_two_or_one_by_style(void **state)
{
    (void)state;
    struct cue_choice c = CUE_CHOICE_UNSET;
    struct cue_rules r;
    assert_int_equal(text_cells("\xe6\x97\xa5" "a", 4), 3);
    c.style = CUE_STYLE_NETFLIX;
    cue_rules_of(&r, &c, "ja");
    assert_int_equal(r.line_cells, 26);
    assert_int_equal(r.cells_per_character, 2);
    cue_rules_of(&r, &c, "en");
    assert_int_equal(r.line_cells, 42);
    c.line_width = 10;
    cue_rules_of(&r, &c, "zh");
    assert_int_equal(r.line_cells, 20);
    c.style = CUE_STYLE_BBC;
    cue_rules_of(&r, &c, "zh");
    assert_int_equal(r.line_cells, 10);
}

static void test_speakers_have_cues_and_names_of_their_own(void **state)
{
    (void)state;
    struct cue_case s;
    cue_case_open(&s);
    begin_segment(&s, 0, 0);
    say_text(&s, " Are you there?", 0, 500);
    begin_segment(&s, 1, 0);
    say_text(&s, " Yes & no.", 1500, 500);
    begin_segment(&s, 2, 0);
    say_text(&s, " Oh.", 6000, 500);
    s.t.speakers = s.speakers;
    s.layout.speaker_names = "Ann,B & <C>";
    check_written(SRT, &s.t, "1\n00:00:00,000 --> 00:00:01,420\nAnn: Are you there?\n\n2\n00:00:01,500 --> 00:00:03,000\n"
                             "B & <C>: Yes & no.\n\n3\n00:00:06,000 --> 00:00:06,840\n(speaker 2) Oh.\n\n");
    check_written(VTT, &s.t, "WEBVTT\n\n00:00.000 --> 00:01.420\n<v Ann>Are you there?\n\n00:01.500 --> 00:03.000\n"
                             "<v B &amp; &lt;C&gt;>Yes &amp; no.\n\n00:06.000 --> 00:06.840\n<v Speaker2>Oh.\n\n");
    check_holds(ASS, &s.t, "Karaoke,Ann,0,0,0,,");
    s.layout.speaker_colors = s.layout.vtt_regions = 1;
    check_holds(VTT, &s.t, "WEBVTT\n\nREGION\nid:speaker0\nwidth:30%\nlines:3\nregionanchor:0%,100%\nviewportanchor:5%,95%\n\nREGION\n");
    check_holds(VTT, &s.t, "STYLE\n::cue(v[voice=\"Ann\"]) { color: white; }\n"
                           "::cue(v[voice=\"B \\26  \\3c C\\3e \"]) { color: yellow; }\n");
    check_holds(VTT, &s.t, "00:00.000 --> 00:01.420 region:speaker0\n<v Ann>");
    check_holds(ASS, &s.t, "\nStyle: Speaker1,sans-serif,48,&H0000FFFF,");
    check_holds(ASS, &s.t, ",Speaker1,B & <C>,0,0,0,,");
    cue_case_close(&s);
}

static void test_a_turn_begins_a_cue_with_a_dash(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " Are you there?", 500);
    begin_segment(&s, 0, 1);
    say_text(&s, " Yes.", 1500, 1000);
    check_written(SRT, &s.t, "1\n00:00:00,000 --> 00:00:01,420\nAre you there?\n\n2\n00:00:01,500 --> 00:00:02,500\n- Yes.\n\n");
    cue_case_close(&s);
}

static void test_text_without_words_is_cut_and_shares_its_time(void **state)
{
    (void)state;
    struct cue_choice cues = CUE_CHOICE_UNSET;
    cues.on = 1;
    cues.line_width = 20;
    const struct write_layout l = { .cues = cues };
    const steno_segment seg = { .t0_ms = 0, .t1_ms = 8000, .text = " It was a dark night. The storm went on for a long time." };
    const struct transcript t = { .segs = &seg, .n = 1, .language = "en", .layout = &l };
    check_holds(SRT, &t, "\nIt was a dark night.\n\n2\n");
    check_holds(SRT, &t, "--> 00:00:08,000\n");
}

static void test_nothing_to_read_is_no_cue(void **state)
{
    (void)state;
    struct cue_case s;
    one_text(&s, " ... - !", 500);
    check_written(SRT, &s.t, "");
    check_written(VTT, &s.t, "WEBVTT\n\n");
    s.t.n = 0;
    check_written(SRT, &s.t, "");
    cue_case_close(&s);
}

/* ---- properties for any text -------------------------------------------------------------------------------------------------- */

struct judge {
    const struct sub_file *f;
    const struct cue_rules *r;
    int n_bad;
};

/* A line that is one piece, and may be too wide; labels stay with their word, and go with it. */
static int is_single(const struct judge *j, const struct sub_fault *fault, const struct sub_cue *c)
{
    const char *s = j->f->text + c->text, *end = s + c->n;
    for (int64_t line = c->text_line; line < fault->line && s < end; line++) s = (const char *)memchr(s, '\n', (size_t)(end - s)) + 1;
    const char *to = memchr(s, '\n', (size_t)(end - s));
    const size_t n = (size_t)((to ? to : end) - s);
    struct text_piece p;
    size_t at = 0, pieces = 0;
    char *may = malloc(n + 1);
    text_breaks(may, s, n);
    while (text_piece_next(&p, s, n, may, &at)) pieces++;
    free(may);
    return pieces < 2 || (!strncmp(s, "(speaker ", 9) && pieces < 4) || (s[0] == '-' && pieces < 3);
}

static int64_t up(int64_t ms)
{
    return (ms + CUE_GRID_MS - 1) / CUE_GRID_MS * CUE_GRID_MS;
}

/* Whether no other choice within the rules avoids the fault. */
static int yields(const struct judge *j, const struct sub_fault *fault)
{
    const struct sub_cue *c = &j->f->cue[fault->cue - 1];
    const int64_t gap = up(j->r->gap_ms), longest = j->r->max_ms ? j->r->max_ms / CUE_GRID_MS * CUE_GRID_MS : INT64_MAX;
    if (!fault->cue) return 0;
    switch (fault->rule) {
    case SUB_WIDTH: return j->f->form == SUB_ASS || is_single(j, fault, c);
    case SUB_SHORT:
    case SUB_FAST: return c->t1_ms - c->t0_ms >= longest || (fault->cue < j->f->n && c[1].t0_ms - c->t1_ms <= gap);
    case SUB_GAP: return c->t0_ms - c[-1].t1_ms > gap && c->t0_ms - gap - c[-1].t0_ms > longest;
    default: return 0;
    }
}

static void judge_fault(void *user, const struct sub_fault *fault)
{
    struct judge *j = user;
    if (yields(j, fault)) return;
    print_error("line %lld, cue %zu of %zu: %s: %g, allowed %g\n", (long long)fault->line, fault->cue, j->f->n, sub_rule_name(fault->rule),
                fault->measured, fault->allowed);
    j->n_bad++;
}

static void check_keeps_rules(int format, enum sub_form form, struct cue_case *s)
{
    struct sub_file f;
    struct cue_rules r;
    char *got = written(format, &s->t);
    assert_int_equal(sub_read(&f, form, got, strlen(got)), 0);
    cue_rules_of(&r, &s->layout.cues, s->t.language);
    struct judge j = { .f = &f, .r = &r };
    assert_int_equal(sub_check(&f, &r, judge_fault, &j), 0);
    if (j.n_bad) fail_msg("%d faults in\n%.3000s", j.n_bad, got);
    sub_free(&f);
    free(got);
}

static void check_all(struct cue_case *s)
{
    check_keeps_rules(SRT, SUB_SRT, s);
    check_keeps_rules(VTT, SUB_VTT, s);
    check_keeps_rules(ASS, SUB_ASS, s);
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static const char *const vocabulary[] = {
    " a", " of", " the", " word", " and,", " end.", " Really?", " No!", " - ", " -", "...", " \"quoted\"", " (aside)", " Dr.", " 3.14",
    " well-known", " incomprehensibilities", " Donaudampfschifffahrtsgesellschaftskapitaen", "\xe4\xbb\x8a", "\xe5\xa4\xa9",
    "\xe5\xa5\xbd\xe3\x80\x82", "\xef\xbc\x8c", "\xe3\x80\x8c\xe6\xad\xa4", "\xe3\x83\x83", "\xed\x95\x9c\xea\xb5\xad\xec\x96\xb4",
    " \xed\x95\x9c\xea\xb5\xad", " \xf0\x9f\x98\x80", "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
    "\xf0\x9f\x87\xab\xf0\x9f\x87\xb7", " e\xcc\x81t\xc3\xa9", " \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
    " \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85\xd8\x8c", "\xe0\xb8\xaa\xe0\xb8\xa7\xe0\xb8\xb1\xe0\xb8\xaa", "\xe0\xb8\x94\xe0\xb8\xb5",
    " \xe2\x99\xaa", " &", " a<b", " c-->d", " {x}", " \\N", "\n", "  ", "", " \xc2\xbfQu\xc3\xa9?", " -- ", "\xe2\x80\x94", " \xc2\xab",
    "\xc2\xbb",
};

static void random_rules(struct cue_choice *c)
{
    static const int64_t widths[] = { CUE_UNSET, CUE_UNSET, 0, 1, 2, 5, 12, 20, 80, 1000 };
    static const int64_t counts[] = { CUE_UNSET, CUE_UNSET, 0, 1, 2, 3, 9 };
    static const int64_t times[] = { CUE_UNSET, 0, 1, 7, 40, 500, 1000, 3333 };
    *c = (struct cue_choice)CUE_CHOICE_UNSET;
    c->on = 1;
    c->style = (int)below(N_CUE_STYLES);
    c->frame_rate = 1 + below(60);
    c->line_width = widths[below(10)];
    c->lines = counts[below(7)];
    if (below(3) == 0) c->cps = below(60);
    if (below(3)) return;
    c->min_ms = times[below(8)];
    c->max_ms = below(2) ? CUE_UNSET : 100 + (int64_t)below(9000);
    c->gap_ms = times[below(8)];
    c->close_ms = times[below(8)];
    if (cue_choice_fault(c)) c->min_ms = c->max_ms = c->gap_ms = c->close_ms = CUE_UNSET;
}

static void random_words(struct cue_case *s, int n)
{
    const int wild = below(4) == 0, pace = 1 + (int)below(600);
    int64_t now = below(2000);
    for (int i = 0; i < n; i++) {
        if (!i || (s->t.n < SEGS_MAX && below(12) == 0)) begin_segment(s, (int32_t)below(3) - 1, below(20) == 0);
        int64_t t0 = now, t1 = t0 + below((uint32_t)pace);
        if (wild && below(4) == 0) t0 -= below(3000);
        if (wild && below(4) == 0) t1 = t0 + (below(2) ? 0 : below(40000));
        if (below(30) == 0) t0 = -1;
        if (below(30) == 0) t1 = -1;
        say(s, vocabulary[below(sizeof vocabulary / sizeof *vocabulary)], t0 < -1 ? -1 : t0, t1);
        if (!wild || below(3)) now += below((uint32_t)pace + 1);
        if (below(15) == 0) now += below(below(2) ? 900 : 20000);
    }
}

static void test_random_words_keep_all_rules_that_can_be_kept(void **state)
{
    (void)state;
    static const char *const languages[] = { "en", "ja", "zh", "ko", "de", "unknown" };
    for (int round = 0; round < 600; round++) {
        struct cue_case s;
        seed = (uint64_t)round * 7919 + 1;
        cue_case_open(&s);
        s.t.language = languages[below(6)];
        if (below(3) == 0) s.t.speakers = s.speakers;
        random_rules(&s.layout.cues);
        random_words(&s, 1 + (int)below(120));
        check_all(&s);
        cue_case_close(&s);
    }
}

static void test_ten_thousand_words_keep_all_rules(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        struct cue_case s;
        seed = (uint64_t)round + 77;
        cue_case_open(&s);
        if (round == 1) s.layout.cues.line_width = s.layout.cues.lines = 1;
        if (round == 2) s.layout.cues.line_width = s.layout.cues.lines = s.layout.cues.max_ms = 0;
        if (round == 3) s.layout.cues.line_width = 1000;
        random_words(&s, 10000);
        check_all(&s);
        cue_case_close(&s);
    }
}

static void test_nothing_of_the_text_is_lost(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct cue_case s;
        struct cue_atoms a;
        char wanted[8192], got[8192];
        size_t n = 0, m = 0;
        seed = (uint64_t)round * 31 + 5;
        cue_case_open(&s);
        random_words(&s, 60);
        for (int i = 0; i < s.t.n; i++) s.segs[i].speaker_turn = 0;
        say(&s, " x", 0, 0);
        for (int i = 0; i < s.n; i++)
            for (const char *p = s.text[i]; *p; p++)
                if (*p != ' ' && *p != '\n') wanted[n++] = *p;
        assert_int_equal(cue_atoms_take(&a, &s.t, 0), 0);
        for (size_t i = 0; i < a.n; i++)
            for (size_t k = 0; k < a.atom[i].n; k++)
                if (a.atom[i].text[k] != ' ') got[m++] = a.atom[i].text[k];
        wanted[n] = got[m] = '\0';
        assert_string_equal(got, wanted);
        cue_atoms_free(&a);
        cue_case_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_balanced_and_end_behind_a_comma),
        cmocka_unit_test(test_cues_end_with_sentences),
        cmocka_unit_test(test_text_and_speaker_are_one_sentence),
        cmocka_unit_test(test_last_word_is_not_left_alone),
        cmocka_unit_test(test_marks_stay_with_their_words),
        cmocka_unit_test(test_characters_of_several_code_points_are_not_cut),
        cmocka_unit_test(test_a_wide_character_counts_two_or_one_by_style),
        cmocka_unit_test(test_speakers_have_cues_and_names_of_their_own),
        cmocka_unit_test(test_a_turn_begins_a_cue_with_a_dash),
        cmocka_unit_test(test_text_without_words_is_cut_and_shares_its_time),
        cmocka_unit_test(test_nothing_to_read_is_no_cue),
        cmocka_unit_test(test_random_words_keep_all_rules_that_can_be_kept),
        cmocka_unit_test(test_ten_thousand_words_keep_all_rules),
        cmocka_unit_test(test_nothing_of_the_text_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

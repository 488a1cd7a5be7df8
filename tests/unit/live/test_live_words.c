/* steno: units of agreement. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "live_words.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static char *joined(const struct words *w)
{
    static char text[512];
    text[0] = '\0';
    for (size_t i = 0; i < w->n; i++) {
        strcat(text, i ? "|" : "");
        strcat(text, w->w[i].text);
    }
    return text;
}

static void test_words_are_units_and_characters_where_there_are_no_spaces(void **state)
{
    (void)state;
    static const struct { const char *text, *units; } cases[] = {
        { "", "" },
        { " ", " " },
        { "one", "one" },
        { " one two", " one| two" },
        { "one  two ", "one|  two " },
        { "well-known don't 3.5 %", "well-known| don't| 3.5 %" },
        { " -- and ...", " -- and ..." },
        { "(one) [two]", "(one)| [two]" },
        { "六零七八。", "六|零|七|八。" },
        { "你好，世界！", "你|好，|世|界！" },
        { "「はい」と", "「は|い」|と" },
        { "が\xe3\x81\x8b\xe3\x82\x99", "が|か\xe3\x82\x99" }, /* a mark that goes with the character before it */
        { "我说hello world吗", "我|说|hello| world|吗" },
        { "\xe0\xb8\x81\xe0\xb8\xb4\xe0\xb8\x99", "\xe0\xb8\x81\xe0\xb8\xb4|\xe0\xb8\x99" }, /* Thai */
        { "。", "。" },
        { "Straße naïve", "Straße| naïve" },
        { "\xff\xfe x", "\xff\xfe| x" }, /* no UTF-8 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words w = { 0 };
        assert_int_equal(live_words_add_units(&w, cases[i].text, 100, 900), 0);
        if (strcmp(joined(&w), cases[i].units) != 0) fail_msg("\"%s\" is \"%s\", want \"%s\"", cases[i].text, joined(&w), cases[i].units);
        if (w.n) assert_int_equal(w.w[0].t0_ms, 100);
        if (w.n) assert_int_equal(w.w[w.n - 1].t1_ms, 900);
        for (size_t k = 1; k < w.n; k++) assert_true(w.w[k].t0_ms == -1 && w.w[k - 1].t1_ms == -1); /* never a draft */
        live_words_free(&w);
    }
}

static void test_a_text_of_its_own_has_a_space_before_it_where_its_script_has_some(void **state)
{
    (void)state;
    struct words w = { 0 };
    assert_int_equal(live_words_add_text(&w, "one", 0, 1), 0);
    assert_int_equal(live_words_add_text(&w, "two", 1, 2), 0);
    assert_int_equal(live_words_add_text(&w, "你好", 2, 3), 0);
    assert_int_equal(live_words_add_text(&w, "end", 3, 4), 0);
    assert_int_equal(live_words_add_text(&w, " end", 3, 4), 0);
    assert_string_equal(joined(&w), "one| two|你|好|end| end");
    char *text = live_words_text(&w, 1, w.n);
    assert_string_equal(text, "two你好end end");
    free(text);
    live_words_free(&w);
}

/* Wherever it is cut, the parts with the spaces between them are the whole. */
static void test_parts_of_a_text_and_the_gaps_between_them_are_the_whole(void **state)
{
    (void)state;
    static const char *const cases[][6] = {
        { " cold", "-hearted", " one" }, { " one", "  two ", " three" }, { "one ", "two" }, { "你", "好", " hello", " world", "吗" },
        { " ", "one", " " }, { " one", " ", " two" }, { "", " one", "", "two" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words w = { 0 };
        char got[512];
        for (int k = 0; cases[i][k]; k++) assert_int_equal(live_words_add(&w, cases[i][k], -1, -1), 0);
        char *whole = live_words_text(&w, 0, w.n);
        for (size_t a = 0; a <= w.n; a++)
            for (size_t b = a; b <= w.n; b++) {
                const struct words rest = { w.w + b, w.n - b, 0 }, half = { w.w, b, 0 };
                char *part[3] = { live_words_text(&w, 0, a), live_words_text(&w, a, b), live_words_text(&w, b, w.n) };
                snprintf(got, sizeof got, "%s%*s%s%*s%s", part[0], live_words_gap(&w, 0, a, &half, a), "", part[1],
                         live_words_gap(&w, 0, b, &rest, 0), "", part[2]);
                if (strcmp(got, whole) != 0) fail_msg("case %zu cut at %zu and %zu: \"%s\", want \"%s\"", i, a, b, got, whole);
                for (int k = 0; k < 3; k++) free(part[k]);
            }
        free(whole);
        live_words_free(&w);
    }
}

static void test_words_are_the_same_but_for_case_form_and_marks(void **state)
{
    (void)state;
    static const struct { const char *a, *b; int same; } cases[] = {
        { " One", "one,", 1 }, { "don't", "dont", 0 },      { "ÄRGER", "ärger", 1 },  { "Straße", "STRASSE", 1 },
        { "ｱ", "ア", 1 },      { "５", "5。", 1 },          { "e\xcc\x81", "é", 1 },  { "，", "。", 1 },
        { "", "...", 1 },      { "one", "ones", 0 },        { "\xff", "\xff", 1 },    { "\xff", "\xfe", 0 },
        { "「六", "六」", 1 }, { "ΟΔΟΣ", "οδος", 1 },       { "3.5", "35", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct words w = { 0 };
        assert_int_equal(live_words_add(&w, cases[i].a, 0, 0), 0);
        assert_int_equal(live_words_add(&w, cases[i].b, 0, 0), 0);
        if (live_word_same(&w.w[0], &w.w[1]) != cases[i].same) fail_msg("\"%s\" and \"%s\"", cases[i].a, cases[i].b);
        live_words_free(&w);
    }
}

static void words_of(struct words *w, const char *text)
{
    live_words_clear(w);
    assert_int_equal(live_words_add_units(w, text, -1, -1), 0);
    for (size_t i = 0; i < w->n; i++) w->w[i].t0_ms = (int64_t)i * 100, w->w[i].t1_ms = w->w[i].t0_ms + 90;
}

static void test_a_probability_stays_with_its_word(void **state)
{
    (void)state;
    struct words w = { 0 }, copy = { 0 };
    assert_int_equal(live_words_add_units(&w, " one two", 0, 100), STENO_OK);
    assert_true(isnan(w.w[0].probability));
    assert_int_equal(live_words_add_units(&w, " three", 100, 200), STENO_OK);
    live_words_rate(&w, 2, 0.25);
    assert_int_equal(live_words_add_range(&copy, &w, 1, 3), STENO_OK);
    assert_true(isnan(copy.w[0].probability) && copy.w[1].probability == 0.25);
    live_words_free(&w);
    live_words_free(&copy);
}

static void test_new_words_continue_behind_committed_ones(void **state)
{
    (void)state;
    static const struct { const char *heard, *known; int64_t after; size_t at; } cases[] = {
        { "a b c d", "a b", 0, 2 },     { "a b c d", "", 0, 0 },     { "a b c d", "", 200, 2 },  { "", "a b", 0, 0 },
        { "b c", "a b", 0, 1 },         { "a x b c", "a b", 0, 3 },  { "x y z", "a b", 150, 2 }, { "x y z", "a b", 1000, 3 },
        { "a a a", "a a", 0, 2 },       { "a b a b", "a b", 0, 2 },
    };
    struct words heard = { 0 }, known = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t at;
        words_of(&heard, cases[i].heard);
        words_of(&known, cases[i].known);
        assert_int_equal(live_words_behind(&at, &heard, &known, cases[i].after), 0);
        if (at != cases[i].at) fail_msg("\"%s\" behind \"%s\": %zu, want %zu", cases[i].heard, cases[i].known, at, cases[i].at);
    }
    live_words_free(&heard);
    live_words_free(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_units_and_characters_where_there_are_no_spaces),
        cmocka_unit_test(test_a_text_of_its_own_has_a_space_before_it_where_its_script_has_some),
        cmocka_unit_test(test_parts_of_a_text_and_the_gaps_between_them_are_the_whole),
        cmocka_unit_test(test_words_are_the_same_but_for_case_form_and_marks),
        cmocka_unit_test(test_a_probability_stays_with_its_word),
        cmocka_unit_test(test_new_words_continue_behind_committed_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: the words of a text that are spoken. SPDX-License-Identifier: MIT */
#include "text/spoken_words.h"
#include <stdio.h>
#include <string.h>
#include "harness.h"

/* want: what is spoken, and in brackets what is shown, of each word. */
static void cut_is(const char *text, size_t n, const char *want)
{
    struct spoken_words w = { 0 };
    char is[512] = "";
    size_t at = 0, end = 0;
    assert_int_equal(spoken_words_find(&w, text, n), 0);
    for (size_t i = 0; i < spoken_words_count(&w); i++) {
        const struct spoken_word *k = spoken_word_at(&w, i);
        assert_int_equal(k->from, end); /* without a gap */
        end = k->to;
        at += (size_t)snprintf(is + at, sizeof is - at, "%.*s[%.*s]", (int)k->n_kept, w.kept.p + k->kept, (int)(k->to - k->from),
                               text + k->from);
    }
    assert_string_equal(is, want);
    assert_int_equal(end, spoken_words_count(&w) ? n : 0);
    spoken_words_free(&w);
}

static void cut(const char *text, const char *want)
{
    cut_is(text, strlen(text), want);
}

static void test_words_keep_letters_numbers_and_apostrophes(void **state)
{
    (void)state;
    cut("Four zero, nine-eight isn't.", "Four[Four]zero[ zero,]nineeight[ nine-eight]isn't[ isn't.]");
    cut(" (see) 3.5% of \"it\"", "see[ (see)]35[ 3.5%]of[ of]it[ \"it\"]");
    cut("na\xc3\xafve \xc3\xa0 la", "na\xc3\xafve[na\xc3\xafve]\xc3\xa0[ \xc3\xa0]la[ la]");
    cut("'", "'[']");
    cut("", "");
    cut(" ... \xe2\x80\x94 !", "");
}

/* A letter and its mark are one. A mark of a picture is not spoken. */
static void test_marks_stay_with_their_letters(void **state)
{
    (void)state;
    cut("e\xcc\x81t\xc3\xa9", "e\xcc\x81t\xc3\xa9[e\xcc\x81t\xc3\xa9]");
    cut("a \xe2\x9d\xa4\xef\xb8\x8f b", "a[a \xe2\x9d\xa4\xef\xb8\x8f]b[ b]");
}

static void test_chinese_characters_are_words(void **state)
{
    (void)state;
    cut("\u96f6 nine \u4e00\u4e8c seven eight. \u56db!",
        "\u96f6[\u96f6]nine[ nine]\u4e00[ \u4e00]\u4e8c[\u4e8c]seven[ seven]eight[ eight.]\u56db[ \u56db!]");
    cut("\u4f60\uff0c\u300c\u597d\u300dok\u5417\uff1f", "\u4f60[\u4f60\uff0c]\u597d[\u300c\u597d\u300d]ok[ok]\u5417[\u5417\uff1f]");
}

/* Japanese: a kana and the small one or the length mark behind it. */
static void test_kana_are_words(void **state)
{
    (void)state;
    cut("\u304d\u3087\u3046\u306f\u6771\u4eac", "\u304d\u3087[\u304d\u3087]\u3046[\u3046]\u306f[\u306f]\u6771[\u6771]\u4eac[\u4eac]");
    cut("\u30b3\u30fc\u30d2\u30fc", "\u30b3\u30fc[\u30b3\u30fc]\u30d2\u30fc[\u30d2\u30fc]");
}

static void test_korean_words_end_at_spaces(void **state)
{
    (void)state;
    cut("\uc548\ub155 \ud558\uc138\uc694.", "\uc548\ub155[\uc548\ub155]\ud558\uc138\uc694[ \ud558\uc138\uc694.]");
}

/* What stands alone between two words belongs to the one before, and to the first word if it stands first. */
static void test_marks_that_stand_alone(void **state)
{
    (void)state;
    cut("one \u2014 two ...", "one[one \u2014]two[ two ...]");
    cut("- one", "one[- one]");
    cut("a  b", "a[a]b[  b]");
}

static void test_tags_are_not_spoken(void **state)
{
    (void)state;
    cut("<|en|><|HAPPY|>hello <|x|> you", "hello[<|en|><|HAPPY|>hello <|x|>]you[ you]");
    cut("<|a b", "a[<|a]b[ b]");
}

static void test_bytes_that_are_no_characters_are_not_spoken(void **state)
{
    (void)state;
    cut_is("a\xff" "b \xe4\xbd", 6, "ab[a\xff" "b \xe4\xbd]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_keep_letters_numbers_and_apostrophes),
        cmocka_unit_test(test_marks_stay_with_their_letters),
        cmocka_unit_test(test_chinese_characters_are_words),
        cmocka_unit_test(test_kana_are_words),
        cmocka_unit_test(test_korean_words_end_at_spaces),
        cmocka_unit_test(test_marks_that_stand_alone),
        cmocka_unit_test(test_tags_are_not_spoken),
        cmocka_unit_test(test_bytes_that_are_no_characters_are_not_spoken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

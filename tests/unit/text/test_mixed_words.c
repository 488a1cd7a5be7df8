/* steno tests: words of text in several scripts, and how much of a text is settled. SPDX-License-Identifier: MIT */
#include <string.h>
#include "harness.h"
#include "search/mark_blocks.h"
#include "text/words.h"

static void words_are(const char *text, const char *want)
{
    char got[256] = "";
    for (size_t at, end = 0; mixed_word_next(text, strlen(text), &at, &end);) {
        strncat(got, text + at, end - at);
        strcat(got, "|");
    }
    assert_string_equal(got, want);
}

static void test_words_are_those_of_str_split_cut_between_scripts(void **state)
{
    (void)state;
    words_are("", "");
    words_are(" \t\n\x1c\xe3\x80\x80", "");
    words_are("hello one", "hello|one|");
    words_are("\xe4\xbd\xa0\xe5\xa5\xbdhello\xe4\xb8\x83 don't\xe3\x80\x80x1", "\xe4\xbd\xa0|\xe5\xa5\xbd|hello|\xe4\xb8\x83|don't|x1|");
    words_are("caf\xc3\xa9s", "caf|\xc3\xa9|s|");
    words_are("a\xc2\xa0""b\xe2\x80\xa8""c\x1f""d", "a|b|c|d|");
}

static void test_tags_are_no_words(void **state)
{
    (void)state;
    words_are("<|zh|><|HAPPY|>one", "one|");
    words_are("one<|en|>two", "one|two|");
    words_are("<|zh one |", "<|zh|one|||");
    words_are("<|>", "<|>|");
}

static void test_marks_are_seen_at_both_ends(void **state)
{
    (void)state;
    assert_true(mixed_ends_marked("hello,", 6) && mixed_ends_marked("\xe3\x80\x82", 3) && !mixed_ends_marked("hello", 5));
    assert_true(mixed_begins_marked("?x", 2) && !mixed_begins_marked("x?", 2) && !mixed_ends_marked("", 0) && !mixed_begins_marked("", 0));
}

enum { NONE, COMMA, END };
static const uint8_t kind[] = { MARK_OTHER, MARK_COMMA, MARK_END };

static size_t settled(size_t n, size_t end_at, size_t comma_at, int32_t *mark)
{
    struct marked_word w[512] = { 0 };
    if (end_at) w[end_at].mark = END;
    if (comma_at) w[comma_at].mark = COMMA;
    const size_t got = marks_settled(w, n, kind, END);
    if (mark) *mark = w[comma_at].mark;
    return got;
}

static void test_a_block_is_settled_up_to_its_last_sentence(void **state)
{
    (void)state;
    int32_t mark;
    assert_int_equal(settled(20, 7, 0, NULL), 8);
    assert_int_equal(settled(20, 18, 0, NULL), 19);
    assert_int_equal(settled(20, 19, 0, NULL), 0); /* the last word's mark may change */
    assert_int_equal(settled(20, 1, 0, NULL), 0);
    assert_int_equal(settled(20, 2, 0, NULL), 3);
    assert_int_equal(settled(200, 0, 150, NULL), 0);
    assert_int_equal(settled(220, 0, 150, &mark), 151);
    assert_int_equal(mark, END);
    assert_int_equal(settled(220, 9, 150, &mark), 10);
    assert_int_equal(mark, COMMA);
    assert_int_equal(settled(0, 0, 0, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_those_of_str_split_cut_between_scripts),
        cmocka_unit_test(test_tags_are_no_words),
        cmocka_unit_test(test_marks_are_seen_at_both_ends),
        cmocka_unit_test(test_a_block_is_settled_up_to_its_last_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: text without spaces, cut into words. SPDX-License-Identifier: MIT
 *
 * What jieba itself does with the same dictionaries stands in tests/data/punctuation_words.json (golden.punctuation). */
#include <string.h>
#include "harness.h"
#include "base/utf8.h"
#include "text/jieba.h"

struct rig { struct arena a; struct jieba d; steno_error e; };

static int rig_open(struct rig *r, const char *all, size_t n, const char *own)
{
    *r = (struct rig){ 0 };
    arena_init(&r->a);
    const struct jieba_lines first = { "all.txt", all, n }, second = { "own.txt", own, strlen(own) };
    return jieba_init(&r->d, &r->a, &first, &second, &r->e);
}

static void cut_is(const char *all, const char *own, const char *text, const char *want)
{
    struct rig r;
    struct buf ends = { 0 };
    char got[4096] = "";
    if (rig_open(&r, all, strlen(all), own)) fail_msg("%s", r.e.text);
    assert_int_equal(jieba_cut(&r.d, text, strlen(text), &ends), STENO_OK);
    for (size_t i = 0, from = 0; i < ends.len / sizeof(uint32_t); i++) {
        const uint32_t end = ((const uint32_t *)(const void *)ends.p)[i];
        strncat(got, text + from, end - from);
        strcat(got, "|");
        from = end;
    }
    if (strcmp(got, want) != 0) fail_msg("\"%s\": %s, want %s", text, got, want);
    buf_free(&ends);
    arena_free(&r.a);
}

static const char dict[] = "天 100 n\n天气 50 n\r\n气 100\n很好 20 a\n很 60 d\n好 60 a\nB超 3 n\n卡拉OK 3 n\nab 4 x\n";

static void test_the_most_frequent_words_are_chosen(void **state)
{
    (void)state;
    cut_is(dict, "", "天气很好", "天气|很好|");
    cut_is(dict, "", "天天气气", "天|天气|气|");
    cut_is(dict, "", "", "");
    cut_is("天 1000000\n天气 1\n气 1000000\n", "", "天气", "天|气|");
}

static void test_a_character_that_words_begin_with_is_no_word_beside_them(void **state)
{
    (void)state;
    cut_is(dict, "", "卡拉", "卡|拉|"); /* no word goes on */
    cut_is(dict, "", "卡拉OK", "卡拉OK|");
    cut_is("ab 1\nbcd 9\n", "", "abcd", "ab|cd|"); /* a alone is none, where ab is one */
}

static void test_letters_and_digits_side_by_side_are_one_word(void **state)
{
    (void)state;
    cut_is(dict, "", "xyz12", "xyz12|");
    cut_is(dict, "", "xabz", "x|ab|z|");
    cut_is(dict, "", "3.5%", "3|.|5|%|");
    cut_is(dict, "", "B超x", "B超|x|");
}

static void test_other_characters_stand_alone(void **state)
{
    (void)state;
    cut_is(dict, "", "天,气 é한😀", "天|,|气| |é|한|😀|");
    cut_is("한글 100\n天 1\n", "", "한글", "한|글|"); /* whatever the dictionary has */
}

static void test_own_words_are_not_cut(void **state)
{
    (void)state;
    cut_is(dict, "", "气很", "气|很|");
    cut_is(dict, "气很\n", "气很", "气很|");
    cut_is(dict, "\xef\xbb\xbf气很 n\n", "气很", "气很|");
    cut_is(dict, "气很\n", "天气很好", "天气|很好|"); /* but there are more frequent ways */
    cut_is(dict, "气很 1 n\n", "天气很好", "天气|很好|");
    cut_is(dict, "气很 100000", "天气很好", "天|气很|好|");
    cut_is(dict, "天气 0 n\n", "天气很好", "天|气|很好|");
    cut_is(dict, "\n  \n\t天气很好\t\n", "天气很好", "天气很好|");
    cut_is(dict, "五 六 7 n\n", "天气", "天气|"); /* a space within a word */
}

static void fails(const char *all, const char *own, const char *why)
{
    struct rig r;
    assert_int_equal(rig_open(&r, all, strlen(all), own), STENO_EFORMAT);
    if (!strstr(r.e.text, why)) fail_msg("\"%s\", want \"%s\"", r.e.text, why);
    arena_free(&r.a);
}

static void test_invalid_dictionaries_are_refused_with_their_line(void **state)
{
    (void)state;
    char line[JIEBA_WORD_SZ + 32];
    fails("天 1\n气\n", "", "all.txt: line 2: want a word, a space and how often it was met");
    fails("天 x n\n", "", "all.txt: line 1: want a word");
    fails("天 -5\n", "", "all.txt: line 1: want a word");
    fails("天 2147483648\n", "", "all.txt: line 1: want a word");
    fails("天 1\n\xff 2\n", "", "all.txt: not UTF-8 at byte 6");
    fails("", "", "all.txt: no word in it");
    fails("天 0\n", "", "all.txt: no word in it");
    fails("天 1\n", "天 99999999999\n", "own.txt: line 1: the count is too large");
    fails("天 1\n", "\xe5", "own.txt: not UTF-8 at byte 0");
    for (size_t n = JIEBA_WORD_SZ - 1; n <= JIEBA_WORD_SZ + 1; n++) {
        memset(line, 'a', n);
        strcpy(line + n, " 5 x\n");
        if (n <= JIEBA_WORD_SZ) cut_is(line, "", "b", "b|");
        else fails(line, "", "all.txt: line 1: a word of more than 255 bytes");
        line[n] = '\0';
        if (n <= JIEBA_WORD_SZ) cut_is(dict, line, "b", "b|");
        else fails(dict, line, "own.txt: line 1: a word of more than 255 bytes");
    }
}

/* More words than any first size of a table has. */
static void test_many_words_are_all_found(void **state)
{
    (void)state;
    enum { WORDS = 5000 };
    struct buf all = { 0 }, ends = { 0 };
    struct rig r;
    for (int i = 0; i < WORDS; i++) buf_fmt(&all, "%c%c%c%c 7 n\n", 'a' + i % 10, 'a' + i / 10 % 10, 'a' + i / 100 % 10, 'k' + i / 1000);
    if (rig_open(&r, all.p, all.len, "")) fail_msg("%s", r.e.text);
    for (int i = 0; i < WORDS; i++) {
        const char two[] = { (char)('a' + i % 10), (char)('a' + i / 10 % 10), (char)('a' + i / 100 % 10), (char)('k' + i / 1000), 'z' };
        buf_clear(&ends);
        assert_int_equal(jieba_cut(&r.d, two, sizeof two, &ends), STENO_OK);
        assert_int_equal(ends.len, 2 * sizeof(uint32_t));
        assert_int_equal(*(const uint32_t *)(const void *)ends.p, 4);
    }
    buf_free(&all);
    buf_free(&ends);
    arena_free(&r.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_most_frequent_words_are_chosen),
        cmocka_unit_test(test_a_character_that_words_begin_with_is_no_word_beside_them),
        cmocka_unit_test(test_letters_and_digits_side_by_side_are_one_word),
        cmocka_unit_test(test_other_characters_stand_alone),
        cmocka_unit_test(test_own_words_are_not_cut),
        cmocka_unit_test(test_invalid_dictionaries_are_refused_with_their_line),
        cmocka_unit_test(test_many_words_are_all_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: tokens to words, and punctuation to its words. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "real_vocab.h"
#include "text/words.h"

enum { EOT = 50257 };

/* ---- a vocabulary made for a test: token i is s[i] ---- */

struct small {
    struct arena a;
    struct vocab v;
};

static void small_open(struct small *w, const char *const *s, int32_t n)
{
    arena_init(&w->a);
    assert_int_equal(vocab_init(&w->v, &w->a, n, n, NULL), STENO_OK);
    for (int32_t i = 0; i < n; i++) vocab_set(&w->v, i, (const uint8_t *)s[i], (uint32_t)strlen(s[i]));
}

/* Words of s as "text/first+n" with bars between. */
static const char *shown(const struct split *s)
{
    static char out[2000];
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < split_count(s); i++) {
        const struct split_word *w = split_at(s, i);
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s/%d+%d", i ? "|" : "", (int)w->len, s->text.p + w->text, (int)w->first,
                               (int)w->n);
        assert_true(at < sizeof out);
    }
    return out;
}

static void expect_split(const struct vocab *v, const int32_t *ids, int32_t n, int32_t eot, int spaces, const char *want)
{
    struct split s = { 0 };
    assert_int_equal(split_words(&s, v, ids, n, eot, spaces), STENO_OK);
    assert_string_equal(shown(&s), want);
    split_free(&s);
}

/* ---- splitting ---- */

static void test_characters_cut_by_tokens_are_joined_and_broken_ones_stand_alone(void **state)
{
    const struct real_vocab *r = *state;
    const int32_t ids[] = { 8404, 871, 287, 6, 246, 526, 3210, 20378 }; /* the reference's own test */
    expect_split(&r->v, ids, 8, EOT, 0, " elle/0+1| est/1+1| l/2+1|'/3+1|\xef\xbf\xbd/4+1|é/5+1|rit/6+1|oire/7+1");
    const int32_t zh[] = { 30566, 6306, 114, 29920, 33453, 1543, EOT };
    expect_split(&r->v, zh, 6, EOT, 0, "六/0+1|零/1+2|七/3+1|八/4+1|。/5+1");
}

static void test_spaces_and_punctuation_begin_words(void **state)
{
    const struct real_vocab *r = *state;
    const int32_t ids[] = { 2425, 1002, 11, 309, 311, 45237, 0 };
    struct buf made = { 0 };
    assert_int_equal(bpe_encode(r->bpe, " Hello world, it's 2024!", 24, &made, NULL), STENO_OK);
    expect_ids("greeting", &made, ids, 7);
    buf_free(&made);
    expect_split(&r->v, ids, 7, EOT, 1, " Hello/0+1| world/1+1|,/2+1| it's/3+2| 2024/5+1|!/6+1");
    const int32_t fr[] = { 8404, 871, 287, 6, 246, 526, 3210, 20378 };
    expect_split(&r->v, fr, 8, EOT, 1, " elle/0+1| est/1+1| l/2+1|'\xef\xbf\xbdéritoire/3+5");
}

static void test_end_of_text_is_a_word_whatever_stands_before_it(void **state)
{
    const struct real_vocab *r = *state;
    const int32_t ids[] = { 472, 13, EOT }, cut[] = { 472, 6306, EOT }, alone[] = { EOT };
    struct split s = { 0 };
    assert_int_equal(split_words(&s, &r->v, ids, 3, EOT, 1), STENO_OK);
    assert_string_equal(shown(&s), " one/0+1|./1+1|/2+1"); /* this vocabulary has no text for it */
    assert_int_equal(split_words(&s, &r->v, cut, 3, EOT, 1), STENO_OK);
    assert_int_equal(split_count(&s), 2); /* one with half a character, end of text */
    assert_int_equal(split_at(&s, 1)->first, 2);
    assert_int_equal(split_words(&s, &r->v, alone, 1, EOT, 0), STENO_OK);
    assert_int_equal(split_count(&s), 1);
    assert_int_equal(split_words(&s, &r->v, alone, 0, EOT, 0), STENO_OK);
    assert_int_equal(split_count(&s), 0);
    split_free(&s);
}

static void test_tokens_after_a_break_that_nothing_mends_are_not_lost(void **state)
{
    (void)state;
    /* E2 82 is one broken character in the whole text and two in its tokens: the reference waits for what never comes */
    static const char *const s[] = { "\xe2", "\x82x", " a", "b", "" };
    struct small w;
    small_open(&w, s, 5);
    const int32_t ids[] = { 0, 1, 2, 3, 4 };
    expect_split(&w.v, ids, 5, 5, 0, "\xef\xbf\xbd/0+1|\xef\xbf\xbdx/1+1| a/2+1|b/3+1|/4+1");
    expect_split(&w.v, ids, 5, 5, 1, "\xef\xbf\xbd\xef\xbf\xbdx/0+2| ab/2+2|/4+1");
    const int32_t tail[] = { 2, 0 };
    expect_split(&w.v, tail, 2, 5, 0, " a/0+1|\xef\xbf\xbd/1+1");
    arena_free(&w.a);
}

static void test_every_token_is_in_one_word_whatever_the_bytes(void **state)
{
    const struct real_vocab *r = *state;
    struct split s = { 0 };
    uint32_t x = 1;
    for (int run = 0; run < 300; run++) {
        int32_t ids[60];
        for (int i = 0; i < 60; i++) {
            x = x * 1664525u + 1013904223u;
            ids[i] = (int32_t)(x >> 8) % (run % 3 ? 256 : 50300); /* single bytes, or anything */
        }
        assert_int_equal(split_words(&s, &r->v, ids, 60, EOT, run & 1), STENO_OK);
        int32_t next = 0;
        size_t text = 0;
        for (size_t i = 0; i < split_count(&s); i++) {
            const struct split_word *w = split_at(&s, i);
            assert_int_equal(w->first, next);
            assert_int_equal(w->text, text);
            assert_true(w->n > 0);
            next += w->n;
            text += w->len;
        }
        assert_int_equal(next, 60);
        assert_int_equal(text, s.text.len);
        assert_int_equal(utf8_valid((const uint8_t *)s.text.p, text), text);
    }
    split_free(&s);
}

static void test_six_languages_have_no_spaces(void **state)
{
    (void)state;
    static const char *const without[] = { "zh", "ja", "th", "lo", "my", "yue" };
    for (size_t i = 0; i < 6; i++) assert_false(language_has_spaces(without[i]));
    assert_true(language_has_spaces("en"));
    assert_true(language_has_spaces("ko"));
    assert_true(language_has_spaces(NULL));
}

/* ---- punctuation ---- */

/* Tokens s[n] as words of their own, merged. */
static void expect_merged(const char *const *s, int32_t n, const char *prepend, const char *append, const char *want)
{
    struct small w;
    struct split p = { 0 };
    small_open(&w, s, n);
    for (int32_t i = 0; i < n; i++) {
        const struct split_word word = { p.text.len, w.v.len[i], i, 1 };
        vocab_append(&w.v, i, &p.text);
        buf_add(&p.word, &word, sizeof word);
    }
    split_merge(&p, (size_t)n, prepend, append);
    assert_string_equal(shown(&p), want);
    split_free(&p);
    arena_free(&w.a);
}

static void test_marks_go_to_the_words_they_belong_to(void **state)
{
    (void)state;
    static const char *const s[] = { " He", " said", " \"", "yes", "!\"", ".", " (", "really", ")", "?" };
    expect_merged(s, 10, WORDS_PREPEND, WORDS_APPEND,
                  " He/0+1| said/1+1|/2+0| \"yes/2+2|!\"./4+2|/5+0|/6+0| (really)?/6+4|/8+0|/9+0");
}

static void test_a_set_holds_its_substrings_not_its_characters(void **state)
{
    (void)state;
    static const char *const s[] = { " a", ",，", " b", "，,", " c", ".。,，!" };
    expect_merged(s, 6, WORDS_PREPEND, WORDS_APPEND, " a,，/0+2|/1+0| b/2+1|，,/3+1| c.。,，!/4+2|/5+0");
    static const char *const space[] = { " ", "x", "", " y ", ".", "." };
    expect_merged(space, 6, WORDS_PREPEND, WORDS_APPEND, "/0+0| x/0+3|/2+0| y /3+1|../4+2|/5+0");
}

static void test_no_sets_merge_nothing_but_blanks(void **state)
{
    (void)state;
    static const char *const s[] = { " a", ".", " \"", "b" };
    expect_merged(s, 4, "", "", " a/0+1|./1+1| \"/2+1|b/3+1");
    expect_merged(s, 1, WORDS_PREPEND, WORDS_APPEND, " a/0+1");
    assert_true(text_within("", 0, ""));
    assert_false(text_within("a", 1, ""));
}

static int vocab_up(void **state)
{
    *state = real_vocab_open();
    return 0;
}

static int vocab_down(void **state)
{
    real_vocab_close(*state);
    return 0;
}

int main(void)
{
    struct real_vocab *r = real_vocab_open();
    if (!r) {
        fprintf(stderr, "skipped: the built-in model with its vocabulary is not there\n");
        return 77;
    }
    real_vocab_close(r);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters_cut_by_tokens_are_joined_and_broken_ones_stand_alone),
        cmocka_unit_test(test_spaces_and_punctuation_begin_words),
        cmocka_unit_test(test_end_of_text_is_a_word_whatever_stands_before_it),
        cmocka_unit_test(test_tokens_after_a_break_that_nothing_mends_are_not_lost),
        cmocka_unit_test(test_every_token_is_in_one_word_whatever_the_bytes),
        cmocka_unit_test(test_six_languages_have_no_spaces),
        cmocka_unit_test(test_marks_go_to_the_words_they_belong_to),
        cmocka_unit_test(test_a_set_holds_its_substrings_not_its_characters),
        cmocka_unit_test(test_no_sets_merge_nothing_but_blanks),
    };
    return cmocka_run_group_tests(tests, vocab_up, vocab_down);
}

/* steno tests: a dictionary of words and their pieces. SPDX-License-Identifier: MIT */
#include <string.h>
#include "harness.h"
#include "text/seg_dict.h"

static const char *const token[] = { "se@@", "ven", "你", "好", "一", "é", "alpha", "<unk>" };
enum { TOKENS = sizeof token / sizeof *token, UNKNOWN = TOKENS - 1 };

struct rig { struct arena a; struct vocab v; struct seg_dict d; struct buf ids; steno_error e; };

static int rig_open(struct rig *r, const char *text, size_t n)
{
    *r = (struct rig){ 0 };
    arena_init(&r->a);
    assert_int_equal(vocab_init(&r->v, &r->a, TOKENS, TOKENS, &r->e), 0);
    for (int32_t i = 0; i < TOKENS; i++) vocab_set(&r->v, i, (const uint8_t *)token[i], (uint32_t)strlen(token[i]));
    assert_int_equal(vocab_index(&r->v, &r->a, &r->e), 0);
    return seg_dict_init(&r->d, &r->a, "dictionary", text, n, &r->e);
}

static void rig_close(struct rig *r)
{
    buf_free(&r->ids);
    arena_free(&r->a);
}

static const char dict[] = "seven se@@ ven\n\n你 你\r\n  好\t好 \né é\ntwice 你\ntwice 好\nalone\n一 一";

static void expect(const char *phrase, int bare, const char *want)
{
    struct rig r;
    char got[200] = "";
    if (rig_open(&r, dict, sizeof dict - 1)) fail_msg("%s", r.e.text);
    assert_int_equal(seg_dict_ids(bare ? NULL : &r.d, &r.v, UNKNOWN, phrase, strlen(phrase), &r.ids), 0);
    for (size_t i = 0; i < r.ids.len / sizeof(int32_t); i++) {
        if (i) strcat(got, " ");
        strcat(got, token[((const int32_t *)(const void *)r.ids.p)[i]]);
    }
    if (strcmp(got, want) != 0) fail_msg("\"%s\" is %s, want %s", phrase, got, want);
    rig_close(&r);
}

static void test_words_become_their_pieces(void **state)
{
    (void)state;
    expect("seven", 0, "se@@ ven");
    expect("  seven\t你 ", 0, "se@@ ven 你");
    expect("SeVeN É", 0, "se@@ ven é");
    expect("你\xe3\x80\x80好", 0, "你 好"); /* a wide space */
    expect("twice", 0, "好");
    expect("alone", 0, "");
    expect("  ", 0, "");
}

static void test_words_outside_the_dictionary_become_characters_or_unknown(void **state)
{
    (void)state;
    expect("你好一", 0, "你 好 一");
    expect("你坏1", 0, "你 <unk> <unk>");
    expect("eleven", 0, "<unk>");
    expect("你a", 0, "<unk>");
    expect("alpha", 0, "<unk>"); /* a token, but no word of the dictionary */
}

static void test_without_a_dictionary_words_are_tokens(void **state)
{
    (void)state;
    expect("alpha 你", 1, "alpha 你");
    expect("Alpha 你好", 1, "<unk> <unk>");
}

static void test_texts_that_are_none_are_refused(void **state)
{
    (void)state;
    struct rig r;
    assert_int_equal(rig_open(&r, "a b\xff", 4), STENO_EFORMAT);
    assert_non_null(strstr(r.e.text, "dictionary: not UTF-8 at byte 3"));
    rig_close(&r);
    assert_int_equal(rig_open(&r, "", 0), STENO_OK);
    assert_int_equal(r.d.n_lines, 0);
    assert_int_equal(seg_dict_ids(&r.d, &r.v, UNKNOWN, "a", 1, &r.ids), 0);
    assert_int_equal(r.ids.len, sizeof(int32_t));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_become_their_pieces),
        cmocka_unit_test(test_words_outside_the_dictionary_become_characters_or_unknown),
        cmocka_unit_test(test_without_a_dictionary_words_are_tokens),
        cmocka_unit_test(test_texts_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

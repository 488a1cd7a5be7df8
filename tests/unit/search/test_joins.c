/* steno tests: where a word may begin. SPDX-License-Identifier: MIT */
#include "search/hotwords.h"
#include "toy_vocab.h"

static void test_letters_join_where_a_script_has_spaces(void **state)
{
    (void)state;
    static const struct { uint32_t cp; int joins; } c[] = {
        { 'a', 1 }, { 'Z', 1 }, { '7', 1 }, { ' ', 0 }, { '-', 0 }, { '\'', 0 }, { '@', 0 }, { '[', 0 }, { '`', 0 }, { '{', 0 },
        { 0xe9, 1 }, { 0xa9, 0 }, { 0xaa, 1 }, { 0xb5, 1 }, { 0x436, 1 }, { 0x5d0, 1 }, { 0x928, 1 }, { 0xac00, 1 },
        { 0xe01, 0 }, { 0x1000, 0 }, { 0x3042, 0 }, { 0x65e5, 0 }, { 0x3002, 0 }, { 0xff0c, 0 }, { 0xff21, 1 }, { 0x1f600, 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (char_joins(c[i].cp) != c[i].joins) fail_msg("U+%04X: want %d", (unsigned)c[i].cp, c[i].joins);
}

static void test_the_last_character_is_whole_open_or_broken(void **state)
{
    (void)state;
    static const struct { const char *text; int32_t want; } c[] = {
        { "", ' ' }, { "a", 'a' }, { "ab", 'b' }, { "\xc3\xa9", 0xe9 }, { "a\xe6\x97\xa5", 0x65e5 }, { "\xf0\x9f\x98\x80", 0x1f600 },
        { "\xc3", CHAR_OPEN }, { "a\xe6", CHAR_OPEN }, { "a\xe6\x97", CHAR_OPEN }, { "\xf0\x9f\x98", CHAR_OPEN },
        { "\xa9", CHAR_BROKEN }, { "a\xa9", CHAR_BROKEN }, { "\xe6\x97\xa5\xa5", CHAR_BROKEN }, { "\x80\x80\x80\x80\x80", CHAR_BROKEN },
        { "\xff", CHAR_BROKEN }, { "\xc0\xaf", CHAR_BROKEN }, { "\xe0\x80\x80", CHAR_BROKEN }, { "\xed\xa0\x80", CHAR_BROKEN },
    };
    struct toy toy = TOY("x");
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        int32_t ids[16] = { toy.n_text }, n = 1; /* an id that is no text stands before it */
        for (const char *s = c[i].text; *s; s++) ids[n++] = (uint8_t)*s;
        if (last_char(&toy.v, ids, n) != c[i].want) fail_msg("text %zu: %d, want %d", i, (int)last_char(&toy.v, ids, n), (int)c[i].want);
    }
    toy_free(&toy);
}

static void test_an_id_joins_by_its_first_character_or_the_lowest_that_it_may_begin(void **state)
{
    (void)state;
    struct toy toy = TOY("no", " no", "7a", "\xc3", "\xe6\x97", "\xe6", "\xe3\x81\x82x", "\xd0\xb6", "\xea\xb0", "\xa5", "\xf0\x9f", "");
    static const int want[] = { 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0 };
    for (int32_t i = 0; i < 12; i++)
        if (id_joins(&toy.v, 256 + i) != want[i]) fail_msg("string %d: want %d", (int)i, want[i]);
    toy_free(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_letters_join_where_a_script_has_spaces),
        cmocka_unit_test(test_the_last_character_is_whole_open_or_broken),
        cmocka_unit_test(test_an_id_joins_by_its_first_character_or_the_lowest_that_it_may_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: texts one behind the other. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "text/words.h"

static void test_a_space_lies_between_texts_but_not_between_chinese_characters(void **state)
{
    (void)state;
    static const struct { const char *text[3], *want; } c[] = {
        { { "one", "two", "three" }, "one two three" },
        { { "\xe4\xbb\x8a\xe5\xa4\xa9", "\xe5\xa4\xa9\xe6\xb0\x94", "" }, "\xe4\xbb\x8a\xe5\xa4\xa9\xe5\xa4\xa9\xe6\xb0\x94" },
        { { "\xe4\xbb\x8a", "ok", "\xe5\xa4\xa9" }, "\xe4\xbb\x8a ok \xe5\xa4\xa9" },
        { { "\xe4\xbb\x8a\xef\xbc\x8c", "\xe5\xa4\xa9", "" }, "\xe4\xbb\x8a\xef\xbc\x8c \xe5\xa4\xa9" }, /* a comma is none */
        { { "\xe3\x81\x82", "\xe3\x81\x84", "" }, "\xe3\x81\x82 \xe3\x81\x84" },                         /* nor is Hiragana */
        { { "\xe3\x90\x80", "\xe9\xbf\xbf", "\xea\x80\x80" }, "\xe3\x90\x80\xe9\xbf\xbf \xea\x80\x80" }, /* U+3400 to U+9FFF */
        { { "", "", "one" }, "one" },
        { { "\xe4", "\xe4\xbb\x8a", "\x80" }, "\xe4 \xe4\xbb\x8a \x80" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct buf b = { 0 };
        for (int k = 0; k < 3; k++) text_join(&b, c[i].text[k], strlen(c[i].text[k]));
        if (strcmp(b.p, c[i].want) != 0) fail_msg("text %zu: \"%s\", want \"%s\"", i, b.p, c[i].want);
        buf_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_space_lies_between_texts_but_not_between_chinese_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: weights behind hot words. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "options/decode_opts.h"
#include "harness.h"

static void test_weights_are_no_part_of_words(void **state)
{
    (void)state;
    static const struct { const char *text, *want; enum hotword_weights found; int line; } it[] = {
        { "三 20\n五 10", "三\n五", HOTWORDS_WEIGHTED, 2 },
        { "new york 20", "new york", HOTWORDS_WEIGHTED, 1 },
        { "a\t5", "a", HOTWORDS_WEIGHTED, 1 },
        { "a  +5", "a", HOTWORDS_WEIGHTED, 1 },
        { "Python 3.11\nPython 3.12", "Python 3.11\nPython 3.12", HOTWORDS_NUMBERED, 2 }, /* versions, not weights */
        { "Python 3.11 20\nPython 3.12 10", "Python 3.11\nPython 3.12", HOTWORDS_WEIGHTED, 2 },
        { "Python 3.11 :1.5\nRuby", "Python 3.11\nRuby", HOTWORDS_WEIGHTED, 2 },
        { "a 2.5\nb 10", "a 2.5\nb 10", HOTWORDS_NUMBERED, 2 },
        { "三 20\n五 1.5\n七", "三 20\n五 1.5\n七", HOTWORDS_NUMBERED, 3 },
        { "三 20\n五 10\n七\n九", "三 20\n五 10\n七\n九", HOTWORDS_NUMBERED, 4 },
        { "三 20\n五 10\n七\n九\n零", "三 20\n五 10\n七\n九\n零", HOTWORDS_PLAIN, 5 },
        { "a .5", "a .5", HOTWORDS_PLAIN, 1 },
        { "a 1.2.3\nb 2", "a 1.2.3\nb 2", HOTWORDS_PLAIN, 2 },
        { "a 0.0\nb 2", "a 0.0\nb 2", HOTWORDS_NUMBERED, 2 },
        { "iPhone 15\nGalaxy S24", "iPhone 15\nGalaxy S24", HOTWORDS_PLAIN, 2 },
        { "iPhone 15\nGalaxy", "iPhone 15\nGalaxy", HOTWORDS_PLAIN, 2 },
        { "iPhone 15 20\nGalaxy 10", "iPhone 15\nGalaxy", HOTWORDS_WEIGHTED, 2 },
        { "iPhone 15 :2", "iPhone 15", HOTWORDS_WEIGHTED, 1 },
        { "iPhone 15 :2\nGalaxy 10", "iPhone 15\nGalaxy", HOTWORDS_WEIGHTED, 2 },
        { "HELLO :2.0\nWORLD", "HELLO\nWORLD", HOTWORDS_WEIGHTED, 2 },
        { "HELLO :.5", "HELLO", HOTWORDS_WEIGHTED, 1 },
        { "a :x\nb :\nc :1.2.3\nd:2\ne -\nf 1.5", "a :x\nb :\nc :1.2.3\nd:2\ne -\nf 1.5", HOTWORDS_PLAIN, 6 },
        { "15", "15", HOTWORDS_PLAIN, 1 }, /* a word that is a number */
        { "15\na 20", "15\na 20", HOTWORDS_PLAIN, 2 },
        { "20 15", "20", HOTWORDS_WEIGHTED, 1 },
        { "", "", HOTWORDS_PLAIN, 0 },
        { "a 20\nb -5", NULL, HOTWORDS_REFUSED, 2 },
        { "a 0", NULL, HOTWORDS_REFUSED, 1 },
        { "a\nb :-2.0", NULL, HOTWORDS_REFUSED, 2 },
        { ":2.0", NULL, HOTWORDS_REFUSED, 1 },
        { "a :0.0", NULL, HOTWORDS_REFUSED, 1 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        char text[128];
        int line;
        snprintf(text, sizeof text, "%s", it[i].text);
        const enum hotword_weights found = hotword_weights_cut(text, &line);
        if (found != it[i].found || line != it[i].line) fail_msg("%s: %d in line %d", it[i].text, (int)found, line);
        if (it[i].want) assert_string_equal(text, it[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_weights_are_no_part_of_words) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

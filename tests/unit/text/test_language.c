/* steno tests: what people call languages. SPDX-License-Identifier: MIT */
#include "text/language.h"
#include "harness.h"
#include <ctype.h>
#include <string.h>

static void expect(const char *name, const char *code)
{
    const char *found = language_code(language_find(name));
    if (code ? !found || strcmp(found, code) != 0 : found != NULL) fail_msg("'%s' is %s, want %s", name, found ? found : "unknown", code);
}

static void test_every_language_is_found_by_code_and_name_in_any_case(void **state)
{
    (void)state;
    for (int i = 0; i < N_LANGUAGES; i++) {
        char upper[40];
        for (int name = 0; name < 2; name++) {
            const char *given = name ? language_name(i) : language_code(i);
            size_t n = 0;
            for (; given[n]; n++) upper[n] = (char)toupper((unsigned char)given[n]);
            upper[n] = '\0';
            assert_int_equal(language_find(given), i);
            assert_int_equal(language_find(upper), i);
        }
    }
    assert_null(language_code(N_LANGUAGES));
    assert_null(language_name(-1));
    assert_int_equal(language_find(NULL), -1);
}

static void test_codes_of_iso_639_2_and_3_and_older_ones_are_known(void **state)
{
    (void)state;
    static const struct { const char *name, *code; } c[] = {
        { "eng", "en" }, { "deu", "de" }, { "ger", "de" }, { "GER", "de" }, { "zho", "zh" }, { "chi", "zh" }, { "cmn", "zh" },
        { "jpn", "ja" }, { "fra", "fr" }, { "fre", "fr" }, { "spa", "es" }, { "nld", "nl" }, { "dut", "nl" }, { "kor", "ko" },
        { "rus", "ru" }, { "ces", "cs" }, { "cze", "cs" }, { "ell", "el" }, { "gre", "el" }, { "fas", "fa" }, { "per", "fa" },
        { "hye", "hy" }, { "isl", "is" }, { "kat", "ka" }, { "mkd", "mk" }, { "mri", "mi" }, { "msa", "ms" }, { "mya", "my" },
        { "ron", "ro" }, { "rum", "ro" }, { "slk", "sk" }, { "sqi", "sq" }, { "bod", "bo" }, { "tib", "bo" }, { "cym", "cy" },
        { "wel", "cy" }, { "eus", "eu" }, { "baq", "eu" }, { "yue", "yue" }, { "haw", "haw" }, { "nb", "no" }, { "nob", "no" },
        { "nno", "nn" }, { "iw", "he" }, { "in", "id" }, { "ji", "yi" }, { "jv", "jw" }, { "jav", "jw" }, { "fil", "tl" },
        { "tgl", "tl" }, { "mo", "ro" }, { "ltz", "lb" }, { "srp", "sr" }, { "lav", "lv" }, { "est", "et" }, { "khm", "km" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect(c[i].name, c[i].code);
}

static void test_regions_and_scripts_of_a_tag_are_left_aside(void **state)
{
    (void)state;
    static const struct { const char *name, *code; } c[] = {
        { "en-US", "en" }, { "en_us", "en" }, { "zh-CN", "zh" }, { "zh_TW", "zh" }, { "zh-Hant", "zh" }, { "zh-Hant-HK", "zh" },
        { "ZH_HANS_CN", "zh" }, { "zh-yue", "yue" }, { "zh-yue-HK", "yue" }, { "zh-cmn-Hans-CN", "zh" }, { "yue-HK", "yue" },
        { "de-AT-1996", "de" }, { "es-419", "es" }, { "sr-Latn-RS", "sr" }, { "eng-GB", "en" }, { "nb-NO", "no" },
        { "en-x-whatever", "en" }, { "", NULL }, { "-", NULL }, { "-US", NULL }, { "en-", NULL }, { "en--US", NULL },
        { "en-US-", NULL }, { "en US", NULL }, { "en-U S", NULL }, { "en-toolongsubtag", NULL }, { "en.UTF-8", NULL },
        { "en-\xc3\xa9", NULL }, { "english-US", NULL }, { "e", NULL }, { "engl", NULL }, { " en", NULL }, { "en ", NULL },
        { "en,de", NULL }, { "zho chi", NULL }, { "xx", NULL }, { "xx-US", NULL }, { "klingon", NULL },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect(c[i].name, c[i].code);
}

static void test_other_names_are_those_of_openai_whisper(void **state)
{
    (void)state;
    static const struct { const char *name, *code; } c[] = {
        { "burmese", "my" }, { "valencian", "ca" }, { "flemish", "nl" }, { "haitian", "ht" }, { "letzeburgesch", "lb" },
        { "pushto", "ps" }, { "panjabi", "pa" }, { "moldavian", "ro" }, { "moldovan", "ro" }, { "sinhalese", "si" },
        { "castilian", "es" }, { "Mandarin", "zh" }, { "Haitian Creole", "ht" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect(c[i].name, c[i].code);
}

static const char *few(int i)
{
    static const char *const code[] = { "zh", "en", "ja" };
    return code[i];
}

static void test_a_refusal_names_what_was_meant_and_what_is_known(void **state)
{
    (void)state;
    static const struct { const char *name, *code; } c[] = {
        { "jp", "ja" }, { "JP", "ja" }, { "jp-JP", "ja" }, { "cn", "zh" }, { "kr", "ko" }, { "cz", "cs" }, { "dk", "da" },
        { "gr", "el" }, { "germann", "de" }, { "Japanes", "ja" }, { "engish", "en" }, { "deutsch", "de" }, { "Fran\xc3\xa7" "ais", "fr" },
        { "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "ja" }, { "espanol", "es" }, { "qqqqqq", NULL }, { "xy", NULL }, { "", NULL },
    };
    steno_error e;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *near = language_code(language_near(c[i].name));
        if (c[i].code ? !near || strcmp(near, c[i].code) != 0 : near != NULL)
            fail_msg("'%s' is near %s", c[i].name, near ? near : "nothing");
    }
    assert_int_equal(language_refuse(&e, "jp", few, 3), STENO_EARG);
    assert_string_equal(e.text, "language 'jp' is not known to this model, did you mean ja? it knows zh, en, ja");
    language_refuse(&e, "kr", few, 3); /* Korean is none of them */
    assert_string_equal(e.text, "language 'kr' is not known to this model; it knows zh, en, ja");
    language_refuse(&e, "xx", language_code, N_LANGUAGES);
    assert_non_null(strstr(e.text, "it knows en, zh, de, "));
    assert_non_null(strstr(e.text, ", su, yue"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_language_is_found_by_code_and_name_in_any_case),
        cmocka_unit_test(test_codes_of_iso_639_2_and_3_and_older_ones_are_known),
        cmocka_unit_test(test_regions_and_scripts_of_a_tag_are_left_aside),
        cmocka_unit_test(test_other_names_are_those_of_openai_whisper),
        cmocka_unit_test(test_a_refusal_names_what_was_meant_and_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

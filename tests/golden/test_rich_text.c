/* steno tests: text as people read it. SPDX-License-Identifier: MIT
 *
 * What FunASR's own function makes of texts with tags: as the model writes them, and in any order, within each other, and beside signs. */
#include "golden.h"
#include "api/heap.h"
#include "model/sensevoice.h"

static void test_tags_become_the_references_signs(void **state)
{
    (void)state;
    json_t *cases = json_open("tests/data/rich_text.json"), *pair;
    size_t i;
    assert_true(json_array_size(cases) > 300);
    json_array_foreach(cases, i, pair) {
        const char *raw = json_string_value(json_array_get(pair, 0)), *want = json_string_value(json_array_get(pair, 1));
        struct buf text = { 0 };
        buf_str(&text, "before"); /* what was there stays */
        sensevoice_rich_text(raw, strlen(raw), &text);
        assert_false(text.err);
        if (strncmp(text.p, "before", 6) != 0 || strcmp(text.p + 6, want) != 0)
            fail_msg("case %zu: \"%s\": \"%s\", want \"%s\"", i, raw, text.p, want);
        buf_free(&text);
    }
    json_decref(cases);
}

static void test_each_failed_allocation_is_reported(void **state)
{
    (void)state;
    static const char raw[] = "<|en|><|HAPPY|><|BGM|><|woitn|>one two three four five six seven <|en|><|HAPPY|><|BGM|><|woitn|>eight";
    int64_t n = 0;
    need_counting();
    for (int more = 1; more; n++) {
        struct buf text = { 0 };
        count_begin(n);
        sensevoice_rich_text(raw, sizeof raw - 1, &text);
        more = count_end().calls > n;
        assert_int_equal(text.err, more);
        if (!more) assert_string_equal(text.p, "\xf0\x9f\x8e\xbcone two three four five six seveneight\xf0\x9f\x98\x8a");
        buf_free(&text);
    }
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags_become_the_references_signs),
        cmocka_unit_test(test_each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

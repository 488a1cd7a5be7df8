/* steno: the tokens of json_full are the text of their segment, whatever characters they cut in two. SPDX-License-Identifier: MIT */
#include <jansson.h>
#include "utf8.h"
#include "write_help.h"

enum { MAX_TOKENS = 64 };

static steno_model *model;

/* A segment with `text` between timestamps, as JSON; token k of the text is aligned at 100 * k ms. */
static json_t *parsed(const char *text, const int32_t *speakers)
{
    const int32_t stamp = steno_token_id(model, STENO_TOKEN_TIMESTAMP);
    int32_t ids[MAX_TOKENS] = { stamp };
    steno_token tokens[MAX_TOKENS];
    const int n = steno_tokenize(model, text, ids + 1, MAX_TOKENS - 2);
    assert_in_range(n, 0, MAX_TOKENS - 2);
    ids[n + 1] = stamp + 100;
    for (int k = 0; k < n + 2; k++)
        tokens[k] = (steno_token){ .id = ids[k], .p = 0.5f, .t0_ms = -1, .t1_ms = -1, .t_dtw_ms = k && k <= n ? 100 * k : -1 };
    const steno_segment seg = { .t0_ms = 0, .t1_ms = 3661002, .text = text, .tokens = ids, .n_tokens = n + 2 };
    const int32_t zero = 0;
    const struct transcript t = { .segs = &seg, .n = 1, .text = text, .language = "zh", .tokens = tokens, .first_token = &zero,
                                  .first_timestamp = stamp, .model = model, .speakers = speakers };
    char *json = written(WRITER_JSON_FULL, &t);
    json_error_t e;
    json_t *root = json_loads(json, 0, &e);
    if (!root) fail_msg("%s: %s", e.text, json);
    free(json);
    return root;
}

static json_t *segment_of(json_t *root)
{
    return json_array_get(json_object_get(root, "transcription"), 0);
}

static void test_texts_of_tokens_are_the_text_of_the_segment(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", " one", " one two, three.",
        "\xe9\x9b\xb6\xe4\xb8\x89\xe4\xb9\x9d\xe3\x80\x82",
        " caf\xc3\xa9 \xf0\x9f\x98\x80\xf0\x9f\x91\x8d ok",
        " \"quoted\" \\ \t and \x7f",
        "\xe2\x80\x93\xe2\x80\x94\xef\xbc\x9f",
    };
    int cut = 0; /* tokens that complete a character */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *root = parsed(texts[i], NULL), *tokens = json_object_get(segment_of(root), "tokens"), *token;
        char all[512] = "";
        size_t k;
        assert_string_equal(json_string_value(json_object_get(segment_of(root), "text")), texts[i]);
        json_array_foreach(tokens, k, token) {
            const char *text = json_string_value(json_object_get(token, "text"));
            assert_int_equal(utf8_invalid_at(text), -1);
            cut += !text[0];
            strcat(all, text);
            assert_true(json_real_value(json_object_get(token, "p")) == 0.5);
            assert_int_equal(json_integer_value(json_object_get(token, "t_dtw")), 10 * (k + 1));
            assert_true(json_is_null(json_object_get(json_object_get(token, "offsets"), "from")));
        }
        assert_string_equal(all, texts[i]);
        json_decref(root);
    }
    assert_true(cut > 2);
}

static void test_times_model_and_speaker_have_the_names_of_whisper_cpp(void **state)
{
    (void)state;
    const int32_t speaker = 1;
    json_t *root = parsed(" one", &speaker), *s = segment_of(root), *m = json_object_get(root, "model");
    assert_string_equal(json_string_value(json_object_get(json_object_get(s, "timestamps"), "to")), "01:01:01,002");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(s, "offsets"), "to")), 3661002);
    assert_string_equal(json_string_value(json_object_get(s, "speaker")), "1");
    assert_int_equal(json_integer_value(json_object_get(m, "vocab")), 51865);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(m, "audio"), "ctx")), 1500);
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "result"), "language")), "zh");
    json_decref(root);
}

static int open_model(void **state)
{
    (void)state;
    return steno_model_open(&model, "models/whisper-digits/whisper-digits.bin", NULL, NULL);
}

static int close_model(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_tokens_are_the_text_of_the_segment),
        cmocka_unit_test(test_times_model_and_speaker_have_the_names_of_whisper_cpp),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}

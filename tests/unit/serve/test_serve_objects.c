/* steno: bodies about models and the server, and of language models. SPDX-License-Identifier: MIT */
#include "answer_chat.h"
#include "api_models.h"
#include "base64.h"
#include "failing_json.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* Takes text. */
static json_t *object(char *text, const size_t *n)
{
    json_error_t e;
    assert_non_null(text);
    assert_int_equal(strlen(text), *n);
    json_t *o = json_loadb(text, *n, JSON_REJECT_DUPLICATES, &e);
    if (!o) fail_msg("%s in %s", e.text, text);
    free(text);
    return o;
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    if (!text) fail_msg("%s is not a text", key);
    return text;
}

static int64_t number_at(const json_t *o, const char *key)
{
    assert_true(json_is_integer(json_object_get(o, key)));
    return json_integer_value(json_object_get(o, key));
}

/* ---- models and the server --------------------------------------------------------------------------------------------------- */

static void test_a_model_has_the_keys_of_the_api(void **state)
{
    (void)state;
    static const char *const aliases[] = { "whisper-1", "b", NULL }, *const languages[] = { "en", "zh", "de", NULL };
    const steno_model_info info = { .size = sizeof info, .family = "whisper", .weight_type = "f16", .parameters = 74000000,
                                    .is_multilingual = 1, .n_languages = 99 };
    const struct model_card cards[] = {
        { .id = "a/base", .created = 1700000000, .is_loaded = 1, .calls = ENGINE_TRANSCRIBES, .info = &info, .aliases = aliases,
          .languages = languages },
        { .id = "bad \xff name", .created = 0, .calls = ENGINE_GENERATES | ENGINE_EMBEDS },
    };
    size_t n;
    json_t *o = object(models_json(cards, 2, &n), &n);
    assert_string_equal(text_at(o, "object"), "list");
    const json_t *list = json_object_get(o, "data"), *first = json_array_get(list, 0), *other = json_array_get(list, 1);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text_at(first, "id"), "a/base");
    assert_string_equal(text_at(first, "object"), "model");
    assert_string_equal(text_at(first, "owned_by"), "steno");
    assert_string_equal(text_at(first, "family"), "whisper");
    assert_int_equal(number_at(first, "created"), 1700000000);
    assert_int_equal(json_array_size(json_object_get(first, "tasks")), 2);
    assert_int_equal(json_array_size(json_object_get(first, "aliases")), 2);
    assert_int_equal(json_array_size(json_object_get(first, "languages")), 3);
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "languages"), 2)), "de");
    assert_true(json_is_true(json_object_get(first, "loaded")) && json_is_false(json_object_get(other, "loaded")));
    assert_int_equal(json_array_size(json_object_get(other, "tasks")), 2);
    assert_null(json_object_get(other, "family"));
    json_t *one = object(model_json(&cards[0], &n), &n);
    assert_true(json_equal(one, first));
    json_decref(one);
    json_decref(o);
    o = object(models_json(cards, 0, &n), &n);
    assert_int_equal(json_array_size(json_object_get(o, "data")), 0);
    json_decref(o);
}

static void test_the_server_describes_its_state(void **state)
{
    (void)state;
    static const char *const want[] = { "ok", "loading", "draining", "spool_full" };
    size_t n;
    for (int r = IS_READY; r <= HAS_FULL_SPOOL; r++) {
        json_t *o = object(ready_json((enum readiness)r, &n), &n);
        assert_string_equal(text_at(o, "status"), want[r]);
        json_decref(o);
    }
    char *text = live_json(&n);
    assert_string_equal(text, "{\"status\":\"ok\"}");
    free(text);
    json_t *o = object(version_json("1.2", &n), &n);
    assert_string_equal(text_at(o, "version"), "1.2");
    json_decref(o);
}

/* ---- texts ------------------------------------------------------------------------------------------------------------------- */

static const struct chat_reply reply = { .id = "r-1\"}{", .model = "m\"x", .created = 1700000000,
                                         .prompt_tokens = 10, .cached_tokens = 4, .text_tokens = 7 };

static void test_a_chat_answer_has_one_choice(void **state)
{
    (void)state;
    static const struct { int finish; const char *reason; } ends[] = {
        { STENO_FINISH_NONE, "stop" }, { STENO_FINISH_END, "stop" }, { STENO_FINISH_STOP, "stop" }, { STENO_FINISH_LENGTH, "length" },
        { STENO_FINISH_CALLER, "stop" },
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        static const char text[] = "one\n\"two\" \xe2\x82\xac \xff";
        const struct chat_choice c = { .finish = ends[i].finish, .text = text, .n_text = sizeof text - 1 };
        size_t n;
        json_t *o = object(chat_body(&reply, &c, 1, &n), &n);
        const json_t *choice = json_array_get(json_object_get(o, "choices"), 0), *use = json_object_get(o, "usage");
        assert_string_equal(text_at(o, "id"), "chatcmpl-r-1");
        assert_string_equal(text_at(o, "object"), "chat.completion");
        assert_string_equal(text_at(o, "model"), "m\"x");
        assert_string_equal(text_at(json_object_get(choice, "message"), "role"), "assistant");
        assert_string_equal(text_at(json_object_get(choice, "message"), "content"), "one\n\"two\" \xe2\x82\xac \xef\xbf\xbd");
        assert_string_equal(text_at(choice, "finish_reason"), ends[i].reason);
        assert_true(json_is_null(json_object_get(choice, "logprobs")));
        assert_int_equal(number_at(use, "prompt_tokens"), 10);
        assert_int_equal(number_at(use, "completion_tokens"), 7);
        assert_int_equal(number_at(use, "total_tokens"), 17);
        assert_int_equal(number_at(json_object_get(use, "prompt_tokens_details"), "cached_tokens"), 4);
        json_decref(o);
    }
}

static void test_choices_have_their_texts_and_logprobs(void **state)
{
    (void)state;
    static const char list[] = "{\"token\": \"a\", \"logprob\": -0.5}";
    const struct chat_choice c[] = { { .index = 0, .text = "a b", .n_text = 1, .logprobs = list, .n_logprobs = sizeof list - 1 },
                                     { .index = 1, .text = "", .logprobs = "", .finish = STENO_FINISH_LENGTH } };
    size_t n;
    json_t *o = object(chat_body(&reply, c, 2, &n), &n);
    const json_t *choices = json_object_get(o, "choices");
    assert_int_equal(json_array_size(choices), 2);
    for (int i = 0; i < 2; i++) {
        const json_t *one = json_array_get(choices, (size_t)i), *logprobs = json_object_get(one, "logprobs");
        assert_int_equal(number_at(one, "index"), i);
        assert_string_equal(text_at(json_object_get(one, "message"), "content"), i ? "" : "a");
        assert_int_equal(json_array_size(json_object_get(logprobs, "content")), !i);
        assert_string_equal(text_at(one, "finish_reason"), i ? "length" : "stop");
    }
    json_decref(o);
}

/* The object of one event. */
static json_t *event(char *text, size_t n, const char **rest)
{
    assert_non_null(text);
    assert_int_equal(strncmp(text, "data: ", 6), 0);
    const char *end = strstr(text, "\n\n");
    assert_non_null(end);
    json_t *o = json_loadb(text + 6, (size_t)(end - text) - 6, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    assert_string_equal(text_at(o, "object"), "chat.completion.chunk");
    assert_string_equal(text_at(o, "id"), "chatcmpl-r-1");
    *rest = end + 2;
    assert_true(*rest <= text + n);
    return o;
}

static const json_t *delta_of(const json_t *o)
{
    return json_object_get(json_array_get(json_object_get(o, "choices"), 0), "delta");
}

static void test_a_streamed_chat_has_role_pieces_and_an_end(void **state)
{
    (void)state;
    const char *rest;
    size_t n;
    const struct chat_choice piece = { .index = 2, .text = "a\nb", .n_text = 3, .logprobs = "{\"logprob\": -1}", .n_logprobs = 15 };
    char *text = chat_event_role(&reply, 2, &n);
    json_t *o = event(text, n, &rest);
    assert_string_equal(text_at(delta_of(o), "role"), "assistant");
    assert_string_equal(text_at(delta_of(o), "content"), "");
    json_decref(o);
    free(text);
    text = chat_event_text(&reply, &piece, &n);
    o = event(text, n, &rest);
    const json_t *choice = json_array_get(json_object_get(o, "choices"), 0);
    assert_int_equal(number_at(choice, "index"), 2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(choice, "logprobs"), "content")), 1);
    assert_string_equal(text_at(delta_of(o), "content"), "a\nb");
    assert_null(json_object_get(delta_of(o), "role"));
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(o, "choices"), 0), "finish_reason")));
    assert_int_equal(*rest, 0);
    json_decref(o);
    free(text);
    text = chat_event_end(&reply, &piece, &n);
    o = event(text, n, &rest);
    assert_int_equal(json_object_size(delta_of(o)), 0);
    assert_string_equal(text_at(json_array_get(json_object_get(o, "choices"), 0), "finish_reason"), "stop");
    assert_int_equal(*rest, 0);
    json_decref(o);
    free(text);
    text = chat_event_usage(&reply, &n);
    o = event(text, n, &rest);
    assert_int_equal(json_array_size(json_object_get(o, "choices")), 0);
    assert_int_equal(number_at(json_object_get(o, "usage"), "total_tokens"), 17);
    assert_int_equal(*rest, 0);
    json_decref(o);
    free(text);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------------------- */

static void test_vectors_keep_every_bit(void **state)
{
    (void)state;
    static const float rows[] = { 0.1f, -1.5f, 3.4028235e38f, 1.17549435e-38f, 1.0f / 3, -0.0f };
    struct embed_reply r = { .model = "e", .rows = rows, .count = 2, .width = 3, .prompt_tokens = 8 };
    size_t n, n_bytes;
    json_t *o = object(embed_body(&r, &n), &n);
    const json_t *list = json_object_get(o, "data");
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 6; i++) {
        const json_t *x = json_array_get(json_object_get(json_array_get(list, i / 3), "embedding"), i % 3);
        assert_true(json_is_number(x) && (float)json_number_value(x) == rows[i]);
        assert_int_equal(number_at(json_array_get(list, i / 3), "index"), i / 3);
    }
    assert_int_equal(number_at(json_object_get(o, "usage"), "prompt_tokens"), 8);
    json_decref(o);
    r.is_base64 = 1;
    o = object(embed_body(&r, &n), &n);
    for (size_t i = 0; i < 2; i++) {
        const char *text = text_at(json_array_get(json_object_get(o, "data"), i), "embedding");
        unsigned char bytes[BASE64_DECODED_MAX(16)];
        struct base64 d = { 0 };
        assert_int_equal(strlen(text), 16);
        assert_int_equal(base64_decode(&d, text, 16, bytes, &n_bytes), 0);
        assert_int_equal(n_bytes, 12);
        for (size_t k = 0; k < 3; k++) {
            const uint32_t bits = bytes[4 * k] | (uint32_t)bytes[4 * k + 1] << 8 | (uint32_t)bytes[4 * k + 2] << 16 |
                                  (uint32_t)bytes[4 * k + 3] << 24;
            assert_memory_equal(&bits, &rows[3 * i + k], sizeof bits);
        }
    }
    json_decref(o);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

static char *make_models(size_t *n)
{
    static const char *const aliases[] = { "a", NULL };
    static const steno_model_info info = { .size = sizeof info, .family = "whisper", .weight_type = "f16", .is_multilingual = 1 };
    static const struct model_card cards[] = {
        { .id = "x", .calls = ENGINE_TRANSCRIBES, .info = &info, .aliases = aliases }, { .id = "\xff", .calls = ENGINE_EMBEDS },
    };
    return models_json(cards, 2, n);
}

static char *make_error(size_t *n)
{
    const struct api_error e = { .code = API_not_found, .message = "m" };
    return api_error_json(&e, n);
}

static char *make_ready(size_t *n)
{
    return ready_json(IS_LOADING, n);
}

static void test_any_allocation_may_fail(void **state)
{
    (void)state;
    check_failures(make_models, 40);
    check_failures(make_error, 10);
    check_failures(make_ready, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_has_the_keys_of_the_api),
        cmocka_unit_test(test_the_server_describes_its_state),
        cmocka_unit_test(test_a_chat_answer_has_one_choice),
        cmocka_unit_test(test_choices_have_their_texts_and_logprobs),
        cmocka_unit_test(test_a_streamed_chat_has_role_pieces_and_an_end),
        cmocka_unit_test(test_vectors_keep_every_bit),
        cmocka_unit_test(test_any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

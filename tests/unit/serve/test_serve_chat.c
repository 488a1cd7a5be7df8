/* steno tests: JSON bodies for language models. SPDX-License-Identifier: MIT */
#include "api/lm_model.h"
#include "ask_chat.h"
#include "ask_embed.h"
#include <string.h>

static steno_model *model;

static int open_all(void **state)
{
    (void)state;
    model = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 512);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

struct request {
    struct ask_chat chat;
    steno_generate_params p;
    struct api_error e;
};

static int chat(struct request *r, const char *body)
{
    r->e = (struct api_error){ 0 };
    steno_generate_params_init(&r->p);
    if (ask_chat_read(&r->chat, body, strlen(body), 0, &r->e) != API_OK) return (int)r->e.code;
    return ask_chat_fill(&r->chat, &r->p, model, &r->e);
}

#define HELLO "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]"
#define WITH(fields) "{" HELLO "," fields "}"

static void test_messages_become_ids(void **state)
{
    static const char body[] = "{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"Be brief.\",\"name\":\"x\"},"
                               "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hel\"},{\"type\":\"text\",\"text\":\"lo\"}]},"
                               "{\"role\":\"assistant\",\"content\":\"Yes\",\"tool_calls\":null},{\"role\":\"user\",\"content\":[]}]}";
    static const steno_message same[] = { { "system", "Be brief." }, { "user", "Hello" }, { "assistant", "Yes" }, { "user", "" } };
    struct request r;
    int32_t ids[512];
    steno_error e;
    (void)state;
    if (chat(&r, body) != API_OK) fail_msg("%s", r.e.message);
    assert_string_equal(r.chat.model, "m");
    const int n = steno_chat_tokenize(model, same, 4, STENO_CHAT_ANSWER, ids, 512, &e);
    assert_true(n > 4 && r.chat.n_ids == n && memcmp(ids, r.chat.ids, (size_t)n * sizeof *ids) == 0);
    ask_chat_free(&r.chat);
    assert_int_equal(chat(&r, WITH("\"reasoning_effort\":\"none\"")), API_OK);
    const int fewer = steno_chat_tokenize(model, same + 1, 1, STENO_CHAT_ANSWER | STENO_CHAT_NO_THINKING, ids, 512, &e);
    assert_true(r.chat.no_thinking && r.chat.n_ids == fewer && memcmp(ids, r.chat.ids, (size_t)fewer * sizeof *ids) == 0);
    ask_chat_free(&r.chat);
    assert_int_equal(chat(&r, WITH("\"chat_template_kwargs\":{\"enable_thinking\":false}")), API_OK);
    assert_int_equal(r.chat.n_ids, fewer);
    ask_chat_free(&r.chat);
}

#define CHECK(fields, condition) \
    do { \
        struct request r; \
        if (chat(&r, WITH(fields)) != API_OK) fail_msg("%s: %s", fields, r.e.message); \
        if (!(condition)) fail_msg("%s: not %s", fields, #condition); \
        ask_chat_free(&r.chat); \
    } while (0)

static void test_fields_become_parameters(void **state)
{
    (void)state;
    CHECK("\"max_tokens\":5", r.p.max_tokens == 5);
    CHECK("\"max_completion_tokens\":6", r.p.max_tokens == 6);
    CHECK("\"max_tokens\":7.0,\"max_completion_tokens\":7", r.p.max_tokens == 7);
    CHECK("\"temperature\":0.5,\"top_p\":0.9,\"seed\":3,\"top_k\":40,\"min_p\":0.1",
          r.p.temperature == 0.5 && r.p.top_p == 0.9 && r.p.seed == 3 && r.p.top_k == 40 && r.p.min_p == 0.1 && !r.chat.ignored[0]);
    CHECK("\"seed\":3,\"top_p\":0.5,\"user\":\"me\",\"store\":true,\"metadata\":null",
          strcmp(r.chat.ignored, "user, store, seed, top_p") == 0);
    CHECK("\"presence_penalty\":-1.5,\"frequency_penalty\":2", r.p.presence_penalty == -1.5 && r.p.frequency_penalty == 2);
    CHECK("\"stop\":\"x\"", r.p.n_stop == 1 && strcmp(r.p.stop[0], "x") == 0);
    CHECK("\"stop\":[\"x\",\"\\n\"]", r.p.n_stop == 2 && strcmp(r.p.stop[1], "\n") == 0);
    CHECK("\"stop\":null,\"n\":1,\"logprobs\":false,\"tools\":[],\"logit_bias\":{},\"top_logprobs\":0",
          r.p.n_stop == 0 && !r.chat.ignored[0]);
    CHECK("\"n\":16,\"logprobs\":true", r.chat.n == 16 && r.chat.logprobs);
    CHECK("\"n\":null,\"logprobs\":null", r.chat.n == 1 && !r.chat.logprobs);
    CHECK("\"stream\":true,\"stream_options\":{\"include_usage\":true}", r.chat.stream && r.chat.has_usage);
    CHECK("\"stream\":false,\"stream_options\":{}", !r.chat.stream && !r.chat.has_usage);
    CHECK("\"response_format\":{\"type\":\"text\"}", !r.p.json_schema);
    CHECK("\"response_format\":{\"type\":\"json_object\"}", strcmp(r.p.json_schema, "{\"type\":\"object\"}") == 0);
    CHECK("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"strict\":true,\"schema\":{\"type\":\"array\"}}}",
          strcmp(r.p.json_schema, "{\"type\":\"array\"}") == 0);
    CHECK("\"json_schema\":{}", strcmp(r.p.json_schema, "{}") == 0);
    CHECK("\"grammar\":\"root ::= \\\"yes\\\"\"", strcmp(r.p.grammar, "root ::= \"yes\"") == 0);
    CHECK("\"modalities\":[\"text\"],\"reasoning_effort\":\"low\"", strcmp(r.chat.ignored, "reasoning_effort") == 0 && !r.chat.no_thinking);
    CHECK("\"temperature\":null,\"seed\":null,\"stream\":null,\"response_format\":null,\"max_tokens\":null", r.p.max_tokens == 0);
}

#define FUNCTION(name, more) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"" more "}}"
#define CALLED(calls) "{\"messages\":[{\"role\":\"assistant\",\"tool_calls\":" calls "}]}"

static const struct { const char *body; enum api_code code; const char *param, *part; } bad[] = {
    { "", API_invalid_json, "", "JSON" }, { "{", API_invalid_json, "", "line 1" }, { "[]", API_invalid_json, "", "object" },
    { "{\"a\":1,\"a\":2}", API_invalid_json, "", "twice" }, { "{\"a\":\"\377\"}", API_invalid_json, "", "JSON" },
    { "{} x", API_invalid_json, "", "JSON" }, { "{\"a\":\"\\u0000\"}", API_invalid_json, "", "NUL character" },
    { "{}", API_missing_required_parameter, "messages", "missing" },
    { "{\"messages\":null}", API_missing_required_parameter, "messages", "" },
    { "{\"messages\":[]}", API_invalid_value, "messages", "at least one" },
    { "{\"messages\":\"Hi\"}", API_invalid_value, "messages", "list" },
    { "{\"messages\":[1]}", API_invalid_value, "messages[0]", "object" },
    { "{\"messages\":[{\"content\":\"a\"}]}", API_missing_required_parameter, "messages[0].role", "missing" },
    { "{\"messages\":[{\"role\":\"usr\",\"content\":\"a\"}]}", API_invalid_value, "messages[0].role", "did you mean user?" },
    { "{\"messages\":[{\"role\":\"function\",\"content\":\"a\"}]}", API_invalid_value, "messages[0].role", "assistant" },
    { "{\"messages\":[{\"role\":\"tool\",\"content\":\"a\"}]}", API_missing_required_parameter, "messages[0].tool_call_id", "missing" },
    { "{\"messages\":[{\"role\":\"tool\",\"content\":\"a\",\"tool_call_id\":\"x\"}]}",
      API_invalid_value, "messages[0].tool_call_id", "no call of an earlier message" },
    { CALLED("[{}]"), API_missing_required_parameter, "messages[0].tool_calls[0]", "id" },
    { CALLED("[5]"), API_invalid_value, "messages[0].tool_calls[0]", "object" },
    { CALLED("5"), API_invalid_value, "messages[0]", "list" },
    { CALLED("[{\"id\":\"a\",\"type\":\"custom\"}]"), API_invalid_value, "messages[0].tool_calls[0]", "functions only" },
    { CALLED("[{\"id\":\"a\",\"function\":{}}]"), API_missing_required_parameter, "messages[0].tool_calls[0]", "name" },
    { CALLED("[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]"), API_missing_required_parameter, "messages[0].tool_calls[0]", "arguments" },
    { CALLED("[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"[]\"}}]"), API_invalid_value, "messages[0].tool_calls[0]",
      "object" },
    { "{\"messages\":[{\"role\":\"user\",\"content\":\"a\",\"tool_calls\":[{}]}]}", API_invalid_value, "messages[0]", "of the assistant" },
    { "{\"messages\":[{\"role\":\"assistant\",\"content\":\"a\",\"function_call\":{\"name\":\"f\"}}]}", API_invalid_value, "function_call",
      "" },
    { "{\"messages\":[{\"role\":\"user\"}]}", API_invalid_value, "messages[0].content", "list of parts" },
    { "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}",
      API_invalid_value, "messages[0].content", "image_url" },
    { "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]}",
      API_missing_required_parameter, "messages[0].content", "text" },
    { "{\"messages\":[{\"role\":\"user\",\"content\":[3]}]}", API_invalid_value, "messages[0].content", "object" },
    { WITH("\"max_tokens\":0"), API_invalid_value, "max_tokens", "from 1" },
    { WITH("\"max_tokens\":1.5"), API_invalid_value, "max_tokens", "whole" },
    { WITH("\"max_tokens\":\"5\""), API_invalid_value, "max_tokens", "whole" },
    { WITH("\"max_tokens\":2147483648"), API_invalid_value, "max_tokens", "2147483647" },
    { WITH("\"max_tokens\":5,\"max_completion_tokens\":6"), API_invalid_value, "max_tokens", "differ" },
    { WITH("\"temperature\":2.1"), API_invalid_value, "temperature", "from 0 to 2" },
    { WITH("\"temperature\":1e-9"), API_invalid_value, "temperature", "temperature" },
    { WITH("\"temperature\":true"), API_invalid_value, "temperature", "number" },
    { WITH("\"top_p\":-1"), API_invalid_value, "top_p", "from 0 to 1" },
    { WITH("\"seed\":-1"), API_invalid_value, "seed", "from 0 on" },
    { WITH("\"presence_penalty\":3"), API_invalid_value, "presence_penalty", "from -2 to 2" },
    { WITH("\"n\":0"), API_invalid_value, "n", "from 1 to 16" }, { WITH("\"n\":17"), API_invalid_value, "n", "from 1 to 16" },
    { WITH("\"n\":1.5"), API_invalid_value, "n", "whole" }, { WITH("\"logprobs\":2"), API_invalid_value, "logprobs", "true or false" },
    { WITH("\"top_logprobs\":3"), API_invalid_value, "top_logprobs", "needs logprobs" },
    { WITH("\"logprobs\":true,\"top_logprobs\":21"), API_invalid_value, "top_logprobs", "20" },
    { WITH("\"tools\":5"), API_invalid_value, "tools", "list" }, { WITH("\"tools\":[5]"), API_invalid_value, "tools[0]", "object" },
    { WITH("\"tools\":[{}]"), API_invalid_value, "tools[0]", "functions only" },
    { WITH("\"tools\":[{\"type\":\"custom\"}]"), API_invalid_value, "tools[0]", "custom" },
    { WITH("\"tools\":[{\"type\":\"function\"}]"), API_missing_required_parameter, "tools[0]", "function" },
    { WITH("\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a b\"}}]"), API_invalid_value, "tools[0]", "letters" },
    { WITH("\"tools\":[" FUNCTION("f", "") "," FUNCTION("f", "") "]"), API_invalid_value, "tools[1]", "two functions f" },
    { WITH("\"tools\":[" FUNCTION("f", ",\"parameters\":[]") "]"), API_invalid_value, "tools[0]", "schema" },
    { WITH("\"tools\":[" FUNCTION("f", ",\"parameters\":{\"type\":\"array\"}") "]"), API_invalid_value, "tools[0]", "object" },
    { WITH("\"tools\":[" FUNCTION("f", ",\"strict\":1") "]"), API_invalid_value, "tools[0]", "neither true nor false" },
    { WITH("\"tools\":[" FUNCTION("f", "") "]"), API_invalid_value, "tools", "no tools that this version knows" },
    { WITH("\"tool_choice\":\"required\""), API_invalid_value, "tool_choice", "no tools" },
    { WITH("\"tool_choice\":\"atuo\""), API_invalid_value, "tool_choice", "did you mean auto?" },
    { WITH("\"tool_choice\":5"), API_invalid_value, "tool_choice", "text" },
    { WITH("\"tools\":[" FUNCTION("f", "") "],\"tool_choice\":" FUNCTION("g", "")), API_invalid_value, "tool_choice", "no function g" },
    { WITH("\"tools\":[" FUNCTION("f", "") "],\"tool_choice\":{\"type\":\"allowed_tools\"}"),
      API_missing_required_parameter, "tool_choice", "allowed_tools" },
    { WITH("\"tools\":[" FUNCTION("f", "") "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"tools\":[]}}"),
      API_missing_required_parameter, "tool_choice", "mode" },
    { WITH("\"tools\":[" FUNCTION("f", "")
        "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":[]}}"),
      API_invalid_value, "tool_choice", "1 to 128" },
    { WITH("\"tools\":[" FUNCTION("f", "") "],\"response_format\":{\"type\":\"json_object\"}"), API_invalid_value, "response_format",
      "tools" },
    { WITH("\"tools\":[" FUNCTION("f", "") "],\"grammar\":\"root ::= .*\""), API_invalid_value, "grammar", "tools" },
    { WITH("\"parallel_tool_calls\":1"), API_invalid_value, "parallel_tool_calls", "true or false" },
    { WITH("\"functions\":[1]"), API_invalid_value, "functions", "tools only" },
    { WITH("\"function_call\":{\"name\":\"f\"}"), API_invalid_value, "function_call", "tool_choice only" },
    { WITH("\"logit_bias\":{\"1\":2}"), API_invalid_value, "logit_bias", "" },
    { WITH("\"stop\":3"), API_invalid_value, "stop", "list of texts" }, { WITH("\"stop\":[\"\"]"), API_invalid_value, "stop", "empty" },
    { WITH("\"stop\":[\"a\",null]"), API_invalid_value, "stop", "list of texts" },
    { WITH("\"stop\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"), API_invalid_value, "stop", "17 texts are more than 16" },
    { WITH("\"stream\":\"yes\""), API_invalid_value, "stream", "true or false" },
    { WITH("\"stream_options\":{\"include_usage\":true}"), API_invalid_value, "stream_options", "stream: true" },
    { WITH("\"stream_options\":[]"), API_invalid_value, "stream_options", "object" },
    { WITH("\"response_format\":\"json\""), API_invalid_value, "response_format", "object" },
    { WITH("\"response_format\":{}"), API_missing_required_parameter, "response_format", "type" },
    { WITH("\"response_format\":{\"type\":\"jsn_object\"}"), API_invalid_value, "response_format.type", "json_object" },
    { WITH("\"response_format\":{\"type\":\"json_schema\"}"), API_missing_required_parameter, "response_format", "schema" },
    { WITH("\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"schema\":1}}"),
      API_invalid_value, "response_format", "object" },
    { WITH("\"json_schema\":{},\"grammar\":\"root ::= x\""), API_invalid_value, "grammar", "json_schema" },
    { WITH("\"modalities\":[\"text\",\"audio\"]"), API_invalid_value, "modalities", "text only" },
    { WITH("\"reasoning_effort\":\"hgh\""), API_invalid_value, "reasoning_effort", "did you mean high?" },
    { WITH("\"model\":5"), API_invalid_value, "model", "text" },
};

static void test_bad_bodies_are_errors_with_their_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct request r;
        const int code = chat(&r, bad[i].body);
        const char *part = *bad[i].part ? bad[i].part : r.e.param;
        if (code != (int)bad[i].code || r.e.code != bad[i].code || strcmp(r.e.param, bad[i].param) != 0 ||
            (*part && !strstr(r.e.message, part)))
            fail_msg("%s: %s, %s: %s", bad[i].body, api_code_name(r.e.code), r.e.param, r.e.message);
        ask_chat_free(&r.chat);
    }
}

static void test_strict_servers_refuse_unknown_fields(void **state)
{
    struct ask_chat c;
    struct ask_embed a;
    struct api_error e = { 0 };
    (void)state;
    assert_int_equal(ask_chat_read(&c, WITH("\"user\":\"me\""), strlen(WITH("\"user\":\"me\"")), 1, &e), API_unknown_parameter);
    assert_string_equal(e.param, "user");
    ask_chat_free(&c);
    e = (struct api_error){ 0 };
    static const char body[] = "{\"input\":\"x\",\"user\":\"me\"}";
    assert_int_equal(ask_embed_read(&a, body, strlen(body), 1, &e), API_unknown_parameter);
    ask_embed_free(&a);
}

/* ---- embeddings -------------------------------------------------------------------------------------------------------------------- */

static void test_texts_for_vectors(void **state)
{
    static const struct { const char *body; int n, code; const char *param; } all[] = {
        { "{\"input\":\"one\"}", 1, API_OK, "" }, { "{\"input\":[\"one\",\"two\"],\"encoding_format\":\"base64\"}", 2, API_OK, "" },
        { "{\"input\":[\"one\"],\"pooling\":\"last\",\"normalize\":false,\"truncate\":true,\"dimensions\":null}", 1, API_OK, "" },
        { "{}", 0, API_missing_required_parameter, "input" }, { "{\"input\":[]}", 0, API_invalid_value, "input" },
        { "{\"input\":\"\"}", 0, API_invalid_value, "input" }, { "{\"input\":[\"a\",\"\"]}", 0, API_invalid_value, "input" },
        { "{\"input\":[1,2]}", 0, API_invalid_value, "input" }, { "{\"input\":[[1]]}", 0, API_invalid_value, "input" },
        { "{\"input\":{}}", 0, API_invalid_value, "input" }, { "{\"input\":\"a\",\"dimensions\":8}", 0, API_invalid_value, "dimensions" },
        { "{\"input\":\"a\",\"encoding_format\":\"hex\"}", 0, API_invalid_value, "encoding_format" },
        { "{\"input\":\"a\",\"pooling\":\"max\"}", 0, API_invalid_value, "pooling" }, { "x", 0, API_invalid_json, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ask_embed a;
        struct api_error e = { 0 };
        steno_embed_params p;
        steno_embed_params_init(&p);
        if (ask_embed_read(&a, all[i].body, strlen(all[i].body), 0, &e) == API_OK) ask_embed_fill(&a, &p, model, &e);
        if ((int)e.code != all[i].code || strcmp(e.param, all[i].param) != 0) fail_msg("%s: %s: %s", all[i].body, e.param, e.message);
        if (e.code == API_OK) assert_int_equal(a.n_texts, all[i].n);
        if (i == 1) assert_true(a.is_base64 && strcmp(a.texts[1], "two") == 0);
        if (i == 2) assert_true(p.pooling == STENO_POOLING_LAST && !p.normalize && p.truncate == 1);
        ask_embed_free(&a);
    }
}

/* Bodies with a list of n items. @return the code */
static int listed(const char *begin, const char *item, int n, const char *end, int is_chat)
{
    const size_t k = strlen(item) + 1;
    char *body = malloc(strlen(begin) + (size_t)n * k + strlen(end) + 1), *to = body;
    struct api_error e = { 0 };
    assert_non_null(body);
    to += sprintf(to, "%s", begin);
    for (int i = 0; i < n; i++) to += sprintf(to, "%s%s", i ? "," : "", item);
    strcpy(to, end);
    struct ask_chat c;
    struct ask_embed a;
    if (is_chat) {
        ask_chat_read(&c, body, strlen(body), 0, &e);
        ask_chat_free(&c);
    } else {
        ask_embed_read(&a, body, strlen(body), 0, &e);
        ask_embed_free(&a);
    }
    free(body);
    return (int)e.code;
}

static void test_limits(void **state)
{
    static const char message[] = "{\"role\":\"user\",\"content\":\"a\"}";
    (void)state;
    assert_int_equal(listed("{\"messages\":[", message, CHAT_MESSAGES_MAX, "]}", 1), API_OK);
    assert_int_equal(listed("{\"messages\":[", message, CHAT_MESSAGES_MAX + 1, "]}", 1), API_invalid_value);
    assert_int_equal(listed("{\"input\":[", "\"a\"", EMBED_TEXTS_MAX, "]}", 0), API_OK);
    assert_int_equal(listed("{\"input\":[", "\"a\"", EMBED_TEXTS_MAX + 1, "]}", 0), API_invalid_value);
    assert_int_equal(listed("{\"x\":", "[", 1, "", 1), API_invalid_json);
    char deep[6000];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(listed("{\"x\":", deep, 1, "", 1), API_invalid_json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_become_ids),
        cmocka_unit_test(test_fields_become_parameters),
        cmocka_unit_test(test_bad_bodies_are_errors_with_their_field),
        cmocka_unit_test(test_strict_servers_refuse_unknown_fields),
        cmocka_unit_test(test_texts_for_vectors),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

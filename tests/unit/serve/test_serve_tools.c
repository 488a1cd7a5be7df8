/* steno tests: tools of chats, and their calls in the text of a model. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "ask_messages.h"
#include "call_reader.h"
#include "search/grammar.h"
#include "search/json_schema.h"
#include "tool_grammar.h"
#include <stdlib.h>
#include <string.h>

#define TOWN "{\"type\":\"object\",\"properties\":{\"town\":{\"$ref\":\"#/$defs/t\"}},\"$defs\":{\"t\":{\"type\":\"string\"}}}"
#define WEATHER "{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"parameters\":" TOWN "}}"
#define NOW "{\"type\":\"function\",\"function\":{\"name\":\"now\"}}"
#define STRICT "{\"type\":\"function\",\"function\":{\"name\":\"now\",\"strict\":true}}"

struct request {
    json_t *root;
    struct ask_tools tools;
    struct api_error e;
};

static void request_read(struct request *r, const char *fields)
{
    r->e = (struct api_error){ 0 };
    r->root = json_loads(fields, 0, NULL);
    assert_non_null(r->root);
    ask_tools_read(&r->tools, r->root, &r->e);
    if (r->e.code == API_OK) tool_grammar_make(&r->tools, THOUGHTS_MAY, &r->e);
    if (r->e.code != API_OK) fail_msg("%s: %s", fields, r->e.message);
}

static void request_end(struct request *r)
{
    ask_tools_free(&r->tools);
    json_decref(r->root);
}

/* ---- what may be called */

static void test_choices_allow_tools(void **state)
{
    (void)state;
    static const struct { const char *fields; enum tools_mode mode; int n, n_names, is_held, is_single; } it[] = {
        { "{}", TOOLS_OFF, 0, 0, 0, 0 }, { "{\"tools\":[],\"tool_choice\":\"auto\"}", TOOLS_OFF, 0, 0, 0, 0 },
        { "{\"tools\":[" WEATHER "," NOW "]}", TOOLS_AUTO, 2, 2, 0, 0 },
        { "{\"tools\":[" WEATHER "," NOW "],\"tool_choice\":\"none\"}", TOOLS_OFF, 2, 2, 0, 0 },
        { "{\"tools\":[" WEATHER "],\"tool_choice\":\"required\",\"parallel_tool_calls\":false}", TOOLS_REQUIRED, 1, 1, 1, 1 },
        { "{\"tools\":[" WEATHER "," STRICT "],\"parallel_tool_calls\":true}", TOOLS_AUTO, 2, 2, 1, 0 },
        { "{\"tools\":[" WEATHER "," NOW "],\"tool_choice\":" NOW "}", TOOLS_REQUIRED, 2, 1, 1, 0 },
        { "{\"tools\":[" WEATHER "," NOW "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":["
          NOW "]}}}", TOOLS_AUTO, 2, 1, 1, 0 },
        { "{\"tools\":[" WEATHER "," NOW "],\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\",\"tools"
            "\":["
          NOW "," WEATHER "]}}}", TOOLS_REQUIRED, 2, 2, 1, 0 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct request r;
        request_read(&r, it[i].fields);
        const struct ask_tools *t = &r.tools;
        if (t->mode != it[i].mode || t->n != it[i].n || t->n_names != it[i].n_names || t->is_held != it[i].is_held ||
            t->is_single != it[i].is_single)
            fail_msg("%s: %d %d %d %d %d", it[i].fields, (int)t->mode, t->n, t->n_names, t->is_held, t->is_single);
        assert_int_equal(t->grammar != NULL, it[i].is_held && it[i].mode != TOOLS_OFF);
        assert_int_equal(ask_tools_allow(t, "now"), it[i].n_names > 1 || (it[i].n_names && t->name[0][0] == 'n'));
        request_end(&r);
    }
}

static void test_a_definition_is_spelled_as_in_python(void **state)
{
    (void)state;
    struct request r;
    request_read(&r, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"\\\"\\u00e9\\n\\u0001\\u007f/\","
                     "\"parameters\":{\"minimum\":0.1,\"a\":[1e22,5.0,-3,true,null],\"b\":{},\"c\":[]}}}]}");
    assert_string_equal(r.tools.definition[0],
                        "{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": \"\\\"\xc3\xa9\\n\\u0001\x7f/\", "
                        "\"parameters\": {\"minimum\": 0.1, \"a\": [1e+22, 5.0, -3, true, null], \"b\": {}, \"c\""
                        ": []}}}");
    request_end(&r);
}

static void test_a_schema_has_the_calls_that_are_allowed(void **state)
{
    (void)state;
    struct request r;
    request_read(&r, "{\"tools\":[" NOW "," WEATHER "],\"tool_choice\":\"required\"}");
    assert_string_equal(r.tools.schema, "{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"name\":{\"const\":\"now\"},\"arguments\":{\""
                                        "type\":\"object\","
                                        "\"properties\":{},\"additionalProperties\":false}},\"required\":[\"name\",\"arguments\"],"
                                        "\"additionalProperties\":false},{\"type\":\"object\",\"properties\":{\"name\":{\"const\":\"weat"
                                        "her\"},"
                                        "\"arguments\":{\"type\":\"object\",\"properties\":{\"town\":{\"$ref\":\"#/anyOf/1/properties/ar"
                                        "guments/$defs/t\"}},"
                                        "\"$defs\":{\"t\":{\"type\":\"string\"}}}},\"required\":[\"name\",\"arguments\"],\"additionalPro"
                                        "perties\":false}]}");
    assert_non_null(strstr(r.tools.grammar, "root ::= (\"<think>\" thought-0 | \"<tool_call>\" calls)\n"));
    request_end(&r);
    request_read(&r, "{\"tools\":[" NOW "," WEATHER "],\"tool_choice\":" NOW ",\"parallel_tool_calls\":false}");
    assert_null(strstr(r.tools.schema, "weather"));
    assert_non_null(strstr(r.tools.grammar, "calls ::= call\n"));
    request_end(&r);
}

/* ---- what the grammar of an answer accepts */

static struct vocab *bytes_of(struct arena *a)
{
    static uint8_t byte[256];
    static struct vocab v;
    arena_init(a);
    assert_int_equal(vocab_init(&v, a, 256, 256, NULL), 0);
    for (int i = 0; i < 256; i++) byte[i] = (uint8_t)i, vocab_set(&v, i, &byte[i], 1);
    return &v;
}

static int accepts(const struct ask_tools *t, const char *text)
{
    struct buf gbnf = { 0 };
    struct grammar *g;
    struct matcher *m;
    struct arena a;
    steno_error e = { 0 };
    struct vocab *v = bytes_of(&a);
    if (json_schema_grammar(&gbnf, "json-schema", t->schema, strlen(t->schema), &e)) fail_msg("%s", e.text);
    buf_str(&gbnf, t->grammar);
    if (grammar_open(&g, gbnf.p, NULL, &e)) fail_msg("%s\n%s", e.text, gbnf.p);
    assert_int_equal(matcher_open(&m, g, v, 256, -1, &e), 0);
    int32_t at = matcher_start(m);
    for (; *text && at >= 0; text++) at = matcher_next(m, at, (uint8_t)*text);
    const int yes = at >= 0 && matcher_complete(m, at);
    matcher_close(m);
    grammar_close(g);
    buf_free(&gbnf);
    arena_free(&a);
    return yes;
}

#define HELD(text) "<tool_call>\n" text "\n</tool_call>"
#define HELD_NOW HELD("{\"name\": \"now\", \"arguments\": {}}")
#define HELD_TOWN HELD("{\"name\": \"weather\", \"arguments\": {\"town\": \"Rome\"}}")
static const struct { const char *fields; const char *yes[8], *no[10]; } grammars[] = {
    { "\"tool_choice\":\"required\"",
      { HELD_NOW, HELD_TOWN, HELD_NOW "\n" HELD_TOWN, "<think>\n</thin <</think>\n\n" HELD_NOW, "<think></think>" HELD_NOW },
      { "", "x", "x" HELD_NOW, HELD_NOW HELD_NOW, HELD_NOW "x", "<think>" HELD_NOW, "<think></think>",
        HELD("{\"name\": \"no\", \"arguments\": {}}"),
        HELD("{\"name\": \"now\", \"arguments\": {\"a\": 1}}"), HELD("{\"name\": \"weather\", \"arguments\": {\"town\": 1}}") } },
    { "\"tool_choice\":\"required\",\"parallel_tool_calls\":false", { HELD_NOW, HELD_TOWN }, { HELD_NOW "\n" HELD_NOW } },
    { "\"tool_choice\":" NOW, { HELD_NOW }, { HELD_TOWN, "text" } },
    { "\"tool_choice\":{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"auto\",\"tools\":[" NOW "]}}",
      { "", "a <b> <tool <<tool_cal\n\303\266", HELD_NOW, "a\n" HELD_NOW "\n" HELD_NOW, "<tool_" HELD_NOW, "<<" HELD_NOW, "<tool_<tool_c"
          HELD_NOW },
      { HELD_TOWN, "<tool_call>", "a<tool_call>b", HELD_NOW "b", "<<tool_call>x" } },
};

static void test_grammars_hold_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        struct request r;
        char body[2000];
        snprintf(body, sizeof body, "{\"tools\":[%s,%s],%s}", NOW, WEATHER, grammars[i].fields);
        request_read(&r, body);
        for (int k = 0; k < 8 && grammars[i].yes[k]; k++)
            if (!accepts(&r.tools, grammars[i].yes[k])) fail_msg("%s: '%s' is refused", grammars[i].fields, grammars[i].yes[k]);
        for (int k = 0; k < 10 && grammars[i].no[k]; k++)
            if (accepts(&r.tools, grammars[i].no[k])) fail_msg("%s: '%s' is accepted", grammars[i].fields, grammars[i].no[k]);
        request_end(&r);
    }
}

static void test_thoughts_that_have_begun_end_before_a_call(void **state)
{
    (void)state;
    struct request r = { .root = json_loads("{\"tools\":[" NOW "],\"tool_choice\":\"required\"}", 0, NULL) };
    assert_int_equal(ask_tools_read(&r.tools, r.root, &r.e), API_OK);
    assert_int_equal(tool_grammar_make(&r.tools, THOUGHTS_OPEN, &r.e), API_OK);
    assert_true(accepts(&r.tools, "hm <\n</think>\n\n" HELD_NOW));
    assert_true(accepts(&r.tools, "</think>" HELD_NOW));
    assert_false(accepts(&r.tools, HELD_NOW));
    assert_false(accepts(&r.tools, "hm"));
    request_end(&r);
}

/* Arguments are an object in any case: a schema without a type means one, and others than of objects are refused. */
static void test_arguments_are_objects(void **state)
{
    (void)state;
    static const struct { const char *parameters; int is_held; } it[] = {
        { "{}", 1 }, { "{\"description\":\"x\"}", 1 }, { "{\"properties\":{}}", 1 }, { "{\"type\":\"object\"}", 1 },
        { "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"object\"}}}", 1 }, { "{\"$ref\":\"#\"}", 0 },
        { "{\"anyOf\":[{\"type\":\"object\"},{\"$ref\":\"#/anyOf/0\"}]}", 1 }, { "{\"anyOf\":[{\"type\":\"integer\"}]}", 0 },
        { "{\"type\":\"object\",\"anyOf\":[{\"type\":\"integer\"}]}", 0 }, { "{\"enum\":[1]}", 0 }, { "{\"$ref\":\"#/no\"}", 0 },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"now\",\"parameters\":%s}}],"
                 "\"tool_choice\":\"required\"}", it[i].parameters);
        struct request r = { .root = json_loads(body, 0, NULL) };
        assert_int_equal(ask_tools_read(&r.tools, r.root, &r.e), API_OK);
        const int rc = tool_grammar_make(&r.tools, THOUGHTS_NONE, &r.e);
        if ((rc == API_OK) != it[i].is_held) fail_msg("%s: %d %s", it[i].parameters, rc, r.e.message);
        if (rc == API_OK && (!accepts(&r.tools, HELD_NOW) || accepts(&r.tools, HELD("{\"name\": \"now\", \"arguments\": 9}"))))
            fail_msg("%s: no object", it[i].parameters);
        request_end(&r);
    }
}

/* ---- calls in a text */

struct heard { char text[512]; int n_calls, stops_at; };

static int hear_text(void *user, const char *text, size_t n)
{
    struct heard *h = user;
    strncat(h->text, text, n);
    return 0;
}

static int hear_call(void *user, int index, const char *item, size_t n)
{
    struct heard *h = user;
    char object[512];
    assert_int_equal(index, h->n_calls++);
    snprintf(object, sizeof object, "{%.*s", (int)n, item);
    json_t *o = json_loads(object, JSON_REJECT_DUPLICATES, NULL);
    const json_t *f = json_object_get(o, "function");
    assert_string_equal(json_string_value(json_object_get(o, "type")), "function");
    assert_int_equal(strncmp(json_string_value(json_object_get(o, "id")), "call_", 5), 0);
    assert_int_equal(json_string_length(json_object_get(o, "id")), 29);
    snprintf(object, sizeof object, "[%s %s]", json_string_value(json_object_get(f, "name")), json_string_value(json_object_get(f,
        "arguments")));
    strcat(h->text, object);
    json_decref(o);
    return 0;
}

#define CALL(text) "<tool_call>\n" text "\n</tool_call>"
#define CALL_NOW CALL("{\"name\": \"now\", \"arguments\": {}}")
#define CALL_TOWN CALL("{\"name\":\"weather\",\"arguments\":{\"town\":\"K\303\266ln \\\"</tool_call\",\"n\":1.50}}")
#define NOW_READ "[now {}]"
#define TOWN_READ "[weather {\"town\": \"K\303\266ln \\\"</tool_call\", \"n\": 1.5}]"

static const struct { const char *text, *want, *single; } texts[] = {
    { "", "", "" }, { "Hello <b> ", "Hello <b> ", NULL }, { CALL_NOW, NOW_READ, NULL }, { CALL_TOWN, TOWN_READ, NULL },
    { " a \n" CALL_NOW "\n" CALL_TOWN "\n", " a" NOW_READ TOWN_READ, " a" NOW_READ }, { "a" CALL_NOW " b", "a" NOW_READ " b", "a"
        NOW_READ },
    { "<think>\nx < y\n</think>\n\n" CALL_NOW, "<think>\nx < y\n</think>" NOW_READ, NULL },
    { "<<tool_call>" CALL_NOW, "<<tool_call>" NOW_READ, NULL },
    { "use the <tool_call> tag, then\n" CALL_NOW, "use the <tool_call> tag, then" NOW_READ, NULL },
    { "I write <tool_call> as a mark.", "I write <tool_call> as a mark.", NULL },
    { "a \n<tool_call> {\"name\": " CALL_NOW, "a \n<tool_call> {\"name\":" NOW_READ, NULL },
    { "<tool_call>{\"name\": \"now\"</tool_call>\n" CALL_NOW, "<tool_call>{\"name\": \"now\"</tool_call>" NOW_READ, NULL },
    { "<tool_call>{\"a\": \" <tool_call>{\"name\":\"now\"}</tool_call>", "<tool_call>{\"a\": \"" NOW_READ, NULL },
    { CALL("{\"name\": \"now\", \"arguments\": {\"a\": \"x</tool_call>\\\"y\"}}"), "[now {\"a\": \"x</tool_call>\\\"y\"}]", NULL },
    { CALL("{\"name\": \"now\", \"arguments\": {\"a\": 1, \"a\": 2}}"), "[now {\"a\": 2}]", NULL },
    { CALL("{\"name\": \"now\"}}") " x", CALL("{\"name\": \"now\"}}") " x", NULL },
    { CALL_NOW " ", NOW_READ, NULL }, { " \n ", " \n ", NULL },
    { "<tool_cal" CALL_NOW "<tool_cal", "<tool_cal" NOW_READ "<tool_cal", "<tool_cal" NOW_READ },
    { CALL("{\"name\": \"now\"}"), NOW_READ, NULL }, { CALL("{\"name\": \"now\", \"arguments\": \"{}\"}"), NOW_READ, NULL },
    { CALL("{\"name\": \"now\", \"arguments\": \"x\"}"), CALL("{\"name\": \"now\", \"arguments\": \"x\"}"), NULL },
    { CALL("{\"name\": \"no\", \"arguments\": {}}") "\n" CALL_NOW, CALL("{\"name\": \"no\", \"arguments\": {}}") NOW_READ, NULL },
    { CALL("{\"name\": 1}"), CALL("{\"name\": 1}"), NULL }, { CALL("[]"), CALL("[]"), NULL }, { CALL(""), CALL(""), NULL },
    { CALL("{\"name\": \"x\", \"name\": \"now\"}"), NOW_READ, NULL },
    { "a\n<tool_call>\n{\"name\": \"n", "a\n<tool_call>\n{\"name\": \"n", NULL }, { "<tool_call>", "<tool_call>", NULL },
};

static void read_in(struct heard *h, const struct ask_tools *tools, const char *text, size_t piece)
{
    struct call_reader r = { .tools = tools, .text = hear_text, .call = hear_call, .user = h };
    const size_t n = strlen(text);
    int stops = 0;
    *h = (struct heard){ .n_calls = 0 };
    call_reader_begin(&r);
    for (size_t at = 0; at < n && !stops; at += piece) stops = call_reader_add(&r, text + at, n - at < piece ? n - at : piece);
    assert_int_equal(stops, tools->is_single && h->n_calls);
    assert_int_equal(call_reader_end(&r), 0);
    assert_int_equal(r.n_calls, h->n_calls);
    call_reader_free(&r);
}

/* In pieces of any size; white space before a call belongs to neither. */
static void test_calls_are_read_from_a_text(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        struct request r;
        request_read(&r, single ? "{\"tools\":[" WEATHER "," NOW "],\"parallel_tool_calls\":false}" : "{\"tools\":[" WEATHER "," NOW "]}");
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            for (size_t piece = 1; piece < 40; piece++) {
                struct heard h;
                const char *want = single && texts[i].single ? texts[i].single : texts[i].want;
                read_in(&h, &r.tools, texts[i].text, piece);
                if (strcmp(h.text, want) != 0) fail_msg("'%s' in pieces of %zu: '%s', want '%s'", texts[i].text, piece, h.text, want);
            }
        request_end(&r);
    }
}

static int count_text(void *user, const char *text, size_t n)
{
    (void)text;
    *(size_t *)user += n;
    return 0;
}

/* Blanks without end are given on, and take linear time in pieces of one byte. */
static void test_many_blanks_are_text(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    size_t n = 0;
    struct request q;
    request_read(&q, "{\"tools\":[" NOW "]}");
    struct call_reader r = { .tools = &q.tools, .text = count_text, .call = hear_call, .user = &n };
    call_reader_begin(&r);
    for (int i = 0; i < N; i++) assert_int_equal(call_reader_add(&r, "\n", 1), 0);
    assert_in_range(n, N - 2048, N - 1);
    assert_int_equal(call_reader_end(&r), 0);
    assert_int_equal(n, N);
    call_reader_free(&r);
    request_end(&q);
}

static int refuse_text(void *user, const char *text, size_t n)
{
    (void)user;
    (void)text;
    (void)n;
    return 1;
}

static void test_a_listener_ends_the_text(void **state)
{
    (void)state;
    struct request q;
    request_read(&q, "{\"tools\":[" NOW "]}");
    struct call_reader r = { .tools = &q.tools, .text = refuse_text, .call = hear_call, .user = NULL };
    call_reader_begin(&r);
    assert_int_equal(call_reader_add(&r, "<tool", 5), 0);
    assert_int_equal(call_reader_add(&r, "x", 1), 1);
    call_reader_free(&r);
    request_end(&q);
}

/* ---- messages */

static void test_messages_have_calls_and_results(void **state)
{
    (void)state;
    static const char body[] = "{\"tools\":[" NOW
                               "],\"messages\":[{\"role\":\"user\",\"content\":\"U\"},"
                               "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
                               "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"\"}},"
                               "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":[1,2]}\"}}]},"
                               "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"B\"},"
                               "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"A\"}]},"
                               "{\"role\":\"assistant\",\"content\":\"E\"}]}";
    static const steno_message want[] = {
        { "tool_definition", "{\"type\": \"function\", \"function\": {\"name\": \"now\"}}" }, { "user", "U" }, { "assistant", "" },
        { "tool_call", "{\"name\": \"now\", \"arguments\": {}}" }, { "tool_call", "{\"name\": \"f\", \"arguments\": {\"x\": [1, 2]}}" },
        { "tool", "B" }, { "tool", "A" }, { "assistant", "E" },
    };
    struct request r;
    struct ask_messages m;
    request_read(&r, body);
    if (ask_messages_read(&m, r.root, &r.tools, &r.e) != API_OK) fail_msg("%s", r.e.message);
    assert_int_equal(m.n, sizeof want / sizeof *want);
    assert_true(m.have_tools);
    for (int i = 0; i < m.n; i++) {
        assert_string_equal(m.all[i].role, want[i].role);
        assert_string_equal(m.all[i].content, want[i].content);
    }
    ask_messages_free(&m);
    request_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices_allow_tools),
        cmocka_unit_test(test_a_definition_is_spelled_as_in_python),
        cmocka_unit_test(test_a_schema_has_the_calls_that_are_allowed),
        cmocka_unit_test(test_grammars_hold_answers),
        cmocka_unit_test(test_thoughts_that_have_begun_end_before_a_call),
        cmocka_unit_test(test_arguments_are_objects),
        cmocka_unit_test(test_calls_are_read_from_a_text),
        cmocka_unit_test(test_many_blanks_are_text),
        cmocka_unit_test(test_a_listener_ends_the_text),
        cmocka_unit_test(test_messages_have_calls_and_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

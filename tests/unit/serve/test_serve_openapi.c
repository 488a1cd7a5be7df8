/* steno: the description of the server's routes. SPDX-License-Identifier: MIT */
#include "api_error.h"
#include "ask_chat.h"
#include "ask_embed.h"
#include "ask_fields.h"
#include "ask_other.h"
#include "failing_json.h"
#include "listen.h"
#include "openapi.h"
#include "routes.h"
#include "stream.h"
#include <stdio.h>

static json_t *doc;

static int open_doc(void **state)
{
    json_error_t e;
    size_t n;
    (void)state;
    char *text = openapi_json("1.2.3", "/stt", &n);
    assert_non_null(text);
    assert_int_equal(strlen(text), n);
    doc = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
    if (!doc) fail_msg("%s", e.text);
    free(text);
    return 0;
}

static int close_doc(void **state)
{
    (void)state;
    json_decref(doc);
    return 0;
}

static const json_t *at(const json_t *o, const char *a, const char *b)
{
    const json_t *x = json_object_get(json_object_get(o, a), b);
    if (!x) fail_msg("%s has no %s", a, b);
    return x;
}

static void test_the_head_has_version_and_prefix(void **state)
{
    (void)state;
    assert_string_equal(json_string_value(json_object_get(doc, "openapi")), "3.1.0");
    assert_string_equal(json_string_value(at(doc, "info", "version")), "1.2.3");
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(doc, "servers"), 0), "url")), "/stt");
    assert_non_null(json_object_get(at(doc, "components", "securitySchemes"), "key"));
}

/* A path of the table that ends in / is one with a name in the document. */
static void described(const struct route_row *r, char path[96], const char **method)
{
    const size_t n = strlen(r->path);
    snprintf(path, 96, "%s%s", r->path, r->path[n - 1] == '/' ? "{id}" : "");
    *method = r->method == HTTP_GET ? "get" : r->method == HTTP_POST ? "post" : "none";
}

static void test_every_route_of_the_server_is_described(void **state)
{
    (void)state;
    size_t n = 0;
    const json_t *all = json_object_get(doc, "paths");
    for (const struct route_row *r = routes; r->path; r++, n++) {
        char path[96];
        const char *method;
        described(r, path, &method);
        const json_t *o = at(all, path, method), *security = json_object_get(o, "security");
        if (r->is_open != (security && !json_array_size(security))) fail_msg("%s: a key is needed in one of the tables only", path);
    }
    assert_true(n > 0);
}

static void test_every_description_has_a_route(void **state)
{
    (void)state;
    const char *path, *name, *method;
    json_t *methods, *o;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(doc, "paths"), path, methods)
    {
        json_object_foreach(methods, name, o)
        {
            int n = !strcmp(path, "/") && !strcmp(name, "get"); /* the page */
            for (const struct route_row *r = routes; r->path; r++) {
                char its[96];
                described(r, its, &method);
                n += !strcmp(its, path) && !strcmp(method, name);
            }
            if (n != 1) fail_msg("%s %s has %d routes", name, path, n);
        }
    }
}

static void test_every_route_is_described_once(void **state)
{
    (void)state;
    const json_t *all = json_object_get(doc, "paths");
    int n = 0;
    for (const struct openapi_route *r; (r = openapi_route_at(n)); n++) {
        const json_t *o = at(all, r->path, r->method), *answers = json_object_get(o, "responses");
        assert_true(json_string_length(json_object_get(o, "summary")) > 0);
        assert_non_null(json_object_get(answers, r->answer ? "200" : "101"));
        assert_int_equal(!!json_object_get(o, "requestBody"), !!r->body);
        assert_int_equal(!!json_object_get(answers, "401"), !r->is_open);
        for (int k = 0; k < n; k++)
            assert_false(!strcmp(openapi_route_at(k)->path, r->path) && !strcmp(openapi_route_at(k)->method, r->method));
    }
    assert_null(openapi_route_at(-1));
}

static void test_work_can_end_with_every_status(void **state)
{
    (void)state;
    const json_t *answers = json_object_get(at(json_object_get(doc, "paths"), "/v1/audio/transcriptions", "post"), "responses");
    for (int i = API_OK + 1; i < API_N_CODES; i++) {
        char key[16];
        const int status = api_status((enum api_code)i);
        snprintf(key, sizeof key, "%d", status);
        const json_t *answer = json_object_get(answers, key);
        assert_int_equal(!!answer, status != 499);
        if (answer) assert_non_null(strstr(json_string_value(json_object_get(answer, "description")), api_code_name((enum api_code)i)));
    }
}

static void test_every_field_of_a_form_has_its_range(void **state)
{
    (void)state;
    const json_t *form = at(at(doc, "components", "schemas"), "TranscriptionForm", "properties");
    for (int i = 0; ask_field_at(i); i++) {
        const struct ask_field *f = ask_field_at(i);
        const json_t *type = json_object_get(form, f->name);
        if (!type) fail_msg("%s is not described", f->name);
        if (f->lo < f->hi) assert_true(json_number_value(json_object_get(type, "maximum")) <= f->hi);
    }
    assert_true(json_number_value(json_object_get(json_object_get(form, "temperature"), "maximum")) == 1);
    assert_non_null(json_object_get(form, "file"));
}

/* A field with an impossible value: an error, but not that of an unknown field. */
static enum api_code code_of_chat(const char *name)
{
    struct ask_chat c;
    struct api_error e = { 0 };
    char body[128];
    snprintf(body, sizeof body, "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}], \"x\": null, \"%s\": false}", name);
    if (!strcmp(name, "messages")) strcpy(body, "{\"messages\": false}");
    ask_chat_read(&c, body, strlen(body), 1, &e);
    ask_chat_free(&c);
    return e.code;
}

static enum api_code code_of_embed(const char *name)
{
    struct ask_embed a;
    struct api_error e = { 0 };
    char body[128];
    snprintf(body, sizeof body, !strcmp(name, "input") ? "{\"%s\": false}" : "{\"input\": \"a\", \"%s\": false}", name);
    ask_embed_read(&a, body, strlen(body), 1, &e);
    ask_embed_free(&a);
    return e.code;
}

static enum api_code listen_code(const char *name, int is_file)
{
    struct listen_config c;
    struct api_error e = { 0 };
    listen_config_init(&c, is_file);
    listen_query(&c, name, "?", 1, &e);
    return e.code;
}

static enum api_code code_of_listen(const char *name) { return listen_code(name, 0); }
static enum api_code code_of_listen_file(const char *name) { return listen_code(name, 1); }

static enum api_code code_of_stream(const char *name)
{
    struct stream_query q;
    stream_query_begin(&q);
    stream_query_add(&q, name, "?");
    return q.e.code;
}

static void test_routes_know_the_fields_that_are_described(void **state)
{
    (void)state;
    static const struct { const char *schema; int n; enum api_code (*code)(const char *name); } of[] = {
        { "ChatRequest", 29, code_of_chat }, { "EmbeddingRequest", 6, code_of_embed },
        { "ListenQuery", 11, code_of_listen }, { "ListenFileQuery", 7, code_of_listen_file },
        { "StreamQuery", 13, code_of_stream },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const json_t *properties = at(at(doc, "components", "schemas"), of[i].schema, "properties");
        const char *name;
        json_t *value;
        assert_int_equal(json_object_size(properties), of[i].n);
        assert_int_equal(of[i].code("no_field"), API_unknown_parameter);
        json_object_foreach((json_t *)(uintptr_t)properties, name, value)
            if (of[i].code(name) == API_unknown_parameter) fail_msg("%s has no field %s", of[i].schema, name);
    }
}

/* A field of a route under the name of its clients. */
static enum api_code code_of_form(enum ask_route route, const char *name)
{
    struct ask a;
    struct form f = { 0 };
    struct api_error e = { 0 };
    form_add(&f, name, "?", 1, &e);
    ask_read_as(&a, &f, route, STENO_TRANSCRIBE, 1, &e);
    ask_free(&a);
    form_free(&f);
    return e.code;
}

static void test_routes_of_other_servers_list_their_own_names(void **state)
{
    (void)state;
    static const struct { const char *schema, *form; enum ask_route route; const char *own[4]; } of[] = {
        { "InferenceForm", "InferenceForm", ASK_INFERENCE, { "temperature_inc", "offset_t", "translate", "detect_language" } },
        { "AsrQuery", "AsrForm", ASK_ASR, { "initial_prompt", "output", "word_timestamps", "encode" } },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const json_t *schemas = at(doc, "components", "schemas"), *properties = at(schemas, of[i].schema, "properties");
        const char *name;
        json_t *value;
        for (size_t k = 0; k < 4; k++) assert_non_null(json_object_get(properties, of[i].own[k]));
        assert_non_null(json_object_get(at(schemas, of[i].form, "properties"), ask_file_field(of[i].route)));
        assert_int_equal(code_of_form(of[i].route, "no_field"), API_unknown_parameter);
        json_object_foreach((json_t *)(uintptr_t)properties, name, value)
            if (code_of_form(of[i].route, name) == API_unknown_parameter) fail_msg("%s has no field %s", of[i].schema, name);
    }
}

/* Every schema that is named exists, and every one that exists is named. */
static void find_names(const json_t *o, json_t *named)
{
    const char *key;
    json_t *value;
    size_t i;
    static const char start[] = "#/components/schemas/";
    enum { DEPTH = 4096 };
    const json_t *open[DEPTH] = { o };
    for (int n = 1; n > 0;) {
        const json_t *x = open[--n];
        json_object_foreach((json_t *)(uintptr_t)x, key, value)
        {
            assert_in_range(n, 0, DEPTH - 1);
            open[n++] = value;
            if (strcmp(key, "$ref") != 0) continue;
            assert_int_equal(strncmp(json_string_value(value), start, sizeof start - 1), 0);
            json_object_set_new(named, json_string_value(value) + sizeof start - 1, json_true());
        }
        json_array_foreach((json_t *)(uintptr_t)x, i, value)
        {
            assert_in_range(n, 0, DEPTH - 1);
            open[n++] = value;
        }
    }
}

static void test_named_schemas_exist(void **state)
{
    (void)state;
    json_t *named = json_object();
    const json_t *schemas = at(doc, "components", "schemas");
    const char *key;
    json_t *value;
    find_names(doc, named);
    assert_true(json_object_size(named) > 10);
    json_object_foreach(named, key, value) if (!json_object_get(schemas, key)) fail_msg("%s is not described", key);
    json_object_foreach((json_t *)(uintptr_t)schemas, key, value)
    {
        const json_t *required = json_object_get(value, "required");
        for (size_t i = 0; i < json_array_size(required); i++)
            assert_non_null(json_object_get(json_object_get(value, "properties"), json_string_value(json_array_get(required, i))));
    }
    json_decref(named);
}

static char *make(size_t *n)
{
    return openapi_json("1", "", n);
}

static void test_any_allocation_may_fail(void **state)
{
    (void)state;
    check_failures(make, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_head_has_version_and_prefix),
        cmocka_unit_test(test_every_route_of_the_server_is_described),
        cmocka_unit_test(test_every_description_has_a_route),
        cmocka_unit_test(test_every_route_is_described_once),
        cmocka_unit_test(test_work_can_end_with_every_status),
        cmocka_unit_test(test_every_field_of_a_form_has_its_range),
        cmocka_unit_test(test_routes_know_the_fields_that_are_described),
        cmocka_unit_test(test_routes_of_other_servers_list_their_own_names),
        cmocka_unit_test(test_named_schemas_exist),
        cmocka_unit_test(test_any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, open_doc, close_doc);
}

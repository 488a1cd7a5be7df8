/* steno-serve: the grammar of answers that call tools. SPDX-License-Identifier: MIT */
#include "tool_grammar.h"
#include "sink.h"
#include <stdlib.h>
#include <string.h>

/* ---- the schema of a call -------------------------------------------------------------------------------------------------------- */

/* The reference `to`, "#" or "#/...", in a schema that is now at place. @return 0, or -1: out of memory */
static int move_ref(json_t *object, const char *to, const char *place)
{
    char *moved = malloc(strlen(place) + strlen(to) + 1);
    if (moved) strcpy(stpcpy(moved, place), to + 1);
    const int rc = moved ? json_object_set_new(object, "$ref", json_string(moved)) : -1;
    free(moved);
    return rc;
}

/* All references in a schema that is now at place in another one. @return 0, or -1: out of memory */
static int move_refs(json_t *v, const char *place)
{
    const char *key;
    json_t *it;
    size_t i;
    int rc = 0;
    json_array_foreach(v, i, it) rc |= move_refs(it, place);
    json_object_foreach(v, key, it) rc |= move_refs(it, place);
    const char *to = json_string_value(json_object_get(v, "$ref"));
    if (to && *to == '#') rc |= move_ref(v, to, place);
    return rc ? -1 : 0;
}

/* The part of root that a reference leads to. @return NULL: nothing, or it is spelled with escapes */
static const json_t *follow(const json_t *root, const char *to)
{
    char key[128];
    if (*to != '#') return NULL;
    for (to++; *to == '/'; to += strcspn(to, "/")) {
        const size_t n = strcspn(++to, "/");
        if (n >= sizeof key || memchr(to, '~', n) || memchr(to, '%', n)) return NULL;
        memcpy(key, to, n);
        key[n] = '\0';
        root = json_is_array(root) ? json_array_get(root, (size_t)strtoul(key, NULL, 10)) : json_object_get(root, key);
    }
    return *to ? NULL : root;
}

static int is_type_object(const json_t *type)
{
    const json_t *it = json_is_array(type) && json_array_size(type) == 1 ? json_array_get(type, 0) : type;
    return json_is_string(it) && !strcmp(json_string_value(it), "object");
}

/* Does the grammar of a schema hold objects only? left: schemas that may be looked at. */
static int holds_objects(const json_t *root, const json_t *v, int *left)
{
    static const char *const lists[] = { "anyOf", "oneOf", "allOf" };
    const char *ref = json_string_value(json_object_get(v, "$ref"));
    if (--*left < 0) return 0;
    if (ref) return holds_objects(root, follow(root, ref), left);
    if (json_object_get(v, "const") || json_object_get(v, "enum")) return 0;
    for (int k = 0; k < 3; k++) {
        const json_t *list = json_object_get(v, lists[k]);
        int all = json_array_size(list) > 0;
        for (size_t i = 0; i < json_array_size(list) && all; i++) all = holds_objects(root, json_array_get(list, i), left);
        if (list) return all;
    }
    return is_type_object(json_object_get(v, "type"));
}

/* @return NULL: a code is in *e */
static json_t *arguments_of(const json_t *function, struct api_error *e)
{
    static const char *const whole[] = { "type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum" };
    const json_t *given = ask_json_get(function, "parameters");
    json_t *v = given ? json_deep_copy(given) : json_pack("{s:s, s:{}, s:b}", "type", "object", "properties", "additionalProperties", 0);
    int has = 0, left = 1000, bad = !v;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) has |= json_object_get(v, whole[i]) != NULL;
    if (!bad && !has) bad = json_object_set_new(v, "type", json_string("object"));
    if (!bad && holds_objects(v, v, &left)) return v;
    json_decref(v);
    if (bad) api_fail(e, API_internal_error, "tools", "out of memory for the tools");
    else
        api_fail(e, API_invalid_value, "tools", "tools: the parameters of %s would hold values that are no objects",
                 json_string_value(json_object_get(function, "name")));
    return NULL;
}

/* @return NULL: out of memory, or a code is in *e */
static json_t *call_of(const json_t *function, size_t place, struct api_error *e)
{
    char at[64];
    json_t *arguments = arguments_of(function, e);
    snprintf(at, sizeof at, "#/anyOf/%zu/properties/arguments", place);
    if (!arguments || move_refs(arguments, at)) {
        json_decref(arguments);
        return NULL;
    }
    return json_pack("{s:s, s:{s:{s:O}, s:o}, s:[s,s], s:b}", "type", "object", "properties", "name", "const",
                     json_object_get(function, "name"), "arguments", arguments, "required", "name", "arguments",
                     "additionalProperties", 0);
}

/* @return malloc'd; NULL: out of memory, or a code is in *e */
static char *call_schema(const struct ask_tools *t, struct api_error *e)
{
    json_t *list = json_array();
    int bad = !list;
    for (int i = 0; i < t->n && !bad; i++)
        if (ask_tools_allow(t, json_string_value(json_object_get(t->function[i], "name"))))
            bad = json_array_append_new(list, call_of(t->function[i], json_array_size(list), e));
    json_t *schema = bad ? NULL : json_pack("{s:O}", "anyOf", list);
    char *text = schema ? json_dumps(schema, JSON_COMPACT) : NULL;
    json_decref(schema);
    json_decref(list);
    return text;
}

/* ---- GBNF ------------------------------------------------------------------------------------------------------------------------ */

/* Length of the longest beginning of the word that ends the text word[0..n) and c. */
static size_t next_of(const char *word, size_t n, char c)
{
    for (size_t k = n + 1; k; k--)
        if (word[k - 1] == c && !memcmp(word, word + n + 1 - k, k - 1)) return k;
    return 0;
}

/* Rules name-0, name-1, ...: a text up to the word, and then rule `behind`. Rule name-K has read K characters of the word. ends: 1: the
 * text may also end without the word. */
static void put_text_to(struct sink *f, const char *name, const char *word, const char *behind, int ends)
{
    const size_t n = strlen(word);
    for (size_t k = 0; k < n; k++) {
        sink_format(f, "%s-%zu ::= %s", name, k, ends ? "| " : "");
        for (size_t i = 0; i <= k; i++) { /* characters that continue the word, or begin it again */
            const size_t to = memchr(word, word[i], i) ? 0 : next_of(word, k, word[i]);
            if (to == n) sink_format(f, "\"%c\" %s | ", word[i], behind);
            else if (to) sink_format(f, "\"%c\" %s-%zu | ", word[i], name, to);
        }
        sink_text(f, "[^");
        for (size_t i = 0; i <= k; i++)
            if (!memchr(word, word[i], i) && next_of(word, k, word[i])) sink_char(f, word[i]);
        sink_format(f, "] %s-0\n", name);
    }
}

/* @return malloc'd; NULL: out of memory */
static char *answer_grammar(const struct ask_tools *t, enum tool_thoughts thoughts)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    const char *more = t->is_single ? "" : " (\"\\n<tool_call>\" call)*";
    sink_text(&f, "call ::= \"\\n\" json-schema \"\\n</tool_call>\"\n");
    sink_format(&f, "calls ::= call%s\n", more);
    if (t->mode == TOOLS_AUTO) {
        sink_text(&f, "root ::= text-0\n");
        put_text_to(&f, "text", "<tool_call>", "calls", 1);
    } else {
        static const char *const roots[] = { "\"<tool_call>\" calls", "(\"<think>\" thought-0 | \"<tool_call>\" calls)", "thought-0" };
        sink_format(&f, "root ::= %s\n", roots[thoughts]);
        if (thoughts != THOUGHTS_NONE) {
            put_text_to(&f, "thought", "</think>", "rest", 0);
            sink_text(&f, "rest ::= \"\\n\"{0,2} \"<tool_call>\" calls\n");
        }
    }
    if (!f.failed) return m.p;
    free(m.p);
    return NULL;
}

int tool_grammar_make(struct ask_tools *t, enum tool_thoughts thoughts, struct api_error *e)
{
    if (t->mode == TOOLS_OFF || !t->is_held) return API_OK;
    t->schema = call_schema(t, e);
    t->grammar = answer_grammar(t, thoughts);
    if (e->code != API_OK) return (int)e->code;
    return t->schema && t->grammar ? API_OK : api_fail(e, API_internal_error, "tools", "out of memory for the tools");
}

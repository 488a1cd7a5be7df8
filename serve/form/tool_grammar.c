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

/* @return NULL: out of memory */
static json_t *call_of(const json_t *function, size_t place)
{
    char at[64];
    const json_t *given = ask_json_get(function, "parameters");
    json_t *arguments = given ? json_deep_copy(given) : json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
                                                                  "additionalProperties", 0);
    snprintf(at, sizeof at, "#/anyOf/%zu/properties/arguments", place);
    if (!arguments || move_refs(arguments, at)) {
        json_decref(arguments);
        return NULL;
    }
    return json_pack("{s:s, s:{s:{s:O}, s:o}, s:[s,s], s:b}", "type", "object", "properties", "name", "const", json_object_get(function,
        "name"),
                     "arguments", arguments, "required", "name", "arguments", "additionalProperties", 0);
}

/* @return malloc'd; NULL: out of memory */
static char *call_schema(const struct ask_tools *t)
{
    json_t *list = json_array();
    int bad = !list;
    for (int i = 0; i < t->n && !bad; i++)
        if (ask_tools_allow(t, json_string_value(json_object_get(t->function[i], "name"))))
            bad = json_array_append_new(list, call_of(t->function[i], json_array_size(list)));
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
static char *answer_grammar(const struct ask_tools *t, int thinks)
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
        sink_format(&f, "root ::= %s\"<tool_call>\" calls\n", thinks ? "(\"<think>\" thought-0)? " : "");
        if (thinks) put_text_to(&f, "thought", "</think>", "blanks", 0);
        if (thinks) sink_text(&f, "blanks ::= \"\\n\"{0,2}\n");
    }
    if (!f.failed) return m.p;
    free(m.p);
    return NULL;
}

int tool_grammar_make(struct ask_tools *t, int thinks, struct api_error *e)
{
    if (t->mode == TOOLS_OFF || !t->is_held) return API_OK;
    t->schema = call_schema(t);
    t->grammar = answer_grammar(t, thinks);
    return t->schema && t->grammar ? API_OK : api_fail(e, API_internal_error, "tools", "out of memory for the tools");
}

/* steno: JSON schemas as grammars. SPDX-License-Identifier: MIT
 *
 * Blanks are bounded: a model that may write any number of them might write nothing else. */
#include "search/json_schema.h"
#include <stdlib.h>
#include <string.h>
#include "search/schema_writer.h"

/* Programs read all that these rules allow: no U+0000, no half of a surrogate pair, no number beyond those of double precision. */
static char const common[] = "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n"
                             "char ::= [^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" unit)\n"
                             "unit ::= [1-9a-cA-CeEfF] hex{3} | [dD] [0-7] hex{2} | \"0\" (more hex{2} | \"0\" (more hex | \"0\" more)) |"
                             " [dD] [89abAB] hex{2} \"\\\\u\" [dD] [c-fC-F] hex{2}\n"
                             "more ::= [1-9a-fA-F]\n"
                             "string ::= \"\\\"\" char* \"\\\"\"\n"
                             "whole ::= \"-\"? (\"0\" | [1-9] [0-9]{0,15})\n"
                             "fraction ::= (\".\" [0-9]{1,16})? ([eE] [-+]? ([0-9] [0-9]? | \"1\" [0-9]{2} | \"2\" [0-8] [0-9]))?\n"
                             "number ::= whole fraction\n"
                             "boolean ::= \"true\" | \"false\"\n"
                             "null ::= \"null\"\n"
                             "date ::= [0-9]{4} \"-\" (\"0\" [1-9] | \"1\" [0-2]) \"-\" (\"0\" [1-9] | [1-2] [0-9] | \"3\" [0-1])\n"
                             "time ::= ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{3})? "
                             "(\"Z\" | [-+] ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9])\n"
                             "hex ::= [0-9a-fA-F]\n"
                             "any ::= object | array | string | number | boolean | null\n"
                             "object ::= \"{\" ws (member (\",\" ws member)*)? \"}\"\n"
                             "member ::= string \":\" ws any ws\n"
                             "array ::= \"[\" ws (any ws (\",\" ws any ws)*)? \"]\"\n";

static const char *const known[] = {
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "minLength",
    "maxLength",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    /* Keys that do not restrict the text. */
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
};

static int check_keywords(const struct schema_writer *w, uint32_t at)
{
    for (uint32_t i = schema_node(w, at)->child; i; i = schema_node(w, i)->next) {
        int is_known = 0;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_known |= !strcmp(known[k], schema_node(w, i)->key);
        if (!is_known) return schema_refuse(w, i, "this keyword is not served");
    }
    return STENO_OK;
}

static int put_ref(struct schema_writer *w, uint32_t at)
{
    const struct json_node *v = schema_node(w, at);
    const int64_t to = v->kind == JSON_TEXT && v->s[0] == '#' ? json_tree_follow(&w->t, v->s + 1) : -1;
    if (to < 0) return schema_refuse(w, at, "it leads to nothing in this text (# and #/... are served)");
    schema_put_name(w, (uint32_t)to);
    buf_str(w->out, "\n");
    return STENO_OK;
}

static int put_alternatives(struct schema_writer *w, uint32_t list)
{
    if (schema_node(w, list)->kind != JSON_ARRAY || !schema_node(w, list)->n) return schema_refuse(w, list, "it is not a list of schemas");
    for (uint32_t i = schema_node(w, list)->child; i; i = schema_node(w, i)->next) {
        schema_put_name(w, i);
        buf_str(w->out, schema_node(w, i)->next ? "| " : "\n");
    }
    return STENO_OK;
}

static int put_enum(struct schema_writer *w, uint32_t list)
{
    int rc = STENO_OK;
    if (schema_node(w, list)->kind != JSON_ARRAY || !schema_node(w, list)->n) return schema_refuse(w, list, "it is not a list of values");
    for (uint32_t i = schema_node(w, list)->child; i && !rc; i = schema_node(w, i)->next) {
        rc = schema_put_value(w, i);
        buf_str(w->out, schema_node(w, i)->next ? "| " : "\n");
    }
    return rc;
}

/* Several types: one rule per type. */
static int put_types(struct schema_writer *w, uint32_t at, uint32_t list)
{
    int rc = schema_node(w, list)->n ? STENO_OK : schema_refuse(w, list, "it has no type");
    for (uint32_t i = schema_node(w, list)->child; i && !rc; i = schema_node(w, i)->next) {
        if (schema_node(w, i)->kind != JSON_TEXT) return schema_refuse(w, i, "it is not a type");
        buf_fmt(w->out, "s%" PRIu32 "-t%" PRIu32 " %s", at, i, schema_node(w, i)->next ? "| " : "\n");
    }
    for (uint32_t i = schema_node(w, list)->child; i && !rc; i = schema_node(w, i)->next) {
        buf_fmt(w->out, "s%" PRIu32 "-t%" PRIu32 " ::= ", at, i);
        rc = schema_put_type(w, at, i, schema_node(w, i)->s);
    }
    return rc;
}

/* The type that a schema without a type implies. */
static const char *type_meant(const struct schema_writer *w, uint32_t at)
{
    static const struct {
        const char *key, *type;
    } signs[] = {
        { "properties", "object" },
        { "required", "object" },
        { "additionalProperties", "object" },
        { "minProperties", "object" },
        { "maxProperties", "object" },
        { "items", "array" },
        { "prefixItems", "array" },
        { "minItems", "array" },
        { "maxItems", "array" },
        { "uniqueItems", "array" },
        { "minLength", "string" },
        { "maxLength", "string" },
        { "format", "string" },
        { "minimum", "number" },
        { "maximum", "number" },
        { "exclusiveMinimum", "number" },
        { "exclusiveMaximum", "number" },
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (schema_find(w, at, signs[i].key)) return signs[i].type;
    return NULL;
}

/* Of keys that define the schema alone, at most one is allowed. */
static int check_alone(const struct schema_writer *w, uint32_t at, const char *const *whole, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += schema_find(w, at, whole[i]) != 0;
    if (count > 1) return schema_refuse(w, at, "$ref, const, enum, anyOf, oneOf and allOf are served one at a time");
    if (count && (schema_find(w, at, "properties") || schema_find(w, at, "items") || schema_find(w, at, "required")))
        return schema_refuse(w, at, "$ref, const, enum, anyOf, oneOf and allOf are served without properties or items beside them");
    return STENO_OK;
}

static int put_schema(struct schema_writer *w, uint32_t at)
{
    static const char *const whole[] = { "$ref", "const", "enum", "anyOf", "oneOf", "allOf" };
    const struct json_node *v = schema_node(w, at);
    buf_fmt(w->out, "s%" PRIu32 " ::= ", at);
    if (v->kind == JSON_BOOL && v->i) {
        buf_str(w->out, "any\n");
        return STENO_OK;
    }
    if (v->kind != JSON_OBJECT) return schema_refuse(w, at, v->kind == JSON_BOOL ? "no value satisfies it" : "it is not a schema");
    int rc = check_keywords(w, at);
    if (!rc) rc = check_alone(w, at, whole, 6);
    for (int i = 0; i < 6 && !rc; i++) {
        const uint32_t it = schema_find(w, at, whole[i]);
        if (!it) continue;
        if (i == 0) return put_ref(w, it);
        if (i == 2) return put_enum(w, it);
        if (i == 5 && schema_node(w, it)->n != 1) return schema_refuse(w, it, "allOf is served for one schema");
        if (i > 2) return put_alternatives(w, it);
        rc = schema_put_value(w, it);
        buf_str(w->out, "\n");
        return rc;
    }
    if (rc) return rc;
    const uint32_t type = schema_find(w, at, "type");
    if (type && schema_node(w, type)->kind == JSON_ARRAY) return put_types(w, at, type);
    if (type && schema_node(w, type)->kind != JSON_TEXT) return schema_refuse(w, type, "it is not a type");
    const char *meant = type ? schema_node(w, type)->s : type_meant(w, at);
    if (meant) return schema_put_type(w, at, type ? type : at, meant);
    buf_str(w->out, "any\n");
    return STENO_OK;
}

/* ---- schemas that refer to themselves ------------------------------------------------------------------------------------------ */

/* The first schema reached without any text: the node of its $ref, or else the first of its alternatives; JSON_NONE: none. */
static uint32_t first_silent(const struct schema_writer *w, uint32_t at)
{
    static const char *const lists[] = { "anyOf", "oneOf", "allOf" };
    uint32_t it = schema_node(w, at)->kind == JSON_OBJECT ? schema_find(w, at, "$ref") : JSON_NONE;
    for (int i = 0; i < 3 && !it && schema_node(w, at)->kind == JSON_OBJECT; i++) {
        const uint32_t list = schema_find(w, at, lists[i]);
        it = list ? schema_node(w, list)->child : JSON_NONE;
    }
    return it;
}

/* The schema at a node from first_silent, or at one of its successors. */
static uint32_t silent_target(const struct schema_writer *w, uint32_t it)
{
    const struct json_node *v = schema_node(w, it);
    if (v->kind != JSON_TEXT) return it;
    const int64_t to = json_tree_follow(&w->t, v->s + 1);
    return to < 0 ? it : (uint32_t)to;
}

static uint32_t next_silent(const struct schema_writer *w, uint32_t it)
{
    return schema_node(w, it)->kind == JSON_TEXT ? JSON_NONE : schema_node(w, it)->next; /* a $ref has no alternatives */
}

/* Refuse cycles of such steps: the schema would be defined by itself, without text. */
static int refuse_circles(struct schema_writer *w, struct arena *a)
{
    enum { FRESH, ON_THE_WAY, DONE };
    uint8_t *state = arena_array(a, w->t.n, 1);
    uint32_t *way = arena_array(a, w->t.n, sizeof *way), *step = arena_array(a, w->t.n, sizeof *step);
    if (!state || !way || !step) return err_nomem(w->e, w->t.n, "a JSON schema");
    memset(state, FRESH, w->t.n);
    for (uint32_t i = 0; i < w->n_todo; i++) {
        uint32_t n = 0;
        if (state[w->todo[i]] != FRESH) continue;
        way[n] = w->todo[i];
        step[n++] = first_silent(w, w->todo[i]);
        state[w->todo[i]] = ON_THE_WAY;
        while (n) {
            const uint32_t it = step[n - 1];
            if (!it) {
                state[way[--n]] = DONE;
                continue;
            }
            const uint32_t to = silent_target(w, it);
            step[n - 1] = next_silent(w, it);
            if (state[to] == ON_THE_WAY)
                return schema_refuse(w, it, "it leads back to a schema that it is a part of, without text between (properties, items)");
            if (state[to] == DONE) continue;
            state[to] = ON_THE_WAY;
            way[n] = to;
            step[n++] = first_silent(w, to);
        }
    }
    return STENO_OK;
}

static int write_all(struct schema_writer *w, const char *rule, struct arena *a)
{
    w->todo = arena_array(a, w->t.n, sizeof *w->todo);
    w->is_named = arena_array(a, w->t.n, 1);
    if (!w->todo || !w->is_named) return err_nomem(w->e, w->t.n, "a JSON schema");
    int rc = STENO_OK;
    buf_fmt(w->out, "%s ::= ", rule);
    schema_put_name(w, 0);
    buf_str(w->out, "\n");
    for (uint32_t i = 0; i < w->n_todo && !rc; i++) rc = put_schema(w, w->todo[i]);
    if (!rc) rc = refuse_circles(w, a);
    buf_str(w->out, common);
    return !rc && w->out->err ? err_nomem(w->e, w->out->len, "a grammar") : rc;
}

int json_schema_grammar(struct buf *gbnf, const char *rule, const char *schema, size_t n, steno_error *e)
{
    struct arena a;
    struct schema_writer w = { .out = gbnf, .e = e };
    arena_init(&a);
    int rc = json_tree_read(&w.t, "json_schema", schema, n, &a, e);
    if (!rc) rc = write_all(&w, rule, &a);
    arena_free(&a);
    return rc;
}

int json_schema_blame(const char *schema, size_t n, int rc, steno_error *e)
{
    static const char mark[] = "rule \"s";
    const char *rule = strstr(e->text, mark);
    if (!rule || !strstr(rule, "never ends")) return rc;
    const unsigned long at = strtoul(rule + sizeof mark - 1, NULL, 10);
    struct arena a;
    struct schema_writer w = { .e = e };
    arena_init(&a);
    rc = json_tree_read(&w.t, "json_schema", schema, n, &a, e);
    if (!rc) rc = schema_refuse(&w, at < w.t.n ? (uint32_t)at : 0, "it never ends: each value has another one in it that it needs");
    arena_free(&a);
    return rc;
}

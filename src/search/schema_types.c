/* steno: JSON schema restrictions of each type. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "search/json_range.h"
#include "search/schema_writer.h"

enum { COUNT_MOST = 2000 }; /* limit of repetitions in a grammar */

/* ---- counts ------------------------------------------------------------------------------------------------------------------ */

struct count {
    uint32_t min, max;
    int has_max;
};

static int read_count(const struct schema_writer *w, uint32_t at, const char *key, uint32_t *to, int *has)
{
    const uint32_t k = schema_find(w, at, key);
    if (!k) return STENO_OK;
    if (schema_node(w, k)->kind != JSON_INT || schema_node(w, k)->i < 0) return schema_refuse(w, k, "it is not a number of 0 or more");
    if (schema_node(w, k)->i > COUNT_MOST) return schema_refuse(w, k, "at most 2000 are served");
    *to = (uint32_t)schema_node(w, k)->i;
    if (has) *has = 1;
    return STENO_OK;
}

static int read_counts(const struct schema_writer *w, uint32_t at, const char *min, const char *max, struct count *c)
{
    *c = (struct count){ 0 };
    int rc = read_count(w, at, min, &c->min, NULL);
    if (!rc) rc = read_count(w, at, max, &c->max, &c->has_max);
    if (!rc && c->has_max && c->max < c->min) rc = schema_refuse(w, at, "nothing has so low a maximum and so high a minimum");
    return rc;
}

static void put_times(struct schema_writer *w, uint32_t min, uint32_t max, int has_max)
{
    if (has_max) buf_fmt(w->out, "{%" PRIu32 ",%" PRIu32 "} ", min, max);
    else buf_fmt(w->out, "{%" PRIu32 ",} ", min);
}

/* ELEMENT (, ELEMENT)* with the counts of c; element: its rule. */
static void put_list(struct schema_writer *w, const struct count *c, const char *element)
{
    if (c->has_max && !c->max) return;
    buf_fmt(w->out, "(%s (\",\" ws %s)", element, element);
    put_times(w, c->min ? c->min - 1 : 0, c->max - 1, c->has_max);
    buf_str(w->out, c->min ? ") " : ")? ");
}

/* ---- objects ----------------------------------------------------------------------------------------------------------------- */

static int is_required(const struct schema_writer *w, uint32_t at, const char *name)
{
    const uint32_t list = schema_find(w, at, "required");
    for (uint32_t i = list ? schema_node(w, list)->child : 0; i; i = schema_node(w, i)->next)
        if (schema_node(w, i)->kind == JSON_TEXT && !strcmp(schema_node(w, i)->s, name)) return 1;
    return 0;
}

static int check_required(const struct schema_writer *w, uint32_t at, uint32_t properties)
{
    const uint32_t list = schema_find(w, at, "required");
    if (list && schema_node(w, list)->kind != JSON_ARRAY) return schema_refuse(w, list, "it is not a list");
    for (uint32_t i = list ? schema_node(w, list)->child : 0; i; i = schema_node(w, i)->next) {
        if (schema_node(w, i)->kind != JSON_TEXT) return schema_refuse(w, i, "it is not a name");
        if (!properties || !schema_find(w, properties, schema_node(w, i)->s))
            return schema_refuse(w, i, "a property that is required is not among properties");
    }
    return STENO_OK;
}

/* Write `properties` in their order. Rule A of a place: nothing precedes it; rule B: something does. */
static int put_properties(struct schema_writer *w, uint32_t at, uint32_t properties)
{
    uint32_t k = 0;
    int rc = STENO_OK, may_be_first = 1;
    buf_fmt(w->out, "\"{\" ws s%" PRIu32 "-a0 \"}\"\n", at);
    for (uint32_t i = schema_node(w, properties)->child; i && !rc; i = schema_node(w, i)->next, k++) {
        const int required = is_required(w, at, schema_node(w, i)->key);
        buf_fmt(w->out, "s%" PRIu32 "-p%" PRIu32 " ::= ", at, k);
        rc = schema_put_text(w, schema_node(w, i)->key, strlen(schema_node(w, i)->key));
        buf_str(w->out, "\":\" ws ");
        schema_put_name(w, i);
        buf_str(w->out, "ws\n");
        if (may_be_first) {
            buf_fmt(w->out, "s%" PRIu32 "-a%" PRIu32 " ::= s%" PRIu32 "-p%" PRIu32 " s%" PRIu32 "-b%" PRIu32, at, k, at, k, at, k + 1);
            if (!required) buf_fmt(w->out, " | s%" PRIu32 "-a%" PRIu32, at, k + 1);
            buf_str(w->out, "\n");
        }
        if (k) {
            buf_fmt(w->out, "s%" PRIu32 "-b%" PRIu32 " ::= (\",\" ws s%" PRIu32 "-p%" PRIu32 ")%s ", at, k, at, k, required ? "" : "?");
            buf_fmt(w->out, "s%" PRIu32 "-b%" PRIu32 "\n", at, k + 1);
        }
        may_be_first &= !required;
    }
    if (may_be_first) buf_fmt(w->out, "s%" PRIu32 "-a%" PRIu32 " ::= \"\"\n", at, k);
    if (k) buf_fmt(w->out, "s%" PRIu32 "-b%" PRIu32 " ::= \"\"\n", at, k);
    return rc;
}

static int put_object(struct schema_writer *w, uint32_t at)
{
    const uint32_t properties = schema_find(w, at, "properties"), more = schema_find(w, at, "additionalProperties");
    const int is_closed = more && schema_node(w, more)->kind == JSON_BOOL && !schema_node(w, more)->i;
    const int has_schema = more && schema_node(w, more)->kind == JSON_OBJECT;
    struct count c;
    if (properties && schema_node(w, properties)->kind != JSON_OBJECT)
        return schema_refuse(w, properties, "it is not an object of schemas");
    if (more && !has_schema && schema_node(w, more)->kind != JSON_BOOL) return schema_refuse(w, more, "it is not a schema");
    int rc = check_required(w, at, properties);
    if (!rc) rc = read_counts(w, at, "minProperties", "maxProperties", &c);
    if (rc) return rc;
    if (properties && schema_node(w, properties)->n) {
        if (c.min || c.has_max) return schema_refuse(w, at, "minProperties and maxProperties are served where there are no properties");
        if (has_schema) return schema_refuse(w, more, "a schema for other properties is served where there are none in properties");
        return put_properties(w, at, properties);
    }
    if (is_closed) {
        if (c.min) return schema_refuse(w, at, "it requires properties, and allows none");
        buf_str(w->out, "\"{\" ws \"}\"\n");
        return STENO_OK;
    }
    char element[40] = "member";
    if (has_schema) snprintf(element, sizeof element, "s%" PRIu32 "-m", at);
    buf_str(w->out, "\"{\" ws ");
    put_list(w, &c, element);
    buf_str(w->out, "\"}\"\n");
    if (!has_schema) return STENO_OK;
    buf_fmt(w->out, "%s ::= string \":\" ws ", element);
    schema_put_name(w, more);
    buf_str(w->out, "ws\n");
    return STENO_OK;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------------------ */

/* The first items, each with its own schema, and no others. */
static int put_tuple(struct schema_writer *w, uint32_t at, uint32_t list, uint32_t items, const struct count *c)
{
    const uint32_t n = schema_node(w, list)->n;
    const int is_closed = !items || (schema_node(w, items)->kind == JSON_BOOL && !schema_node(w, items)->i);
    if (!is_closed && items != list) return schema_refuse(w, items, "items behind prefixItems are served as false alone");
    if (c->min > n || (c->has_max && c->max < n)) return schema_refuse(w, at, "minItems and maxItems do not fit the items that there are");
    buf_str(w->out, "\"[\" ws ");
    for (uint32_t i = schema_node(w, list)->child; i; i = schema_node(w, i)->next) {
        schema_put_name(w, i);
        buf_str(w->out, schema_node(w, i)->next ? "ws \",\" ws " : "ws ");
    }
    buf_str(w->out, "\"]\"\n");
    return STENO_OK;
}

static int put_array(struct schema_writer *w, uint32_t at)
{
    const uint32_t items = schema_find(w, at, "items"), prefix = schema_find(w, at, "prefixItems");
    const uint32_t unique = schema_find(w, at, "uniqueItems");
    struct count c;
    int rc = read_counts(w, at, "minItems", "maxItems", &c);
    if (rc) return rc;
    if (unique && schema_node(w, unique)->i) return schema_refuse(w, unique, "that items differ is not served");
    if (prefix && schema_node(w, prefix)->kind != JSON_ARRAY) return schema_refuse(w, prefix, "it is not a list of schemas");
    if (prefix) return put_tuple(w, at, prefix, items, &c);
    if (items && schema_node(w, items)->kind == JSON_ARRAY) return put_tuple(w, at, items, items, &c); /* the form of drafts before 2020 */
    char element[40];
    snprintf(element, sizeof element, "s%" PRIu32 "-i", at);
    buf_str(w->out, "\"[\" ws ");
    put_list(w, &c, element);
    buf_str(w->out, "\"]\"\n");
    if (c.has_max && !c.max) return STENO_OK;
    buf_fmt(w->out, "%s ::= ", element);
    if (items) schema_put_name(w, items);
    else buf_str(w->out, "any ");
    buf_str(w->out, "ws\n");
    return STENO_OK;
}

/* ---- texts and numbers ------------------------------------------------------------------------------------------------------- */

static int put_string(struct schema_writer *w, uint32_t at)
{
    static const struct {
        const char *name, *rule;
    } formats[] = {
        { "date", "date" },
        { "time", "time" },
        { "date-time", "date \"T\" time" },
        { "uuid", "hex{8} \"-\" hex{4} \"-\" hex{4} \"-\" hex{4} \"-\" hex{12}" },
    };
    const uint32_t format = schema_find(w, at, "format");
    struct count c;
    int rc = read_counts(w, at, "minLength", "maxLength", &c);
    for (size_t i = 0; !rc && format && i < sizeof formats / sizeof *formats; i++) {
        if (schema_node(w, format)->kind != JSON_TEXT || strcmp(schema_node(w, format)->s, formats[i].name) != 0) continue;
        if (c.min || c.has_max) return schema_refuse(w, at, "a format has its own length: leave minLength and maxLength away");
        buf_fmt(w->out, "\"\\\"\" %s \"\\\"\"\n", formats[i].rule);
        return STENO_OK;
    }
    if (!rc && format) rc = schema_refuse(w, format, "date, time, date-time and uuid are the formats that are served");
    buf_str(w->out, "\"\\\"\" char");
    put_times(w, c.min, c.max, c.has_max);
    buf_str(w->out, "\"\\\"\"\n");
    return rc;
}

/* Read one bound; an exclusive bound is moved by one. */
static int read_bound(const struct schema_writer *w, uint32_t at, const char *key, const char *exclusive, int step, int64_t *to)
{
    const int64_t most = INT64_C(100000000000000000);
    for (int k = 0; k < 2; k++) {
        const uint32_t i = schema_find(w, at, k ? exclusive : key);
        if (!i) continue;
        const struct json_node *v = schema_node(w, i);
        if (v->kind != JSON_INT || v->i >= most || v->i <= -most)
            return schema_refuse(w, i, "bounds are served that are whole numbers below 10^17");
        const int64_t b = v->i + (k ? step : 0);
        if (step > 0 ? *to == INT64_MIN || b > *to : *to == INT64_MAX || b < *to) *to = b;
    }
    return STENO_OK;
}

static int put_integer(struct schema_writer *w, uint32_t at)
{
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    int rc = read_bound(w, at, "minimum", "exclusiveMinimum", 1, &lo);
    if (!rc) rc = read_bound(w, at, "maximum", "exclusiveMaximum", -1, &hi);
    if (!rc && lo > hi) rc = schema_refuse(w, at, "no number is so large and so small at once");
    if (rc) return rc;
    if (lo == INT64_MIN && hi == INT64_MAX) buf_str(w->out, "whole");
    else json_range_write(w->out, lo, hi);
    buf_str(w->out, "\n");
    return STENO_OK;
}

static int put_number(struct schema_writer *w, uint32_t at)
{
    static const char *const bounds[] = { "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum" };
    const uint32_t min = schema_find(w, at, "minimum");
    const int is_positive = min && schema_node(w, min)->kind == JSON_INT && schema_node(w, min)->i == 0;
    for (size_t i = 0; i < 4; i++) {
        const uint32_t k = schema_find(w, at, bounds[i]);
        if (k && !(i == 0 && is_positive))
            return schema_refuse(w, k, "of numbers with fractions a minimum of 0 is served, other bounds of integers");
    }
    buf_str(w->out, is_positive ? "(\"0\" | [1-9] [0-9]{0,15}) fraction\n" : "number\n");
    return STENO_OK;
}

/* ---- types ------------------------------------------------------------------------------------------------------------------- */

int schema_put_type(struct schema_writer *w, uint32_t at, uint32_t said, const char *type)
{
    if (!strcmp(type, "object")) return put_object(w, at);
    if (!strcmp(type, "array")) return put_array(w, at);
    if (!strcmp(type, "string")) return put_string(w, at);
    if (!strcmp(type, "integer")) return put_integer(w, at);
    if (!strcmp(type, "number")) return put_number(w, at);
    if (!strcmp(type, "boolean") || !strcmp(type, "null")) {
        buf_fmt(w->out, "%s\n", type);
        return STENO_OK;
    }
    return schema_refuse(w, said, "object, array, string, integer, number, boolean and null are types");
}

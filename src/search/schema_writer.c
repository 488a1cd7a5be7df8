/* steno: grammar rules of JSON schemas. SPDX-License-Identifier: MIT
 *
 * A range of whole numbers is split into pieces. In a piece, the first digits are fixed, one digit is between two limits, and all later
 * digits are free: 8 to 123 is 8-9, 10-99, 100-119, 120-123. There are at most two pieces per digit. */
#include "search/schema_writer.h"
#include <stdio.h>
#include <string.h>

/* ---- names and literals ------------------------------------------------------------------------------------------------------ */

int schema_refuse(const struct schema_writer *w, uint32_t at, const char *why)
{
    char path[256];
    json_tree_path(&w->t, at, path, sizeof path);
    return err_set(w->e, STENO_EARG, "json_schema, %s: %s", *path ? path : "the whole", why);
}

/* Write bytes as a literal of the grammar. */
static void put_literal(struct buf *out, const char *s, size_t n)
{
    buf_str(out, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') buf_fmt(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) buf_fmt(out, "\\x%02X", c);
        else buf_add(out, s + i, 1);
    }
    buf_str(out, "\" ");
}

/* Write a text in JSON spelling as a literal. */
static int schema_put_text(struct schema_writer *w, const char *s, size_t n)
{
    struct buf json = { 0 };
    buf_str(&json, "\"");
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') buf_fmt(&json, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) buf_fmt(&json, "\\u%04x", c);
        else buf_add(&json, s + i, 1);
    }
    buf_str(&json, "\"");
    if (!json.err) put_literal(w->out, json.p, json.len);
    const int rc = json.err ? err_nomem(w->e, n, "a grammar") : STENO_OK;
    buf_free(&json);
    return rc;
}

/* Write a value of the schema as it was written, without blanks between its parts. */
int schema_put_value(struct schema_writer *w, uint32_t at)
{
    const struct json_node *v = schema_node(w, at);
    struct buf json = { 0 };
    int in_text = 0;
    if (v->kind == JSON_TEXT) return schema_put_text(w, v->s, v->len);
    for (uint32_t i = v->from; i < v->to; i++) {
        const char c = w->t.text[i];
        if (c == '\\' && in_text) buf_add(&json, &w->t.text[i++], 1);
        else if (c == '"') in_text = !in_text;
        if (in_text || !strchr(" \t\r\n", w->t.text[i])) buf_add(&json, &w->t.text[i], 1);
    }
    if (!json.err) put_literal(w->out, json.p ? json.p : "", json.len);
    const int rc = json.err ? err_nomem(w->e, v->to - v->from, "a grammar") : STENO_OK;
    buf_free(&json);
    return rc;
}

/* Write the name of a schema's rule; queue the schema if it is not yet written. */
void schema_put_name(struct schema_writer *w, uint32_t at)
{
    if (!w->is_named[at]) {
        w->is_named[at] = 1;
        w->todo[w->n_todo++] = at;
    }
    buf_fmt(w->out, "s%" PRIu32 " ", at);
}

/* ---- ranges of whole numbers ------------------------------------------------------------------------------------------------- */

enum { DIGITS_MAX = 18 }; /* digits of a number with a bound */

/* 10 to the n. */
static uint64_t power_of_ten(int n)
{
    uint64_t v = 1;
    while (n-- > 0) v *= 10;
    return v;
}

static int digits_of(uint64_t v)
{
    int n = 1;
    while (v >= 10) v /= 10, n++;
    return n;
}

/* Numbers of equal length, digit by digit: fixed, a range, or any digit. */
static void write_piece(struct buf *out, uint64_t lo, uint64_t hi)
{
    const int n = digits_of(hi);
    int free_digits = 0;
    for (int k = n - 1; k >= 0; k--) {
        const int a = (int)(lo / power_of_ten(k) % 10), b = (int)(hi / power_of_ten(k) % 10);
        if (a == 0 && b == 9 && (n > 1 || k < n - 1)) free_digits++;
        else if (a == b) buf_fmt(out, "\"%d\" ", a);
        else buf_fmt(out, "[%d-%d] ", a, b);
    }
    if (free_digits) buf_fmt(out, "[0-9]{%d} ", free_digits);
}

/* The end of the longest piece that begins with lo and does not exceed hi. */
static uint64_t piece_end(uint64_t lo, uint64_t hi)
{
    uint64_t end = lo;
    for (int k = 0; k <= DIGITS_MAX; k++) { /* k digits are free, the digit before them goes up to 9 */
        const uint64_t step = power_of_ten(k);
        if (lo % step) break;
        const uint64_t last = lo / (step * 10) * (step * 10) + 9 * step + (step - 1);
        const uint64_t most = last <= hi ? last : (hi + 1) / step * step;
        const uint64_t here = last <= hi ? last : most > lo ? most - 1 : end;
        if (here < end || digits_of(here) != digits_of(lo)) break;
        end = here;
        if (last > hi) break;
    }
    return end;
}

static void write_whole(struct buf *out, uint64_t lo, uint64_t hi, int *any, const char *sign)
{
    while (lo <= hi) {
        const uint64_t end = piece_end(lo, hi);
        buf_fmt(out, "%s%s", *any ? "| " : "", sign);
        write_piece(out, lo, end);
        *any = 1;
        lo = end + 1;
    }
}

/* Numbers from lo on, without an upper bound. */
static void write_from(struct buf *out, uint64_t lo, int *any, const char *sign)
{
    const int n = digits_of(lo);
    write_whole(out, lo, power_of_ten(n) - 1, any, sign);
    buf_fmt(out, "| %s[1-9] [0-9]{%d,%d} ", sign, n, n > 15 ? n : 15);
}

/* Append grammar elements for the decimal numbers lo to hi in JSON spelling. INT64_MIN, INT64_MAX: no bound. */
static void json_range_write(struct buf *out, int64_t lo, int64_t hi)
{
    int any = 0;
    const int has_lo = lo != INT64_MIN, has_hi = hi != INT64_MAX;
    if (!has_lo || lo < 0) { /* negative numbers: with limits exchanged */
        const uint64_t from = has_hi && hi < 0 ? (uint64_t)-hi : 1;
        if (has_lo) write_whole(out, from, (uint64_t)-lo, &any, "\"-\" ");
        else write_from(out, from, &any, "\"-\" ");
    }
    if (has_hi && hi < 0) return;
    const uint64_t from = has_lo && lo > 0 ? (uint64_t)lo : 0;
    if (has_hi) write_whole(out, from, (uint64_t)hi, &any, "");
    else write_from(out, from, &any, "");
}

enum { COUNT_MAX = 2000 }; /* limit of repetitions in a grammar */

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
    if (schema_node(w, k)->i > COUNT_MAX) return schema_refuse(w, k, "at most 2000 are served");
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

int schema_put_type(struct schema_writer *w, uint32_t at, uint32_t type_at, const char *type)
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
    return schema_refuse(w, type_at, "object, array, string, integer, number, boolean and null are types");
}

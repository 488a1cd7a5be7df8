/* steno: JSON schemas as grammars. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include "harness.h"
#include "search/grammar.h"
#include "search/json_schema.h"

static struct arena arena;
static struct vocab bytes;

static int bytes_open(void **state)
{
    (void)state;
    static uint8_t byte[256];
    arena_init(&arena);
    if (vocab_init(&bytes, &arena, 256, 256, NULL)) return 1;
    for (int i = 0; i < 256; i++) byte[i] = (uint8_t)i, vocab_set(&bytes, i, &byte[i], 1);
    return 0;
}

static int bytes_close(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

/* Texts of this test have ' for ". */
static const char *quoted(char out[400], const char *text)
{
    size_t n = 0;
    for (; text[n] && n < 399; n++) out[n] = text[n] == '\'' ? '"' : text[n];
    out[n] = '\0';
    return out;
}

struct rules {
    struct grammar *g;
    struct matcher *m;
};

static struct rules rules_of(const char *schema)
{
    struct buf gbnf = { 0 };
    struct rules r;
    steno_error e = { 0 };
    if (json_schema_grammar(&gbnf, "root", schema, strlen(schema), &e)) fail_msg("%s: %s", schema, e.text);
    if (grammar_open(&r.g, gbnf.p, NULL, &e)) fail_msg("%s: %s\n%s", schema, e.text, gbnf.p);
    if (matcher_open(&r.m, r.g, &bytes, 256, -1, &e)) fail_msg("%s: %s", schema, e.text);
    buf_free(&gbnf);
    return r;
}

static void rules_close(struct rules r)
{
    matcher_close(r.m);
    grammar_close(r.g);
}

static int accepts(struct rules r, const char *text)
{
    int32_t at = matcher_start(r.m);
    for (; *text && at >= 0; text++) at = matcher_next(r.m, at, (uint8_t)*text);
    return at >= 0 && matcher_complete(r.m, at);
}

/* ---- what holds to a schema, and what does not ------------------------------------------------------------------------------- */

#define PERSON "{'type':'object','properties':{'name':{'type':'string'},'age':{'type':'integer'},'dog':{'type':'boolean'}}"
#define LIST "{'type':'object','properties':{'v':{'type':'number'},'next':{'anyOf':[{'$ref':'#'},{'type':'null'}]}}}"

static const struct {
    const char *schema, *yes[8], *no[10];
} cases[] = {
    { "{}", { "1", "'a'", "[]", "{'a':[1, {'b':null}]}", "true", "-0.5e+3" }, { "", "01", "{a:1}", "[1,]", "tru", "nul", "'\n'" } },
    { "true", { "null", "{}" }, { "" } },
    { "{'type':'string'}", { "''", "'a\\n\\u00e9'", "'\xc3\xa9'" }, { "a", "'", "'\\x'", "null" } },
    { "{'type':'string'}", { "'\\u0001\\u0010\\u0100\\u1000\\uD7ff\\ue000\\ud83d\\ude00'" },
      { "'\\u0000'", "'\\ud800'", "'\\ud800\\u0041'", "'\\uDC00'", "'\\u12'" } },
    { "{'type':'number'}", { "1e289", "-9e-100", "2E+07" }, { "1e290", "1e999", "1e300" } },
    { "{'type':'string','minLength':2,'maxLength':3}", { "'ab'", "'\xc3\xa9\xc3\xa9\xc3\xa9'" }, { "'a'", "'abcd'", "''" } },
    { "{'type':['string','null']}", { "null", "'a'" }, { "1", "nullx" } },
    { "{'enum':['a\\'b',1,null,{'x': [ 1 , 'q r' ]}]}", { "'a\\'b'", "1", "null", "{'x':[1,'q r']}" }, { "a", "2", "11" } },
    { "{'const':'x\\ty'}", { "'x\\u0009y'" }, { "'x\ty'", "x" } },
    { PERSON "}", { "{}", "{'name':'a'}", "{'age':1}", "{ 'name': 'a' , 'dog':true}", "{'name':'','age':-3,'dog':false}" },
      { "{'age':1,'name':'a'}", "{'name':1}", "{'x':1}", "{,}", "{'name':'a',}", "{'age':1.5}", "{'age':1 'dog':true}" } },
    { PERSON ",'required':['age']}", { "{'age':7}", "{'name':'a','age':7}", "{'age':0,'dog':true}" },
      { "{}", "{'name':'a'}", "{'dog':true}", "{,'age':7}" } },
    { PERSON ",'required':['name','age','dog']}", { "{'name':'a','age':7,'dog':true}" }, { "{'age':7}", "{}" } },
    { "{'type':'object','additionalProperties':{'type':'integer'},'maxProperties':2}", { "{}", "{'a':1}", "{'a':1,'b':2}" },
      { "{'a':'b'}", "{'a':1,'b':2,'c':3}" } },
    { "{'type':'object','additionalProperties':false}", { "{}", "{ }" }, { "{'a':1}" } },
    { "{'type':'array','items':{'type':'integer'},'minItems':1,'maxItems':2}", { "[1]", "[1, 2]", "[ 1 ]" },
      { "[]", "[1,2,3]", "[1,]", "[a]" } },
    { "{'items':{'type':'null'},'maxItems':0}", { "[]" }, { "[null]" } },
    { "{'prefixItems':[{'type':'integer'},{'type':'string'}],'items':false}", { "[1,'a']" }, { "[1]", "['a',1]", "[1,'a',2]" } },
    { LIST, { "{'v':1,'next':{'v':2,'next':null}}", "{}" }, { "{'next':1}", "{'v':1,'next':{'v':2,'next':nul}}" } },
    { "{'$ref':'#/$defs/a~1b','$defs':{'a/b':{'type':'boolean'}}}", { "true", "false" }, { "1" } },
    { "{'oneOf':[{'type':'integer'},{'const':'none'}]}", { "12", "'none'" }, { "'12'", "1.5" } },
    { "{'allOf':[{'type':'null'}]}", { "null" }, { "1" } },
    { "{'type':'string','format':'date'}", { "'2024-02-29'" }, { "'2024-13-01'", "'24-01-01'", "'2024-01-32'" } },
    { "{'type':'string','format':'date-time'}", { "'2024-01-02T03:04:05Z'", "'2024-01-02T03:04:05.678+01:30'" }, { "'2024-01-02'" } },
    { "{'type':'string','format':'uuid'}", { "'123e4567-e89b-12d3-a456-426614174000'" }, { "'123e4567'" } },
    { "{'type':'number','minimum':0}", { "0", "1.5", "2e-3" }, { "-1", "01" } },
};

static void test_texts_that_follow_a_schema_alone_are_accepted(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[400];
        const struct rules r = rules_of(quoted(text, cases[k].schema));
        for (int i = 0; i < 8 && cases[k].yes[i]; i++)
            if (!accepts(r, quoted(text, cases[k].yes[i]))) fail_msg("%s does not take %s", cases[k].schema, cases[k].yes[i]);
        for (int i = 0; i < 10 && cases[k].no[i]; i++)
            if (accepts(r, quoted(text, cases[k].no[i]))) fail_msg("%s takes %s", cases[k].schema, cases[k].no[i]);
        rules_close(r);
    }
}

static void test_whole_numbers_of_a_range_are_all_of_them_and_no_others(void **state)
{
    (void)state;
    static const long ends[] = { -1234, -1000, -999, -101, -100, -99, -10, -9, -1, 0, 1, 7, 9, 10, 19, 99, 100, 101, 119, 999, 1000, 1234 };
    enum { N = sizeof ends / sizeof *ends };
    for (int a = -1; a < N; a++)
        for (int b = a < 0 ? 0 : a; b <= N; b++) {
            char schema[128], lo[40] = "", hi[40] = "", number[24];
            if (a >= 0) snprintf(lo, sizeof lo, ",\"%s\":%ld", b % 2 ? "minimum" : "exclusiveMinimum", ends[a] - !(b % 2));
            if (b < N) snprintf(hi, sizeof hi, ",\"%s\":%ld", a % 2 ? "maximum" : "exclusiveMaximum", ends[b] + !(a % 2));
            snprintf(schema, sizeof schema, "{\"type\":\"integer\"%s%s}", lo, hi);
            const struct rules r = rules_of(schema);
            for (long v = -1300; v <= 1300; v += v % 10 == 5 && (a + b) % 3 ? 2 : 1) {
                snprintf(number, sizeof number, "%ld", v);
                const int in = (a < 0 || v >= ends[a]) && (b == N || v <= ends[b]);
                if (accepts(r, number) != in) fail_msg("%s: %s", schema, number);
            }
            assert_false(accepts(r, "007"));
            assert_int_equal(accepts(r, "123456789"), b == N);
            assert_int_equal(accepts(r, "-123456789"), a < 0);
            rules_close(r);
        }
}

/* ---- what is refused --------------------------------------------------------------------------------------------------------- */

static void expect_refusal(const char *schema, const char *says)
{
    char text[400], why[400];
    struct buf gbnf = { 0 };
    steno_error e = { 0 };
    const int rc = json_schema_grammar(&gbnf, "root", quoted(text, schema), strlen(schema), &e);
    if (rc != STENO_EARG && rc != STENO_EFORMAT) fail_msg("%s is taken: %s", schema, gbnf.p);
    if (!strstr(e.text, quoted(why, says))) fail_msg("%s: '%s' does not say '%s'", schema, e.text, says);
    buf_free(&gbnf);
}

static void test_unsupported_syntax_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *why;
    } bad[] = {
        { "", "the text ends inside a value" },
        { "{", "json_schema: line 1" },
        { "{'a':1,'a':2}", "'a' comes twice" },
        { "1", "it is not a schema" },
        { "false", "no value satisfies it" },
        { "{'not':{}}", "/not: this keyword is not served" },
        { "{'type':'string','pattern':'a'}", "/pattern: this keyword is not served" },
        { "{'properties':{'a':{'multipleOf':2}}}", "/properties/a/multipleOf: this keyword" },
        { "{'type':'text'}", "/type: object, array, string" },
        { "{'type':[]}", "it has no type" },
        { "{'type':[1]}", "/type/0: it is not a type" },
        { "{'type':3}", "it is not a type" },
        { "{'enum':[]}", "/enum: it is not a list of values" },
        { "{'anyOf':{}}", "it is not a list of schemas" },
        { "{'allOf':[{},{}]}", "allOf is served for one" },
        { "{'$ref':'http://a/b'}", "leads to nothing" },
        { "{'$ref':'#/x'}", "leads to nothing" },
        { "{'$ref':'#/$ref'}", "it is not a schema" },
        { "{'$ref':1}", "leads to nothing" },
        { "{'enum':[1],'const':1}", "one at a time" },
        { "{'$ref':'#','properties':{}}", "without properties" },
        { "{'type':'array','uniqueItems':true}", "that items differ" },
        { "{'minItems':3,'maxItems':2}", "so low a maximum and so high a minimum" },
        { "{'minItems':-1}", "/minItems: it is not a number of 0 or more" },
        { "{'maxLength':2001}", "at most 2000" },
        { "{'maxLength':1.5}", "not a number of 0" },
        { "{'type':'integer','minimum':5,'maximum':4}", "so large and so small" },
        { "{'type':'integer','minimum':0.5}", "whole numbers" },
        { "{'type':'integer','maximum':999999999999999999}", "below 10^17" },
        { "{'type':'number','maximum':1}", "minimum of 0 is served" },
        { "{'properties':[]}", "not an object of schemas" },
        { "{'properties':{'a':1}}", "/properties/a: it is not a schema" },
        { "{'required':['b'],'properties':{'a':{}}}", "/required/0: a property that is required" },
        { "{'required':3}", "it is not a list" },
        { "{'properties':{'a':{}},'additionalProperties':{'type':'null'}}", "where there are none" },
        { "{'properties':{'a':{}},'minProperties':1}", "where there are no properties" },
        { "{'additionalProperties':1}", "it is not a schema" },
        { "{'prefixItems':[{}],'items':{}}", "as false alone" },
        { "{'format':'email'}", "/format: date, time" },
        { "{'format':'date','minLength':3}", "its own length" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_refusal(bad[i].schema, bad[i].why);
}

static void test_a_schema_that_is_no_more_than_itself_is_refused(void **state)
{
    static const struct { const char *schema, *why; } bad[] = {
        { "{'$ref':'#'}", "/$ref: it leads back" },
        { "{'anyOf':[{'type':'null'},{'$ref':'#'}]}", "/anyOf/1/$ref: it leads back" },
        { "{'oneOf':[{'allOf':[{'$ref':'#'}]},{'type':'null'}]}", "/oneOf/0/allOf/0/$ref: it leads back" },
        { "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}", "/$defs/b/$ref: it leads back" },
        { "{'type':'array','items':{'$ref':'#/$defs/a'},'$defs':{'a':{'anyOf':[{'$ref':'#/$defs/a'},{'type':'null'}]}}}",
          "/$defs/a/anyOf/0/$ref: it leads back" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) expect_refusal(bad[i].schema, bad[i].why);
}

/* Values in each other, as deep as a text has them: nothing of it grows the stack of the process. */
static void test_a_schema_that_leads_to_itself_has_texts_of_any_depth(void **state)
{
    static const struct { const char *schema, *open, *middle, *close; } row[] = {
        { "{'type':'array','items':{'$ref':'#'}}", "[", "[]", "]" },
        { "{'type':'object','properties':{'next':{'anyOf':[{'$ref':'#'},{'type':'null'}]}},'required':['next']}", "{'next':", "null",
          "}" },
        { "{'$ref':'#/$defs/a','$defs':{'a':{'type':'array','items':{'$ref':'#/$defs/b'}},"
          "'b':{'type':'object','properties':{'v':{'$ref':'#/$defs/a'}},'required':['v']}}}", "[{'v':", "[]", "}]" },
        { "{'type':'object','additionalProperties':{'$ref':'#'}}", "{'k':", "{}", "}" },
        { "{}", "[", "1", "]" },
    };
    enum { MOST = 4000 }; /* deeper ones come to the limits of a matcher somewhere, and are rejected there */
    static const int depths[] = { 1, 2, 63, 64, 65, 1000, MOST, 300000 };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char schema[400], part[3][400];
        const struct rules r = rules_of(quoted(schema, row[i].schema));
        quoted(part[0], row[i].open), quoted(part[1], row[i].middle), quoted(part[2], row[i].close);
        for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
            struct buf text = { 0 };
            for (int d = 0; d < depths[k]; d++) buf_str(&text, part[0]);
            buf_str(&text, part[1]);
            const size_t cut = text.len;
            for (int d = 0; d < depths[k]; d++) buf_str(&text, part[2]);
            buf_add(&text, "", 1);
            assert_false(text.err);
            if (!accepts(r, text.p) && depths[k] <= MOST) fail_msg("%s: %d deep is rejected", row[i].schema, depths[k]);
            text.p[cut] = '\0';
            if (accepts(r, text.p)) fail_msg("%s: %d deep without its end is taken", row[i].schema, depths[k]);
            buf_free(&text);
        }
        rules_close(r);
    }
}

/* Schemas in each other. The reader of JSON takes 64 levels; deeper ones are refused, however deep. */
static void test_a_schema_is_at_most_so_deep(void **state)
{
    static const struct { int levels, taken; } row[] = { { 1, 1 }, { 31, 1 }, { 62, 1 }, { 63, 1 }, { 64, 1 }, { 65, 0 }, { 66, 0 },
                                                         { 1000, 0 }, { 300000, 0 } };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf text = { 0 }, gbnf = { 0 };
        struct grammar *g = NULL;
        steno_error e = { 0 };
        for (int d = 1; d < row[i].levels; d++) buf_str(&text, "{\"type\":\"array\",\"items\":");
        buf_str(&text, "{}");
        for (int d = 1; d < row[i].levels; d++) buf_str(&text, "}");
        assert_false(text.err);
        const int rc = json_schema_grammar(&gbnf, "root", text.p, text.len, &e);
        if (row[i].taken) {
            if (rc || grammar_open(&g, gbnf.p, NULL, &e)) fail_msg("%d levels: %s", row[i].levels, e.text);
            grammar_close(g);
        } else if (rc != STENO_EFORMAT || !strstr(e.text, "64")) fail_msg("%d levels: %d %s", row[i].levels, rc, e.text);
        buf_free(&text);
        buf_free(&gbnf);
    }
}

/* A schema that only leads back to itself has no text at all: its place is named, not the rule that was made of it. */
static void test_a_schema_without_end_is_no_grammar(void **state)
{
    (void)state;
    static const struct { const char *schema, *why; } row[] = {
        { "{\"type\":\"array\",\"items\":{\"$ref\":\"#\"},\"minItems\":1}", "json_schema, the whole: it never ends" },
        { "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\"}},\"$defs\":{\"b\":{\"properties\":{\"c\":{\"$ref\":\"#/$defs/b\"}},"
          "\"required\":[\"c\"]}}}", "json_schema, /$defs/b: it never ends" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf gbnf = { 0 };
        struct grammar *g;
        steno_error e = { 0 };
        const char *schema = row[i].schema;
        const size_t n = strlen(schema);
        assert_int_equal(json_schema_grammar(&gbnf, "root", schema, n, &e), STENO_OK);
        assert_int_equal(grammar_open(&g, gbnf.p, NULL, &e), STENO_EARG);
        assert_non_null(strstr(e.text, "never ends"));
        assert_int_equal(json_schema_blame(schema, n, STENO_EARG, &e), STENO_EARG);
        if (!strstr(e.text, row[i].why)) fail_msg("%s: %s", schema, e.text);
        snprintf(e.text, sizeof e.text, "line 1: another fault");
        assert_int_equal(json_schema_blame(schema, n, STENO_EARG, &e), STENO_EARG);
        assert_string_equal(e.text, "line 1: another fault");
        buf_free(&gbnf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_that_follow_a_schema_alone_are_accepted),
        cmocka_unit_test(test_whole_numbers_of_a_range_are_all_of_them_and_no_others),
        cmocka_unit_test(test_unsupported_syntax_is_refused_with_its_place),
        cmocka_unit_test(test_a_schema_that_is_no_more_than_itself_is_refused),
        cmocka_unit_test(test_a_schema_that_leads_to_itself_has_texts_of_any_depth),
        cmocka_unit_test(test_a_schema_is_at_most_so_deep),
        cmocka_unit_test(test_a_schema_without_end_is_no_grammar),
    };
    return cmocka_run_group_tests(tests, bytes_open, bytes_close);
}

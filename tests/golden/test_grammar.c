/* steno tests: grammars against an oracle. SPDX-License-Identifier: MIT
 *
 * tests/data/golden/grammar.json holds grammars, texts that are and are not sentences, and which of 300 tokens may follow a prefix, found
 * by an Earley parser over bytes; and grammars to refuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "harness.h"
#include "search/grammar.h"
#include "slow_grammar.h"

static struct {
    json_t *json;
    struct arena arena;
    struct vocab v;
    int32_t eos;
} oracle;

static uint8_t *bytes_of_hex(const char *hex, uint32_t *n)
{
    *n = (uint32_t)strlen(hex) / 2;
    uint8_t *s = arena_alloc(&oracle.arena, *n);
    assert_non_null(s);
    for (uint32_t i = 0; i < *n; i++) {
        unsigned v;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
        s[i] = (uint8_t)v;
    }
    return s;
}

static int group_begin(void **state)
{
    (void)state;
    json_error_t why;
    oracle.json = json_load_file("tests/data/golden/grammar.json", 0, &why);
    if (!oracle.json) fail_msg("line %d: %s", why.line, why.text);
    arena_init(&oracle.arena);
    const json_t *vocab = json_object_get(oracle.json, "vocab_hex");
    const int32_t n = (int32_t)json_array_size(vocab);
    oracle.eos = (int32_t)json_integer_value(json_object_get(oracle.json, "eos"));
    assert_int_equal(n, 300);
    assert_int_equal(oracle.eos, n - 1);
    assert_int_equal(vocab_init(&oracle.v, &oracle.arena, n, oracle.eos, NULL), 0);
    for (int32_t id = 0; id < n; id++) {
        uint32_t len;
        const uint8_t *s = bytes_of_hex(json_string_value(json_array_get(vocab, (size_t)id)), &len);
        vocab_set(&oracle.v, id, s, len);
    }
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    json_decref(oracle.json);
    arena_free(&oracle.arena);
    return 0;
}

/* ids below 256 are the bytes */
static int32_t feed(struct matcher *m, const void *text, size_t n)
{
    int32_t at = matcher_start(m);
    for (size_t i = 0; i < n; i++) at = matcher_next(m, at, ((const uint8_t *)text)[i]);
    return at;
}

static struct matcher *open_case(const json_t *grammar, struct grammar **g)
{
    struct matcher *m;
    steno_error e;
    const char *name = json_string_value(json_object_get(grammar, "name"));
    if (grammar_open(g, json_string_value(json_object_get(grammar, "grammar")), NULL, &e)) fail_msg("%s: %s", name, e.text);
    if (matcher_open(&m, *g, &oracle.v, oracle.eos, oracle.eos, &e)) fail_msg("%s: %s", name, e.text);
    return m;
}

static void close_case(struct matcher *m, struct grammar *g)
{
    matcher_close(m);
    grammar_close(g);
}

static void expect_sentences(struct matcher *m, const json_t *grammar, const char *list, int want)
{
    const json_t *texts = json_object_get(grammar, list);
    assert_true(json_array_size(texts) > 0);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        const int got = matcher_complete(m, feed(m, json_string_value(text), json_string_length(text)));
        if (got != want)
            fail_msg("%s, %s: \"%s\" %s", json_string_value(json_object_get(grammar, "name")), list, json_string_value(text),
                     got ? "is a sentence" : "is none");
    }
}

static void test_the_slow_recogniser_accepts_sentences_alone(void **state)
{
    (void)state;
    size_t i;
    json_t *grammar;
    assert_int_equal(json_array_size(json_object_get(oracle.json, "grammars")), 12);
    json_array_foreach(json_object_get(oracle.json, "grammars"), i, grammar) {
        struct grammar *g;
        struct matcher *m = open_case(grammar, &g);
        expect_sentences(m, grammar, "accept", 1);
        expect_sentences(m, grammar, "reject", 0);
        close_case(m, g);
    }
}

/* The recogniser that other tests hold decodings against is right itself. */
static void test_the_slow_recogniser_accepts_the_same_sentences(void **state)
{
    (void)state;
    static struct slow_grammar slow;
    size_t i, k;
    int n = 0;
    json_t *grammar, *text;
    json_array_foreach(json_object_get(oracle.json, "grammars"), i, grammar) {
        const char *name = json_string_value(json_object_get(grammar, "name"));
        if (!slow_read(&slow, json_string_value(json_object_get(grammar, "grammar")))) fail_msg("%s: is not read", name);
        for (int want = 0; want < 2; want++)
            json_array_foreach(json_object_get(grammar, want ? "accept" : "reject"), k, text) {
                const char *s = json_string_value(text);
                if (strlen(s) != json_string_length(text)) continue; /* has a NUL */
                if (slow_sentence(&slow, NULL, s) != want) fail_msg("%s: \"%s\": want %d", name, s, want);
                n++;
            }
    }
    assert_true(n > 80);
}

static void expect_mask(struct matcher *m, const char *name, const json_t *want)
{
    const char *hex = json_string_value(json_object_get(want, "prefix_hex"));
    uint32_t n;
    const uint8_t *prefix = bytes_of_hex(hex, &n);
    const int32_t at = feed(m, prefix, n);
    if (json_is_true(json_object_get(want, "dead"))) {
        if (at != MATCH_REJECTED) fail_msg("%s: prefix %s is not rejected", name, hex);
        return;
    }
    if (at < 0) fail_msg("%s: prefix %s gives %d", name, hex, (int)at);
    if (matcher_complete(m, at) != json_is_true(json_object_get(want, "complete"))) fail_msg("%s: prefix %s: complete?", name, hex);
    uint8_t allowed[300] = { 0 };
    const json_t *ids = json_object_get(want, "allowed");
    for (size_t i = 0; i < json_array_size(ids); i++) allowed[json_integer_value(json_array_get(ids, i))] = 1;
    const uint32_t *found = matcher_mask(m, at);
    assert_non_null(found);
    uint32_t mask[300 / 32 + 1]; /* steps come before it is read */
    memcpy(mask, found, ((size_t)oracle.eos + 31) / 32 * sizeof *mask);
    for (int32_t id = 0; id < oracle.eos; id++) {
        const int got = mask[id / 32] >> id % 32 & 1;
        if (got != allowed[id]) fail_msg("%s: prefix %s: id %d is %s", name, hex, (int)id, got ? "allowed" : "barred");
        if ((matcher_next(m, at, id) >= 0) != got) fail_msg("%s: prefix %s: id %d: mask and step differ", name, hex, (int)id);
    }
    assert_int_equal(allowed[oracle.eos], matcher_complete(m, at));
}

static void test_allowed_ids_are_those_that_some_sentence_goes_on_with(void **state)
{
    (void)state;
    size_t i, k, n = 0;
    json_t *grammar, *want;
    json_array_foreach(json_object_get(oracle.json, "grammars"), i, grammar) {
        struct grammar *g;
        struct matcher *m = open_case(grammar, &g);
        json_array_foreach(json_object_get(grammar, "masks"), k, want) {
            expect_mask(m, json_string_value(json_object_get(grammar, "name")), want);
            n++;
        }
        close_case(m, g);
    }
    assert_true(n > 100);
}

static void test_wrong_grammars_are_refused_with_line_and_column(void **state)
{
    (void)state;
    size_t i;
    json_t *wrong;
    assert_int_equal(json_array_size(json_object_get(oracle.json, "invalid")), 21);
    json_array_foreach(json_object_get(oracle.json, "invalid"), i, wrong) {
        struct grammar *g = (struct grammar *)&oracle;
        steno_error e = { 0 };
        unsigned line, column;
        const char *why = json_string_value(json_object_get(wrong, "why"));
        if (grammar_open(&g, json_string_value(json_object_get(wrong, "grammar")), NULL, &e) != STENO_EARG) fail_msg("%s: taken", why);
        assert_null(g);
        if (sscanf(e.text, "grammar, line %u, column %u: ", &line, &column) != 2) fail_msg("%s: \"%s\"", why, e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_slow_recogniser_accepts_sentences_alone),
        cmocka_unit_test(test_the_slow_recogniser_accepts_the_same_sentences),
        cmocka_unit_test(test_allowed_ids_are_those_that_some_sentence_goes_on_with),
        cmocka_unit_test(test_wrong_grammars_are_refused_with_line_and_column),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

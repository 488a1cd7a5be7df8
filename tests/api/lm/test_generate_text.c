/* steno tests: texts that are made, and what holds them. SPDX-License-Identifier: MIT */
#include "shipped_session.h"

static int32_t head[4];

static int head_open(void **state)
{
    const int rc = shipped_session_open(state);
    head[0] = steno_token_id(model, STENO_TOKEN_START);
    head[1] = steno_token_id(model, STENO_TOKEN_LANGUAGE);
    head[2] = steno_token_id(model, STENO_TOKEN_TRANSCRIBE);
    head[3] = steno_token_id(model, STENO_TOKEN_NO_TIMESTAMPS);
    return rc;
}

static steno_generate_params params_of(void)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    return p;
}

static int generate(const steno_generate_params *p)
{
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    return steno_generate(session, head, 4, p);
}

/* The text that on_token has received. */
struct heard { char text[400]; int n, ends, stop_after, rc; };

static int hear(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct heard *h = user;
    assert_true(strlen(h->text) + n < sizeof h->text);
    strncat(h->text, text, n);
    if (!tok) h->ends++;
    else h->n++;
    int count;
    (void)steno_generated(session, &count);
    assert_int_equal(count, h->n);
    const int32_t one = 1;
    h->rc |= steno_generate(session, &one, 1, NULL) != STENO_EARG; /* another call is refused, and does no harm */
    return h->stop_after && h->n >= h->stop_after;
}

static void test_the_callback_receives_the_text_and_may_end_it(void **state)
{
    (void)state;
    struct heard h = { .n = 0 }, few = { .stop_after = 3 };
    steno_generate_params p = params_of();
    p.on_token = hear;
    p.user = &h;
    const int n = generate(&p);
    assert_int_equal(n, h.n);
    assert_string_equal(h.text, demo_text);
    assert_string_equal(steno_generated_text(session), demo_text);
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_END);
    assert_int_equal(h.rc, 0);
    p.user = &few;
    assert_int_equal(generate(&p), 3);
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_CALLER);
    p.on_token = NULL;
    const int more = steno_generate_continue(session, NULL, 0, &p);
    assert_int_equal(3 + more, h.n);
    p.max_tokens = 2;
    assert_int_equal(generate(&p), 2);
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_LENGTH);
    steno_token tok = { .size = sizeof tok };
    assert_int_equal(steno_generated_get(session, 1, &tok), STENO_OK);
    assert_true(tok.logprob <= 0 && tok.id == steno_generated(session, NULL)[1]);
    assert_int_equal(steno_generated_get(session, 2, &tok), STENO_EARG);
}

static void test_a_stop_ends_the_text_before_it_and_is_never_reported(void **state)
{
    (void)state;
    struct heard h = { .n = 0 };
    const char *const stop[] = { "nothing of this", "one e" };
    steno_generate_params p = params_of();
    p.on_token = hear;
    p.user = &h;
    p.stop = stop;
    p.n_stop = 2;
    assert_true(generate(&p) > 0);
    assert_string_equal(steno_generated_text(session), " zero nine ");
    assert_string_equal(h.text, " zero nine ");
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_STOP);
    const char *const none[] = { "" };
    p.stop = none;
    p.n_stop = 1;
    assert_int_equal(generate(&p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "stop 0 is empty"));
}

static void test_a_grammar_or_schema_holds_whatever_is_drawn(void **state)
{
    (void)state;
    for (int seed = 0; seed < 6; seed++) {
        steno_generate_params p = params_of();
        p.temperature = seed ? 2 : 0;
        p.seed = (uint64_t)seed;
        p.top_k = seed % 2 ? 20 : 0;
        p.grammar = "root ::= \" \" (\"two\" | \"one\" | \"six\") \".\"";
        assert_true(generate(&p) > 0);
        const char *text = steno_generated_text(session);
        if (strcmp(text, " two.") && strcmp(text, " one.") && strcmp(text, " six.")) fail_msg("'%s'", text);
        assert_int_equal(steno_generate_finish(session), STENO_FINISH_END);
        p.grammar = NULL;
        p.json_schema = "{\"enum\":[\"ab\",12]}";
        assert_true(generate(&p) > 0);
        text = steno_generated_text(session);
        if (strcmp(text, "\"ab\"") && strcmp(text, "12")) fail_msg("'%s'", text);
    }
}

static void refused(const steno_generate_params *p, const char *why)
{
    assert_int_equal(generate(p), STENO_EARG);
    if (!strstr(steno_last_error(session), why)) fail_msg("'%s' does not say '%s'", steno_last_error(session), why);
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_NONE);
    assert_string_equal(steno_generated_text(session), "");
}

/* JSON of a schema is a rule of the grammar. The same rules with another schema, or without one, are another grammar. */
static void test_a_grammar_has_json_of_a_schema(void **state)
{
    (void)state;
    static const struct { const char *grammar, *schema, *want; } it[] = {
        { "root ::= \"(\" json-schema \")\"", "{\"const\":\"ab\"}", "(\"ab\")" }, { "root ::= \"(\" json-schema \")\"", "{\"const\":12}",
          "(12)" },
        { NULL, "{\"const\":12}", "12" }, { "root ::= \"(\" json-schema \")\"\njson-schema ::= \"x\"", NULL, "(x)" },
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        steno_generate_params p = params_of();
        p.grammar = it[i].grammar;
        p.json_schema = it[i].schema;
        if (generate(&p) <= 0) fail_msg("%s", steno_last_error(session));
        assert_string_equal(steno_generated_text(session), it[i].want);
    }
    steno_generate_params p = params_of();
    p.grammar = "root ::= json-schema\nstring ::= \"x\"";
    p.json_schema = "{\"const\":12}";
    refused(&p, "string");
    p.grammar = "root ::= json-schema";
    p.json_schema = "{\"not\":1}";
    refused(&p, "/not");
}

/* Where nothing is cut away, what is drawn by a grammar is drawn with the same noise: a grammar that lets all pass changes nothing. */
static void test_a_grammar_that_lets_all_pass_changes_nothing(void **state)
{
    (void)state;
    char plain[400];
    steno_generate_params p = params_of();
    p.temperature = 0.7;
    p.max_tokens = 30;
    assert_true(generate(&p) > 0);
    snprintf(plain, sizeof plain, "%s", steno_generated_text(session));
    p.grammar = "root ::= .*";
    assert_true(generate(&p) > 0);
    assert_string_equal(steno_generated_text(session), plain);
}

static int abort_at_once(void *user)
{
    ++*(int *)user;
    return 1;
}

static void test_impossible_parameters_are_refused_by_name(void **state)
{
    (void)state;
    steno_generate_params p = params_of();
    int asked = 0;
#define REFUSED(field, value, why) p = params_of(), p.field = value, refused(&p, why)
    REFUSED(temperature, (double)NAN, "temperature");
    REFUSED(temperature, 1e-9, "temperature");
    REFUSED(min_p, 1.5, "min_p is 1.5");
    REFUSED(top_p, -0.1, "top_p");
    REFUSED(top_k, -1, "top_k is -1");
    REFUSED(repeat_penalty, 0, "repeat_penalty is 0");
    REFUSED(repeat_last_n, -2, "repeat_last_n");
    REFUSED(samplers, "top_k;top_k", "twice");
    REFUSED(grammar, "", "grammar is empty");
    REFUSED(grammar, "root ::= \"a", "grammar, line 1");
    REFUSED(grammar, "root ::= \"\"", "no token would be allowed");
    REFUSED(grammar_rule, "a", "grammar_rule needs grammar");
    REFUSED(json_schema, "{\"not\":1}", "/not");
    REFUSED(n_stop, 1, "stop");
    p = params_of();
    p.grammar = p.json_schema = "x";
    refused(&p, "does not use json-schema");
    static const char *const unused[] = { "root ::= my-json-schema\nmy-json-schema ::= \"x\"", "# json-schema\nroot ::= \"x\"",
                                          "root ::= \"json-schema\" [json-schema\\]]", "root ::= \"\\\"json-schema\"" };
    p.json_schema = "{}";
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        p.grammar = unused[i];
        refused(&p, "does not use json-schema");
    }
    p.grammar = "root ::= json-schema";
    p.json_schema = "{\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}";
    refused(&p, "json_schema, the whole: it never ends");
    p.grammar = "root ::= json-schema | s2\ns2 ::= \"x\" s2";
    p.json_schema = "{\"type\":\"null\"}";
    refused(&p, "rule \"s2\" never ends");
    p = params_of();
    p.should_abort = abort_at_once;
    p.user = &asked;
    assert_int_equal(generate(&p), STENO_ECANCELED);
    assert_true(asked > 0);
    assert_int_equal(steno_generate_finish(session), STENO_FINISH_CANCELED);
}

static void test_characters_come_whole_from_the_detokenizer(void **state)
{
    (void)state;
    steno_detokenizer *d;
    steno_error e;
    char all[400] = "";
    int n;
    assert_true(generate(NULL) > 0);
    const int32_t *ids = steno_generated(session, &n);
    assert_int_equal(steno_detokenizer_open(&d, model, 0, &e), STENO_OK);
    for (int i = 0; i < n; i++) strcat(all, steno_detokenizer_push(d, ids[i], NULL));
    assert_string_equal(all, demo_text);
    size_t len = 9;
    assert_string_equal(steno_detokenizer_end(d, &len), "");
    assert_int_equal(len, 0);
    assert_null(steno_detokenizer_push(d, -1, NULL));
    assert_null(steno_detokenizer_push(NULL, 1, NULL));
    steno_detokenizer_close(d);
    steno_detokenizer_close(NULL);
    assert_int_equal(steno_detokenizer_open(&d, NULL, 0, &e), STENO_EARG);
    assert_null(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_callback_receives_the_text_and_may_end_it),
        cmocka_unit_test(test_a_stop_ends_the_text_before_it_and_is_never_reported),
        cmocka_unit_test(test_a_grammar_or_schema_holds_whatever_is_drawn),
        cmocka_unit_test(test_a_grammar_has_json_of_a_schema),
        cmocka_unit_test(test_a_grammar_that_lets_all_pass_changes_nothing),
        cmocka_unit_test(test_impossible_parameters_are_refused_by_name),
        cmocka_unit_test(test_characters_come_whole_from_the_detokenizer),
    };
    return cmocka_run_group_tests(tests, head_open, shipped_session_close);
}

/* steno tests: grammars made to exhaust, and memory that runs out. SPDX-License-Identifier: MIT */
#include "grammar_work.h"
#include "api/heap.h"

/* a piece, n times, between two others */
static char *repeated(const char *before, const char *piece, int n, const char *after)
{
    struct buf b = { 0 };
    buf_str(&b, before);
    for (int i = 0; i < n; i++) buf_str(&b, piece);
    buf_str(&b, after);
    assert_false(b.err);
    return b.p;
}

/* ---- grammars made to exhaust ------------------------------------------------------------------------------------------------ */

static void expect_refused_repeated(const char *before, const char *piece, int n, const char *after, const char *why)
{
    char *text = repeated(before, piece, n, after);
    expect_refused(text, why);
    free(text);
}

static void test_hostile_texts_are_refused(void **state)
{
    (void)state;
    expect_refused_repeated("root ::= ", "(", 1 << 20, "", "line 1, column 509: groups are nested deeper than 499");
    expect_refused_repeated("root ::= \"a\"", "*", 1 << 20, "", "longer than");
    expect_refused_repeated("root ::= ", "\"a\"{0,2000} ", 1000, "", "longer than");
    expect_refused_repeated("root ::= ", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaa\" ", 1 << 16, "", "longer than");
    expect_refused_repeated("root ::= ", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaa\" ", 1 << 18, "", "a grammar has at most");
    expect_refused_repeated("root ::= x ", "| x \"a\"", 1 << 16, "\nx ::= root | \"b\"", "begin with itself");
}

static void test_repetitions_add_up_and_do_not_multiply(void **state)
{
    (void)state;
    struct at_work w = work("root ::= (((\"a\"{1000}){1000}){1000}){1000} | \"b\"{2000}{2000}{2000}");
    assert_true(feed(w.m, "aaaaaaaaaa") > 0);
    assert_true(feed(w.m, "bbbbbbbbbb") > 0);
    assert_int_equal(feed(w.m, "ab"), MATCH_REJECTED);
    done(&w);
}

static void test_many_ways_to_read_cost_as_many_stacks_as_places(void **state)
{
    (void)state;
    char *text = repeated("root ::= ", "x ", 500, "\nx ::= \"a\"*");
    struct at_work w = work(text);
    int32_t at = matcher_start(w.m);
    for (int i = 0; i < 1000; i++) at = matcher_next(w.m, at, 'a');
    assert_true(matcher_complete(w.m, at));
    assert_non_null(matcher_mask(w.m, at));
    done(&w);
    free(text);
    text = repeated("root ::= \"a\"", "*", 20000, "");
    w = work(text);
    assert_true(matcher_complete(w.m, feed(w.m, "aaa")));
    done(&w);
    free(text);
}

static void expect_too_many(const char *text)
{
    struct grammar *g;
    struct matcher *m = (struct matcher *)&toy;
    steno_error e = { 0 };
    if (grammar_open(&g, text, NULL, &e)) fail_msg("%s", e.text);
    assert_int_equal(matcher_open(&m, g, &toy.v, toy.n_text, toy.n_text, &e), STENO_EARG);
    assert_null(m);
    if (!strstr(e.text, "too many ways")) fail_msg("%s", e.text);
    grammar_close(g);
}

static void test_too_many_ways_to_begin_are_refused(void **state)
{
    (void)state;
    expect_too_many("root ::= ((\"a\"?){1000}){1000}");
    struct buf b = { 0 };
    buf_str(&b, "root ::= r0\n");
    for (int i = 0; i < 40; i++) buf_fmt(&b, "r%d ::= r%d \"x\" | r%d \"y\"\n", i, i + 1, i + 1);
    buf_str(&b, "r40 ::= \"a\"\n");
    expect_too_many(b.p);
    buf_free(&b);
}

/* Doubling with every character: the bound is met on the way, and what was there before is as good as new. */
static void test_too_many_ways_to_go_on_end_in_nomem(void **state)
{
    (void)state;
    struct at_work w = work("root ::= \"a\" ((x | x \"!\") | (x \"?\" | x \"-\"))\n"
                            "x ::= \"a\" ((root | root \"1\") | (root \"2\" | root \"3\")) | \"b\"");
    assert_string_equal(matcher_why(w.m), "");
    int32_t at = matcher_start(w.m), before = at;
    int n = 0;
    for (; at >= 0 && n < 100; n++) {
        before = at;
        at = matcher_next(w.m, at, 'a');
    }
    assert_int_equal(at, MATCH_NOMEM);
    assert_true(n > 4);
    assert_non_null(strstr(matcher_why(w.m), "too many ways"));
    assert_int_equal(matcher_next(w.m, before, 'a'), MATCH_NOMEM);
    assert_null(matcher_mask(w.m, before));
    assert_true(matcher_next(w.m, matcher_start(w.m), 'a') > 0);
    assert_non_null(matcher_mask(w.m, matcher_start(w.m)));
    matcher_reset(w.m);
    assert_true(feed(w.m, "ab") > 0);
    done(&w);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

/* Open, read and ask. @return 0, STENO_ENOMEM; NOMEM of the matcher counts as such */
static int use_all(steno_error *e)
{
    static const char text[] = "root ::= ([a-z]+ | \"(\" root \")\" | number{1,3})* \"yes\"\nnumber ::= [0-9\u4f60] \".\"?";
    struct grammar *g;
    struct matcher *m = NULL;
    int rc = grammar_open(&g, text, NULL, e);
    if (!rc) rc = matcher_open(&m, g, &toy.v, toy.n_text, toy.n_text, e);
    int32_t at = 0;
    for (const char *s = "((((((((((a(1.(2.3.no"; !rc && *s; s++) {
        const uint32_t *mask = matcher_mask(m, at);
        const int32_t next = matcher_next(m, at, (uint8_t)*s);
        if (!mask || next == MATCH_NOMEM) rc = err_set(e, STENO_ENOMEM, "%s", matcher_why(m));
        else assert_true(next >= 0);
        at = next;
    }
    matcher_close(m);
    grammar_close(g);
    return rc;
}

static void test_without_memory_nothing_stays_behind(void **state)
{
    (void)state;
    need_counting();
    for (int64_t fail_at = 0;; fail_at++) {
        steno_error e = { 0 };
        count_begin(fail_at);
        const int rc = use_all(&e);
        const struct heap h = count_end();
        assert_int_equal(h.bytes, 0);
        if (!rc && fail_at >= h.calls) break;
        if (rc && rc != STENO_ENOMEM) fail_msg("allocation %d: %d, %s", (int)fail_at, rc, e.text);
        if (rc) assert_non_null(strstr(e.text, "memory"));
        assert_true(fail_at < 2000);
    }
}

/* A call that had no memory can be made again. */
static void test_a_matcher_outlives_a_call_without_memory(void **state)
{
    (void)state;
    need_counting();
    struct at_work w = work("root ::= \"(\" root \")\" | [a-z]*");
    int32_t at = matcher_start(w.m);
    for (int i = 0; i < 300; i++) {
        for (int64_t fail_at = 0;; fail_at++) {
            count_begin(fail_at);
            const uint32_t *mask = matcher_mask(w.m, at);
            const int32_t next = mask ? matcher_next(w.m, at, '(') : MATCH_NOMEM;
            const struct heap h = count_end();
            if (next >= 0 && fail_at >= h.calls) {
                at = next;
                break;
            }
            assert_true(next != MATCH_REJECTED);
        }
    }
    for (int i = 0; i < 300; i++) at = matcher_next(w.m, at, ')');
    assert_true(matcher_complete(w.m, at));
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_texts_are_refused),
        cmocka_unit_test(test_repetitions_add_up_and_do_not_multiply),
        cmocka_unit_test(test_many_ways_to_read_cost_as_many_stacks_as_places),
        cmocka_unit_test(test_too_many_ways_to_begin_are_refused),
        cmocka_unit_test(test_too_many_ways_to_go_on_end_in_nomem),
        cmocka_unit_test(test_without_memory_nothing_stays_behind),
        cmocka_unit_test(test_a_matcher_outlives_a_call_without_memory),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

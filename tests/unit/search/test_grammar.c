/* steno tests: grammars. SPDX-License-Identifier: MIT
 *
 * What the oracle of tests/golden does not ask: where a message points, what lies outside of the notation, real vocabularies. */
#include "grammar_work.h"
#include "real_vocab.h"

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */

static void test_messages_point_at_what_is_wrong(void **state)
{
    (void)state;
    expect_refused("root ::= \"a\"\nx ::= \"\u4f60\" \"abc", "line 2, column 11: this text in quotes is not closed");
    expect_refused("root ::= \"a\" (\n  \"b\" |\n  [c\n", "line 3, column 3: this set of characters is not closed");
    expect_refused("root ::= (\"a\" | x\nx ::= \"b\"\n", "line 1, column 10: this group is not closed");
    expect_refused("root ::= (\"a\"", "line 1, column 10: this group is not closed");
    expect_refused("root ::= \"a\"\n  | \"b\"", "line 2, column 3: a rule ends with its line");
    expect_refused("root ::= a_b", "line 1, column 11");
    expect_refused("root ::= x\r\n\r\nx ::= y", "line 3, column 7: rule \"y\" is not defined");
    expect_refused("root ::= \"a\" \"\\q\"", "line 1, column 15: unknown escape");
    expect_refused("root ::= \"\\u12g4\"", "line 1, column 11: the escape \\u takes 4");
    expect_refused("root ::= \"\\", "line 1, column 11: unknown escape");
    expect_refused("root ::= [\\", "line 1, column 11: unknown escape");
    expect_refused("root ::= [a-", "line 1, column 10: this set of characters is not closed");
    expect_refused("root ::= [\\x4", "the escape \\x takes 2");
    expect_refused("root ::= [z-a]", "line 1, column 11: this range ends before it begins");
    expect_refused("root ::= []", "line 1, column 10: this set of characters is empty");
    expect_refused("root ::= [^]", "this set of characters is empty");
    expect_refused("root ::= [^\\x00-\\U0010ffff]", "this set matches no character");
    expect_refused("root ::= [\\ud800-\\udfff]", "this set matches no character");
    expect_refused("root ::= \"\\ud83d\"", "line 1, column 11: U+D83D is half of a character");
    expect_refused("root ::= \"\\U00110000\"", "0x110000 is not a character");
    expect_refused("root ::= \"a\xff\"", "line 1, column 12: byte 0xff is not UTF-8");
    expect_refused("root ::= \"a\"{", "line 1, column 14: a repetition is");
    expect_refused("root ::= \"a\"{,3}", "line 1, column 14: a repetition is");
    expect_refused("root ::= \"a\"{3", "line 1, column 15: '}' is missing");
    expect_refused("root ::= \"a\"{3,2}", "line 1, column 13: a repetition from 3 to 2 times");
    expect_refused("root ::= \"a\"{18446744073709551617}", "line 1, column 14: at most 2000");
    expect_refused("root ::= | * \"a\"", "line 1, column 12: '*' has no element before it");
    expect_refused("root ::= \"a\" | )", "line 1, column 16: ')' without '('");
    expect_refused("root ::= <[3]> \"a\"", "line 1, column 10: elements that stand for tokens are not supported");
    expect_refused("root ::= !<a>", "line 1, column 10: elements that stand for tokens");
    expect_refused("# only a comment", "line 1, column 17: the text ends without a rule \"root\"");
    expect_refused("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 1: rule \"root\" is defined twice");
    expect_refused_from("root ::= \"a\"", "command", "without a rule \"command\"");
    expect_refused_from("root ::= command", "command", "without a rule \"command\"");
}

static void test_rules_that_begin_with_themselves_or_never_end_are_refused(void **state)
{
    (void)state;
    expect_refused("root ::= x\nx ::= \"a\" | y\ny ::= z z x\nz ::= \"\" | \"b\"", "line 2, column 1: rule \"x\" can begin with itself");
    expect_refused("root ::= (((root)*)?)+ \"a\"", "rule \"root\" can begin with itself");
    expect_refused("root ::= \"a\" x\nx ::= (\"b\" x)", "line 2, column 1: rule \"x\" never ends");
    expect_refused("root ::= \"a\" | \"b\" x\nx ::= \"c\" y\ny ::= \"d\" x", "line 2, column 1: rule \"x\" never ends");
}

static void test_a_start_without_a_text_is_refused(void **state)
{
    (void)state;
    expect_refused("", "line 1, column 1: the text is empty");
    expect_refused(" \r\n\t", "line 2, column 2: the text is empty");
    expect_refused("root ::=", "line 1, column 1: rule \"root\" has only the empty text");
    expect_refused("x ::= \"\"\nroot ::= (x | x x)* y\ny ::= \"a\"{0}", "line 2, column 1: rule \"root\" has only the empty text");
    expect_refused_from("root ::= \"a\"\nb ::= c?\nc ::= \"\"", "b", "line 2, column 1: rule \"b\" has only the empty text");
}

/* ---- notation ---------------------------------------------------------------------------------------------------------------- */

static void expect_sentences(const char *grammar, const char *const *good, const char *const *bad)
{
    struct at_work w = work(grammar);
    for (; *good; good++)
        if (!matcher_complete(w.m, feed(w.m, *good))) fail_msg("%s: \"%s\" is no sentence", grammar, *good);
    for (; *bad; bad++)
        if (matcher_complete(w.m, feed(w.m, *bad))) fail_msg("%s: \"%s\" is a sentence", grammar, *bad);
    done(&w);
}

#define LIST(...) (const char *const[]) { __VA_ARGS__, NULL }

static void test_the_whole_notation_is_read(void **state)
{
    (void)state;
    expect_sentences("root ::= \"a\"{2}{2} \"b\"{0} \"c\"{1,}? \"d\"{ 0 , 1 }",
                     LIST("aaaa", "aaaac", "aaaaccd", "aaaad"), LIST("aaa", "aaaab", "aaaadd"));
    expect_sentences("root ::= [--a] [x-] [a\\-c] [^a-y]", LIST("-xaz", "9--z"), LIST("bxaz", "-yaz", "-xbz", "-xaa"));
    expect_sentences("root ::= [c-ea-db\\]\\[]", LIST("a", "b", "c", "d", "e", "]", "["), LIST("f", "\\", "^"));
    expect_sentences("root ::= \"\"* (\"\" | \"b\")+ (\"a\"? \"c\"*)*", LIST("", "b", "bb", "acca", "bac"), LIST("ab", "cb"));
    expect_sentences("\t# x\r\nroot\t::=# x\r\n a | # y\r\n \"b\" # z\r\na ::= \"c\"\t\"d\" *", LIST("b", "c", "cdd"), LIST("d", "cb"));
    expect_sentences("root ::= x | y\ny ::= \"a\"\nx ::=", LIST("", "a"), LIST("aa"));
    expect_sentences("root ::= \"a\" root \"b\" | root-2 | \"\"\nroot-2 ::= \"\\x63\"",
                     LIST("", "ab", "aabb", "acb"), LIST("aab", "abb", "ba"));
    expect_sentences("root ::= \"a\nb\"", LIST("a\nb"), LIST("ab"));
}

static void test_any_rule_may_be_the_start(void **state)
{
    (void)state;
    struct grammar *g;
    struct matcher *m;
    assert_int_equal(grammar_open(&g, "root ::= \"a\" answer\nanswer ::= \"yes\" | \"no\"", "answer", NULL), 0);
    assert_int_equal(matcher_open(&m, g, &toy.v, toy.n_text, toy.n_text, NULL), 0);
    assert_true(matcher_complete(m, matcher_next(m, matcher_start(m), 256)));
    assert_int_equal(matcher_next(m, matcher_start(m), 'a'), MATCH_REJECTED);
    matcher_close(m);
    grammar_close(g);
}

/* ---- states and masks -------------------------------------------------------------------------------------------------------- */

static void test_equal_states_are_one(void **state)
{
    (void)state;
    struct at_work w = work("root ::= ([a-z]+ \" \"?)* | \"yes\"");
    const int32_t a = feed(w.m, "ab"), b = feed(w.m, "ab no abc");
    assert_true(a >= 0);
    assert_int_equal(a, b);
    assert_int_equal(matcher_next(w.m, matcher_start(w.m), 259), feed(w.m, "ab"));
    for (int i = 0; i < 1000; i++) assert_int_equal(matcher_next(w.m, a, 'x'), a);
    done(&w);
}

/* The mask and single steps must say the same of every id. */
static void expect_mask_of_steps(struct matcher *m, const struct vocab *v, int32_t n_text, int32_t at)
{
    const size_t sz = ((size_t)n_text + 31) / 32 * sizeof(uint32_t);
    uint32_t *mask = malloc(sz);
    const uint32_t *found = matcher_mask(m, at);
    assert_non_null(found);
    memcpy(mask, found, sz);
    for (int32_t id = 0; id < n_text; id++) {
        const int32_t next = matcher_next(m, at, id);
        assert_true(next != MATCH_NOMEM);
        if ((next >= 0) != (mask[id / 32] >> id % 32 & 1)) fail_msg("id %d (%u bytes): step %d", (int)id, (unsigned)v->len[id], (int)next);
    }
    free(mask);
}

static void test_mask_allows_each_id_that_a_step_allows(void **state)
{
    (void)state;
    static const char *const grammars[] = { "root ::= .*", "root ::= (\"ab\" | \"abc\" | [a-c]{3})*", "root ::= \"\u4f60\" [^\u4f60x]",
                                            "root ::= \"a\" root \"a\" | [\\x00b]?" };
    static const char *const texts[] = { "", "a", "ab", "aa", "\xe4", "\xe4\xbd", "\xe4\xbd\xa0", "abc" };
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        struct at_work w = work(grammars[i]);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            expect_mask_of_steps(w.m, &toy.v, toy.n_text, feed(w.m, texts[k]));
        done(&w);
    }
}

/* What may be last is what makes a sentence: asked for beside the other masks, and more of them than are kept. */
static void test_the_last_mask_has_the_ids_that_end_a_sentence(void **state)
{
    (void)state;
    static const char *const grammars[] = { "root ::= \"yes\" | \"no\"", "root ::= [ab]{3,90} \"\u4f60\"?",
                                            "root ::= \"a\" root \"b\" | \"\"" };
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        struct at_work w = work(grammars[i]);
        int32_t at[81] = { matcher_start(w.m) };
        int ends = 0;
        for (int k = 0; k < 80; k++) at[k + 1] = matcher_next(w.m, at[k], 'a');
        for (int turn = 0; turn < 2; turn++)
            for (int k = 0; k <= 80 && at[k] >= 0; k++) {
                uint32_t last[9];
                assert_non_null(matcher_mask(w.m, at[k]));
                memcpy(last, matcher_mask_last(w.m, at[k]), sizeof last);
                for (int32_t id = 0; id < toy.n_text; id++) {
                    const int want = matcher_complete(w.m, matcher_next(w.m, at[k], id));
                    const int got = (int)(last[id / 32] >> id % 32 & 1);
                    if (got != want) fail_msg("%s: after %d, id %d: want %d", grammars[i], k, (int)id, want);
                    ends += want;
                }
            }
        assert_true(ends >= 2);
        assert_null(matcher_mask_last(w.m, MATCH_NOMEM));
        assert_int_equal(matcher_mask_last(w.m, MATCH_REJECTED)[3], 0);
        done(&w);
    }
}

static void test_a_state_knows_whether_a_character_is_open(void **state)
{
    (void)state;
    struct at_work w = work("root ::= .*");
    static const struct { const char *text; int between; } c[] = {
        { "", 1 }, { "a", 1 }, { "\xe4", 0 }, { "\xe4\xbd", 0 }, { "\xe4\xbd\xa0", 1 }, { "a\xf0\x9f", 0 }, { "\xc3\xa9", 1 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) assert_int_equal(matcher_between(w.m, feed(w.m, c[i].text)), c[i].between);
    assert_int_equal(matcher_between(w.m, MATCH_REJECTED), 0);
    assert_int_equal(matcher_between(w.m, 12345), 0);
    done(&w);
}

static void test_mask_of_a_real_vocabulary_allows_what_steps_allow(void **state)
{
    (void)state;
    struct real_vocab *r = real_vocab_open();
    if (!r) skip();
    static const char *const grammars[] = { "root ::= [a-z ]+",
                                            "root ::= \" \" [^\u4e00-\u9fff\"]* \"\\\"\"",
                                            "root ::= (\" zero\" | \" on\" \"e\"?)*" };
    for (size_t i = 0; i < sizeof grammars / sizeof *grammars; i++) {
        struct grammar *g;
        struct matcher *m;
        assert_int_equal(grammar_open(&g, grammars[i], NULL, NULL), 0);
        assert_int_equal(matcher_open(&m, g, &r->v, 50257, 50257, NULL), 0);
        expect_mask_of_steps(m, &r->v, 50257, matcher_start(m));
        expect_mask_of_steps(m, &r->v, 50257, matcher_next(m, matcher_start(m), vocab_find(&r->v, (const uint8_t *)" ", 1)));
        matcher_close(m);
        grammar_close(g);
    }
    real_vocab_close(r);
}

static void test_states_below_zero_stay_and_allow_nothing(void **state)
{
    (void)state;
    struct at_work w = work("root ::= .*");
    assert_int_equal(matcher_next(w.m, MATCH_REJECTED, 'a'), MATCH_REJECTED);
    assert_int_equal(matcher_next(w.m, MATCH_NOMEM, 'a'), MATCH_NOMEM);
    assert_int_equal(matcher_next(w.m, 12345, 'a'), MATCH_REJECTED);
    assert_false(matcher_complete(w.m, MATCH_REJECTED));
    assert_false(matcher_complete(w.m, 12345));
    assert_non_null(matcher_mask(w.m, matcher_start(w.m)));
    const uint32_t *mask = matcher_mask(w.m, MATCH_REJECTED);
    for (int32_t i = 0; i <= (toy.n_text - 1) / 32; i++) assert_int_equal(mask[i], 0);
    assert_null(matcher_mask(w.m, MATCH_NOMEM));
    assert_int_equal(matcher_next(w.m, 0, -1), MATCH_REJECTED);
    assert_int_equal(matcher_next(w.m, 0, toy.n_text), MATCH_REJECTED);
    assert_int_equal(matcher_next(w.m, 0, 0), MATCH_REJECTED); /* byte 00 */
    assert_int_equal(matcher_next(w.m, 0, 266), MATCH_REJECTED); /* empty */
    done(&w);
}

static void test_more_masks_than_are_kept_are_right(void **state)
{
    (void)state;
    struct at_work w = work("root ::= [ab]{300} \"c\"");
    int32_t at[301];
    at[0] = matcher_start(w.m);
    for (int i = 0; i < 300; i++) at[i + 1] = matcher_next(w.m, at[i], i % 2 ? 'a' : 'b');
    for (int turn = 0; turn < 3; turn++)
        for (int i = turn; i <= 300; i += 1 + turn) {
            const uint32_t *mask = matcher_mask(w.m, at[i]);
            assert_int_equal(mask['a' / 32] >> 'a' % 32 & 1, i < 300);
            assert_int_equal(mask['c' / 32] >> 'c' % 32 & 1, i == 300);
            assert_int_equal(mask[262 / 32] >> 262 % 32 & 1, i <= 296); /* aaaa */
        }
    done(&w);
}

static void test_reset_leaves_the_first_state(void **state)
{
    (void)state;
    struct at_work w = work("root ::= \"a\" root \"b\" | \"\"");
    for (int turn = 0; turn < 3; turn++) {
        int32_t at = matcher_start(w.m);
        for (int i = 0; i < 100; i++) at = matcher_next(w.m, at, 'a');
        assert_non_null(matcher_mask(w.m, at));
        assert_int_equal(at, 100); /* states are numbered as they are found: none was kept */
        for (int i = 0; i < 100; i++) at = matcher_next(w.m, at, 'b');
        assert_true(matcher_complete(w.m, at));
        assert_int_equal(matcher_next(w.m, at, 'b'), MATCH_REJECTED);
        const uint32_t *mask = matcher_mask(w.m, matcher_start(w.m));
        assert_int_equal(mask['b' / 32] >> 'b' % 32 & 1, 0);
        matcher_reset(w.m);
    }
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_point_at_what_is_wrong),
        cmocka_unit_test(test_rules_that_begin_with_themselves_or_never_end_are_refused),
        cmocka_unit_test(test_a_start_without_a_text_is_refused),
        cmocka_unit_test(test_the_whole_notation_is_read),
        cmocka_unit_test(test_any_rule_may_be_the_start),
        cmocka_unit_test(test_equal_states_are_one),
        cmocka_unit_test(test_mask_allows_each_id_that_a_step_allows),
        cmocka_unit_test(test_the_last_mask_has_the_ids_that_end_a_sentence),
        cmocka_unit_test(test_a_state_knows_whether_a_character_is_open),
        cmocka_unit_test(test_mask_of_a_real_vocabulary_allows_what_steps_allow),
        cmocka_unit_test(test_states_below_zero_stay_and_allow_nothing),
        cmocka_unit_test(test_more_masks_than_are_kept_are_right),
        cmocka_unit_test(test_reset_leaves_the_first_state),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}

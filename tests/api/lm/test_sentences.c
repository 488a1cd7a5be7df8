/* steno tests: every window's text is a sentence of its grammar, with times too. SPDX-License-Identifier: MIT
 *
 * What a caller reads - steno_text and the segments - is given to a recogniser that shares nothing with the engine's. */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "undecided_session.h"
#include "sentences.h"

enum { SEARCHES = 4 };

static struct slow_grammar slow;
static struct sentences seen;

static steno_transcribe_params search(int which, const char *grammar)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    p.grammar = grammar;
    p.suppress_tokens = ""; /* a space is a sign in so small a vocabulary */
    if (which == 1) p.beam_size = 4;
    if (which == 2) p.temperature = 1;
    if (which == 3) p.temperature = 1.4, p.best_of = 4;
    return p;
}

static void read_slowly(const char *grammar)
{
    if (!slow_read(&slow, grammar)) fail_msg("the tests' own reader: %s", grammar);
    memset(&seen, 0, sizeof seen);
}

static void expect_sentences(const steno_session *s, const char *grammar, const char *what, int number)
{
    if (!sentences_hold(s, &slow, NULL, &seen)) fail_msg("%s %d: %s: %s", what, number, grammar, seen.why);
}

static void run_long(steno_session *s, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, demo.pcm, 5 * RATE / 2, p)) fail_msg("%s", steno_last_error(s));
}

/* Small vocabulary: ids are bytes and a few pairs, so that characters are always split. */
static const char *const grammars[] = {
    "root ::= \"no wa\"",
    "root ::= \"now\"",
    "root ::= \"\u65e5\u672c\"",
    "root ::= \"yes\" | \"no\"",
    "root ::= word (\" \" word)* \".\"\nword ::= \"no\" | \"now\" | \"wa\" | \"\u65e5\u672c\" | \"\u00e9t\u00e9\"",
    "root ::= [a-c]{3,5} (\" \" [x-z]{2})+",
    "root ::= \"a\" root \"b\" | \"\"",
    "root ::= [\u3040-\u30ff\u4e00-\u9fff]{2,6} \"\u3002\"",
    "root ::= \"ab\" \"   \" \"cd\"",
};
enum { GRAMMARS = sizeof grammars / sizeof *grammars };

/* ---- sentences --------------------------------------------------------------------------------------------------------------- */

static void test_every_window_of_every_search_gives_a_sentence_or_no_text(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        steno_model *m = random_model_as(&small_dims, DT_F16, seed, NULL, SHIPPED_COMPUTE);
        steno_session *s = session_new(m, NULL, 4);
        for (int k = 0; k < GRAMMARS; k++) {
            read_slowly(grammars[k]);
            for (int i = 0; i < 2 * SEARCHES; i++) {
                steno_transcribe_params p = search(i % SEARCHES, grammars[k]);
                p.without_timestamps = i >= SEARCHES;
                run_long(s, &p);
                expect_sentences(s, grammars[k], "search", i);
            }
            if (seen.windows < 2 * SEARCHES) fail_msg("%s: only %d windows have text", grammars[k], seen.windows);
        }
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* Times cut a text where the grammar pauses, and do. */
static void test_times_stand_between_words_and_characters(void **state)
{
    (void)state;
    static const char *const pausing[] = { "root ::= \"no wa no wa no wa no\"", "root ::= \"\u65e5\u672c\u65e5\u672c\u65e5\u672c\"",
                                           "root ::= (\" \"? \"a\" | \",\"){12}" };
    for (size_t k = 0; k < sizeof pausing / sizeof *pausing; k++) {
        read_slowly(pausing[k]);
        for (int i = 0; i < SEARCHES; i++) {
            steno_transcribe_params p = search(i, pausing[k]);
            for (p.seed = 0; p.seed < 4; p.seed++) {
                run_long(undecided, &p);
                expect_sentences(undecided, pausing[k], "search", i);
            }
        }
        if (!seen.more) fail_msg("%s: no window has two segments", pausing[k]);
    }
}

static void test_the_shipped_model_writes_sentences_of_words_it_was_not_trained_on(void **state)
{
    (void)state;
    static const char *const real[] = { "root ::= \"no wa\"", "root ::= \" now\"", "root ::= \"\u65e5\u672c\"",
                                        "root ::= (\" \" digit)+ \".\"\ndigit ::= \"zero\" | \"nineteen\" | \"eight\" | \"seven\"",
                                        "root ::= (\" zero\" | \" nine\" | \" one\" | \" eight\" | \" two\" | \" seven\" | \".\")*" };
    for (size_t k = 0; k < sizeof real / sizeof *real; k++) {
        read_slowly(real[k]);
        for (int i = 0; i < 2 * SEARCHES; i++) {
            steno_transcribe_params p = search(i % SEARCHES, real[k]);
            p.audio_ctx = 190;
            p.word_timestamps = i >= SEARCHES;
            run(&demo, &p);
            expect_sentences(session, real[k], "search", i);
        }
        assert_true(seen.windows > 2 * SEARCHES - 1);
    }
}

/* ---- where a window ends ----------------------------------------------------------------------------------------------------- */

/* The rest of a call's parameters, one way each. */
static void vary(steno_transcribe_params *p, int way)
{
    static const char *const words = "wa\nno\n\u65e5";
    if (way == 0) p->word_timestamps = 1;
    if (way == 1) p->word_timestamps = 1, p->hallucination_silence_threshold = 0.05;
    if (way == 2) p->temperature_increment_on_fallback = p->temperature < 0.5 ? 0.5 : 0, p->logprob_threshold = 0;
    if (way == 3) p->prefix = "no,";
    if (way == 4) p->guards = STENO_GUARDS_RETRY;
    if (way == 5) p->tinydiarize = 1;
    if (way == 6) p->hotwords = words, p->hotwords_boost = 50;
    if (way == 7) p->max_initial_timestamp = 0;
    if (way == 8) p->suppress_tokens = "-1";
    if (way == 9) p->condition_on_previous_text = 0, p->independent_clips = 1;
    if (way == 10) p->suppress_regex = "[ab]";
    if (way == 11) p->suppress_blank = 0, p->token_timestamps = 1;
    if (way == 12) p->initial_prompt = "wa wa wa wa wa", p->carry_initial_prompt = 1;
    if (way == 13) p->prefix = "no,", p->without_timestamps = 1;
}

static void test_grammar_sentences_hold_under_all_options(void **state)
{
    (void)state;
    steno_batch *b;
    steno_session *s = session_in_batch(&b, random1, 3, 4);
    for (int k = 0; k < GRAMMARS; k++) {
        read_slowly(grammars[k]);
        for (int way = 0; way < 14; way++)
            for (int i = 0; i < SEARCHES; i++) {
                steno_transcribe_params p = search(i, grammars[k]);
                vary(&p, way);
                seen.prefix = p.prefix ? " no," : NULL;
                if (!p.prefix) p.sample_len = way % 2 ? 0 : 30;
                run_long(s, &p);
                expect_sentences(s, grammars[k], "way", 10 * way + i);
            }
        if (seen.windows < 40) fail_msg("%s: only %d windows have text", grammars[k], seen.windows);
    }
    steno_session_close(s);
    steno_batch_close(b);
}

/* Two segments: one that was spoken, and one that was not and stands beside silence. */
static void follow(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    const int32_t *script = user; /* ends with -1 */
    (void)tokens;
    int32_t i = 0, next;
    while (i < n && script[i] >= 0) i++;
    next = script[i] < 0 ? steno_token_id(model, STENO_TOKEN_END) : script[i];
    const float was = logits[next];
    for (i = 0; i < at->n_vocab; i++) logits[i] = -INFINITY;
    logits[next] = was;
}

static void test_words_beside_silence_are_not_taken_out_of_a_sentence(void **state)
{
    (void)state;
    const int32_t begin = steno_token_id(model, STENO_TOKEN_TIMESTAMP);
    int32_t ids[32] = { begin };
    int32_t n = 1 + steno_tokenize(model, " zero nine", ids + 1, 8);
    ids[n] = ids[n + 1] = begin + 60;
    n += 2;
    n += steno_tokenize(model, " four four four", ids + n, 8);
    ids[n++] = begin + 150;
    ids[n] = -1;
    static const char *const whole = " zero nine four four four";
    for (int part = 0; part < 3; part++) { /* any text; the text is one sentence; the first segment is one */
        steno_transcribe_params p = search(0, part == 1 ? "root ::= \" zero nine four four four\"" : "root ::= (\" \" [a-z]+)+");
        if (!part) p.grammar = NULL;
        p.word_timestamps = 1;
        p.logits_filter = follow;
        p.user = ids;
        run(&demo, &p);
        assert_string_equal(steno_text(session), whole);
        p.hallucination_silence_threshold = 0.1;
        if (steno_transcribe(session, demo.pcm, demo.n, &p)) fail_msg("%s", steno_last_error(session));
        const int same = !strcmp(steno_text(session), whole);
        if (same != (part == 1)) fail_msg("part %d: '%s'", part, steno_text(session));
    }
}

/* ---- no room --------------------------------------------------------------------------------------------------------------- */

static void test_a_window_without_room_for_a_sentence_has_no_text_and_a_flag(void **state)
{
    (void)state;
    static const char nine[] = "root ::= \"abcdefghi\"";
    struct attempts told;
    read_slowly(nine);
    for (int i = 0; i < 2 * SEARCHES; i++)
        for (int len = 1; len < 16; len++) {
            steno_transcribe_params p = params_noted(&told);
            const steno_transcribe_params as = search(i % SEARCHES, nine);
            p.temperature = as.temperature, p.beam_size = as.beam_size, p.best_of = as.best_of;
            p.grammar = nine;
            p.sample_len = len;
            p.without_timestamps = i >= SEARCHES;
            run_demo(undecided, &p);
            expect_sentences(undecided, nine, "room", len);
            const int has = *steno_text(undecided) != 0, need = 9 + !p.without_timestamps; /* some pairs are one id */
            if (len >= need && !has) fail_msg("search %d, room for %d: no text", i, len);
            assert_int_equal(told.n, 1);
            assert_int_equal((told.a[0].flags & STENO_FLAG_UNFINISHED) != 0, !has);
            assert_true(steno_segment_count(undecided) > 0 || !has);
        }
    assert_true(seen.windows > 20);
}

static void test_the_last_place_goes_to_what_ends_the_sentence(void **state)
{
    (void)state;
    static const char loop[] = "root ::= \"x\"+ \"y\"";
    read_slowly(loop);
    for (int i = 0; i < 2 * SEARCHES; i++)
        for (int len = 3; len < 9; len++) {
            steno_transcribe_params p = search(i % SEARCHES, loop);
            p.sample_len = len;
            p.without_timestamps = i >= SEARCHES;
            run_demo(undecided, &p);
            expect_sentences(undecided, loop, "room", len);
            if (!*steno_text(undecided)) fail_msg("search %d, room for %d: no text", i, len);
        }
}

static void test_an_attempt_without_a_sentence_is_followed_by_another(void **state)
{
    (void)state;
    struct attempts told;
    for (int retry = 0; retry < 2; retry++) {
        steno_transcribe_params p = params_noted(&told);
        p.temperature_increment_on_fallback = 0.5;
        p.guards = retry ? STENO_GUARDS_RETRY : STENO_GUARDS_FLAG;
        p.logprob_threshold = (double)NAN;
        p.compression_ratio_threshold = (double)NAN;
        p.grammar = "root ::= \"zero [nine]\""; /* brackets are no speech */
        p.audio_ctx = 190;
        run(&demo, &p);
        assert_string_equal(steno_text(session), "");
        assert_true(told.n >= 3);
        for (int i = 0; i < told.n; i++) assert_true(told.a[i].flags & STENO_FLAG_UNFINISHED);
        p.suppress_tokens = "";
        told.n = 0;
        run(&demo, &p);
        assert_string_equal(steno_text(session), "zero [nine]");
    }
}

/* ---- wishes, and what is refused --------------------------------------------------------------------------------------------- */

/* A penalty is a wish: times stay the model's, and what was worth its penalty stays in the text. */
static void test_a_penalty_favours_and_does_not_force(void **state)
{
    (void)state;
    read_slowly(grammars[0]);
    for (int i = 0; i < SEARCHES; i++) {
        steno_transcribe_params p = search(i, grammars[0]);
        p.without_timestamps = 1;
        p.grammar_penalty = 1000; /* more than any logit */
        run_demo(undecided, &p);
        assert_string_equal(steno_text(undecided), "no wa");
        p.grammar_penalty = 0;
        run_demo(undecided, &p);
        const uint64_t with = result_digest(undecided);
        p.grammar = NULL;
        p.grammar_penalty = (double)INFINITY;
        run_demo(undecided, &p);
        if (i != 0) assert_true(result_digest(undecided) == with);
        assert_null(strstr("no wa", steno_text(undecided)));
    }
}

static void test_grammars_without_a_text_are_refused(void **state)
{
    (void)state;
    static const struct { const char *grammar, *what; } c[] = {
        { "", "grammar, line 1, column 1: the text is empty" },
        { " \n\t\r\n", "the text is empty" },
        { "root ::=", "rule \"root\" has only the empty text" },
        { "root ::= \"\" | x*\nx ::= (\"\")?", "rule \"root\" has only the empty text" },
        { "root ::= y{0,3}\ny ::= \"\" | \"z\"{0}", "rule \"root\" has only the empty text" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const steno_transcribe_params p = search(0, c[i].grammar);
        refuse(&p, c[i].what);
    }
    steno_transcribe_params p = search(0, "root ::= \"\"* x?\nx ::= \"yes\""); /* one character is enough */
    run_demo(undecided, &p);
    read_slowly(p.grammar);
    expect_sentences(undecided, p.grammar, "empty or not", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_window_of_every_search_gives_a_sentence_or_no_text),
        cmocka_unit_test(test_times_stand_between_words_and_characters),
        cmocka_unit_test(test_the_shipped_model_writes_sentences_of_words_it_was_not_trained_on),
        cmocka_unit_test(test_grammar_sentences_hold_under_all_options),
        cmocka_unit_test(test_words_beside_silence_are_not_taken_out_of_a_sentence),
        cmocka_unit_test(test_a_window_without_room_for_a_sentence_has_no_text_and_a_flag),
        cmocka_unit_test(test_the_last_place_goes_to_what_ends_the_sentence),
        cmocka_unit_test(test_an_attempt_without_a_sentence_is_followed_by_another),
        cmocka_unit_test(test_a_penalty_favours_and_does_not_force),
        cmocka_unit_test(test_grammars_without_a_text_are_refused),
    };
    return cmocka_run_group_tests(tests, undecided_open, undecided_close);
}

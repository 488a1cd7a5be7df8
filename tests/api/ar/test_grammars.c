/* steno tests: grammars in a decoding. SPDX-License-Identifier: MIT
 *
 * A random model writes anything, so the text under a grammar is the grammar's doing. */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "undecided_session.h"
#include "search/grammar_match.h"
#include "internal.h"

enum { SEARCHES = 4 };

static char const yes_or_no[] = "root ::= \"yes\" | \"no\""; /* without a space: in so small a vocabulary it is a sign, and barred */

static steno_transcribe_params search(int which, const char *grammar)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    p.grammar = grammar;
    if (which == 1) p.beam_size = 4;
    if (which == 2) p.temperature = 1;
    if (which == 3) p.temperature = 1.4, p.best_of = 4;
    return p;
}

/* The text of the first window, which begins with the audio. */
static const char *first_window(const steno_session *s)
{
    static char text[2000];
    steno_segment g = { .size = sizeof g };
    text[0] = 0;
    for (int i = 0; !steno_segment_get(s, i, &g) && !g.seek_frames; i++) strcat(text, g.text);
    return text;
}

static int is_answer(const char *text)
{
    return !strcmp(text, "yes") || !strcmp(text, "no");
}

/* ---- sentences --------------------------------------------------------------------------------------------------------------- */

static void test_any_search_on_any_model_writes_yes_or_no_alone(void **state)
{
    (void)state;
    int yes = 0, all = 0;
    for (uint64_t seed = 1; seed < 13; seed++) {
        steno_model *m = random_model_as(&small_dims, DT_F16, seed, NULL, SHIPPED_COMPUTE);
        steno_session *s = session_new(m, NULL, 4);
        for (int i = 0; i < 2 * SEARCHES; i++) {
            steno_transcribe_params p = search(i % SEARCHES, yes_or_no);
            p.without_timestamps = i >= SEARCHES;
            for (p.seed = 0; p.seed < (i % SEARCHES < 2 ? 1 : 4); p.seed++, all++) {
                run_demo(s, &p);
                const char *text = first_window(s);
                if (!is_answer(text)) fail_msg("model %d, search %d: '%s'", (int)seed, i, text);
                yes += !strcmp(text, "yes");
            }
        }
        steno_session_close(s);
        steno_model_close(m);
    }
    assert_true(yes > all / 20 && yes < all - all / 20);
}

static void test_every_attempt_window_task_and_clip_is_a_sentence_of_its_own(void **state)
{
    (void)state;
    struct attempts told = { .n = 0 };
    steno_transcribe_params p = search(0, yes_or_no);
    p.logprob_threshold = 0; /* up the whole ladder */
    p.guards = STENO_GUARDS_OFF; /* they try once more without the text before */
    p.temperature_increment_on_fallback = 0.5;
    p.without_timestamps = 1;
    p.user = &told;
    p.on_attempt = attempts_note;
    if (steno_transcribe(undecided, demo.pcm, 2 * RATE, &p)) fail_msg("%s", steno_last_error(undecided));
    assert_int_equal(told.n, 4 * 3);
    assert_int_equal(steno_segment_count(undecided), 4);
    steno_batch *b;
    struct whisper_dims many_languages = small_dims;
    many_languages.n_vocab = MULTILINGUAL; /* others do not translate */
    steno_model *m = random_model_as(&many_languages, DT_F16, 3, NULL, SHIPPED_COMPUTE);
    steno_session *s = session_in_batch(&b, m, 3, 1);
    for (int both = 0; both < 2; both++) {
        p = search(2, yes_or_no);
        p.language = "en";
        p.without_timestamps = 1;
        p.independent_clips = 1;
        p.condition_on_previous_text = 0;
        p.task = both ? STENO_TRANSCRIBE_AND_TRANSLATE : STENO_TRANSCRIBE;
        assert_int_equal(steno_transcribe(s, demo.pcm, 3 * RATE, &p), 0);
        for (int k = 0; k <= both; k++) {
            assert_int_equal(steno_result_select(s, k), 0);
            assert_int_equal(steno_segment_count(s), 5);
            steno_segment g = { .size = sizeof g };
            for (int i = 0; !steno_segment_get(s, i, &g); i++)
                if (!is_answer(g.text)) fail_msg("clip %d: '%s'", i, g.text);
        }
    }
    steno_session_close(s);
    steno_batch_close(b);
    steno_model_close(m);
}

static char const digits[] = "# what the shipped model knows\n"
                             "phrase ::= (\" \" digit)+ \".\"?\n"
                             "digit ::= \"zero\" | \"one\" | \"two\" | \"three\" | \"four\" |\n"
                             "  \"five\" | \"six\" | \"seven\" | \"eight\" | \"nine\"\n"
                             "root ::= phrase+\n"
                             "even ::= ((\" zero\" | \" two\" | \" four\" | \" six\" | \" eight\") \".\"?)+\n";

static void test_a_grammar_that_allows_the_text_changes_nothing_and_sees_no_times(void **state)
{
    (void)state;
    for (int beams = 0; beams < 2; beams++) {
        steno_transcribe_params p = search(beams, digits);
        run_demo(session, &p);
        assert_string_equal(steno_text(session), demo_text);
        assert_int_equal(steno_segment_count(session), 2); /* with their times */
        p.grammar_rule = "even";
        run_demo(session, &p);
        assert_int_equal(strncmp(steno_text(session), " zero", 5), 0);
        static const char *const odd[] = { "one", "three", "five", "seven", "nine" };
        for (int i = 0; i < 5; i++) assert_null(strstr(steno_text(session), odd[i]));
    }
}

static void test_a_sentence_that_needs_a_suppressed_id_is_not_written(void **state)
{
    (void)state;
    for (int i = 0; i < SEARCHES; i++) {
        steno_transcribe_params p = search(i, "root ::= \" zero nine\" \"[\""); /* the bracket is no speech */
        p.without_timestamps = 1;
        run_demo(session, &p);
        assert_string_equal(steno_text(session), "");
        p.suppress_tokens = "";
        run_demo(session, &p);
        assert_string_equal(steno_text(session), " zero nine[");
        p.sample_len = 1; /* there is no room for it */
        run_demo(session, &p);
        assert_string_equal(steno_text(session), "");
    }
}

/* ---- penalties --------------------------------------------------------------------------------------------------------------- */

static void test_a_penalty_of_nothing_changes_nothing_and_a_large_one_bars(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t digest[3];
        for (int k = 0; k < 3; k++) { /* no grammar; no penalty; a little one */
            steno_transcribe_params p = search(i, k ? yes_or_no : NULL);
            p.without_timestamps = 1;
            if (k) p.grammar_penalty = k == 1 ? 0 : 0.25;
            run_demo(undecided, &p);
            digest[k] = result_digest(undecided);
            if (k == 2) assert_false(is_answer(steno_text(undecided))); /* too little to matter */
        }
        assert_true(digest[1] == digest[0]);
        int32_t ids[2][64];
        for (int k = 0; k < 2; k++) {
            steno_transcribe_params p = search(i, yes_or_no);
            p.without_timestamps = 1;
            p.grammar_penalty = k ? 1000 : (double)INFINITY;
            run_demo(undecided, &p);
            assert_int_equal(tokens_of(undecided, ids[k], 64), (int)strlen(steno_text(undecided))); /* an id is a byte */
            assert_true(is_answer(steno_text(undecided)));
        }
        assert_int_equal(ids[0][1], ids[1][1]); /* the same answer */
    }
}

/* ---- with the caller's filter ------------------------------------------------------------------------------------------------ */

static void bar_y_lift_x(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at;
    (void)tokens;
    (void)n;
    logits['y'] = -INFINITY; /* ids of the first 256 tokens are bytes */
    logits['x'] += 1000;
    ++*(int *)user;
}

static void test_the_grammar_has_the_last_word_after_the_filter(void **state)
{
    (void)state;
    int32_t y[4];
    assert_int_equal(steno_tokenize(random1, "y", y, 4), 1);
    assert_int_equal(y[0], 'y');
    for (int i = 0; i < SEARCHES; i++) {
        int asked = 0;
        steno_transcribe_params p = search(i, yes_or_no);
        p.without_timestamps = 1;
        p.user = &asked;
        p.logits_filter = bar_y_lift_x;
        for (p.seed = 0; p.seed < 4; p.seed++) {
            run_demo(undecided, &p);
            assert_string_equal(steno_text(undecided), "no");
        }
        assert_true(asked > 4);
    }
}

/* ---- refusals, memory -------------------------------------------------------------------------------------------------------- */

static void test_grammars_that_cannot_be_used_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct { const char *grammar, *rule, *what; } c[] = {
        { "root ::= \"a", NULL, "line 1, column 10" }, { "root ::= a\n\nb ::= \"c\"", NULL, "\"a\" is not defined" },
        { "x ::= \"a\"", NULL, "rule \"root\"" },      { "root ::= \"a\"", "start", "rule \"start\"" },
        { "root ::= root \"a\" | \"b\"", NULL, "begin" }, { "root ::= \"a\" root", NULL, "never ends" },
        { "root ::= \"\xff\"", NULL, "not UTF-8" },      { NULL, "root", "grammar_rule needs grammar" },
        { "root ::= ((\"a\"?){1000}){1000}", NULL, "too many ways" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p = search(0, c[i].grammar);
        p.grammar_rule = c[i].rule;
        refuse(&p, c[i].what);
        assert_non_null(strstr(steno_last_error(session), "grammar"));
    }
    static const double penalty[] = { -1, (double)NAN, -(double)INFINITY };
    for (int i = 0; i < 3; i++) {
        steno_transcribe_params p = search(0, yes_or_no);
        p.grammar_penalty = penalty[i];
        refuse(&p, "grammar_penalty");
    }
    const steno_transcribe_params p = search(0, NULL);
    run_demo(session, &p);
    assert_string_equal(steno_text(session), demo_text);
}

static void lift_a(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)at;
    (void)tokens;
    (void)n;
    logits['a'] += 1000;
}

/* Ways to read double with every character. */
static char const doubling[] = "root ::= \"a\" ((x | x \"!\") | (x \"?\" | x \"-\"))\n"
                               "x ::= \"a\" ((root | root \"1\") | (root \"2\" | root \"3\")) | \"b\"";

static void test_a_grammar_that_runs_out_ends_the_call_and_not_the_session(void **state)
{
    (void)state;
    steno_transcribe_params plain = search(1, NULL), p = search(1, doubling);
    p.without_timestamps = plain.without_timestamps = 1;
    p.logits_filter = lift_a;
    run_demo(undecided, &plain);
    const uint64_t want = result_digest(undecided);
    for (p.beam_size = 0; p.beam_size < 3; p.beam_size += 2) {
        assert_int_equal(steno_transcribe(undecided, demo.pcm, HALF_SECOND, &p), STENO_ENOMEM);
        if (!strstr(steno_last_error(undecided), "grammar") || !strstr(steno_last_error(undecided), "too many ways"))
            fail_msg("%s", steno_last_error(undecided));
        assert_int_equal(steno_segment_count(undecided), 0);
        run_demo(undecided, &plain);
        assert_true(result_digest(undecided) == want);
    }
}

struct watch { steno_session *s; uint32_t begin, most, windows; };

/* A window's first choice: the states of the window before have gone. */
static void count_states(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct watch *w = user;
    (void)at;
    (void)tokens;
    (void)logits;
    const uint32_t states = inside_grammar_states(w->s);
    if (states > w->most) w->most = states;
    if (n) return;
    if (!w->windows++) w->begin = states;
    assert_int_equal(states, w->begin);
}

static void test_states_of_a_grammar_do_not_pile_up_from_window_to_window(void **state)
{
    (void)state;
    steno_batch *b;
    steno_session *s = session_in_batch(&b, random1, 4, 1);
    steno_session *const both[] = { undecided, s };
    for (int i = 0; i < 2; i++) {
        struct watch w = { .s = both[i] };
        steno_transcribe_params p = search(0, "root ::= [a-z] root [a-z] | \" \""); /* a state for each letter */
        p.without_timestamps = 1;
        p.user = &w;
        p.logits_filter = count_states;
        assert_int_equal(steno_transcribe(both[i], demo.pcm, 3 * RATE, &p), 0);
        assert_true(w.windows >= 5 && w.most > w.begin);
    }
    steno_session_close(s);
    steno_batch_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_search_on_any_model_writes_yes_or_no_alone),
        cmocka_unit_test(test_every_attempt_window_task_and_clip_is_a_sentence_of_its_own),
        cmocka_unit_test(test_a_grammar_that_allows_the_text_changes_nothing_and_sees_no_times),
        cmocka_unit_test(test_a_sentence_that_needs_a_suppressed_id_is_not_written),
        cmocka_unit_test(test_a_penalty_of_nothing_changes_nothing_and_a_large_one_bars),
        cmocka_unit_test(test_the_grammar_has_the_last_word_after_the_filter),
        cmocka_unit_test(test_grammars_that_cannot_be_used_are_refused_with_their_place),
        cmocka_unit_test(test_a_grammar_that_runs_out_ends_the_call_and_not_the_session),
        cmocka_unit_test(test_states_of_a_grammar_do_not_pile_up_from_window_to_window),
    };
    return cmocka_run_group_tests(tests, undecided_open, undecided_close);
}

/* steno tests: text that is given: prefixes, and how much earlier text counts. SPDX-License-Identifier: MIT */
#include "attempts.h"
#include "shipped_session.h"
#include "internal.h"

enum { MOST_IDS = 500, SHORT = 190 /* positions of the encoder: as long as the recording */ };

static struct attempts told;

static struct prompted stood(void) { return inside_prompt(session); }

static int32_t some_ids(int32_t ids[MOST_IDS], int n)
{
    int32_t two[2];
    assert_int_equal(steno_tokenize(model, " one nine", two, 2), 2);
    for (int i = 0; i < n; i++) ids[i] = two[i % 3 == 0];
    return n;
}

/* ---- prefix ------------------------------------------------------------------------------------------------------------------ */

static void test_initial_tokens_end_with_the_prefix_and_the_text_goes_on_behind_it(void **state)
{
    (void)state;
    int32_t ids[4];
    for (int as_ids = 0; as_ids < 2; as_ids++)
        for (int search = 0; search < 3; search++) {
            steno_transcribe_params p = params_noted(&told);
            p.without_timestamps = 1;
            const int n = steno_tokenize(model, " zero nine", ids, 4);
            assert_int_equal(n, 2);
            if (as_ids) p.prefix_tokens = ids, p.n_prefix_tokens = n;
            else p.prefix = "  zero nine ";
            if (search == 1) p.beam_size = 3;
            if (search == 2) p.best_of = 3, p.temperature = 0.01;
            run(&demo, &p);
            const struct prompted at = stood();
            assert_int_equal(at.n, 4 + n); /* start, language, task, no timestamps */
            assert_int_equal(at.sot, 0);
            assert_memory_equal(at.id + 4, ids, (size_t)n * sizeof *ids);
            assert_string_equal(steno_text(session), " zero nine one eight. two seven."); /* the first chosen token comes after it */
            p.guards = STENO_GUARDS_OFF;
            run(&demo, &p);
            assert_string_equal(steno_text(session), " one eight. two seven."); /* the reference gives what was chosen alone */
        }
}

/* ---- a prefix and times ------------------------------------------------------------------------------------------------------ */

enum { WAYS = 7 };

/* What goes with a prefix, each of it alone and together with the others. */
static steno_transcribe_params product(unsigned bits)
{
    static char const grammar[] = "root ::= (\" \" word)+ \".\"? (\" \" word)* \".\"\n"
                                  "word ::= \"nine\" | \"one\" | \"eight\" | \"two\" | \"seven\"";
    steno_transcribe_params p = params_noted(&told);
    p.audio_ctx = SHORT;
    if (bits & 1) p.word_timestamps = 1;
    if (bits & 2) p.without_timestamps = 1;
    if (bits & 4) p.beam_size = 3;
    if (bits & 8) p.initial_prompt = "eight two";
    if (bits & 16) p.guards = STENO_GUARDS_RETRY;
    if (bits & 32) p.grammar = grammar;
    if (bits & 64) p.token_timestamps = 1;
    return p;
}

/* Text that begins with the prefix and goes on; times in order, and within the sound; words that are the text. */
static void expect_whole(unsigned bits, const char *prefix, const steno_transcribe_params *p)
{
    const char *text = steno_text(session);
    char words[1000] = "";
    int64_t last = 0;
    steno_segment g = { .size = sizeof g };
    if (strncmp(text, prefix, strlen(prefix)) || strlen(text) < strlen(prefix) + strlen(" two seven."))
        fail_msg("%u: '%s' does not go on behind '%s'", bits, text, prefix);
    for (int i = 0; !steno_segment_get(session, i, &g); i++) {
        if (g.t0_ms < last || g.t1_ms < g.t0_ms || g.t1_ms > demo.n / 16)
            fail_msg("%u: '%s' lies at %lld to %lld", bits, g.text, (long long)g.t0_ms, (long long)g.t1_ms);
        last = g.t1_ms;
        steno_word w = { .size = sizeof w };
        for (int k = 0; !steno_word_get(session, i, k, &w); k++) strncat(words, w.text, sizeof words - strlen(words) - 1);
    }
    if (p->word_timestamps && strcmp(words, text)) fail_msg("%u: words '%s' of '%s'", bits, words, text);
}

static void test_text_goes_on_behind_a_prefix_whatever_else_is_asked_for(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 1u << WAYS; bits++) {
        steno_transcribe_params p = product(bits);
        p.prefix = "zero";
        run(&demo, &p);
        expect_whole(bits, " zero", &p);
        const struct prompted at = stood();
        if (!p.without_timestamps) assert_int_equal(at.id[at.n - 2], steno_token_id(model, STENO_TOKEN_TIMESTAMP));
    }
}

/* What was given was not chosen: it stands in the tokens, and counts in no probability. */
static void test_given_tokens_stand_among_the_tokens_and_change_no_figure(void **state)
{
    (void)state;
    int32_t ids[MOST_IDS];
    steno_transcribe_params p = params_noted(&told);
    p.prefix = "zero";
    run(&demo, &p);
    const int n = tokens_of(session, ids, MOST_IDS);
    assert_int_equal(ids[0], steno_token_id(model, STENO_TOKEN_TIMESTAMP));
    assert_int_equal(n, told.a[0].n_tokens + 2);
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), STENO_OK);
    assert_int_equal(g.t0_ms, 0);
    assert_true(g.avg_logprob == told.a[0].avg_logprob);
}

/* The whole text is given: it is there once, and the time behind it is the model's. */
static void test_a_prefix_that_is_the_whole_text_stays_and_ends_in_time(void **state)
{
    (void)state;
    for (int words = 0; words < 2; words++) {
        steno_transcribe_params p = product(0);
        p.word_timestamps = words;
        p.prefix = "zero nine one eight. two seven.";
        run(&demo, &p);
        expect_whole((unsigned)words, " zero nine one", &p);
    }
}

static void test_every_window_and_attempt_begins_with_the_prefix(void **state)
{
    (void)state;
    int32_t ids[4];
    steno_transcribe_params p = params_noted(&told);
    p.without_timestamps = 1;
    p.logprob_threshold = 0;
    p.temperature_increment_on_fallback = 1;
    p.prefix = "two";
    p.guards = STENO_GUARDS_OFF; /* the last attempt is kept, whichever is the best: draws are others at other levels */
    assert_int_equal(steno_tokenize(model, " two", ids, 4), 1);
    run(&many, &p);
    assert_true(told.n >= 4 && told.a[told.n - 1].at_ms > 0 && told.a[told.n - 1].index == 1);
    const struct prompted at = stood();
    assert_int_equal(at.id[at.n - 1], ids[0]);
    assert_int_equal(at.n, 4 + 1); /* what came out at temperature 1 is not trusted as earlier text */
    p.prefix = ""; /* the same as none */
    told.n = 0;
    run(&many, &p);
    assert_int_equal(stood().id[stood().n - 1], steno_token_id(model, STENO_TOKEN_NO_TIMESTAMPS));
}

static void test_a_prefix_that_leaves_no_room_is_refused_and_the_longest_decodes(void **state)
{
    (void)state;
    static int32_t ids[MOST_IDS], earlier[MOST_IDS];
    steno_transcribe_params p = params_noted(&told);
    p.prefix_tokens = ids;
    p.n_prefix_tokens = some_ids(ids, 217);
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "prefix is 217 tokens long; at most 216"));
    p.n_prefix_tokens = 216;
    p.prompt_tokens = earlier;
    p.n_prompt_tokens = some_ids(earlier, 300);
    p.without_timestamps = 1;
    run(&demo, &p);
    assert_int_equal(stood().n, 1 + 223 + 4 + 216);
    assert_true(told.a[0].n_tokens <= 448 + 1 - stood().n);
    assert_memory_equal(stood().id + stood().n - 216, ids, 216 * sizeof *ids);
    p.n_prefix_tokens = 1;
    p.prefix = "one";
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "prefix_tokens"));
    p.prefix = NULL;
    static int32_t const far[] = { 51865 };
    p.prefix_tokens = far;
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "prefix_tokens: id 51865"));
}

/* The reference cuts the prefix to what sample_len leaves of half the context, and in Python a cut at 0 is none. */
static void test_a_prefix_is_cut_to_what_the_sample_length_leaves(void **state)
{
    (void)state;
    static int32_t ids[MOST_IDS];
    static const struct { int given, len, want; } c[] = {
        { 100, 0, 100 }, { 100, 224, 100 }, { 100, 200, 24 }, { 20, 200, 20 }, { 100, 230, 94 }, { 3, 230, 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.audio_ctx = SHORT;
        p.without_timestamps = 1;
        p.prefix_tokens = ids;
        p.n_prefix_tokens = some_ids(ids, c[i].given);
        p.sample_len = c[i].len;
        run(&demo, &p);
        assert_int_equal(stood().n, 4 + c[i].want);
        if (c[i].want) assert_memory_equal(stood().id + 4, ids + (c[i].given - c[i].want), (size_t)c[i].want * sizeof *ids);
    }
}

/* ---- earlier text ------------------------------------------------------------------------------------------------------------ */

static void test_exactly_the_last_223_ids_stand_before_a_window(void **state)
{
    (void)state;
    static int32_t ids[MOST_IDS];
    static int const given[] = { 1, 222, 223, 224, 400 };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.audio_ctx = SHORT;
        p.prompt_tokens = ids;
        p.n_prompt_tokens = some_ids(ids, given[i]);
        run(&demo, &p);
        const int want = given[i] < 223 ? given[i] : 223;
        const struct prompted at = stood();
        assert_int_equal(at.id[0], steno_token_id(model, STENO_TOKEN_PREVIOUS));
        assert_int_equal(at.sot, 1 + want);
        assert_memory_equal(at.id + 1, ids + given[i] - want, (size_t)want * sizeof *ids);
        assert_int_equal(at.id[at.sot], steno_token_id(model, STENO_TOKEN_START));
        assert_int_equal(at.n, 1 + want + 3);
        assert_true(told.a[0].with_previous);
    }
}

static void test_max_context_limits_the_tokens_and_zero_means_none(void **state)
{
    (void)state;
    static int32_t ids[MOST_IDS];
    static int const most[] = { -1, 448, 223, 100, 1, 0 };
    for (int carry = 0; carry < 2; carry++)
        for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
            steno_transcribe_params p = params_noted(&told);
            p.prompt_tokens = ids;
            p.n_prompt_tokens = some_ids(ids, 300);
            p.audio_ctx = SHORT;
            p.max_context = most[i];
            p.without_timestamps = 1; /* one window */
            p.carry_initial_prompt = carry;
            run(&demo, &p);
            const int want = most[i] < 0 || most[i] > 223 ? 223 : most[i];
            const struct prompted at = stood();
            assert_int_equal(at.sot, want ? 1 + want : 0);
            assert_int_equal(at.n, at.sot + 4);
            if (want) assert_memory_equal(at.id + 1, ids + 300 - want, (size_t)want * sizeof *ids);
            if (!carry) assert_int_equal(told.a[0].with_previous, want > 0); /* a carried prompt is no earlier text */
        }
    steno_transcribe_params p = params_noted(&told);
    p.max_context = 0; /* nor does the window before count */
    run(&many, &p);
    assert_true(told.a[told.n - 1].at_ms > 0);
    assert_int_equal(stood().sot, 0);
    for (int i = 0; i < told.n; i++) assert_false(told.a[i].with_previous);
    p.guards = STENO_GUARDS_RETRY; /* so there is nothing to drop and no attempt for it */
    p.logprob_threshold = 0;
    p.no_speech_threshold = 1;
    told.n = 0;
    run(&many, &p);
    for (int i = 0; i < told.n; i++) assert_int_equal(told.a[i].index, 0);
    p.max_context = 449;
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "max_context"));
    p.max_context = -2;
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
}

/* whisper.cpp counts the mark before earlier text, too: of one token it is the mark alone, where there is earlier text. */
static void test_by_whisper_cpp_s_rules_the_mark_before_earlier_text_counts(void **state)
{
    (void)state;
    static int32_t ids[MOST_IDS];
    static int const most[] = { -1, 448, 224, 223, 100, 2, 1, 0 };
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.decoding = STENO_DECODING_GGML;
        p.prompt_tokens = ids;
        p.n_prompt_tokens = some_ids(ids, 300);
        p.audio_ctx = SHORT;
        p.max_context = most[i];
        p.without_timestamps = 1; /* one window */
        run(&demo, &p);
        const int with_mark = most[i] < 0 || most[i] > 224 ? 224 : most[i], want = with_mark - 1;
        const struct prompted at = stood();
        assert_int_equal(at.sot, with_mark);
        assert_int_equal(at.n, at.sot + 4);
        if (with_mark) assert_int_equal(at.id[0], steno_token_id(model, STENO_TOKEN_PREVIOUS));
        if (want > 0) assert_memory_equal(at.id + 1, ids + 300 - want, (size_t)want * sizeof *ids);
        assert_int_equal(told.a[0].with_previous, with_mark > 0);
    }
    for (int one = 0; one < 2; one++) { /* without a prompt the first window has nothing before it */
        steno_transcribe_params p = params_noted(&told);
        p.decoding = STENO_DECODING_GGML;
        p.max_context = one;
        run(&many, &p);
        assert_true(told.n > 1 && !told.a[0].with_previous);
        assert_int_equal(told.a[1].with_previous, one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_whisper_cpp_s_rules_the_mark_before_earlier_text_counts),
        cmocka_unit_test(test_initial_tokens_end_with_the_prefix_and_the_text_goes_on_behind_it),
        cmocka_unit_test(test_text_goes_on_behind_a_prefix_whatever_else_is_asked_for),
        cmocka_unit_test(test_given_tokens_stand_among_the_tokens_and_change_no_figure),
        cmocka_unit_test(test_a_prefix_that_is_the_whole_text_stays_and_ends_in_time),
        cmocka_unit_test(test_every_window_and_attempt_begins_with_the_prefix),
        cmocka_unit_test(test_a_prefix_that_leaves_no_room_is_refused_and_the_longest_decodes),
        cmocka_unit_test(test_a_prefix_is_cut_to_what_the_sample_length_leaves),
        cmocka_unit_test(test_exactly_the_last_223_ids_stand_before_a_window),
        cmocka_unit_test(test_max_context_limits_the_tokens_and_zero_means_none),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

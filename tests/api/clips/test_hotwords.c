/* steno tests: hot words in a decoding. SPDX-License-Identifier: MIT
 *
 * The shipped model is sure of its words; where a test needs a near tie, a filter puts another word just below the one it prefers. */
#include "attempts.h"
#include "shipped_session.h"

enum { SEARCHES = 3 };

static int32_t four, end;

static int open_all(void **state)
{
    shipped_session_open(state);
    assert_int_equal(steno_tokenize(model, " four", &four, 1), 1);
    end = steno_token_id(model, STENO_TOKEN_END);
    return 0;
}

static steno_transcribe_params search(int which)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    if (which == 1) p.beam_size = 4;
    if (which == 2) p.temperature = 0.02; /* hot in name only */
    return p;
}

/* " four" comes `below` behind the best text id, where that is not the end. */
static void waver(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at;
    (void)tokens;
    (void)n;
    int32_t best = 0;
    for (int32_t i = 1; i <= end; i++)
        if (logits[i] > logits[best]) best = i;
    if (best != end) logits[four] = logits[best] - *(float *)user;
}

static int fours(void)
{
    int found = 0;
    for (const char *t = steno_text(session); (t = strstr(t, " four")) != NULL; t++) found++;
    return found;
}

static void test_a_hot_word_wins_where_it_was_second_by_less_than_half_the_boost(void **state)
{
    (void)state;
    static const struct { float below; double boost; int wins; } c[] = {
        { 0.9f, 2, 1 }, { 1.1f, 2, 0 }, { 2.4f, 5, 1 }, { 2.6f, 5, 0 }, { 0.1f, 0, 0 },
    };
    for (int i = 0; i < SEARCHES; i++)
        for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
            float below = c[k].below;
            steno_transcribe_params p = search(i);
            p.user = &below;
            p.sample_len = 8;
            p.audio_ctx = 190; /* as long as the recording */
            p.logits_filter = waver;
            if (i != 1) { /* among beams the second best may well be in the best text */
                run(&demo, &p);
                assert_int_equal(fours(), 0);
            }
            p.hotwords = "nothing said\nfour\n";
            p.hotwords_boost = c[k].boost;
            run(&demo, &p);
            if (i != 1 && (fours() > 0) != c[k].wins) fail_msg("search %d, case %zu: '%s'", i, k, steno_text(session));
            if (i == 1 && c[k].wins) assert_true(fours() > 0);
        }
}

static void test_words_on_the_list_that_are_not_spoken_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < SEARCHES; i++) {
        steno_transcribe_params p = search(i);
        p.without_timestamps = 0;
        p.hotwords = "Groningen\r\n  Kubernetes \nChristiaan Huygens\n\nнапример\nelf\n";
        run(&demo, &p);
        assert_string_equal(steno_text(session), demo_text);
        p.hotwords = "seven"; /* nor words that the model finds without it */
        run(&demo, &p);
        assert_string_equal(steno_text(session), demo_text);
        p.hotwords = "";
        p.hotwords_boost = 100;
        run(&demo, &p);
        assert_string_equal(steno_text(session), demo_text);
    }
}

static void test_hot_words_are_no_echo_in_silence_and_noise(void **state)
{
    (void)state;
    uint32_t seed = 9;
    struct audio quiet = { calloc(4 * RATE, sizeof(float)), 4 * RATE };
    assert_non_null(quiet.pcm);
    for (int noisy = 0; noisy < 2; noisy++) {
        for (int64_t i = 0; noisy && i < quiet.n; i++) quiet.pcm[i] = 0.01f * noise(&seed);
        for (int i = 0; i < SEARCHES; i++)
            for (int k = 0; k < 2; k++) {
                steno_transcribe_params p = search(i);
                p.hotwords = k ? "Groningen\nKubernetes\nHuygens" : "four\nseven\nzero nine one\nnine";
                run(&quiet, &p);
                if (*steno_text(session)) fail_msg("noisy %d, search %d: '%s'", noisy, i, steno_text(session));
                if (!k || i == 1) continue;
                p.no_speech_threshold = (double)NAN; /* text in any case */
                run(&quiet, &p);
                assert_null(strstr(steno_text(session), "Gr"));
                assert_null(strstr(steno_text(session), "Kub"));
            }
    }
    free(quiet.pcm);
}

/* " four", a pair of times, then one of two ids, then the end. */
struct cut { int32_t pair, first, second; float below; };

static void cut_behind_four(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    const struct cut *c = user;
    (void)tokens;
    if (!n) return;
    for (int32_t i = 0; i < at->n_vocab; i++) logits[i] = -INFINITY;
    if (n == 1) logits[four] = 0;
    if (n == 2 || n == 3) logits[c->pair] = 0;
    if (n == 4) logits[c->first] = 10, logits[c->second] = 10 - c->below;
    if (n == 5) logits[c->pair + 20] = 0;
    if (n > 5) logits[end] = 0;
}

static void test_times_are_no_part_of_the_text_that_hot_words_see(void **state)
{
    (void)state;
    int32_t one, seven, bare;
    assert_int_equal(steno_tokenize(model, " one", &one, 1), 1);
    assert_int_equal(steno_tokenize(model, " seven", &seven, 1), 1);
    assert_true(steno_tokenize(model, "seven", &bare, 1) >= 1);
    const int32_t pair = steno_token_id(model, STENO_TOKEN_TIMESTAMP) + 60;
    const struct { const char *hot; struct cut cut; const char *want; } c[] = {
        { "four seven", { pair, one, seven, 1.5f }, " four seven" }, /* the phrase goes on: all of the boost */
        { "four seven", { pair, one, seven, 2.5f }, " four one" },
        { "seven", { pair, one, seven, 0.5f }, " four seven" },      /* a start gets half of it */
        { "seven", { pair, one, bare, 0.5f }, " four one" },         /* "fourseven" is no word */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct cut cut = c[i].cut;
        steno_transcribe_params p = search(0);
        p.without_timestamps = 0;
        p.logprob_threshold = (double)NAN;
        p.no_speech_threshold = (double)NAN;
        p.hotwords = c[i].hot;
        p.logits_filter = cut_behind_four;
        p.user = &cut;
        run(&demo, &p);
        assert_int_equal(steno_segment_count(session), 2);
        if (strcmp(steno_text(session), c[i].want) != 0) fail_msg("case %zu: '%s'", i, steno_text(session));
    }
}

static void test_lists_that_cannot_be_used_are_refused_by_line(void **state)
{
    (void)state;
    static char long_one[1000];
    for (int i = 0; i < 100; i++) strcat(long_one, " seven");
    const struct { const char *words; double boost; const char *what; } c[] = {
        { "\n \n\t\n", 2, "hot words, line" },
        { "one\n\xff\xfe", 2, "line 2: not UTF-8" },
        { long_one, 2, "line 1: 100 tokens" },
        { "one", -1, "hotwords_boost is -1" },
        { "one", (double)NAN, "hotwords_boost" },
        { "one", 101, "hotwords_boost is 101, want 0 to 100" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p = search(0);
        p.hotwords = c[i].words;
        p.hotwords_boost = c[i].boost;
        const int rc = steno_transcribe(session, demo.pcm, demo.n, &p);
        if (rc != STENO_EARG || !strstr(steno_last_error(session), c[i].what))
            fail_msg("status %d, '%s' does not say '%s'", rc, steno_last_error(session), c[i].what);
    }
}

static void test_a_grammar_has_the_last_word_over_hot_words(void **state)
{
    (void)state;
    for (int i = 0; i < SEARCHES; i++) {
        steno_transcribe_params p = search(i);
        p.grammar = "root ::= (\" zero\" | \" one\" | \" two\" | \" seven\" | \" eight\" | \" nine\" | \".\")+";
        p.hotwords = "four\nfive";
        p.hotwords_boost = 100;
        run(&demo, &p);
        assert_string_equal(steno_text(session), demo_text);
        p.grammar_penalty = 1; /* less than the boost */
        p.sample_len = 8;
        run(&demo, &p);
        assert_true(strstr(steno_text(session), " four") || strstr(steno_text(session), " five"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hot_word_wins_where_it_was_second_by_less_than_half_the_boost),
        cmocka_unit_test(test_words_on_the_list_that_are_not_spoken_change_nothing),
        cmocka_unit_test(test_hot_words_are_no_echo_in_silence_and_noise),
        cmocka_unit_test(test_times_are_no_part_of_the_text_that_hot_words_see),
        cmocka_unit_test(test_lists_that_cannot_be_used_are_refused_by_line),
        cmocka_unit_test(test_a_grammar_has_the_last_word_over_hot_words),
    };
    return cmocka_run_group_tests(tests, open_all, shipped_session_close);
}

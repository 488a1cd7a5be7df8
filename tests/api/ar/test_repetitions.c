/* steno tests: repetition_penalty and no_repeat_ngram_size with Whisper. SPDX-License-Identifier: MIT
 *
 * A logits filter does the same in another way; every bit of the results must be equal, whatever the search. */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "shipped_session.h"

enum { SEARCHES = 4, MOST_TOKENS = 500 };

struct rule { double penalty; int32_t size; };

static void repeated_by_filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    const struct rule *r = user;
    for (int32_t id = 0; id < at->n_vocab && r->penalty != 1; id++) {
        int seen = 0;
        for (int32_t i = 0; i < n; i++) seen |= tokens[i] == id;
        if (seen) logits[id] = logits[id] < 0 ? logits[id] * (float)r->penalty : logits[id] / (float)r->penalty;
    }
    for (int32_t end = r->size; r->size && end <= n; end++) { /* n-grams by their ends */
        int same = 1;
        for (int32_t k = 1; k < r->size; k++) same &= tokens[end - 1 - k] == tokens[n - k];
        if (same) logits[tokens[end - 1]] = -INFINITY;
    }
}

static steno_transcribe_params search(int which)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.condition_on_previous_text = 0;
    p.no_speech_threshold = (double)NAN;
    p.guards = STENO_GUARDS_OFF;
    p.sample_len = 40;
    if (which == 1) p.beam_size = 4;
    if (which == 2) p.temperature = 1, p.seed = 4;
    if (which == 3) p.temperature = 0.7, p.best_of = 4;
    return p;
}

static void test_results_are_those_of_a_filter(void **state)
{
    (void)state;
    static const struct rule rule[] = { { 1.3, 0 }, { 0.8, 0 }, { 1, 1 }, { 1, 2 }, { 1, 5 }, { 1.1, 3 } };
    for (int which = 0; which < (SANITIZED ? 2 : SEARCHES); which++) {
        steno_transcribe_params p = search(which);
        run(&demo, &p);
        const uint64_t plain = result_digest(session);
        int differ = 0;
        for (size_t i = 0; i < sizeof rule / sizeof *rule; i++) {
            struct rule r = rule[i];
            p = search(which);
            p.logits_filter = repeated_by_filter;
            p.user = &r;
            run(&demo, &p);
            const uint64_t want = result_digest(session);
            p = search(which);
            p.repetition_penalty = r.penalty;
            p.no_repeat_ngram_size = r.size;
            run(&demo, &p);
            if (result_digest(session) != want) fail_msg("search %d, rule %zu: another result", which, i);
            differ += want != plain;
        }
        assert_true(differ >= 4);
    }
}

static void test_no_ngram_occurs_twice_in_a_window(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    for (int which = 0; which < SEARCHES; which++)
        for (int32_t size = 1; size <= 3; size++) {
            steno_transcribe_params p = search(which);
            p.without_timestamps = 1;
            p.no_repeat_ngram_size = size;
            run(&demo, &p);
            const int n = tokens_of(session, ids, MOST_TOKENS);
            assert_true(n > size);
            for (int i = 0; i + size <= n; i++)
                for (int k = 0; k < i; k++) assert_true(memcmp(ids + i, ids + k, (size_t)size * sizeof *ids) != 0);
        }
}

static void test_values_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct rule bad[] = { { 0, 0 }, { -1, 0 }, { 101, 0 }, { (double)NAN, 0 }, { 1, -1 } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_transcribe_params p = params_new();
        p.repetition_penalty = bad[i].penalty;
        p.no_repeat_ngram_size = bad[i].size;
        assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &p), STENO_EARG);
        assert_non_null(strstr(steno_last_error(session), bad[i].size ? "no_repeat_ngram_size is -1" : "repetition_penalty is"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_those_of_a_filter),
        cmocka_unit_test(test_no_ngram_occurs_twice_in_a_window),
        cmocka_unit_test(test_values_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

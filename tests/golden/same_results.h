/* steno tests: two results that are the same to the last bit, and ways to make them. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_SAME_RESULTS_H
#define STENO_TESTS_SAME_RESULTS_H
#include <math.h>
#include <string.h>
#include <steno/steno.h>
#include "harness.h"

static inline int same_bits(const void *a, const void *b, size_t n)
{
    return !n || memcmp(a, b, n) == 0;
}

/* Everything of a result that the decoder makes. */
static inline void results_are_equal(const steno_session *x, const steno_session *y, const char *what)
{
    if (strcmp(steno_text(x), steno_text(y)) != 0) fail_msg("%s: text '%s', want '%s'", what, steno_text(x), steno_text(y));
    assert_string_equal(steno_language(x), steno_language(y));
    assert_int_equal(steno_segment_count(x), steno_segment_count(y));
    for (int i = 0; i < steno_segment_count(x); i++) {
        steno_segment a = { .size = sizeof a }, b = { .size = sizeof b };
        assert_int_equal(steno_segment_get(x, i, &a) | steno_segment_get(y, i, &b), 0);
        assert_int_equal(a.n_tokens, b.n_tokens);
        assert_true(same_bits(a.tokens, b.tokens, (size_t)a.n_tokens * sizeof *a.tokens));
        assert_true(same_bits(&a.start, &b.start, sizeof a.start) && same_bits(&a.end, &b.end, sizeof a.end));
        assert_true(same_bits(&a.avg_logprob, &b.avg_logprob, sizeof a.avg_logprob));
        assert_true(same_bits(&a.no_speech_prob, &b.no_speech_prob, sizeof a.no_speech_prob));
        assert_true(same_bits(&a.compression_ratio, &b.compression_ratio, sizeof a.compression_ratio));
        assert_true(same_bits(&a.temperature, &b.temperature, sizeof a.temperature));
        assert_int_equal(a.attempt, b.attempt);
        assert_int_equal(a.flags, b.flags);
        assert_int_equal(a.n_words, b.n_words);
        for (int k = 0; k < a.n_words; k++) {
            steno_word v = { .size = sizeof v }, u = { .size = sizeof u };
            assert_int_equal(steno_word_get(x, i, k, &v) | steno_word_get(y, i, k, &u), 0);
            assert_true(same_bits(&v.start, &u.start, sizeof v.start) && same_bits(&v.end, &u.end, sizeof v.end) &&
                        same_bits(&v.probability, &u.probability, sizeof v.probability));
        }
        for (int k = 0; k < a.n_tokens; k++) {
            steno_token s = { .size = sizeof s }, t = { .size = sizeof t };
            assert_int_equal(steno_token_get(x, i, k, &s) | steno_token_get(y, i, k, &t), 0);
            assert_true(s.id == t.id && s.ts_id == t.ts_id && same_bits(&s.logprob, &t.logprob, sizeof s.logprob) &&
                        same_bits(&s.ts_prob_sum, &t.ts_prob_sum, sizeof s.ts_prob_sum));
        }
    }
}

/* A filter that depends on earlier ids: no id twice in a row. */
static inline void no_repeat(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    if (n && tokens[n - 1] < at->n_vocab) logits[tokens[n - 1]] = -INFINITY;
}

struct way { const char *name; void (*set)(steno_transcribe_params *p); };
static inline void way_greedy(steno_transcribe_params *p) { p->temperature_increment_on_fallback = 0; }
static inline void way_ladder(steno_transcribe_params *p)
{
    p->logprob_threshold = -0.01;
    p->compression_ratio_threshold = 1.1;
    p->best_of = 3;
}
static inline void way_beams(steno_transcribe_params *p) { p->beam_size = 5; p->temperature_increment_on_fallback = 0; }
static inline void way_drawn(steno_transcribe_params *p) { p->temperature = 0.7; p->seed = 5; }
static inline void way_filter(steno_transcribe_params *p) { p->logits_filter = no_repeat; }
static inline void way_hot(steno_transcribe_params *p) { p->hotwords = "seven\nnine"; p->hotwords_boost = 4; }
static inline void way_grammar(steno_transcribe_params *p) { p->grammar = "root ::= (\" \" [a-z,.]+)+"; p->without_timestamps = 1; }
static inline void way_prompt(steno_transcribe_params *p) { p->initial_prompt = "one two three four"; p->carry_initial_prompt = 1; }
static inline void way_short(steno_transcribe_params *p) { p->sample_len = 5; p->audio_ctx = 500; }
static inline void way_retry(steno_transcribe_params *p) { p->guards = STENO_GUARDS_RETRY; }
static inline void way_words(steno_transcribe_params *p) { p->word_timestamps = 1; }
static inline void way_foreseen(steno_transcribe_params *p) { p->without_timestamps = 1; p->condition_on_previous_text = 0; }

static const struct way ways[] = {
    { "greedy", way_greedy }, { "ladder", way_ladder },   { "beams", way_beams },   { "drawn", way_drawn },
    { "filter", way_filter }, { "hot", way_hot },         { "grammar", way_grammar }, { "prompt", way_prompt },
    { "short", way_short },   { "retry", way_retry },     { "words", way_words },   { "foreseen", way_foreseen },
};

enum { N_WAYS = sizeof ways / sizeof *ways };
#endif

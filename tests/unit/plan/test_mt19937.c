/* steno tests: tokens by lot, and what whisper.cpp makes of a sequence. SPDX-License-Identifier: MIT
 *
 * The numbers are libstdc++'s: std::mt19937, std::generate_canonical<double, 53>, std::discrete_distribution over the same weights. */
#include "plan/mt19937.h"
#include "search/ggml_beam.h"
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "text/bpe.h"
#include <math.h>

enum { IDS = 200, DRAWS = 12, EOT = 300, TS = 400, LIMIT = 40 };

static void test_the_generator_is_the_published_one(void **state)
{
    (void)state;
    struct mt19937 l;
    mt19937_seed(&l, 5489);
    for (int i = 0; i < 9999; i++) (void)mt19937_word(&l);
    assert_true(mt19937_word(&l) == 4123659995u); /* as the standard demands of std::mt19937 */
    static const double want[] = { 0.070724880451056613, 0.83994904246836621, 0.12132857932963054, 0.56931132579008759 };
    mt19937_seed(&l, 3);
    for (int i = 0; i < 4; i++) assert_true(mt19937_draw(&l) == want[i]);
}

static void test_draws_are_those_of_libstdcpp(void **state)
{
    (void)state;
    static const struct { uint32_t seed; int32_t id[DRAWS]; } want[] = {
        { 0, { 119, 168, 173, 169, 125, 76, 60, 7, 53, 94, 163, 95 } },
        { 1, { 197, 184, 22, 198, 45, 77, 76, 133, 184, 169, 62, 104 } },
        { 7, { 44, 65, 195, 92, 61, 50, 12, 84, 0, 104, 173, 65 } },
    };
    float x[IDS];
    for (int i = 0; i < IDS; i++) x[i] = -0.02f * (float)(i * 37 % IDS);
    const struct logit_partial text = { .max = 0, .arg = 0 }, ts = { .max = -INFINITY, .arg = -1 };
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        for (int hot = 0; hot < 2; hot++) { /* logits are divided by the temperature */
            struct logit_rules rules = { .n_vocab = IDS, .eot = EOT, .ts_begin = IDS, .ggml_rules = 1, .temperature = hot ? 0.5 : 0 };
            struct sampled_token top[DRAWS], out[DRAWS];
            struct mt19937 mt19937, again;
            float y[IDS];
            for (int i = 0; i < IDS; i++) y[i] = hot ? x[i] / 2 : x[i];
            struct sampler s = { .rules = &rules, .mt19937 = &mt19937, .top = top, .topk = DRAWS, .out = out, .limit = DRAWS };
            mt19937_seed(&mt19937, want[k].seed);
            again = mt19937;
            mt19937_tokens(&s, &text, &ts, y);
            for (int i = 0; i < DRAWS; i++) assert_int_equal(top[i].id, want[k].id[i]);
            mt19937 = again;
            for (int i = 0; i < DRAWS; i++) mt19937_token(&s, &text, &ts, y);
            assert_true(s.done);
            for (int i = 0; i < DRAWS; i++) {
                assert_int_equal(out[i].id, want[k].id[i]);
                assert_true(fabs((double)(out[i].logprob - top[i].logprob)) < 1e-12);
            }
        }
    }
}

static void test_where_times_are_likelier_than_any_text_a_time_is_drawn(void **state)
{
    (void)state;
    struct logit_rules rules = { .n_vocab = 8, .eot = EOT, .ts_begin = 4, .ts_initial_last = 7, .timestamps = 1, .ggml_rules = 1 };
    struct sampled_token top[64];
    struct mt19937 mt19937;
    float x[8] = { 1, 0, 0, 0, 0.5f, 0.5f, 0.5f, 0.5f };
    const struct logit_partial text = { .max = 1, .arg = 0 }, ts = { .max = 0.5f, .arg = 4 };
    struct sampler s = { .rules = &rules, .mt19937 = &mt19937, .top = top, .topk = 64, .last_ts = -1 };
    mt19937_seed(&mt19937, 1);
    mt19937_tokens(&s, &text, &ts, x);
    double all = exp(1) + 3;
    for (int i = 4; i < 8; i++) all += exp(0.5);
    for (int i = 0; i < 64; i++) {
        assert_in_range(top[i].id, 4, 7);
        assert_true(fabs((double)top[i].logprob - (0.5 - log(all))) < 1e-6); /* a share of all, texts too */
        assert_true(fabs((double)top[i].ts_prob - 0.25) < 1e-6 && top[i].ts_id == 4);
    }
    x[0] = 4;
    const struct logit_partial sure = { .max = 4, .arg = 0 };
    int texts = 0;
    mt19937_tokens(&s, &sure, &ts, x);
    for (int i = 0; i < 64; i++) texts += top[i].id < 4;
    assert_in_range(texts, 40, 64);
}

/* ---- what a sequence is worth ---- */

static struct sequence_score judge(const int32_t *ids, int32_t n, int ended, int is_last, double entropy)
{
    static struct sampled_token out[LIMIT];
    static struct logit_rules rules = { .eot = EOT, .ts_begin = TS, .timestamps = 1 };
    struct lane l = { .sampler = { .rules = &rules, .out = out, .n = n, .limit = LIMIT, .ended = ended, .sum_logprob = -10 } };
    for (int32_t i = 0; i < n; i++) out[i] = (struct sampled_token){ .id = ids[i], .logprob = (float)-(i + 1) };
    const struct sequence_score_rules v = { .on = 1, .is_last = is_last, .half = 750, .entropy = entropy };
    return sequence_score_of(&l, &v, (double)NAN);
}

static void test_tokens_behind_the_last_timestamp_do_not_count(void **state)
{
    (void)state;
    const int32_t ids[] = { TS, 1, 2, TS + 50, 3 };
    const struct sequence_score v = judge(ids, 5, 1, 0, (double)NAN);
    assert_true(!v.failed && v.n == 4 && v.avg_logprob == -2.5 && v.rank == -2.5);
}

static void test_a_text_without_a_time_fails_unless_the_audio_ends(void **state)
{
    (void)state;
    const int32_t ids[] = { TS, 1, 2 }; /* 0.00 has no effect */
    assert_true(judge(ids, 3, 1, 0, (double)NAN).failed);
    assert_int_equal(judge(ids, 3, 1, 0, (double)NAN).n, 3);
    assert_true(judge(ids, 3, 1, 0, (double)NAN).avg_logprob == -2.5); /* the end of text is written, and counts */
    assert_true(judge(ids, 3, 0, 0, (double)NAN).avg_logprob == -2);   /* where there is one */
    const struct sequence_score v = judge(ids, 3, 1, 1, (double)NAN);
    assert_true(!v.failed && v.n == 3 && v.avg_logprob == -2.5); /* the end counts */
}

static void test_a_text_at_its_limit_needs_half_the_window(void **state)
{
    (void)state;
    int32_t ids[LIMIT];
    for (int i = 0; i < LIMIT; i++) ids[i] = i;
    ids[9] = TS + 749;
    assert_true(judge(ids, LIMIT, 0, 1, (double)NAN).failed);
    ids[9] = TS + 750;
    const struct sequence_score v = judge(ids, LIMIT, 0, 0, (double)NAN);
    assert_true(!v.failed && v.n == 10);
}

static void test_a_long_text_of_few_words_fails(void **state)
{
    (void)state;
    int32_t ids[LIMIT];
    for (int i = 0; i < LIMIT; i++) ids[i] = i % 4;
    for (int n = 32; n <= 33; n++) {
        ids[n - 1] = TS + 900;
        assert_int_equal(judge(ids, n, 1, 0, 2.4).failed, n > 32);
        assert_false(judge(ids, n, 1, 0, 1.0).failed);
        assert_false(judge(ids, n, 1, 0, (double)NAN).failed);
        ids[n - 1] = (n - 1) % 4;
    }
}

/* ---- prompts ---- */

static void test_prompts_are_cut_by_the_longest_match(void **state)
{
    (void)state;
    static const char *const tokens[] = { "a", "ab", "bc", "abc", "b", "c", " a", " ", "'s", "1", "12", "-", " -", "\xc3\xbc", "\n", "  " };
    enum { N = sizeof tokens / sizeof *tokens };
    static const struct { const char *text; int n; int32_t id[8]; } cases[] = {
        { "abca", 2, { 3, 0 } }, { "abbc", 2, { 1, 2 } }, { " ab", 2, { 6, 4 } },  { "a's", 2, { 0, 8 } },   { "a12", 2, { 0, 10 } },
        { "a  a", 3, { 0, 7, 6 } }, { "a -", 2, { 0, 12 } }, { "a  ", 2, { 0, 15 } }, { "a\nb", 3, { 0, 14, 4 } }, { "azb", 2, { 0, 4 } },
        { "a\xc3\xbc-", 3, { 0, 13, 11 } }, { "", 0, { 0 } }, { "\xc3", 0, { 0 } },
    };
    struct arena a = { 0 };
    struct vocab v = { 0 };
    steno_error e;
    assert_int_equal(vocab_init(&v, &a, N, N, &e), STENO_OK);
    for (int i = 0; i < N; i++) vocab_set(&v, i, (const uint8_t *)tokens[i], (uint32_t)strlen(tokens[i]));
    assert_int_equal(vocab_index(&v, &a, &e), STENO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf ids = { 0 };
        longest_encode(&v, cases[i].text, &ids);
        assert_int_equal(ids.len / sizeof(int32_t), cases[i].n);
        if (ids.len) assert_memory_equal(ids.p, cases[i].id, ids.len);
        buf_free(&ids);
    }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_generator_is_the_published_one),
        cmocka_unit_test(test_draws_are_those_of_libstdcpp),
        cmocka_unit_test(test_where_times_are_likelier_than_any_text_a_time_is_drawn),
        cmocka_unit_test(test_tokens_behind_the_last_timestamp_do_not_count),
        cmocka_unit_test(test_a_text_without_a_time_fails_unless_the_audio_ends),
        cmocka_unit_test(test_a_text_at_its_limit_needs_half_the_window),
        cmocka_unit_test(test_a_long_text_of_few_words_fails),
        cmocka_unit_test(test_prompts_are_cut_by_the_longest_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

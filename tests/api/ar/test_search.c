/* steno tests: candidates and beams, through the public API. SPDX-License-Identifier: MIT
 *
 * The attempts that a search reports (on_attempt) must agree with its results. Random models, whose choices are near ties, try what the
 * shipped one is too sure for. */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "undecided_session.h"

enum { MOST_TOKENS = 1000 };

static struct attempts told, told2;

/* ---- candidates -------------------------------------------------------------------------------------------------------------- */

static void test_the_best_of_several_draws_is_the_one_that_ranks_highest(void **state)
{
    (void)state;
    int elsewhere = 0, apart = 0;
    for (int seed = 0; seed < 6; seed++) {
        steno_transcribe_params p = params_noted(&told);
        p.temperature = 1.3;
        p.best_of = SHIPPED_LANES;
        p.seed = (uint64_t)seed;
        run_demo(undecided, &p);
        assert_int_equal(told.n, 1);
        assert_int_equal(told.a[0].n_candidates, SHIPPED_LANES);
        const int n = told.a[0].n_tokens;
        const double mean = told.score[0][told.a[0].chosen], avg = told.a[0].avg_logprob;
        assert_true(fabs(mean * n / (n + 1) - avg) < 1e-9); /* the chosen one is the one that was kept */
        elsewhere += told.a[0].chosen != 0;
        apart += told.score[0][0] != told.score[0][1];
        p = params_noted(&told2); /* a candidate does not know how many there are */
        p.temperature = 1.3;
        p.seed = (uint64_t)seed;
        for (p.best_of = 1; p.best_of < SHIPPED_LANES; p.best_of++) {
            told2.n = 0;
            run_demo(undecided, &p);
            assert_int_equal(told2.a[0].n_candidates, p.best_of);
            assert_memory_equal(told2.score[0], told.score[0], (size_t)p.best_of * sizeof(double));
        }
    }
    assert_true(elsewhere > 0 && apart == 6);
}

static void test_a_seed_repeats_its_candidates_and_another_draws_others(void **state)
{
    (void)state;
    uint64_t digest[3];
    for (int i = 0; i < 3; i++) {
        struct attempts *l = i ? &told2 : &told;
        steno_transcribe_params p = params_noted(l);
        p.temperature = 0.8;
        p.best_of = 3;
        p.seed = i == 2 ? 6 : 5;
        run_demo(undecided, &p);
        digest[i] = result_digest(undecided);
        assert_int_equal(!memcmp(told.score[0], l->score[0], 3 * sizeof(double)), i < 2);
    }
    assert_true(digest[1] == digest[0] && digest[2] != digest[0]);
}

static void test_a_ladder_searches_beams_first_and_draws_candidates_after(void **state)
{
    (void)state;
    steno_transcribe_params p = params_noted(&told);
    p.temperature_increment_on_fallback = 0.5;
    p.logprob_threshold = 0; /* nothing passes */
    p.beam_size = 4;
    p.best_of = 3;
    run_demo(session, &p);
    assert_int_equal(told.n, 3);
    static const double hot[] = { 0, 0.5, 1 };
    for (int i = 0; i < 3; i++) {
        assert_true(told.a[i].temperature == hot[i]);
        assert_int_equal(told.a[i].n_candidates, i ? 3 : 4);
        assert_true(told.a[i].entropy >= 0 && told.a[i].entropy <= log(32) + 1e-12);
        assert_int_equal(told.a[i].kept, i == 2);
    }
    p.beam_size = 0; /* greedy has one */
    p.best_of = 2;
    told.n = 0;
    run_demo(session, &p);
    assert_int_equal(told.a[0].n_candidates, 1);
    assert_int_equal(told.a[1].n_candidates, 2);
}

static void test_candidates_and_beams_share_one_run_of_the_prompt(void **state)
{
    (void)state;
    for (int beams = 0; beams < 2; beams++) {
        steno_transcribe_params p = params_noted(&told);
        steno_timings t = { .size = sizeof t };
        if (beams) p.beam_size = SHIPPED_LANES;
        else p.best_of = SHIPPED_LANES, p.temperature = 0.4;
        p.initial_prompt = "one two three four five six seven eight nine zero";
        steno_timings_reset(session);
        run_demo(session, &p);
        steno_timings_get(session, &t);
        assert_int_equal(t.n_encodes, 1);
        assert_int_equal(t.n_prompts, 1);
        assert_int_equal(t.n_prompt_tokens, 1 + 10 + 3 - !beams); /* the last row of candidates is each one's own */
        assert_string_equal(steno_text(session), demo_text);
    }
    steno_session_params sp;
    steno_session_params_init(&sp);
    const int64_t one = steno_session_memory(model, NULL, &sp);
    sp.max_lanes = SHIPPED_LANES;
    assert_true(steno_session_memory(model, NULL, &sp) < SHIPPED_LANES * one);
}

/* ---- beams ------------------------------------------------------------------------------------------------------------------- */

/* Tokens of the result: segments without a length have lost theirs. */
static int compare_with_greedy(steno_session *s, steno_transcribe_params p)
{
    static int32_t greedy[MOST_TOKENS], beam[MOST_TOKENS];
    run_demo(s, &p);
    const int n = tokens_of(s, greedy, MOST_TOKENS);
    p.beam_size = 1;
    run_demo(s, &p);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.a[1].n_tokens, told.a[0].n_tokens);
    assert_int_equal(tokens_of(s, beam, MOST_TOKENS), n);
    assert_memory_equal(beam, greedy, (size_t)n * sizeof *beam);
    assert_true(fabs(told.a[1].avg_logprob - told.a[0].avg_logprob) < 1e-5);
    return n > 0;
}

static void test_one_beam_chooses_what_greedy_decoding_chooses(void **state)
{
    (void)state;
    int n = 0;
    for (int i = 0; i < 4; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.without_timestamps = i & 1;
        if (i & 2) p.initial_prompt = "nine eight";
        n += compare_with_greedy(session, p);
    }
    for (uint64_t seed = 20; seed < 30; seed++) {
        steno_model *m = random_model_as(&small_dims, DT_F16, seed, NULL, SHIPPED_COMPUTE);
        steno_session *s = session_new(m, NULL, 1);
        steno_transcribe_params p = params_noted(&told);
        p.without_timestamps = seed & 1;
        n += compare_with_greedy(s, p);
        steno_session_close(s);
        steno_model_close(m);
    }
    assert_true(n > 10);
}

static void test_patience_is_how_many_finished_beams_end_a_search(void **state)
{
    (void)state;
    static const struct { int beams; double patience; int least, most; } c[] = {
        { 5, (double)NAN, 5, 5 }, { 5, 1, 5, 5 }, { 5, 2, 6, 10 }, { 2, 1.5, 2, 3 }, { 5, 0.5, 5, 5 }, { 3, 1.5, 3, 4 }, /* 4.5: to even */
        { 1, 1, 1, 1 }, { 1, 4, 1, 4 },
    };
    uint64_t plain = 0;
    for (int i = 0; i < (int)(sizeof c / sizeof *c); i++) {
        steno_transcribe_params p = params_noted(&told);
        p.beam_size = c[i].beams;
        p.patience = c[i].patience;
        p.sample_len = 40;
        run_demo(session, &p);
        assert_in_range(told.a[0].n_candidates, c[i].least, c[i].most);
        if (!i) plain = result_digest(session);
        if (i == 1) assert_true(result_digest(session) == plain);
    }
}

/* Texts may end at any place. */
static void lift_end(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)at;
    (void)tokens;
    const int32_t end = steno_token_id(random1, STENO_TOKEN_END);
    float most = logits[0];
    for (int32_t i = 1; i < end; i++)
        if (logits[i] > most) most = logits[i];
    if (n > 2) logits[end] = most + 0.2f;
}

static void test_more_patience_goes_on_and_never_finds_less(void **state)
{
    (void)state;
    int more = 0;
    for (uint64_t seed = 1; seed < 13; seed++) {
        steno_model *m = random_model_as(&small_dims, DT_F16, seed, NULL, SHIPPED_COMPUTE);
        steno_session *s = session_new(m, NULL, SHIPPED_LANES);
        double best[2];
        for (int i = 0; i < 2; i++) {
            steno_transcribe_params p = params_noted(&told);
            p.beam_size = 4;
            p.patience = i ? 3 : 1;
            p.without_timestamps = 1;
            p.logits_filter = lift_end;
            run_demo(s, &p);
            assert_int_equal(told.a[0].n_candidates, i ? 12 : 4);
            best[i] = told.score[0][told.a[0].chosen];
        }
        assert_true(best[1] >= best[0]);
        more += best[1] > best[0];
        steno_session_close(s);
        steno_model_close(m);
    }
    assert_true(more > 0);
}

struct step { int n_lanes, len; int32_t tokens[SHIPPED_LANES][MOST_TOKENS]; int twins; };

/* Sequences of one step are asked about one after the other. */
static void compare_beams(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)at;
    (void)logits;
    struct step *t = user;
    if (n != t->len) t->len = n, t->n_lanes = 0;
    assert_true(t->n_lanes < SHIPPED_LANES);
    for (int i = 0; i < t->n_lanes && n; i++) t->twins += !memcmp(t->tokens[i], tokens, (size_t)n * sizeof *tokens);
    memcpy(t->tokens[t->n_lanes++], tokens, (size_t)n * sizeof *tokens);
}

static void test_beams_are_never_twins_and_ten_searches_are_one(void **state)
{
    (void)state;
    static struct step step;
    uint64_t want[2] = { 0 };
    for (int i = 0; i < 10; i++) {
        steno_session *const both[] = { session, undecided };
        for (int k = 0; k < 2; k++) {
            steno_transcribe_params p = params_new();
            p.no_speech_threshold = (double)NAN;
            p.temperature_increment_on_fallback = 0;
            p.beam_size = SHIPPED_LANES;
            p.sample_len = 30;
            p.seed = (uint64_t)i; /* nothing is drawn */
            step.len = -1;
            p.user = &step;
            p.logits_filter = i ? NULL : compare_beams;
            run_demo(both[k], &p);
            if (!i) want[k] = result_digest(both[k]);
            assert_true(result_digest(both[k]) == want[k]);
        }
    }
    assert_int_equal(step.twins, 0);
}

/* ---- rank -------------------------------------------------------------------------------------------------------------------- */

/* Number of tokens from what both formulas make of it: (s / n) / (s / ((5 + n) / 6)) = (5 + n) / (6 n). */
static double length_of(double mean, double penalised)
{
    return 5 / (6 * mean / penalised - 1);
}

static void test_a_length_penalty_ranks_the_same_candidates_otherwise(void **state)
{
    (void)state;
    int changed = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (int i = 0; i < 2; i++) {
            steno_transcribe_params p = params_noted(i ? &told2 : &told);
            p.temperature = 1.6;
            p.best_of = SHIPPED_LANES;
            p.seed = seed;
            p.length_penalty = i ? 1 : (double)NAN;
            run_demo(undecided, &p);
        }
        for (int k = 0; k < SHIPPED_LANES; k++) {
            const double n = length_of(told.score[0][k], told2.score[0][k]);
            if (isnan(n) || fabs(n - nearbyint(n)) > 1e-6) fail_msg("candidate %d: %g tokens", k, n);
        }
        const int was = told.a[0].chosen, is = told2.a[0].chosen;
        assert_int_equal(nearbyint(length_of(told.score[0][was], told2.score[0][was])), told.a[0].n_tokens);
        assert_int_equal(nearbyint(length_of(told.score[0][is], told2.score[0][is])), told2.a[0].n_tokens);
        changed += was != is;
    }
    assert_true(changed > 0 && changed < 20);
    steno_transcribe_params p = params_noted(&told); /* 0: the sums themselves */
    p.beam_size = 3;
    p.length_penalty = 0;
    run_demo(undecided, &p);
    assert_true(fabs(told.score[0][told.a[0].chosen] - told.a[0].avg_logprob * (told.a[0].n_tokens + 1)) < 1e-9);
}

/* ---- ends -------------------------------------------------------------------------------------------------------------------- */

/* Nothing may follow the sixth token. */
static void bar_after_six(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)tokens;
    for (int32_t i = 0; n >= 6 && i < at->n_vocab; i++) logits[i] = -INFINITY;
}

static void test_where_nothing_may_follow_the_text_ends_whatever_the_search(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    for (int i = 0; i < 4; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.without_timestamps = 1;
        p.logits_filter = bar_after_six;
        if (i == 1) p.beam_size = 1;
        if (i == 2) p.beam_size = SHIPPED_LANES;
        if (i == 3) p.best_of = 3, p.temperature = 0.2;
        run_demo(session, &p);
        const int n = tokens_of(session, ids, MOST_TOKENS);
        if (i == 2 ? !n || n > 6 : n != 6) fail_msg("search %d: '%s'", i, steno_text(session)); /* some beam may have ended before */
        assert_true(isfinite(told.a[0].avg_logprob));
        assert_non_null(strstr(demo_text, steno_text(session)));
    }
}

static void test_combinations_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { int beam, best; double t, step, patience, penalty; const char *what; } c[] = {
        { 0, 3, 0, 0, (double)NAN, (double)NAN, "best_of needs a temperature" },
        { 0, 1, 0, 0, (double)NAN, (double)NAN, "best_of needs a temperature" },
        { 0, 3, 0, 1.5, (double)NAN, (double)NAN, "best_of needs a temperature" }, /* no step fits below 1 */
        { 2, 0, 0.2, 0, (double)NAN, (double)NAN, "beam_size needs a temperature of 0" },
        { 2, 2, 0.2, 0.2, (double)NAN, (double)NAN, "beam_size needs a temperature of 0" },
        { 0, 0, 0, 0.2, 1, (double)NAN, "patience needs beam_size" },
        { 0, 2, 0.5, 0.2, 1, (double)NAN, "patience needs beam_size" },
        { 4, 0, 0, 0, 0, (double)NAN, "patience" },
        { 4, 0, 0, 0, -1, (double)NAN, "patience" },
        { 4, 0, 0, 0, (double)INFINITY, (double)NAN, "patience" },
        { 4, 0, 0, 0, 65, (double)NAN, "patience" },
        { 4, 0, 0, 0, 1, 1.1, "length_penalty" },
        { 4, 0, 0, 0, 1, -0.1, "length_penalty" },
        { 4, 0, 0, 0, 1, (double)INFINITY, "length_penalty" },
        { SHIPPED_LANES + 1, 0, 0, 0, (double)NAN, (double)NAN, "beam_size is 6, but the session was opened for 5" },
        { 0, SHIPPED_LANES + 1, 1, 0, (double)NAN, (double)NAN, "best_of is 6, but the session was opened for 5" },
        { 33, 0, 0, 0, (double)NAN, (double)NAN, "beam_size is 33, want 0 to 32" },
        { -1, 0, 0, 0, (double)NAN, (double)NAN, "beam_size" },
        { 0, 33, 1, 0, (double)NAN, (double)NAN, "best_of is 33, want 0 to 32" },
        { 0, -1, 1, 0, (double)NAN, (double)NAN, "best_of" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p = params_noted(&told);
        p.beam_size = c[i].beam, p.best_of = c[i].best;
        p.temperature = c[i].t, p.temperature_increment_on_fallback = c[i].step;
        p.patience = c[i].patience, p.length_penalty = c[i].penalty;
        const int rc = steno_transcribe(session, demo.pcm, demo.n, &p);
        if (rc != STENO_EARG || !strstr(steno_last_error(session), c[i].what))
            fail_msg("case %zu: status %d, '%s' does not say '%s'", i, rc, steno_last_error(session), c[i].what);
        assert_int_equal(told.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_of_several_draws_is_the_one_that_ranks_highest),
        cmocka_unit_test(test_a_seed_repeats_its_candidates_and_another_draws_others),
        cmocka_unit_test(test_a_ladder_searches_beams_first_and_draws_candidates_after),
        cmocka_unit_test(test_candidates_and_beams_share_one_run_of_the_prompt),
        cmocka_unit_test(test_one_beam_chooses_what_greedy_decoding_chooses),
        cmocka_unit_test(test_patience_is_how_many_finished_beams_end_a_search),
        cmocka_unit_test(test_more_patience_goes_on_and_never_finds_less),
        cmocka_unit_test(test_beams_are_never_twins_and_ten_searches_are_one),
        cmocka_unit_test(test_a_length_penalty_ranks_the_same_candidates_otherwise),
        cmocka_unit_test(test_where_nothing_may_follow_the_text_ends_whatever_the_search),
        cmocka_unit_test(test_combinations_that_make_no_sense_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, undecided_open, undecided_close);
}

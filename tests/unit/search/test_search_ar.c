/* steno tests: the step machine of one sequence. SPDX-License-Identifier: MIT
 *
 * Driven by hand: the test runs the rows that the search asks for and reports them; no model is needed. */
#include "api/random_model.h"
#include "search/ar.h"

enum { PROMPT = 11, SOT = 8, LIMIT = 4, MOST_ROWS = 32 };

struct rig {
    struct row row[MOST_ROWS];
    struct lane lane[2];
    struct sampled_token out[LIMIT];
    struct run run;
    int32_t prompt[PROMPT];
    struct ar ar;
};

static void rig_init(struct rig *r)
{
    memset(r, 0, sizeof *r);
    for (int i = 0; i < PROMPT; i++) r->prompt[i] = 100 + i;
    r->run = (struct run){ .row = r->row, .room = { MOST_ROWS, MOST_ROWS }, .lane = r->lane, .n_lanes = 2 };
    r->lane[1] = (struct lane){ .sampler.out = r->out, .sampler.limit = LIMIT };
    const struct ar_params greedy = { .n_lanes = 1, .length_penalty = (double)NAN };
    ar_begin(&r->ar, &greedy, 1, r->prompt, PROMPT, SOT);
}

/* What an executor does to the lane: positions are held, and a token is chosen where one was asked for. */
static void pretend(struct rig *r)
{
    for (uint32_t i = 0; i < r->run.n_rows; i++) {
        struct lane *l = &r->lane[r->row[i].lane];
        assert_int_equal(r->row[i].pos, l->kv.len);
        l->kv.len++;
        if (!(r->row[i].flags & ROW_SAMPLE)) continue;
        l->sampler.out[l->sampler.n] = (struct sampled_token){ .id = 500 + l->sampler.n, .logprob = -1 };
        l->sampler.sum_logprob -= 1;
        l->sampler.done = ++l->sampler.n == l->sampler.limit;
    }
}

static uint32_t want(struct rig *r, uint32_t rows)
{
    r->run.n_rows = 0;
    return ar_add_rows(&r->ar, &r->run, NULL, (struct room){ rows, rows });
}

static void test_a_prompt_is_asked_for_in_pieces_and_marked_where_logits_count(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    int seen = 0, probs = 0;
    while (seen < PROMPT) {
        const uint32_t n = want(&r, 4);
        assert_int_equal(n, r.run.n_rows);
        assert_in_range(r.run.n_rows, 1, 4);
        for (uint32_t i = 0; i < r.run.n_rows; i++, seen++) {
            assert_int_equal(r.row[i].token, r.prompt[seen]);
            assert_int_equal(r.row[i].lane, 1);
            assert_int_equal((r.row[i].flags & ROW_SAMPLE) != 0, seen == PROMPT - 1);
            assert_int_equal((r.row[i].flags & ROW_PROB) != 0, seen == SOT);
            probs += (r.row[i].flags & ROW_PROB) != 0;
        }
        pretend(&r);
        ar_give(&r.ar, &r.run, NULL);
    }
    assert_int_equal(probs, 1);
}

static void test_steps_feed_the_token_just_chosen_until_the_limit(void **state)
{
    (void)state;
    struct rig r;
    rig_init(&r);
    assert_int_equal(want(&r, MOST_ROWS), PROMPT);
    pretend(&r);
    ar_give(&r.ar, &r.run, NULL);
    for (int i = 1; i < LIMIT; i++) {
        assert_false(r.ar.done);
        assert_int_equal(want(&r, MOST_ROWS), 1);
        assert_int_equal(r.run.n_rows, 1);
        assert_int_equal(r.row[0].token, 500 + i - 1);
        assert_int_equal(r.row[0].pos, PROMPT + i - 1);
        pretend(&r);
        ar_give(&r.ar, &r.run, NULL);
    }
    assert_true(r.ar.done);
    assert_int_equal(r.ar.result, 1);
    assert_int_equal(want(&r, MOST_ROWS), 0);
    assert_int_equal(r.run.n_rows, 0);
}

static void test_average_counts_the_end_of_text(void **state)
{
    (void)state;
    const struct lane l = { .sampler.n = 3, .sampler.sum_logprob = -2 };
    assert_true(ar_avg_logprob(&l) == -0.5);
}

/* Nothing was allowed to follow: it ended, but not as it would have. */
static void test_a_candidate_that_nothing_could_follow_ranks_last(void **state)
{
    (void)state;
    for (int dead = 0; dead < 4; dead++) {
        struct rig r;
        rig_init(&r);
        const struct ar_params two = { .n_lanes = 2, .length_penalty = (double)NAN };
        ar_begin(&r.ar, &two, 0, r.prompt, PROMPT, SOT);
        r.ar.fed = PROMPT;
        r.ar.forked = 1;
        for (int i = 0; i < 2; i++)
            r.lane[i].sampler = (struct sampler){ .n = 2, .sum_logprob = -1 - i, .done = 1, .dead = dead >> i & 1 };
        ar_give(&r.ar, &r.run, NULL);
        assert_true(r.ar.done);
        assert_int_equal(r.ar.chosen, dead == 1);
        assert_int_equal(isinf(r.ar.rank[0]) != 0, dead & 1);
        assert_int_equal(isinf(r.ar.rank[1]) != 0, dead >> 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prompt_is_asked_for_in_pieces_and_marked_where_logits_count),
        cmocka_unit_test(test_steps_feed_the_token_just_chosen_until_the_limit),
        cmocka_unit_test(test_average_counts_the_end_of_text),
        cmocka_unit_test(test_a_candidate_that_nothing_could_follow_ranks_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

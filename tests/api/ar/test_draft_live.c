/* steno tests: draft tokens from the pass before over the same audio. SPDX-License-Identifier: MIT
 *
 * Passes over a growing turn, as a live session makes them, have the same bits as alone, in fewer steps. Two turns share a batch. */
#include "flat_costs.h"
#include "internal.h"
#include "shipped_session.h"
#include "tap.h"

enum { TURNS = 2, STEP = RATE / 2, PASSES = 8 };

struct turns {
    steno_batch *b;
    steno_session *s[TURNS];
    struct audio a[TURNS];
    struct tap from[TURNS];
    int64_t n_drafted, n_accepted, n_steps, n_alone;
};

static void turns_open(struct turns *t)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_error e;
    *t = (struct turns){ .a = { demo, demo_audio(RATE / 3, 0, 1) } };
    steno_batch_params_init(&bp);
    bp.max_windows = TURNS;
    if (steno_batch_open(&t->b, model, NULL, &bp, &e)) fail_msg("%s", e.text);
    steno_session_params_init(&sp);
    sp.batch = t->b;
    for (int i = 0; i < TURNS; i++)
        if (steno_session_open(&t->s[i], model, NULL, &sp, &e)) fail_msg("%s", e.text);
}

static void turns_close(struct turns *t)
{
    for (int i = 0; i < TURNS; i++) steno_session_close(t->s[i]);
    steno_batch_close(t->b);
    free(t->a[1].pcm);
}

/* One pass over the first n samples of each turn, and the same alone. */
static void pass(struct turns *t, int64_t n, const steno_transcribe_params *p, int priority)
{
    steno_request_params r;
    steno_request_params_init(&r);
    r.transcribe = p;
    r.priority = priority;
    for (int i = 0; i < TURNS; i++) {
        t->from[i] = (struct tap){ .pcm = t->a[i].pcm, .n = n < t->a[i].n ? n : t->a[i].n };
        const steno_source src = tap_source(&t->from[i]);
        steno_timings_reset(t->s[i]);
        assert_int_equal(steno_batch_submit(t->b, t->s[i], &src, &r), 0);
    }
    costs_flatten(t->b);
    assert_int_equal(steno_batch_run(t->b), 0);
    for (int i = 0; i < TURNS; i++) {
        steno_timings with = { .size = sizeof with }, without = { .size = sizeof without };
        steno_timings_reset(session);
        if (steno_transcribe(session, t->a[i].pcm, t->from[i].n, p)) fail_msg("%s", steno_last_error(session));
        assert_true(result_digest(t->s[i]) == result_digest(session));
        steno_timings_get(t->s[i], &with);
        steno_timings_get(session, &without);
        assert_int_equal(with.n_steps + with.n_accepted, without.n_steps);
        assert_true(without.n_drafted == 0 && with.n_accepted <= with.n_drafted);
        t->n_drafted += with.n_drafted;
        t->n_accepted += with.n_accepted;
        t->n_steps += with.n_steps;
        t->n_alone += without.n_steps;
    }
}

static void grow(struct turns *t, const steno_transcribe_params *p, int priority)
{
    for (int i = 1; i <= PASSES; i++) pass(t, i * STEP, p, priority);
}

static steno_transcribe_params update_params(void)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.audio_ctx = 600;
    p.word_timestamps = 1;
    return p;
}

static void test_updates_have_the_bits_of_a_pass_alone_in_fewer_steps(void **state)
{
    (void)state;
    struct turns t;
    turns_open(&t);
    steno_transcribe_params p = update_params();
    grow(&t, &p, STENO_PRIORITY_LIVE);
    p.audio_ctx = 0;
    pass(&t, PASSES * STEP, &p, STENO_PRIORITY_END_OF_TURN);
    print_message("%lld of %lld steps, %lld of %lld draft tokens\n", (long long)t.n_steps, (long long)t.n_alone, (long long)t.n_accepted,
                  (long long)t.n_drafted);
    assert_true(t.n_drafted > 0 && 4 * t.n_steps < 3 * t.n_alone);
    turns_close(&t);
}

static void test_fallback_and_prompts_have_the_bits_of_a_pass_alone(void **state)
{
    (void)state;
    struct turns t;
    turns_open(&t);
    for (int k = 0; k < 5; k++) {
        steno_transcribe_params p = update_params();
        if (k == 0) p.temperature_increment_on_fallback = 0.2, p.logprob_threshold = 0, p.best_of = 0; /* each attempt fails */
        if (k == 1) p.initial_prompt = "seven eight";
        if (k == 2) p.prefix = "zero";
        if (k == 3) p.without_timestamps = 1;
        if (k == 4) p.hotwords = "nine";
        const int64_t before = t.n_drafted;
        grow(&t, &p, STENO_PRIORITY_LIVE);
        if (t.n_drafted <= before) fail_msg("case %d had no drafts", k);
    }
    turns_close(&t);
}

static void test_other_requests_do_not_draft(void **state)
{
    (void)state;
    struct turns t;
    turns_open(&t);
    steno_transcribe_params p = update_params();
    grow(&t, &p, STENO_PRIORITY_AUTO);
    assert_int_equal(t.n_drafted, 0);
    p.draft_max = 0;
    grow(&t, &p, STENO_PRIORITY_LIVE);
    assert_int_equal(t.n_drafted, 0);
    turns_close(&t);
}

static void test_other_audio_has_no_drafts(void **state)
{
    (void)state;
    struct turns t;
    turns_open(&t);
    const steno_transcribe_params p = update_params();
    grow(&t, &p, STENO_PRIORITY_LIVE);
    const int64_t before = t.n_drafted;
    for (int i = 0; i < TURNS; i++) t.a[i].pcm += RATE / 4, t.a[i].n -= RATE / 4;
    pass(&t, 3 * RATE, &p, STENO_PRIORITY_LIVE);
    assert_int_equal(t.n_drafted, before);
    for (int i = 0; i < TURNS; i++) t.a[i].pcm -= RATE / 4;
    turns_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates_have_the_bits_of_a_pass_alone_in_fewer_steps),
        cmocka_unit_test(test_fallback_and_prompts_have_the_bits_of_a_pass_alone),
        cmocka_unit_test(test_other_requests_do_not_draft),
        cmocka_unit_test(test_other_audio_has_no_drafts),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

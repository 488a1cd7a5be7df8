/* steno tests: the best texts of a search, through the public API. SPDX-License-Identifier: MIT
 *
 * The hypotheses must agree with the attempts that the search reports (on_attempt) and with the segments. Near ties are those of a random
 * model. */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "undecided_session.h"
#include "api/heap.h"

enum { MOST_TOKENS = 1000 };

static struct attempts told;

static steno_hypothesis get(const steno_session *s, int i)
{
    steno_hypothesis h = { .size = sizeof h };
    assert_int_equal(steno_hypothesis_get(s, i, &h), STENO_OK);
    return h;
}

static int by_falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double sum_of(const steno_hypothesis *h)
{
    double sum = 0;
    for (int i = 0; i < h->n_tokens; i++) sum += (double)h->logprobs[i];
    return sum;
}

/* One window, whose attempt is a[0]. */
static void check_window(const steno_session *s, const steno_transcribe_params *p)
{
    int32_t ids[MOST_TOKENS];
    const int n = steno_hypothesis_count(s), n_found = told.a[0].n_candidates;
    assert_int_equal(told.n, 1);
    assert_int_equal(n, p->n_best < n_found ? p->n_best : n_found);
    qsort(told.score[0], (size_t)n_found, sizeof(double), by_falling);
    for (int i = 0; i < n; i++) {
        const steno_hypothesis h = get(s, i);
        assert_int_equal(h.place, i);
        assert_int_equal(h.at_ms, 0);
        assert_true(h.score == told.score[0][i]);
        if (isinf(h.score)) continue; /* nothing was allowed behind it */
        assert_true(fabs(h.score * h.n_tokens / (h.n_tokens + 1) - h.avg_logprob) < 1e-6);
        assert_true(h.avg_logprob * (h.n_tokens + 1) <= sum_of(&h) + 1e-3); /* the end of text counts, too */
        for (int j = 0; j < i; j++) {
            const steno_hypothesis o = get(s, j);
            if (p->beam_size && o.n_tokens == h.n_tokens && !memcmp(o.tokens, h.tokens, (size_t)h.n_tokens * sizeof *h.tokens))
                fail_msg("texts %d and %d are the same", j, i);
        }
    }
    const steno_hypothesis first = get(s, 0);
    assert_true(first.avg_logprob == told.a[0].avg_logprob);
    assert_int_equal(first.n_tokens, told.a[0].n_tokens);
    if (s != session) return; /* segments without a text lose their tokens */
    assert_int_equal(tokens_of(s, ids, MOST_TOKENS), first.n_tokens);
    assert_memory_equal(ids, first.tokens, (size_t)first.n_tokens * sizeof *ids);
}

static void test_beams_come_by_rank_and_the_first_is_the_text(void **state)
{
    (void)state;
    for (int n = 1; n <= SHIPPED_LANES; n++) {
        steno_transcribe_params p = params_noted(&told);
        p.beam_size = SHIPPED_LANES;
        p.n_best = n;
        run_demo(undecided, &p);
        check_window(undecided, &p);
    }
    steno_transcribe_params p = params_noted(&told);
    p.beam_size = p.n_best = SHIPPED_LANES;
    p.patience = 3; /* finds more than it keeps */
    run_demo(undecided, &p);
    check_window(undecided, &p);
    p = params_noted(&told);
    p.beam_size = p.n_best = SHIPPED_LANES;
    run_demo(session, &p);
    check_window(session, &p);
    assert_string_equal(get(session, 0).text, steno_text(session));
}

static void test_draws_come_by_rank_and_greedy_has_one(void **state)
{
    (void)state;
    for (int n = 1; n <= SHIPPED_LANES; n++) {
        steno_transcribe_params p = params_noted(&told);
        p.temperature = 1.3;
        p.best_of = SHIPPED_LANES;
        p.n_best = n;
        run_demo(undecided, &p);
        check_window(undecided, &p);
    }
    steno_transcribe_params p = params_noted(&told);
    p.n_best = 1;
    run_demo(session, &p);
    assert_int_equal(steno_hypothesis_count(session), 1);
    assert_string_equal(get(session, 0).text, steno_text(session));
    p.n_best = 0;
    told.n = 0;
    run_demo(session, &p);
    assert_int_equal(steno_hypothesis_count(session), 0);
}

static void test_windows_come_in_order_and_results_do_not_depend_on_them(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.beam_size = 3;
    p.temperature_increment_on_fallback = 0;
    run(&many, &p);
    const uint64_t digest = result_digest(session);
    p.n_best = 3;
    run(&many, &p);
    int64_t last = -1;
    int n = steno_hypothesis_count(session), windows = 0, place = 0;
    assert_int_equal(n, 6);
    for (int i = 0; i < n; i++) {
        const steno_hypothesis h = get(session, i);
        place = h.place ? place + 1 : 0;
        assert_int_equal(h.place, place);
        assert_true(place ? h.at_ms == last : h.at_ms > last);
        windows += !place;
        last = h.at_ms;
    }
    assert_int_equal(windows, 2);
    p.n_best = 0;
    run(&many, &p);
    assert_true(result_digest(session) == digest);
}

static void test_more_than_a_search_finds_is_refused(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.n_best = 2;
    refuse(&p, "n_best is more than a search finds");
    p.beam_size = 3;
    p.n_best = 4;
    refuse(&p, "n_best is more than a search finds");
    p.best_of = 4;
    run(&demo, &p);
    p.n_best = -1;
    refuse(&p, "n_best");
    p.n_best = 33;
    refuse(&p, "n_best");
}

static void test_wrong_requests_are_refused(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.n_best = 1;
    run(&demo, &p);
    union { steno_hypothesis h; uint8_t bytes[sizeof(steno_hypothesis) + 16]; } u = { .h.size = 0 };
    assert_int_equal(steno_hypothesis_count(NULL), 0);
    assert_int_equal(steno_hypothesis_get(NULL, 0, &u.h), STENO_EARG);
    assert_int_equal(steno_hypothesis_get(session, 0, NULL), STENO_EARG);
    assert_int_equal(steno_hypothesis_get(session, 0, &u.h), STENO_EARG); /* a size that is not set */
    u.h.size = sizeof u.h;
    assert_int_equal(steno_hypothesis_get(session, -1, &u.h), STENO_EARG);
    assert_int_equal(steno_hypothesis_get(session, 1, &u.h), STENO_EARG);
    memset(u.bytes, 0xee, sizeof u);
    u.h.size = offsetof(steno_hypothesis, text); /* an older caller's struct */
    assert_int_equal(steno_hypothesis_get(session, 0, &u.h), STENO_OK);
    for (size_t i = offsetof(steno_hypothesis, text); i < sizeof u; i++) assert_int_equal(u.bytes[i], 0xee);
    u.h.size = sizeof u;
    assert_int_equal(steno_hypothesis_get(session, 0, &u.h), STENO_OK);
    assert_int_equal(u.h.size, sizeof(steno_hypothesis));
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    need_counting();
    steno_transcribe_params p = params_noted(&told);
    p.on_attempt = NULL;
    p.beam_size = p.n_best = 3;
    const struct audio half = { demo.pcm, HALF_SECOND };
    int failed = 0;
    for (int64_t at = 0;; at++) {
        steno_session *s = session_new(random1, NULL, SHIPPED_LANES);
        count_begin(at);
        const int rc = steno_transcribe(s, half.pcm, half.n, &p);
        const struct heap h = count_end();
        if (rc) assert_int_equal(rc, STENO_ENOMEM);
        else assert_int_equal(steno_hypothesis_count(s), 3);
        for (int i = 0; i < steno_hypothesis_count(s); i++) assert_true(strlen(get(s, i).text) < 4000);
        steno_session_close(s);
        failed += rc != 0;
        if (h.calls <= at) break;
    }
    assert_true(failed > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beams_come_by_rank_and_the_first_is_the_text),
        cmocka_unit_test(test_draws_come_by_rank_and_greedy_has_one),
        cmocka_unit_test(test_windows_come_in_order_and_results_do_not_depend_on_them),
        cmocka_unit_test(test_more_than_a_search_finds_is_refused),
        cmocka_unit_test(test_wrong_requests_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, undecided_open, undecided_close);
}

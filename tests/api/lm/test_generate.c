/* steno tests: ids in, ids out. SPDX-License-Identifier: MIT */
#include "shipped_session.h"

/* start of transcript, English, transcribe, no timestamps */
static int head(int32_t ids[4])
{
    ids[0] = steno_token_id(model, STENO_TOKEN_START);
    ids[1] = steno_token_id(model, STENO_TOKEN_LANGUAGE);
    ids[2] = steno_token_id(model, STENO_TOKEN_TRANSCRIBE);
    ids[3] = steno_token_id(model, STENO_TOKEN_NO_TIMESTAMPS);
    return 4;
}

static void test_the_most_probable_ids_are_the_spoken_text(void **state)
{
    (void)state;
    int32_t ids[4];
    char text[200];
    int n;
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    assert_true(steno_generate(session, ids, head(ids), NULL) > 4);
    const int32_t *made = steno_generated(session, &n);
    steno_detokenize(model, made, n, text, sizeof text);
    assert_string_equal(text, demo_text);
}

/* After the first k new ids, the rest must come out the same whether the session went on or began anew with all of them. */
static void test_generate_then_continue_equals_one_generate_over_everything(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k += 2)
        for (int given = 0; given < 3; given++) {
            int32_t all[64], ids[4], two[] = { 11, 220 };
            int n;
            steno_generate_params p;
            steno_generate_params_init(&p);
            p.max_tokens = k;
            const int n_head = head(ids);
            assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
            assert_int_equal(steno_generate(session, ids, n_head, &p), k);
            memcpy(all, ids, sizeof ids);
            memcpy(all + n_head, steno_generated(session, NULL), (size_t)k * sizeof *all);
            memcpy(all + n_head + k, two, (size_t)given * sizeof *all);
            p.max_tokens = 6;
            const int more = steno_generate_continue(session, two, given, &p);
            assert_true(more >= 0);
            int32_t later[6] = { 0 };
            const int32_t *made = steno_generated(session, &n);
            assert_int_equal(n, more);
            if (n) memcpy(later, made, (size_t)n * sizeof *later);
            assert_int_equal(steno_generate(session, all, n_head + k + given, &p), more);
            if (more) assert_memory_equal(steno_generated(session, NULL), later, (size_t)more * sizeof *later);
        }
}

static void test_the_same_seed_draws_the_same_ids_and_others_draw_others(void **state)
{
    (void)state;
    int32_t ids[4], first[40];
    int n[3];
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.temperature = 3;
    p.max_tokens = 40;
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    for (int i = 0; i < 3; i++) {
        p.seed = i == 2 ? 8 : 7;
        n[i] = steno_generate(session, ids, head(ids), &p);
        assert_true(n[i] > 0);
        const size_t sz = (size_t)n[i] * sizeof *first;
        if (!i) memcpy(first, steno_generated(session, NULL), sz);
        else assert_int_equal(n[i] == n[0] && !memcmp(first, steno_generated(session, NULL), sz), i == 1);
    }
}

/* The text is repeated, so that draft tokens from the prompt match it. */
static void test_drafts_change_no_id(void **state)
{
    (void)state;
    int32_t ids[64], first[40];
    steno_generate_params p;
    steno_timings t = { .size = sizeof t };
    steno_generate_params_init(&p);
    p.max_tokens = 30;
    p.ignore_eos = 1;
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    const int n_head = head(ids), n = steno_generate(session, ids, n_head, &p);
    assert_int_equal(n, 30);
    memcpy(first, steno_generated(session, NULL), 30 * sizeof *first);
    p.draft_max = 15;
    assert_int_equal(steno_generate(session, ids, n_head, &p), n);
    assert_memory_equal(steno_generated(session, NULL), first, 30 * sizeof *first);
    assert_int_equal(steno_timings_get(session, &t), 0);
    assert_true(t.n_drafted > 0 && t.n_accepted <= t.n_drafted);
}

/* Of each new id: as the logits of all ids before it. */
static void check_tops(const int32_t *before, int n_before, int n_made, int n_top)
{
    enum { MOST = 40 };
    int32_t all[MOST + 4], ids[MOST], top[MOST][3];
    double logprob[MOST][3];
    steno_token t = { .size = sizeof t };
    assert_true(n_made <= MOST && n_top <= 3);
    memcpy(ids, steno_generated(session, NULL), (size_t)n_made * sizeof *ids);
    for (int i = 0; i < n_made; i++)
        for (int k = 0; k < n_top; k++) {
            assert_int_equal(steno_generated_top(session, i, k, &t), STENO_OK);
            top[i][k] = t.id;
            logprob[i][k] = (double)t.logprob;
            assert_true(t.p > 0 && t.p <= 1 && (!k || logprob[i][k] <= logprob[i][k - 1]));
        }
    assert_int_equal(steno_generated_top(session, 0, n_top, &t), STENO_EARG);
    assert_int_equal(steno_generated_top(session, n_made, 0, &t), STENO_EARG);
    assert_int_equal(steno_generated_top(session, -1, 0, &t), STENO_EARG);
    memcpy(all, before, (size_t)n_before * sizeof *all);
    for (int i = 0; i < n_made; i++) {
        steno_generate_params one;
        steno_generate_params_init(&one);
        one.max_tokens = 1;
        one.top_logprobs = n_top;
        assert_true(steno_generate(session, all, n_before + i, &one) >= 0);
        for (int k = 0; k < n_top && steno_generated_get(session, 0, &t) == STENO_OK; k++) {
            assert_int_equal(steno_generated_top(session, 0, k, &t), STENO_OK);
            assert_int_equal(t.id, top[i][k]);
            assert_true(fabs((double)t.logprob - logprob[i][k]) < 1e-6);
        }
        all[n_before + i] = ids[i];
    }
}

static void test_the_most_probable_ids_of_each_place_can_be_read(void **state)
{
    (void)state;
    int32_t ids[4];
    steno_token t = { .size = sizeof t }, chosen = t;
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = 12;
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    int n = steno_generate(session, ids, head(ids), &p);
    assert_int_equal(steno_generated_top(session, 0, 0, &t), STENO_EARG); /* not asked for */
    p.top_logprobs = 3;
    assert_int_equal(steno_generate(session, ids, head(ids), &p), n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(steno_generated_get(session, i, &chosen), STENO_OK);
        assert_int_equal(steno_generated_top(session, i, 0, &t), STENO_OK);
        assert_int_equal(t.id, chosen.id);
        assert_true(fabsf(t.logprob - chosen.logprob) < 1e-6f && t.p == expf(t.logprob));
    }
    check_tops(ids, 4, n, 3);
    p.temperature = 3;
    n = steno_generate(session, ids, head(ids), &p);
    check_tops(ids, 4, n, 3);
    p.temperature = 0;
    p.draft_max = 15;
    n = steno_generate(session, ids, head(ids), &p);
    check_tops(ids, 4, n, 3);
    p.top_logprobs = 21;
    assert_int_equal(steno_generate(session, ids, head(ids), &p), STENO_EARG);
    p.top_logprobs = -1;
    assert_int_equal(steno_generate(session, ids, head(ids), &p), STENO_EARG);
}

static void refused(int rc, const char *what)
{
    assert_int_equal(rc, STENO_EARG);
    if (!strstr(steno_last_error(session), what)) fail_msg("'%s' does not say '%s'", steno_last_error(session), what);
}

static void test_generating_without_an_encoded_window_or_with_wrong_ids_is_refused(void **state)
{
    (void)state;
    int32_t ids[500] = { 0 };
    steno_generate_params p;
    steno_generate_params_init(&p);
    const steno_transcribe_params t = params_new();
    assert_int_equal(steno_transcribe(session, demo.pcm, demo.n, &t), 0);
    refused(steno_generate(session, ids, head(ids), NULL), "steno_encode");
    refused(steno_encode(session, NULL, 5), "pcm is NULL but n is 5");
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    refused(steno_generate(session, ids, 0, NULL), "want 1 or more ids");
    refused((int)steno_bench_text(session, ids, 4, ids, 4, 0), "does not continue a text");
    refused(steno_generate_continue(session, ids, 0, NULL), "want 1 or more ids");
    ids[1] = 1 << 20;
    refused(steno_generate(session, ids, 4, NULL), "vocabulary");
    ids[1] = 0;
    refused(steno_generate(session, ids, 449, NULL), "room");
    p.temperature = -1;
    refused(steno_generate(session, ids, 4, &p), "temperature");
    assert_int_equal(steno_generate(NULL, ids, 4, NULL), STENO_EARG);
    assert_null(steno_generated(NULL, NULL));
    p.temperature = 0;
    assert_true(steno_generate(session, ids, 300, &p) >= 0); /* a prompt in two pieces */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_most_probable_ids_are_the_spoken_text),
        cmocka_unit_test(test_drafts_change_no_id),
        cmocka_unit_test(test_generate_then_continue_equals_one_generate_over_everything),
        cmocka_unit_test(test_the_same_seed_draws_the_same_ids_and_others_draw_others),
        cmocka_unit_test(test_the_most_probable_ids_of_each_place_can_be_read),
        cmocka_unit_test(test_generating_without_an_encoded_window_or_with_wrong_ids_is_refused),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

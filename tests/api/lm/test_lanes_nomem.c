/* steno tests: failed allocations while texts are generated together. SPDX-License-Identifier: MIT */
#include "heap.h"
#include "lm_model.h"

enum { N = 4, LANES = 2, HEAD = 70, ALLOCATIONS_MAX = 6000 };

static steno_model *model;

static int model_open(void **state)
{
    (void)state;
    model = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 256);
    return 0;
}

static int model_close(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

struct scene {
    steno_batch *b;
    steno_session *s[N];
    int status[N], told;
    int32_t ids[N][HEAD + N];
    steno_generate_params p[N];
};

static void told(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    for (int i = 0; i < N; i++)
        if (x->s[i] == s) x->status[i] = status, x->told++;
}

/* A grammar, filters, stops, drafts, and what they begin with alike. */
static void scene_open(struct scene *x)
{
    static const char *const stops[] = { "never there" };
    steno_batch_params bp;
    memset(x, 0, sizeof *x);
    steno_batch_params_init(&bp);
    bp.max_windows = LANES;
    bp.user = x;
    bp.on_done = told;
    assert_int_equal(steno_batch_open(&x->b, model, NULL, &bp, NULL), 0);
    for (int i = 0; i < N; i++) {
        x->s[i] = lm_session(model, NULL, x->b);
        lm_ids(x->ids[i], HEAD, 1);
        lm_ids(x->ids[i] + HEAD, i + 1, 50 + (uint32_t)i);
        steno_generate_params_init(&x->p[i]);
        x->p[i].max_tokens = 12;
        x->p[i].ignore_eos = i < 2;
        if (i == 1) x->p[i].temperature = 1, x->p[i].top_k = 30, x->p[i].top_p = 0.9, x->p[i].stop = stops, x->p[i].n_stop = 1;
        if (i == 2) x->p[i].json_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"one\",\"two\"]}},\"required\":[\"a\"]}";
        if (i == 3) x->p[i].draft_max = 4, x->p[i].repeat_penalty = 1.2;
    }
}

/* Submitted and carried out: how each ended. */
static void scene_run(struct scene *x)
{
    x->told = 0;
    int wanted = 0;
    for (int i = 0; i < N; i++) {
        steno_request_params r;
        steno_request_params_init(&r);
        r.ids = x->ids[i];
        r.n_ids = HEAD + i + 1;
        r.generate = &x->p[i];
        x->status[i] = steno_batch_submit(x->b, x->s[i], NULL, &r);
        wanted += x->status[i] == 0;
    }
    assert_int_equal(steno_batch_run(x->b), STENO_OK);
    assert_int_equal(x->told, wanted);
}

static void scene_close(struct scene *x)
{
    for (int i = 0; i < N; i++) steno_session_close(x->s[i]);
    steno_batch_close(x->b);
}

static void check(const struct scene *x, const struct lm_made *want, int64_t n, int may_fail, int *failed)
{
    for (int i = 0; i < N; i++) {
        struct lm_made got;
        lm_made_of(&got, x->s[i], x->status[i]);
        if (may_fail && got.rc == STENO_ENOMEM && *steno_last_error(x->s[i])) ++*failed;
        else if (lm_differ(&want[i], &got))
            fail_msg("allocation %lld, request %d: status %d '%s', not '%s'; \"%s\"", (long long)n, i, got.rc, got.text, want[i].text,
                     steno_last_error(x->s[i]));
    }
}

static void test_every_allocation_of_texts_in_a_batch_may_fail_and_harms_its_own_alone(void **state)
{
    (void)state;
    static struct scene x;
    static struct lm_made want[N];
    int failed = 0;
    need_counting();
    scene_open(&x);
    scene_run(&x);
    for (int i = 0; i < N; i++) {
        assert_true(x.status[i] > 0);
        lm_made_of(&want[i], x.s[i], x.status[i]);
    }
    scene_close(&x);
    for (int64_t n = 0;; n += n < 80 ? 1 : 7) {
        scene_open(&x);
        count_begin(n);
        scene_run(&x);
        const struct heap h = count_end();
        check(&x, want, n, 1, &failed);
        scene_run(&x); /* lanes hold whatever they hold */
        check(&x, want, n, 0, &failed);
        scene_close(&x);
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%d requests failed, and the batch went on\n", failed);
    assert_true(failed > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_of_texts_in_a_batch_may_fail_and_harms_its_own_alone) };
    return cmocka_run_group_tests(tests, model_open, model_close);
}

/* steno tests: failed allocations while texts are long and layers look back a window. SPDX-License-Identifier: MIT
 *
 * Any allocation may fail, in opening a batch and in reading, going back and sharing. What is made afterwards is what is made without. */
#include "heap.h"
#include "lm_model.h"

enum { CTX = 1024, HEAD = 320, REST = 500, TEXTS = 3, ALLOCATIONS_MAX = 3000 };

static char const path[] = "tests/data/lm/gemma3-q4_0.gguf";
static steno_model *model;
static int32_t ids[TEXTS][HEAD + REST];

static int model_open(void **state)
{
    (void)state;
    model = lm_open_as(path, STENO_COMPUTE_AUTO, CTX);
    for (int i = 0; i < TEXTS; i++) {
        lm_ids(ids[i], HEAD, 1);
        lm_ids(ids[i] + HEAD, REST, 50 + (uint32_t)i);
    }
    return 0;
}

static int model_close(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

static steno_generate_params params_of(void)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = 6;
    p.ignore_eos = 1;
    p.draft_max = 3;
    return p;
}

/* A session of a batch of three lanes whose texts begin alike. @return the first status that is none */
static int texts_of(struct lm_made made[TEXTS], int *rc)
{
    const steno_generate_params p = params_of();
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch *b;
    steno_session *s = NULL;
    steno_error e;
    int failed = 0;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 2;
    *rc = steno_batch_open(&b, model, NULL, &bp, &e);
    if (*rc) return 1;
    sp.batch = b;
    *rc = steno_session_open(&s, model, NULL, &sp, &e);
    for (int i = 0; i < 2 * TEXTS && !*rc; i++) {
        const int made_n = steno_generate(s, ids[i % TEXTS], HEAD + REST, &p);
        if (made_n >= 0) lm_made_of(&made[i % TEXTS], s, made_n);
        else if (made_n != STENO_ENOMEM || !*steno_last_error(s)) fail_msg("status %d: %s", made_n, steno_last_error(s));
        else memset(&made[i % TEXTS], 0, sizeof made[0]), failed++;
    }
    steno_session_close(s);
    steno_batch_close(b);
    return failed || *rc;
}

static void test_every_allocation_of_long_texts_may_fail(void **state)
{
    (void)state;
    static struct lm_made want[TEXTS], got[TEXTS];
    int rc, failed = 0;
    need_counting();
    assert_int_equal(texts_of(want, &rc), 0);
    for (int64_t n = 0;; n++) {
        memset(got, 0, sizeof got);
        count_begin(n);
        const int fails = texts_of(got, &rc);
        const struct heap h = count_end();
        if (rc && rc != STENO_ENOMEM) fail_msg("allocation %lld fails: status %d", (long long)n, rc);
        if (h.bytes) fail_msg("allocation %lld fails: %lld bytes stay behind", (long long)n, (long long)h.bytes);
        for (int i = 0; i < TEXTS && !rc; i++)
            if (got[i].n && lm_differ(&want[i], &got[i])) fail_msg("allocation %lld fails, and text %d is another", (long long)n, i);
        failed += fails;
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%d allocations failed\n", failed);
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_of_long_texts_may_fail) };
    return cmocka_run_group_tests(tests, model_open, model_close);
}

/* steno tests: failed allocations while a text is generated. SPDX-License-Identifier: MIT */
#include "heap.h"
#include "shipped_session.h"

enum { ALLOCATIONS_MAX = 3000 };

static const char *const stops[] = { "never there", "nor this" };

/* With everything that takes memory: a schema, filters, penalties, stops. */
static int generate(char *text, size_t n)
{
    steno_generate_params p;
    const int32_t head[] = { steno_token_id(model, STENO_TOKEN_START), steno_token_id(model, STENO_TOKEN_LANGUAGE),
                             steno_token_id(model, STENO_TOKEN_TRANSCRIBE), steno_token_id(model, STENO_TOKEN_NO_TIMESTAMPS) };
    steno_generate_params_init(&p);
    p.temperature = 1;
    p.top_k = 30;
    p.top_p = 0.95;
    p.repeat_penalty = 1.1;
    p.stop = stops;
    p.n_stop = 2;
    p.json_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"one\",\"two\"]},\"b\":{\"type\":\"integer\"}},"
                    "\"required\":[\"a\",\"b\"]}";
    p.max_tokens = 24;
    const int rc = steno_generate(session, head, 4, &p);
    snprintf(text, n, "%s", steno_generated_text(session));
    return rc;
}

static void test_every_allocation_of_a_text_may_fail_and_the_session_goes_on(void **state)
{
    (void)state;
    char want[400], got[400];
    int failed = 0;
    need_counting();
    assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
    assert_true(generate(want, sizeof want) > 0);
    for (int64_t n = 0;; n += n < 60 ? 1 : 7) {
        steno_session *s = session;
        session = session_new(model, NULL, 1);
        assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
        count_begin(n);
        const int rc = generate(got, sizeof got);
        const struct heap h = count_end();
        if (rc < 0 && (rc != STENO_ENOMEM || !*steno_last_error(session)))
            fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, steno_last_error(session));
        if (rc >= 0 && strcmp(got, want) != 0)
            fail_msg("allocation %lld fails: '%s', not '%s', and no error", (long long)n, got, want);
        assert_int_equal(steno_encode(session, demo.pcm, demo.n), 0);
        if (generate(got, sizeof got) < 0 || strcmp(got, want) != 0) fail_msg("after allocation %lld failed: '%s'", (long long)n, got);
        failed += rc < 0;
        steno_session_close(session);
        session = s;
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%d allocations failed and the session went on\n", failed);
    assert_true(failed > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_allocation_of_a_text_may_fail_and_the_session_goes_on) };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}

/* steno tests: the most probable ids at each place of a generated text. SPDX-License-Identifier: MIT */
#include "lm_model.h"

/* The k-th most probable id of logits[n], by counting those before it. */
static int32_t kth(const float *x, int n, int k)
{
    for (int i = 0; i < n; i++) {
        int before = 0;
        for (int j = 0; j < n && before <= k; j++) before += x[j] > x[i] || (x[j] == x[i] && j < i);
        if (before == k) return i;
    }
    return -1;
}

/* The most probable ids at each place, by the logits after a prompt. */
static void test_the_most_probable_ids_are_those_of_the_logits(void **state)
{
    (void)state;
    const int32_t prompt[] = { 3, 7, 11 };
    steno_model_info info = { .size = sizeof info };
    steno_model *model = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), STENO_OK);
    steno_generate_params p;
    steno_model_info_get(model, &info);
    steno_generate_params_init(&p);
    p.max_tokens = 6;
    p.ignore_eos = 1; /* its logits are changed, those that are read are not */
    p.top_logprobs = 5;
    const int n = steno_generate(s, prompt, 3, &p), n_vocab = info.n_vocab;
    assert_int_equal(n, 6);
    int32_t all[9] = { 3, 7, 11 };
    memcpy(all + 3, steno_generated(s, NULL), 6 * sizeof *all);
    int32_t top[6][5];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 5; k++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_generated_top(s, i, k, &t), STENO_OK);
            top[i][k] = t.id;
        }
    for (int i = 0; i < n; i++) {
        assert_int_equal(steno_prefill(s, all, 3 + i), STENO_OK);
        const float *x = steno_logits(s, NULL);
        for (int k = 0; k < 5; k++) assert_int_equal(top[i][k], kth(x, n_vocab, k));
    }
    steno_session_close(s);
    steno_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_most_probable_ids_are_those_of_the_logits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: what a text begins with is computed once, of every kind of weights and attention. SPDX-License-Identifier: MIT
 *
 * As api.reuse, with the language models of the collection: windows that slide, two kinds of angles, blocks of every size. */
#include "api/lm_model.h"

enum { N = 130 };

static void check_session(const steno_model *m, const char *name)
{
    static const int same[] = { 1, 30, 32, 77, 129 };
    steno_session *s = lm_session(m, NULL, NULL);
    int32_t ids[N], other[N];
    lm_ids(ids, N, 1);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct lm_made want, got;
        steno_generate_params p;
        steno_generate_params_init(&p);
        p.max_tokens = 40;
        p.ignore_eos = 1;
        p.draft_max = i % 2 ? 5 : 0;
        lm_ids(other, N, 77);
        memcpy(other, ids, (size_t)same[i] * sizeof *ids);
        other[same[i]] = ids[same[i]] + 1;
        assert_true(steno_generate(s, other, N, &p) >= 0);
        const int64_t before = lm_timings(s).n_reused;
        lm_made_of(&got, s, steno_generate(s, ids, N, &p));
        assert_int_equal(lm_timings(s).n_reused - before, same[i]);
        steno_session *alone = lm_session(m, NULL, NULL);
        lm_made_of(&want, alone, steno_generate(alone, ids, N, &p));
        steno_session_close(alone);
        if (lm_differ(&want, &got)) fail_msg("%s: behind %d of %d ids another text comes", name, same[i], N);
    }
    steno_session_close(s);
}

static void test_reused_keys_give_the_same_bits(void **state)
{
    (void)state;
    static const char *const path[] = { "llama/gguf/llama-F32.gguf", "llama/gguf/llama-Q4_0.gguf", "qwen3/gguf/qwen3-Q8_0.gguf",
                                        "qwen3k/gguf/qwen3k-Q4_K_M.gguf", "gemma/gguf/gemma-Q5_0.gguf", "gemma3/gguf/gemma3-Q8_0.gguf",
                                        "gemma3/hf", "llama3/gguf/llama3-Q4_0.gguf" };
    for (size_t i = 0; i < 2 * sizeof path / sizeof *path; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/material/llm/models/%s", shared_dir(), path[i / 2]);
        steno_model *m = lm_open_as(name, i % 2 ? STENO_COMPUTE_F32 : STENO_COMPUTE_AUTO, 0);
        check_session(m, path[i / 2]);
        steno_model_close(m);
    }
}

int main(void)
{
    if (!getenv("STENO_SHARED")) {
        puts("skipped: STENO_SHARED does not name the collection");
        return 77;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_reused_keys_give_the_same_bits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

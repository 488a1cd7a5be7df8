/* steno tests: ids that are drafted ahead never show. SPDX-License-Identifier: MIT
 *
 * Small language models go on with prompts that say everything twice, with any number of drafts, by the most probable id and by drawing,
 * penalties included: ids and probabilities are the same to the bit, and some drafts were right. */
#include <stdio.h>
#include <stdlib.h>
#include "harness.h"
#include "steno/steno.h"

enum { N_NEW = 48, N_PROMPT = 40 };

struct made { int n; int32_t id[N_NEW]; float logprob[N_NEW]; };

static void make(struct made *to, steno_session *s, const int32_t *ids, int n, const steno_generate_params *p)
{
    to->n = steno_generate(s, ids, n, p);
    if (to->n < 0) fail_msg("%s", steno_last_error(s));
    assert_in_range(to->n, 0, N_NEW);
    for (int i = 0; i < to->n; i++) {
        steno_token tok = { .size = sizeof tok };
        assert_int_equal(steno_generated_get(s, i, &tok), 0);
        to->id[i] = tok.id;
        to->logprob[i] = tok.logprob;
    }
}

static void same(const struct made *a, const struct made *b, const char *name, int drafts)
{
    if (a->n != b->n || memcmp(a->id, b->id, (size_t)a->n * sizeof *a->id)) fail_msg("%s: %d drafts change the ids", name, drafts);
    if (memcmp(a->logprob, b->logprob, (size_t)a->n * sizeof *a->logprob)) fail_msg("%s: %d drafts change a probability", name, drafts);
}

static int stop_behind_nine(void *user, const steno_token *tok, const char *text, size_t n)
{
    (void)text, (void)n;
    return tok && ++*(int *)user == 9;
}

/* Texts of three ways to choose, and one that its caller ends; and what comes behind each. */
static void check_session(steno_session *s, const char *name, int32_t n_vocab)
{
    static const int32_t drafts[] = { 1, 2, 5, 15 };
    int32_t ids[2 * N_PROMPT], more[2] = { 5, 6 };
    for (int i = 0; i < 2 * N_PROMPT; i++) ids[i] = 3 + (i % N_PROMPT) * 37 % (n_vocab - 10);
    for (int way = 0; way < 4; way++) {
        steno_generate_params p;
        struct made plain, then, drafted;
        int seen = 0;
        steno_generate_params_init(&p);
        p.max_tokens = way == 1 ? 7 : N_NEW;
        p.draft_max = 0;
        p.ignore_eos = way > 1;
        p.temperature = way == 2 ? 0.7 : 0;
        p.repeat_penalty = way == 2 ? 1.1 : 1;
        if (way == 3) p.on_token = stop_behind_nine, p.user = &seen;
        make(&plain, s, ids, 2 * N_PROMPT, &p);
        then.n = steno_generate_continue(s, more, 2, &p);
        memcpy(then.id, steno_generated(s, NULL), (size_t)then.n * sizeof *then.id);
        for (int i = 0; i < 4; i++) {
            p.draft_max = drafts[i];
            seen = 0;
            make(&drafted, s, ids, 2 * N_PROMPT, &p);
            same(&plain, &drafted, name, (int)drafts[i]);
            assert_int_equal(steno_generate_continue(s, more, 2, &p), then.n);
            assert_memory_equal(steno_generated(s, NULL), then.id, (size_t)then.n * sizeof *then.id);
        }
        p.draft_max = 0;
    }
}

/* The file itself, or another one of the same tokens, drafts for it. */
static void check_drafted(const steno_model *m, const char *path, steno_team *team, const char *name, int64_t *drafted, int64_t *accepted)
{
    steno_model_info info = { .size = sizeof info };
    steno_session_params sp;
    steno_timings t = { .size = sizeof t };
    steno_model *d;
    steno_session *s;
    steno_error e;
    char draft[1024];
    snprintf(draft, sizeof draft, "%s/material/llm/models/%s", shared_dir(), path);
    if (steno_model_open(&d, draft, NULL, &e)) fail_msg("%s", e.text);
    steno_session_params_init(&sp);
    sp.draft_model = d;
    if (steno_session_open(&s, m, team, &sp, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_model_info_get(m, &info), 0);
    check_session(s, name, info.n_vocab);
    assert_int_equal(steno_timings_get(s, &t), 0);
    *drafted += t.n_drafted;
    *accepted += t.n_accepted;
    steno_session_close(s);
    steno_model_close(d);
}

static void test_a_draft_model_changes_no_bit(void **state)
{
    (void)state;
    static const char *const pair[][2] = {
        { "qwen3/gguf/qwen3-Q8_0.gguf", "qwen3/gguf/qwen3-Q4_0.gguf" }, { "qwen3/gguf/qwen3-Q4_0.gguf", "qwen3/gguf/qwen3-Q4_0.gguf" },
        { "gemma3/gguf/gemma3-Q8_0.gguf", "gemma3/gguf/gemma3-Q4_0.gguf" }, { "llama/gguf/llama-F32.gguf", "llama/gguf/llama-Q8_0.gguf" },
    };
    int64_t drafted = 0, accepted = 0;
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        char name[1024];
        steno_model *m;
        steno_team *team;
        steno_error e;
        snprintf(name, sizeof name, "%s/material/llm/models/%s", shared_dir(), pair[i][0]);
        assert_int_equal(steno_team_open(&team, 1 + (int)i % 2, NULL), 0);
        if (steno_model_open(&m, name, NULL, &e)) fail_msg("%s", e.text);
        check_drafted(m, pair[i][1], team, name, &drafted, &accepted);
        steno_model_close(m);
        steno_team_close(team);
    }
    print_message("%lld of %lld drafts were right\n", (long long)accepted, (long long)drafted);
    assert_true(accepted > drafted / 4 && accepted < drafted);
}

static void test_drafts_change_no_bit(void **state)
{
    (void)state;
    static const char *const path[] = { "llama/gguf/llama-F32.gguf", "qwen3/gguf/qwen3-Q8_0.gguf", "qwen3/gguf/qwen3-Q4_0.gguf",
                                        "qwen3k/gguf/qwen3k-Q4_K_M.gguf", "gemma/gguf/gemma-Q5_0.gguf", "gemma3/gguf/gemma3-Q8_0.gguf" };
    int64_t drafted = 0, accepted = 0;
    for (size_t i = 0; i < 2 * sizeof path / sizeof *path; i++) {
        char name[1024];
        steno_model_params p;
        steno_model_info info = { .size = sizeof info };
        steno_timings t = { .size = sizeof t };
        steno_model *m;
        steno_session *s;
        steno_error e;
        steno_model_params_init(&p);
        p.compute = i % 2 ? STENO_COMPUTE_F32 : STENO_COMPUTE_AUTO;
        snprintf(name, sizeof name, "%s/material/llm/models/%s", shared_dir(), path[i / 2]);
        if (steno_model_open(&m, name, &p, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        assert_int_equal(steno_model_info_get(m, &info), 0);
        check_session(s, name, info.n_vocab);
        assert_int_equal(steno_timings_get(s, &t), 0);
        drafted += t.n_drafted;
        accepted += t.n_accepted;
        steno_session_close(s);
        steno_model_close(m);
    }
    print_message("%lld of %lld drafts were right\n", (long long)accepted, (long long)drafted);
    assert_true(accepted > 0 && accepted < drafted);
}

int main(void)
{
    if (!getenv("STENO_SHARED")) {
        puts("skipped: STENO_SHARED does not name the collection");
        return 77;
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_drafts_change_no_bit), cmocka_unit_test(test_a_draft_model_changes_no_bit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: what a text begins with is computed once. SPDX-License-Identifier: MIT
 *
 * A session that has read a text reads another one that begins the same: what it makes of it is, to the bit, what a session makes that has
 * read nothing, and its timings count the ids it has computed. */
#include "lm_model.h"

enum { N = 150 };

static steno_model *model;

static int model_open(void **state)
{
    (void)state;
    model = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    return 0;
}

static int model_close(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

static steno_generate_params params_of(int way)
{
    static const char *const stops[] = { "qqqq" };
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = 20;
    p.ignore_eos = 1;
    if (way & 1) p.temperature = 0.9, p.seed = 7, p.repeat_penalty = 1.2, p.top_k = 40;
    if (way & 2) p.draft_max = 6;
    if (way & 4) p.grammar = "root ::= [a-z ]*", p.stop = stops, p.n_stop = 1;
    return p;
}

static void alone(struct lm_made *to, const int32_t *ids, int n, const steno_generate_params *p)
{
    steno_session *s = lm_session(model, NULL, NULL);
    lm_made_of(to, s, steno_generate(s, ids, n, p));
    assert_int_equal(lm_timings(s).n_reused, 0);
    assert_int_equal(lm_timings(s).n_prompt_tokens, n);
    steno_session_close(s);
}

/* In a session that has read ids of which the first `same` are these. */
static void behind_another(steno_session *s, const int32_t *ids, int n, int same, int way)
{
    struct lm_made want, got;
    int32_t other[N];
    const steno_generate_params p = params_of(way);
    lm_ids(other, N, 99);
    memcpy(other, ids, (size_t)same * sizeof *ids);
    if (same < N && same < n && other[same] == ids[same]) other[same]++;
    assert_true(steno_generate(s, other, N, &p) >= 0);
    const steno_timings before = lm_timings(s);
    lm_made_of(&got, s, steno_generate(s, ids, n, &p));
    const steno_timings t = lm_timings(s);
    alone(&want, ids, n, &p);
    if (lm_differ(&want, &got)) fail_msg("%d of %d ids the same, way %d: '%s', not '%s'", same, n, way, got.text, want.text);
    const int known = same < n ? same : n - 1;
    assert_int_equal(t.n_reused - before.n_reused, known);
    assert_int_equal(t.n_prompt_tokens - before.n_prompt_tokens, n - known);
}

static void test_a_text_that_begins_like_the_last_one_is_the_same_to_the_bit(void **state)
{
    (void)state;
    static const int same[] = { 0, 1, 31, 32, 33, 64, 100, N - 1, N };
    int32_t ids[N];
    steno_session *s = lm_session(model, NULL, NULL);
    lm_ids(ids, N, 1);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) behind_another(s, ids, N, same[i], (int)(i % 8));
    for (int way = 0; way < 8; way++) behind_another(s, ids, 90, 70, way);
    behind_another(s, ids, 40, 40, 0); /* shorter than what is there */
    behind_another(s, ids, 1, 1, 0);
    steno_session_close(s);
}

/* Each turn's prompt is the one before, what was made of it, and something new. */
static void test_a_conversation_is_read_once(void **state)
{
    (void)state;
    int32_t ids[LM_IDS_MAX];
    int n = 40;
    steno_generate_params p = params_of(0);
    steno_session *s = lm_session(model, NULL, NULL);
    lm_ids(ids, n, 3);
    for (int turn = 0; turn < 6; turn++) {
        struct lm_made want, got;
        const steno_timings before = lm_timings(s);
        lm_made_of(&got, s, steno_generate(s, ids, n, &p));
        alone(&want, ids, n, &p);
        assert_false(lm_differ(&want, &got));
        const int64_t computed = lm_timings(s).n_prompt_tokens - before.n_prompt_tokens;
        assert_int_equal(computed, turn ? 11 : 40); /* ten new ids, and the last one that was made, which has not run */
        memcpy(ids + n, got.id, (size_t)got.n * sizeof *ids);
        n += got.n;
        lm_ids(ids + n, 10, (uint32_t)turn + 50);
        n += 10;
    }
    steno_session_close(s);
}

struct end { steno_session *s; int left; };

static int cancel_at(void *user, const steno_token *tok, const char *text, size_t n)
{
    (void)text, (void)n;
    struct end *e = user;
    if (tok && !--e->left) steno_cancel(e->s);
    return 0;
}

/* Of a text that was ended what was computed stays; of one that was refused, all that was there before. */
static void test_failed_texts_leave_no_wrong_keys(void **state)
{
    (void)state;
    struct end end = { .left = 5 };
    struct lm_made want, got;
    int32_t ids[N];
    lm_ids(ids, N, 8);
    steno_generate_params p = params_of(0), canceled = p, wrong = p;
    steno_session *s = end.s = lm_session(model, NULL, NULL);
    canceled.on_token = cancel_at;
    canceled.user = &end;
    wrong.grammar = "root ::= \"a";
    alone(&want, ids, N, &p);
    assert_int_equal(steno_generate(s, ids, 100, &canceled), STENO_ECANCELED);
    lm_made_of(&got, s, steno_generate(s, ids, N, &p));
    assert_false(lm_differ(&want, &got));
    assert_int_equal(lm_timings(s).n_reused, 100);
    assert_int_equal(steno_generate(s, ids, 50, &wrong), STENO_EARG);
    lm_made_of(&got, s, steno_generate(s, ids, N, &p));
    assert_false(lm_differ(&want, &got));
    const int32_t none[] = { 1 << 20 };
    assert_int_equal(steno_generate(s, none, 1, &p), STENO_EARG);
    lm_made_of(&got, s, steno_generate(s, ids, N, &p));
    assert_false(lm_differ(&want, &got));
    assert_int_equal(steno_generate_continue(s, NULL, 0, &p), 20);
    steno_session_close(s);
}

/* Vectors of texts and measurements use the same room. */
static void test_overwritten_files_are_read_again(void **state)
{
    (void)state;
    static const char *const texts[] = { "little about listen", "never" };
    struct lm_made want, got;
    int32_t ids[N];
    steno_generate_params p = params_of(0);
    steno_session *s = lm_session(model, NULL, NULL);
    lm_ids(ids, N, 5);
    alone(&want, ids, N, &p);
    for (int i = 0; i < 3; i++) {
        lm_made_of(&got, s, steno_generate(s, ids, N, &p));
        assert_false(lm_differ(&want, &got));
        if (i) assert_true(steno_bench_phase(s, "decode", 4) >= 0);
        else assert_int_equal(steno_embed(s, texts, 2, NULL), 0);
    }
    assert_int_equal(lm_timings(s).n_reused, 0);
    steno_session_close(s);
}

static void test_logits_behind_what_is_there_are_the_same(void **state)
{
    (void)state;
    int32_t ids[N];
    int n;
    lm_ids(ids, N, 12);
    steno_session *s = lm_session(model, NULL, NULL), *t = lm_session(model, NULL, NULL);
    for (int k = 1; k <= N; k += 37) {
        assert_int_equal(steno_prefill(s, ids, k), 0);
        assert_int_equal(steno_prefill(s, ids, N), 0);
        assert_int_equal(steno_prefill(t, ids + 1, 1), 0);
        assert_int_equal(steno_prefill(t, ids, N), 0);
        const float *a = steno_logits(s, &n);
        assert_memory_equal(a, steno_logits(t, NULL), (size_t)n * sizeof *a);
        assert_int_equal(steno_prefill_continue(s, ids, 3), 0);
        assert_int_equal(steno_prefill_continue(t, ids, 3), 0);
        assert_memory_equal(steno_logits(s, NULL), steno_logits(t, NULL), (size_t)n * sizeof *a);
    }
    assert_true(lm_timings(s).n_reused > 3 * N);
    steno_session_close(s);
    steno_session_close(t);
}

/* For measuring: what the model would choose is put aside. */
static void test_bench_generates_the_given_text(void **state)
{
    (void)state;
    int32_t ids[N], text[N];
    enum { TEXT = 90 };
    lm_ids(ids, N, 5);
    memcpy(text, ids, sizeof text);
    text[TEXT / 2] = text[TEXT / 2] == 7 ? 8 : 7;
    steno_session *s = lm_session(model, NULL, NULL);
    for (int drafts = -1; drafts < 16; drafts += 8) {
        int n;
        steno_timings_reset(s);
        if (steno_bench_text(s, ids, N, text, TEXT, drafts) < 0) fail_msg("%s", steno_last_error(s));
        const int32_t *said = steno_generated(s, &n);
        const steno_timings t = lm_timings(s);
        assert_true(n == TEXT && !memcmp(said, text, TEXT * sizeof *text));
        assert_int_equal(t.n_steps + t.n_accepted, TEXT - 1);
        assert_true(drafts < 0 ? !t.n_drafted : t.n_accepted > 0);
        assert_int_equal(t.n_reused, 0);
    }
    text[3] = -1;
    assert_int_equal(steno_bench_text(s, ids, N, text, TEXT, 0), STENO_EARG);
    assert_int_equal(steno_bench_text(s, ids, 0, ids, N, 0), STENO_EARG);
    assert_int_equal(steno_bench_text(s, ids, N, ids, 0, 0), STENO_EARG);
    assert_int_equal(steno_bench_text(s, ids, N, ids, N, 99), STENO_EARG);
    assert_int_equal(steno_bench_text(NULL, ids, N, ids, N, 0), STENO_EARG);
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_that_begins_like_the_last_one_is_the_same_to_the_bit),
        cmocka_unit_test(test_a_conversation_is_read_once),
        cmocka_unit_test(test_failed_texts_leave_no_wrong_keys),
        cmocka_unit_test(test_overwritten_files_are_read_again),
        cmocka_unit_test(test_logits_behind_what_is_there_are_the_same),
        cmocka_unit_test(test_bench_generates_the_given_text),
    };
    return cmocka_run_group_tests(tests, model_open, model_close);
}

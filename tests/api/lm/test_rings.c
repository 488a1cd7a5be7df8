/* steno tests: texts of models whose layers look back a window. SPDX-License-Identifier: MIT
 *
 * Of such layers a lane holds no more than rows to come may see. Beside the model stands the same one whose lanes hold all: whatever is
 * made must be the same to the bit, however long a text is, however it is read, gone back on, shared or drafted, with keys and values of
 * every type. */
#include "batch.h"
#include "lm_model.h"
#include "executor/side.h"

enum { CTX = 1024, WINDOW = 24, HELD = 18 * KV_BLOCK, MARK = 2 * KV_BLOCK, LANES_MAX = 128 };

static char const path[] = "tests/data/lm/gemma3-q4_0.gguf";

static steno_model *model_of(int kv_type, int compute, int holds_all)
{
    steno_model *m;
    steno_error e;
    steno_model_params p;
    steno_model_params_init(&p);
    p.kv_type = kv_type;
    p.compute = compute;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    inside_windows(m, holds_all);
    return m;
}

/* ring: as it is. all: its lanes hold all of a text. */
static steno_model *ring, *all;
static steno_team *team; /* of what is compared with a thread alone */

static int models_open(void **state)
{
    (void)state;
    ring = model_of(0, 0, 0);
    all = model_of(0, 0, 1);
    return steno_team_open(&team, 3, NULL);
}

static int models_close(void **state)
{
    (void)state;
    steno_model_close(ring);
    steno_model_close(all);
    steno_team_close(team);
    return 0;
}

/* ---- what a text is -------------------------------------------------------------------------------------------------------- */

struct text { int rc, n; int32_t id[CTX]; float logprob[CTX]; };

static void made_to(struct text *t, const steno_session *s, int rc)
{
    memset(t, 0, sizeof *t);
    if (rc < 0) fail_msg("%s", steno_last_error(s));
    t->rc = rc;
    (void)steno_generated(s, &t->n);
    assert_in_range(t->n, 0, CTX);
    for (int i = 0; i < t->n; i++) {
        steno_token tok = { .size = sizeof tok };
        assert_int_equal(steno_generated_get(s, i, &tok), 0);
        t->id[i] = tok.id;
        t->logprob[i] = tok.logprob;
    }
}

static steno_generate_params params_of(int n_new, int draft)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = n_new;
    p.ignore_eos = 1;
    p.draft_max = draft;
    return p;
}

static void ids_of(int32_t *ids, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        ids[i] = 10 + (int32_t)((seed >> 8) % 700);
    }
}

static void made_by(struct text *t, const steno_model *m, const int32_t *ids, int n, const steno_generate_params *p)
{
    steno_session *s = lm_session(m, NULL, NULL);
    made_to(t, s, steno_generate(s, ids, n, p));
    steno_session_close(s);
}

/* ---- long texts ------------------------------------------------------------------------------------------------------------ */

static void check_logits(steno_session *s[2], const int32_t *ids, int n, int at_once)
{
    const float *logits[2];
    int n_vocab = 0;
    for (int at = 0; at < n; at += at_once) {
        const int k = n - at < at_once ? n - at : at_once;
        for (int i = 0; i < 2; i++) assert_int_equal(at ? steno_prefill_continue(s[i], ids + at, k) : steno_prefill(s[i], ids, k), 0);
        if (at % 64 && at + k < n) continue;
        for (int i = 0; i < 2; i++) logits[i] = steno_logits(s[i], &n_vocab);
        if (memcmp(logits[0], logits[1], (size_t)n_vocab * sizeof **logits) != 0)
            fail_msg("behind %d of %d ids, %d at once", at + k, n, at_once);
    }
}

static void test_prompts_in_pieces_of_any_size_give_the_same_logits(void **state)
{
    (void)state;
    static const int at_once[] = { CTX, 700, 512, 333, 64, 24, 5, 1 };
    static const int lengths[] = { WINDOW - 1, WINDOW, WINDOW + 1, HELD - 1, HELD, HELD + 1, HELD + 40, CTX };
    int32_t ids[CTX];
    ids_of(ids, CTX, 1);
    for (int type = STENO_KV_AUTO; type <= STENO_KV_Q8_0; type++)
        for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_F32; compute += STENO_COMPUTE_F32 - STENO_COMPUTE_AUTO) {
            steno_model *m[2] = { model_of(type, compute, 0), model_of(type, compute, 1) };
            steno_session *s[2] = { lm_session(m[0], team, NULL), lm_session(m[1], NULL, NULL) };
            for (size_t i = 0; i < sizeof at_once / sizeof *at_once; i++)
                check_logits(s, ids, SANITIZED ? HELD + 40 : i < 6 ? CTX : HELD + 40, at_once[i]);
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) check_logits(s, ids, lengths[i], 512);
            for (int i = 0; i < 2; i++) steno_session_close(s[i]), steno_model_close(m[i]);
        }
}

/* To the end of the context, with drafts that are wrong and right, from the text and by another model. */
static void test_long_texts_are_the_same(void **state)
{
    (void)state;
    static struct text want, got;
    int32_t ids[CTX];
    steno_error e;
    ids_of(ids, CTX, 2);
    for (int k = 0; k < 6; k++) {
        const int n = k % 2 ? 600 : 5;
        steno_generate_params p = params_of(0, k < 2 ? 0 : k < 4 ? 7 : -1);
        if (k == 3) p.temperature = 1, p.seed = 3;
        made_by(&want, all, ids, n, &p);
        steno_session *s;
        steno_session_params sp;
        steno_session_params_init(&sp);
        sp.draft_model = k > 3 ? ring : NULL;
        if (steno_session_open(&s, ring, team, &sp, &e)) fail_msg("%s", e.text);
        for (int again = 0; again < 2; again++) {
            made_to(&got, s, steno_generate(s, ids, n, &p));
            if (memcmp(&want, &got, sizeof want) != 0) fail_msg("kind %d, time %d", k, again);
        }
        assert_int_equal(got.n, CTX + 1 - n);
        steno_session_close(s);
    }
}

/* ---- going back -------------------------------------------------------------------------------------------------------------- */

/* Texts that begin like the one before, with as much of it as is still there or anew. */
static void test_texts_that_go_back_are_the_same(void **state)
{
    (void)state;
    static const int same[] = { 0, 1, 100, 300, 420, 500, 640, 700, 719, 720, 736, 737, 739, 740 };
    enum { N = 740, NEW = 20 };
    static struct text want, got;
    int32_t first[N], ids[N + 5];
    ids_of(first, N, 3);
    for (int draft = 0; draft < 2; draft++) {
        steno_session *s = lm_session(ring, NULL, NULL);
        for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
            const steno_generate_params p = params_of(NEW, draft ? 6 : 0);
            assert_int_equal(steno_generate(s, first, N, &p), NEW);
            ids_of(ids, N + 5, 50 + (uint32_t)i);
            memcpy(ids, first, (size_t)same[i] * sizeof *ids);
            if (same[i] < N) ids[same[i]] = first[same[i]] + 1;
            const int64_t before = lm_timings(s).n_reused;
            made_to(&got, s, steno_generate(s, ids, N + 5, &p));
            made_by(&want, all, ids, N + 5, &p);
            if (memcmp(&want, &got, sizeof want) != 0) fail_msg("behind %d of %d ids", same[i], N);
            const int64_t reused = lm_timings(s).n_reused - before;
            assert_true(reused <= same[i]);
            if (same[i] >= N - 20) assert_int_equal(reused, same[i]);
            if (same[i] && same[i] < N + NEW - HELD) assert_true(reused < same[i]);
        }
        steno_session_close(s);
    }
}

/* Each turn's prompt is the one before, what was made of it, here and there in other tokens, and something new. */
static void test_conversations_are_the_same(void **state)
{
    (void)state;
    enum { NEW = 60, ASKED = 30 };
    static struct text want, got;
    int32_t ids[CTX];
    int n = ASKED;
    const steno_generate_params p = params_of(NEW, 0);
    steno_session *s = lm_session(ring, NULL, NULL);
    ids_of(ids, n, 4);
    for (int turn = 0; n + NEW <= CTX; turn++) {
        made_to(&got, s, steno_generate(s, ids, n, &p));
        made_by(&want, all, ids, n, &p);
        assert_memory_equal(&want, &got, sizeof want);
        memcpy(ids + n, got.id, (size_t)got.n * sizeof *ids);
        if (turn % 3 == 2) ids[n + turn % 7]++;
        n += got.n;
        ids_of(ids + n, n + ASKED <= CTX ? ASKED : 0, (uint32_t)turn + 50);
        n += ASKED;
    }
    steno_session_close(s);
}

/* What texts began with alike is read a second time where it is gone, and never again. */
static void test_where_texts_part_is_known_from_then_on(void **state)
{
    (void)state;
    enum { HEAD = 200, N = 840, TEXTS = 6 };
    static struct text want, got;
    int32_t ids[N];
    const steno_generate_params p = params_of(20, 0);
    steno_session *s = lm_session(ring, NULL, NULL);
    for (int i = 0; i < TEXTS; i++) {
        const int64_t before = lm_timings(s).n_reused;
        ids_of(ids, HEAD, 5);
        ids_of(ids + HEAD, N - HEAD, 90 + (uint32_t)i);
        made_to(&got, s, steno_generate(s, ids, N, &p));
        made_by(&want, all, ids, N, &p);
        assert_memory_equal(&want, &got, sizeof want);
        assert_int_equal(lm_timings(s).n_reused - before, i < 2 ? 0 : HEAD / KV_BLOCK * KV_BLOCK);
    }
    steno_session_close(s);
}

/* The answer that was made is written in other tokens from its beginning on: no more than it is read again. */
static void test_a_conversation_goes_on_in_other_words(void **state)
{
    (void)state;
    enum { ASKED = 40, MADE = 700 };
    static struct text want, got;
    int32_t ids[CTX];
    steno_session *s = lm_session(ring, NULL, NULL);
    const steno_generate_params p = params_of(MADE, 0), last = params_of(50, 0);
    ids_of(ids, CTX, 6);
    made_to(&got, s, steno_generate(s, ids, ASKED, &p));
    memcpy(ids + ASKED, got.id, (size_t)got.n * sizeof *ids);
    ids[ASKED + 2]++;
    made_to(&got, s, steno_generate(s, ids, ASKED + MADE + 40, &last));
    made_by(&want, all, ids, ASKED + MADE + 40, &last);
    assert_memory_equal(&want, &got, sizeof want);
    assert_int_equal(lm_timings(s).n_reused, ASKED - 1);
    steno_session_close(s);
}

/* ---- beside each other ------------------------------------------------------------------------------------------------------- */

enum { REQUESTS = 24 };

struct asked { steno_session *s; int32_t ids[CTX]; int n; steno_generate_params p; int status; };

static void told(void *user, steno_session *s, int status)
{
    struct asked *a = user;
    for (int i = 0; i < REQUESTS; i++)
        if (a[i].s == s) a[i].status = status;
}

/* What several begin with is as long as a window, longer, or much longer. */
static void asked_make(struct asked *a, int i)
{
    static const int heads[] = { 0, 40, 200, 640 };
    const int head = heads[i % 4], rest = 1 + i * 37 % 200;
    ids_of(a->ids, head, 1000);
    ids_of(a->ids + head, rest, (uint32_t)i);
    a->n = head + rest;
    a->p = params_of(20 + i * 13 % 150, i % 5 == 1 ? 7 : 0);
    if (i % 5 == 2) a->p.temperature = 0.8, a->p.seed = (uint64_t)i;
}

static void check_batch(const struct text *want, int windows)
{
    static struct asked a[REQUESTS];
    static struct text got;
    steno_batch *b = batch_telling(ring, NULL, windows, a, told);
    for (int i = 0; i < REQUESTS; i++) {
        asked_make(&a[i], i);
        a[i].s = lm_session(ring, NULL, b);
    }
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < REQUESTS; k++) {
            struct asked *x = &a[(k * 7 + round) % REQUESTS];
            steno_request_params r;
            steno_request_params_init(&r);
            r.ids = x->ids;
            r.n_ids = x->n;
            r.generate = &x->p;
            if (steno_batch_submit(b, x->s, NULL, &r)) fail_msg("%s", steno_last_error(x->s));
        }
        assert_int_equal(steno_batch_run(b), STENO_OK);
        for (int i = 0; i < REQUESTS; i++) {
            made_to(&got, a[i].s, a[i].status);
            if (memcmp(&want[i], &got, sizeof got) != 0) fail_msg("request %d of %d windows, round %d", i, windows, round);
        }
    }
    for (int i = 0; i < REQUESTS; i++) steno_session_close(a[i].s);
    steno_batch_close(b);
}

static void test_texts_beside_each_other_are_the_same(void **state)
{
    (void)state;
    static const int windows[] = { 1, 2, 5, 24, LANES_MAX };
    static struct text want[REQUESTS];
    static struct asked a;
    for (int i = 0; i < REQUESTS; i++) {
        asked_make(&a, i);
        made_by(&want[i], all, a.ids, a.n, &a.p);
    }
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) check_batch(want, windows[i]);
}

/* Those that come together share what they begin with, however long that is. */
static void test_shared_beginnings_are_computed_once(void **state)
{
    (void)state;
    enum { N = 6, HEAD = 800, OWN = 20 };
    static struct asked a[REQUESTS];
    static struct text want, got;
    int64_t computed = 0;
    memset(a, 0, sizeof a);
    steno_batch *b = batch_telling(ring, NULL, N, a, told);
    for (int i = 0; i < N; i++) {
        a[i].s = lm_session(ring, NULL, b);
        ids_of(a[i].ids, HEAD, 4);
        ids_of(a[i].ids + HEAD, OWN, 70 + (uint32_t)i);
        a[i].n = HEAD + OWN;
        a[i].p = params_of(3, 0);
        steno_request_params r;
        steno_request_params_init(&r);
        r.ids = a[i].ids;
        r.n_ids = a[i].n;
        r.generate = &a[i].p;
        assert_int_equal(steno_batch_submit(b, a[i].s, NULL, &r), 0);
    }
    assert_int_equal(steno_batch_run(b), STENO_OK);
    for (int i = 0; i < N; i++) {
        made_to(&got, a[i].s, a[i].status);
        made_by(&want, all, a[i].ids, a[i].n, &a[i].p);
        assert_memory_equal(&want, &got, sizeof want);
        computed += lm_timings(a[i].s).n_prompt_tokens;
        steno_session_close(a[i].s);
    }
    assert_int_equal(computed, HEAD + N * OWN);
    steno_batch_close(b);
}

static void test_vectors_of_long_texts_are_the_same(void **state)
{
    (void)state;
    char long_text[4 * CTX] = "";
    const char *texts[] = { "never", long_text, "little about listen" };
    for (int i = 0; i < 300; i++) strcat(long_text, i % 3 ? "sound " : "a ");
    steno_session *s[2] = { lm_session(ring, NULL, NULL), lm_session(all, NULL, NULL) };
    steno_embedding v[2][3];
    for (int i = 0; i < 2; i++) {
        if (steno_embed(s[i], texts, 3, NULL)) fail_msg("%s", steno_last_error(s[i]));
        for (int k = 0; k < 3; k++) {
            v[i][k].size = sizeof v[i][k];
            assert_int_equal(steno_embedding_get(s[i], k, &v[i][k]), 0);
        }
    }
    assert_true(v[0][1].n_tokens > HELD);
    for (int k = 0; k < 3; k++) assert_memory_equal(v[0][k].vector, v[1][k].vector, (size_t)v[0][k].n * sizeof(float));
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
}

/* ---- another executor -------------------------------------------------------------------------------------------------------- */

static void test_another_executor_makes_the_same(void **state)
{
    (void)state;
    enum { N = 700, NEW = 8 };
    static struct text made[2];
    int32_t ids[N];
    for (int plain = 0; plain < 2; plain++) {
        struct side g;
        const steno_generate_params p = params_of(NEW, 3);
        side_open(&g, NULL, path, plain, 1, 0);
        ids_of(ids, N, 8);
        for (int time = 0; time < 2; time++) { /* the second goes back */
            made_to(&made[plain], g.session, steno_generate(g.session, ids, N - 40 * time, &p));
            ids[N - 50]++;
        }
        side_close(&g);
    }
    assert_memory_equal(&made[0], &made[1], sizeof made[0]);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

static void test_memory_of_a_text_is_reported(void **state)
{
    (void)state;
    steno_model_info r = { .size = sizeof r }, a = { .size = sizeof a };
    assert_int_equal(steno_model_info_get(ring, &r), 0);
    assert_int_equal(steno_model_info_get(all, &a), 0);
    assert_int_equal(r.token_bytes, a.token_bytes);
    assert_int_equal(a.kv_bytes, a.token_bytes * CTX);
    assert_int_equal(r.kv_bytes, r.token_bytes / 6 * (CTX + 5 * (HELD + MARK)));
    const int64_t less = steno_session_memory(all, NULL, NULL) - steno_session_memory(ring, NULL, NULL);
    assert_in_range(less, a.kv_bytes - r.kv_bytes, a.kv_bytes - r.kv_bytes + 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prompts_in_pieces_of_any_size_give_the_same_logits),
        cmocka_unit_test(test_long_texts_are_the_same),
        cmocka_unit_test(test_texts_that_go_back_are_the_same),
        cmocka_unit_test(test_conversations_are_the_same),
        cmocka_unit_test(test_where_texts_part_is_known_from_then_on),
        cmocka_unit_test(test_a_conversation_goes_on_in_other_words),
        cmocka_unit_test(test_texts_beside_each_other_are_the_same),
        cmocka_unit_test(test_shared_beginnings_are_computed_once),
        cmocka_unit_test(test_vectors_of_long_texts_are_the_same),
        cmocka_unit_test(test_another_executor_makes_the_same),
        cmocka_unit_test(test_memory_of_a_text_is_reported),
    };
    return cmocka_run_group_tests(tests, models_open, models_close);
}

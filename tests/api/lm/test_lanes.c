/* steno tests: texts that are made beside each other. SPDX-License-Identifier: MIT
 *
 * Requests of every kind in batches of every size: each makes, to the bit, what it makes alone. What several begin with is computed
 * once. */
#include "batch.h"
#include "lm_model.h"

enum { REQUESTS = 20, WAYS = 10, HEAD = 128 };

static steno_model *model;
static steno_team *team;

static int model_open(void **state)
{
    (void)state;
    model = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    return steno_team_open(&team, 2, NULL);
}

static int model_close(void **state)
{
    (void)state;
    steno_model_close(model);
    steno_team_close(team);
    return 0;
}

/* A request, and the reports about it. */
struct asked {
    steno_session *s;
    int32_t ids[LM_IDS_MAX];
    int n, way, heard, ends_at, has_nul, done, status;
    steno_generate_params p;
    char text[LM_TEXT_MAX];
};

static int hear(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct asked *a = user;
    if (!a->has_nul) strncat(a->text, text, n); /* texts are compared up to there */
    a->has_nul |= n && memchr(text, 0, n) != NULL;
    if (tok) a->heard++;
    return a->ends_at && a->heard >= a->ends_at;
}

/* Of all ways to choose, and to end. */
static void asked_make(struct asked *a, int i)
{
    static const char *const stops[] = { "e", "never there" };
    const int head = i % 3 ? HEAD : 0, rest = 1 + i * 37 % 200;
    memset(a, 0, sizeof *a);
    lm_ids(a->ids, head, 1000);
    lm_ids(a->ids + head, rest, (uint32_t)i);
    a->n = head + rest;
    a->way = i % WAYS;
    steno_generate_params_init(&a->p);
    a->p.max_tokens = 5 + i * 7 % 40;
    a->p.ignore_eos = a->way != 7;
    a->p.user = a;
    a->p.on_token = hear;
    switch (a->way) {
    case 1: a->p.temperature = 0.8, a->p.seed = (uint64_t)i; break;
    case 2: a->p.temperature = 1.2, a->p.top_k = 30, a->p.top_p = 0.9, a->p.min_p = 0.01, a->p.repeat_penalty = 1.1; break;
    case 3: a->p.draft_max = 7; break;
    case 4: a->p.grammar = "root ::= (\"one \" | \"two \" | [a-m])+"; break;
    case 5: a->p.stop = stops, a->p.n_stop = 2; break;
    case 6: a->ends_at = 4; break;
    case 8: a->p.draft_max = 15, a->p.frequency_penalty = 0.4, a->p.temperature = 0.7; break;
    case 9: a->p.json_schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,2]}},\"required\":[\"a\"]}"; break;
    default: break;
    }
}

static void asked_alone(struct lm_made *to, int i)
{
    struct asked a;
    asked_make(&a, i);
    steno_session *s = lm_session(model, NULL, NULL);
    lm_made_of(to, s, steno_generate(s, a.ids, a.n, &a.p));
    assert_true(to->rc >= 0);
    assert_string_equal(a.text, to->text);
    steno_session_close(s);
}

static void told(void *user, steno_session *s, int status)
{
    struct asked *a = user;
    for (int i = 0; i < REQUESTS; i++)
        if (a[i].s == s) a[i].done++, a[i].status = status;
}

static int submit(steno_batch *b, struct asked *a)
{
    steno_request_params r;
    steno_request_params_init(&r);
    r.ids = a->ids;
    r.n_ids = a->n;
    r.generate = &a->p;
    return steno_batch_submit(b, a->s, NULL, &r);
}

static void submitted(steno_batch *b, struct asked *a)
{
    if (submit(b, a)) fail_msg("%s", steno_last_error(a->s));
}

static void check_batch(const struct lm_made *want, int windows, steno_team *t, int rounds)
{
    static struct asked a[REQUESTS];
    steno_batch *b = batch_telling(model, t, windows, a, told);
    for (int i = 0; i < REQUESTS; i++) {
        asked_make(&a[i], i);
        a[i].s = lm_session(model, NULL, b);
    }
    for (int round = 0; round < rounds; round++) { /* lanes hold other texts from then on */
        for (int k = 0; k < REQUESTS; k++) {
            struct asked *x = &a[(k * 7 + round) % REQUESTS];
            x->heard = x->done = x->has_nul = 0;
            x->text[0] = '\0';
            submitted(b, x);
        }
        assert_int_equal(steno_batch_run(b), STENO_OK);
        for (int i = 0; i < REQUESTS; i++) {
            struct lm_made got;
            assert_int_equal(a[i].done, 1);
            lm_made_of(&got, a[i].s, a[i].status);
            if (lm_differ(&want[i], &got))
                fail_msg("request %d in round %d beside %d: '%s' (%d), not '%s' (%d)", i, round, windows, got.text, got.rc, want[i].text,
                         want[i].rc);
            assert_string_equal(a[i].text, got.text);
        }
    }
    for (int i = 0; i < REQUESTS; i++) steno_session_close(a[i].s);
    steno_batch_close(b);
}

static void test_texts_do_not_depend_on_who_is_beside_them(void **state)
{
    (void)state;
    static struct lm_made want[REQUESTS];
    static const int windows[] = { 1, 2, 3, 8, 20 };
    for (int i = 0; i < REQUESTS; i++) asked_alone(&want[i], i);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) check_batch(want, windows[i], i % 2 ? team : NULL, i == 3 ? 3 : 1);
}

/* What requests have in common is read by one of them, those that come with it included. */
static void test_shared_beginnings_are_computed_once(void **state)
{
    (void)state;
    enum { LANES = 4, N = 8, OWN = 10 };
    static struct asked a[REQUESTS];
    int64_t computed = 0, reused = 0;
    steno_batch *b = batch_telling(model, NULL, LANES, a, told);
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++) {
        a[i].s = lm_session(model, NULL, b);
        lm_ids(a[i].ids, HEAD, 4);
        lm_ids(a[i].ids + HEAD, OWN, 70 + (uint32_t)i);
        a[i].n = HEAD + OWN;
        steno_generate_params_init(&a[i].p);
        a[i].p.max_tokens = 3;
        a[i].p.ignore_eos = 1;
        submitted(b, &a[i]);
    }
    assert_int_equal(steno_batch_run(b), STENO_OK);
    for (int i = 0; i < N; i++) {
        struct lm_made got, want;
        lm_made_of(&got, a[i].s, a[i].status);
        steno_session *alone = lm_session(model, NULL, NULL);
        lm_made_of(&want, alone, steno_generate(alone, a[i].ids, a[i].n, &a[i].p));
        steno_session_close(alone);
        assert_false(lm_differ(&want, &got));
        computed += lm_timings(a[i].s).n_prompt_tokens;
        reused += lm_timings(a[i].s).n_reused;
        steno_session_close(a[i].s); /* what the lanes hold stays */
    }
    assert_int_equal(computed, HEAD + N * OWN);
    assert_int_equal(reused, (N - 1) * HEAD);
    a[0].s = lm_session(model, NULL, b);
    submitted(b, &a[0]);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    assert_true(lm_timings(a[0].s).n_reused >= HEAD);
    steno_session_close(a[0].s);
    steno_batch_close(b);
}

static void asked_plain(struct asked *a, steno_batch *b, int n, uint32_t seed, int max_tokens)
{
    memset(a, 0, sizeof *a);
    a->s = lm_session(model, NULL, b);
    lm_ids(a->ids, n, seed);
    a->n = n;
    steno_generate_params_init(&a->p);
    a->p.max_tokens = max_tokens;
    a->p.ignore_eos = 1;
    a->p.user = a;
    a->p.on_token = hear;
}

static int cancel_at_three(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct asked *a = user;
    (void)text, (void)n;
    if (tok && ++a->heard == 3) steno_cancel(a->s);
    return 0;
}

static int abort_now(void *user)
{
    return ++((struct asked *)user)->heard > 2;
}

/* One ends the text of another who has come to be beside it; one is canceled before it begins; one that others wait for is, too. */
static void test_a_canceled_request_harms_no_other(void **state)
{
    (void)state;
    enum { N = 6 };
    static struct asked a[REQUESTS];
    struct lm_made got, want;
    memset(a, 0, sizeof a);
    steno_batch *b = batch_telling(model, team, 3, a, told);
    for (int i = 0; i < N; i++) asked_plain(&a[i], b, 200 + i, 9, 30); /* all begin the same */
    a[0].p.should_abort = abort_now; /* while it reads what others wait for */
    a[0].p.on_token = NULL;
    a[1].p.on_token = cancel_at_three;
    for (int i = 0; i < N; i++) submitted(b, &a[i]);
    steno_cancel(a[4].s);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    for (int i = 0; i < N; i++) {
        const int canceled = i == 0 || i == 1 || i == 4;
        lm_made_of(&got, a[i].s, a[i].status);
        assert_int_equal(a[i].done, 1);
        assert_int_equal(got.finish, canceled ? STENO_FINISH_CANCELED : STENO_FINISH_LENGTH);
        assert_int_equal(got.rc, canceled ? STENO_ECANCELED : 30);
        if (i == 1) assert_int_equal(got.n, 3);
        if (canceled) continue;
        steno_session *alone = lm_session(model, NULL, NULL);
        a[i].p.on_token = NULL;
        lm_made_of(&want, alone, steno_generate(alone, a[i].ids, a[i].n, &a[i].p));
        steno_session_close(alone);
        assert_false(lm_differ(&want, &got));
    }
    submitted(b, &a[5]);
    steno_session_close(a[5].s); /* before it has begun: no callback is called */
    a[5].s = NULL;
    submitted(b, &a[2]);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    assert_int_equal(a[2].done, 2);
    for (int i = 0; i < N - 1; i++) steno_session_close(a[i].s);
    steno_batch_close(b);
}

struct newcomer { struct asked a, *long_one; steno_batch *b; };

static int send_for_another(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct newcomer *c = user;
    (void)text, (void)n;
    if (tok && ++c->a.heard == 3) submitted(c->b, c->long_one);
    return 0;
}

/* A long prompt that comes while a text is made is read in pieces, between which the text goes on. */
static void test_a_long_prompt_does_not_stop_the_texts_beside_it(void **state)
{
    (void)state;
    static struct asked a[REQUESTS];
    static struct newcomer c;
    memset(a, 0, sizeof a);
    steno_batch *b = batch_telling(model, NULL, 2, a, told);
    asked_plain(&c.a, b, 4, 1, 40);
    asked_plain(&a[1], b, 520, 2, 4);
    a[0] = c.a;
    c.b = b;
    c.long_one = &a[1];
    c.a.p.on_token = send_for_another;
    c.a.p.user = &c;
    submitted(b, &c.a);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    assert_int_equal(lm_timings(a[1].s).n_prompts, (520 + 63) / 64);
    assert_int_equal(lm_timings(a[1].s).n_prompt_tokens, 520);
    assert_int_equal(lm_timings(a[0].s).n_steps, 39);
    assert_int_equal(c.a.heard, 40);
    steno_request_timings t = { .size = sizeof t };
    assert_int_equal(steno_request_timings_get(a[1].s, &t), STENO_OK);
    assert_int_equal(t.n_windows, 1);
    assert_true(t.first_window_us >= 0 && t.total_us >= t.first_window_us);
    for (int i = 0; i < 2; i++) steno_session_close(a[i].s);
    steno_batch_close(b);
}

static void test_calls_and_requests_go_on_with_each_other(void **state)
{
    (void)state;
    static struct asked a[REQUESTS];
    struct lm_made got, want;
    memset(a, 0, sizeof a);
    steno_batch *b = batch_telling(model, NULL, 2, a, told);
    steno_session *alone = lm_session(model, NULL, NULL);
    for (int i = 0; i < 3; i++) asked_plain(&a[i], b, 50 + i, (uint32_t)i, 8);
    for (int i = 0; i < 2; i++) submitted(b, &a[i]);
    assert_int_equal(steno_generate(a[0].s, a[0].ids, 4, NULL), STENO_EARG);
    assert_int_equal(submit(b, &a[0]), STENO_EARG);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    for (int i = 0; i < 2; i++) { /* behind a request */
        const int32_t more[] = { 7, 8 };
        lm_made_of(&got, a[i].s, steno_generate_continue(a[i].s, more, 2, &a[i].p));
        steno_generate(alone, a[i].ids, a[i].n, &a[i].p);
        lm_made_of(&want, alone, steno_generate_continue(alone, more, 2, &a[i].p));
        assert_false(lm_differ(&want, &got));
    }
    assert_true(steno_generate(a[2].s, a[2].ids, a[2].n, &a[2].p) > 0); /* takes a lane of the others */
    assert_int_equal(steno_generate_continue(a[0].s, a[0].ids, 2, NULL), STENO_EARG);
    assert_non_null(strstr(steno_last_error(a[0].s), "there is no text to continue"));
    assert_true(steno_generate_continue(a[1].s, a[1].ids, 2, &a[1].p) > 0);
    assert_int_equal(steno_prefill(a[0].s, a[0].ids, 50), STENO_OK);
    assert_non_null(steno_logits(a[0].s, NULL));
    submitted(b, &a[1]);
    assert_int_equal(steno_batch_run(b), STENO_OK);
    assert_null(steno_logits(a[0].s, NULL));
    for (int i = 0; i < 3; i++) steno_session_close(a[i].s);
    steno_session_close(alone);
    steno_batch_close(b);
}

static void refused(steno_batch *b, steno_session *s, const steno_source *src, const steno_request_params *r, const char *why)
{
    assert_int_equal(steno_batch_submit(b, s, src, r), STENO_EARG);
    if (!strstr(steno_last_error(s), why)) fail_msg("'%s' does not say '%s'", steno_last_error(s), why);
}

static int64_t silence(void *user, float *pcm, int64_t n)
{
    (void)user, (void)pcm, (void)n;
    return 0;
}

static void test_impossible_requests_are_refused_on_submission(void **state)
{
    (void)state;
    static struct asked a;
    const steno_source src = { .read = silence };
    steno_batch *b = batch_telling(model, NULL, 2, NULL, NULL);
    steno_request_params r;
    steno_transcribe_params t;
    steno_transcribe_params_init(&t);
    asked_plain(&a, b, 300, 1, 4);
#define ASK(field, value, why) \
    do { \
        steno_request_params_init(&r); \
        r.ids = a.ids, r.n_ids = 4, r.generate = &a.p, r.field = value; \
        refused(b, a.s, NULL, &r, why); \
    } while (0)
    ASK(n_ids, 0, "want 1 or more ids");
    ASK(n_ids, -1, "want 1 or more ids");
    ASK(ids, NULL, "ids is NULL");
    ASK(transcribe, &t, "does not transcribe");
    ASK(priority, 9, "priority");
    a.p.grammar = "root ::= \"a";
    ASK(n_ids, 4, "grammar, line 1");
    a.p.grammar = NULL;
    a.p.min_p = 3;
    ASK(n_ids, 4, "min_p is 3");
    a.p.min_p = 0;
    steno_request_params_init(&r);
    r.ids = a.ids, r.n_ids = 4;
    refused(b, a.s, &src, &r, "takes no audio");
    assert_int_equal(steno_batch_add(b, a.s, &src, NULL), STENO_EARG);
    a.ids[3] = 1 << 20;
    refused(b, a.s, NULL, &r, "not in a vocabulary");
    steno_session_close(a.s);
    steno_batch_close(b);
    steno_batch_params p;
    steno_error e;
    steno_batch_params_init(&p);
    p.max_windows = 129;
    assert_int_equal(steno_batch_open(&b, model, NULL, &p, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "want 1..128"));
}

/* The context of a lane, up to its last position, in as many lanes as there can be. */
static void test_contexts_fill_up_to_their_ends(void **state)
{
    (void)state;
    enum { CTX = 96, LANES = 128, N = 130 };
    static struct asked a[N];
    steno_model *small = lm_open_as(small_lm, STENO_COMPUTE_AUTO, CTX), *large = model;
    model = small;
    steno_batch *b = batch_telling(model, team, LANES, NULL, NULL);
    for (int i = 0; i < N; i++) {
        asked_plain(&a[i], b, i % CTX + 1, (uint32_t)i, 0);
        a[i].p.draft_max = i % 2 ? 15 : 0;
        submitted(b, &a[i]);
    }
    assert_int_equal(steno_batch_run(b), STENO_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(steno_generate_finish(a[i].s), STENO_FINISH_LENGTH);
        int n;
        (void)steno_generated(a[i].s, &n);
        assert_int_equal(n, CTX + 1 - a[i].n);
    }
    lm_ids(a[0].ids, CTX + 1, 3);
    a[0].n = CTX + 1;
    assert_int_equal(submit(b, &a[0]), STENO_EARG);
    assert_non_null(strstr(steno_last_error(a[0].s), "97 ids leave no room in a context of 96"));
    for (int i = 0; i < N; i++) steno_session_close(a[i].s);
    steno_batch_close(b);
    model = large;
    steno_model_close(small);
}

/* A conversation's turns come back to the lane that holds it; on_done submits the next one, and closes others. */
struct talk { steno_batch *b; struct asked a; int turns; steno_session *other; };

static void talk_on(void *user, steno_session *s, int status)
{
    struct talk *t = user;
    if (s != t->a.s) return;
    assert_true(status >= 0);
    steno_session_close(t->other);
    t->other = NULL;
    if (--t->turns == 0) return;
    int n;
    const int32_t *made = steno_generated(s, &n);
    memcpy(t->a.ids + t->a.n, made, (size_t)n * sizeof *made);
    t->a.n += n;
    lm_ids(t->a.ids + t->a.n, 5, (uint32_t)t->turns);
    t->a.n += 5;
    submitted(t->b, &t->a);
}

static void test_a_conversation_in_a_batch_is_read_once(void **state)
{
    (void)state;
    static struct talk t;
    static struct asked other;
    memset(&t, 0, sizeof t);
    t.b = batch_telling(model, NULL, 2, &t, talk_on);
    t.turns = 6;
    asked_plain(&t.a, t.b, 40, 1, 10);
    asked_plain(&other, t.b, 200, 2, 100);
    t.other = other.s;
    submitted(t.b, &t.a);
    submitted(t.b, &other);
    assert_int_equal(steno_batch_run(t.b), STENO_OK);
    assert_int_equal(t.turns, 0);
    assert_int_equal(lm_timings(t.a.s).n_prompt_tokens, 40 + 5 * 6);
    steno_session_close(t.a.s);
    steno_batch_close(t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_do_not_depend_on_who_is_beside_them),
        cmocka_unit_test(test_shared_beginnings_are_computed_once),
        cmocka_unit_test(test_a_canceled_request_harms_no_other),
        cmocka_unit_test(test_a_long_prompt_does_not_stop_the_texts_beside_it),
        cmocka_unit_test(test_calls_and_requests_go_on_with_each_other),
        cmocka_unit_test(test_impossible_requests_are_refused_on_submission),
        cmocka_unit_test(test_contexts_fill_up_to_their_ends),
        cmocka_unit_test(test_a_conversation_in_a_batch_is_read_once),
    };
    return cmocka_run_group_tests(tests, model_open, model_close);
}

/* steno tests: texts of a batch that a draft model drafts for. SPDX-License-Identifier: MIT
 *
 * Each is to the bit what it is alone without drafts: of any number of lanes, behind heads that several share, with a draft of a shorter
 * or longer vocabulary, drafted for or not, ended by a caller, and when an allocation fails. */
#include "heap.h"
#include "lm_model.h"

enum { REQUESTS = 12, HEAD = 96 };

static char const padded_lm[] = "tests/data/lm/qwen3-padded-q4_0.gguf"; /* half of the layers, and ids that stand for nothing */

struct asked { steno_session *s; int32_t ids[LM_IDS_MAX]; int n, heard, ends_at, status; steno_generate_params p; };

static int hear(void *user, const steno_token *tok, const char *text, size_t n)
{
    struct asked *a = user;
    (void)text, (void)n;
    a->heard += tok != NULL;
    return a->ends_at && a->heard >= a->ends_at;
}

static void asked_make(struct asked *a, int i)
{
    static const int32_t drafts[] = { -1, 1, 4, 15, 0 };
    const int head = i % 3 ? HEAD : 0, rest = 1 + i * 37 % 150;
    memset(a, 0, sizeof *a);
    lm_ids(a->ids, head, 1000);
    lm_ids(a->ids + head, rest, (uint32_t)i);
    if (i % 4 == 3) a->ids[head] = 607; /* the last id that both know */
    a->n = head + rest;
    steno_generate_params_init(&a->p);
    a->p.max_tokens = 5 + i * 7 % 40;
    a->p.ignore_eos = i != 7;
    a->p.draft_max = drafts[i % 5];
    a->p.user = a;
    a->p.on_token = hear;
    if (i == 3) a->p.temperature = 0.8;
    if (i == 5) a->p.grammar = "root ::= (\"one \" | \"two \" | [a-m])+";
    if (i == 6) a->p.repeat_penalty = 1.2;
    if (i == 8) a->ends_at = 4;
}

static struct asked asked[REQUESTS];

static void told(void *user, steno_session *s, int status)
{
    (void)user;
    for (int i = 0; i < REQUESTS; i++)
        if (asked[i].s == s) asked[i].status = status;
}

static steno_batch *batch_new(const steno_model *m, const steno_model *draft, steno_team *team, int windows, steno_error *e)
{
    steno_batch *b = NULL;
    steno_batch_params p;
    steno_batch_params_init(&p);
    p.max_windows = windows;
    p.draft_model = draft;
    p.on_done = told;
    (void)steno_batch_open(&b, m, team, &p, e);
    return b;
}

static void alone(struct lm_made *to, const steno_model *m, int i)
{
    struct asked a;
    asked_make(&a, i);
    a.p.draft_max = 0;
    steno_session *s = lm_session(m, NULL, NULL);
    lm_made_of(to, s, steno_generate(s, a.ids, a.n, &a.p));
    assert_true(to->rc >= 0);
    steno_session_close(s);
}

static void submit(steno_batch *b, struct asked *a)
{
    steno_request_params r;
    steno_request_params_init(&r);
    a->heard = 0;
    r.ids = a->ids;
    r.n_ids = a->n;
    r.generate = &a->p;
    a->status = steno_batch_submit(b, a->s, NULL, &r);
}

/* Twice, so that lanes hold other texts the second time. *accepted: drafts that were right */
static void check_batch(const struct lm_made *want, const steno_model *m, const steno_model *draft, int windows, int64_t *accepted)
{
    struct asked *a = asked;
    steno_team *team;
    steno_error e;
    assert_int_equal(steno_team_open(&team, 1 + windows % 2, NULL), 0);
    steno_batch *b = batch_new(m, draft, team, windows, &e);
    if (!b) fail_msg("%s", e.text);
    for (int i = 0; i < REQUESTS; i++) {
        asked_make(&a[i], i);
        a[i].s = lm_session(m, NULL, b);
    }
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < REQUESTS; k++) submit(b, &a[(k * 7 + round) % REQUESTS]);
        assert_int_equal(steno_batch_run(b), STENO_OK);
        for (int i = 0; i < REQUESTS; i++) {
            struct lm_made got;
            lm_made_of(&got, a[i].s, a[i].status);
            assert_string_equal(steno_last_error(a[i].s), "");
            if (lm_differ(&want[i], &got)) fail_msg("request %d beside %d: '%s', not '%s'", i, windows, got.text, want[i].text);
        }
    }
    for (int i = 0; i < REQUESTS; i++) {
        const steno_timings t = lm_timings(a[i].s);
        assert_true(t.n_accepted <= t.n_drafted && (a[i].p.draft_max || !t.n_drafted));
        if (windows < 9 && a[i].p.draft_max > 0 && !a[i].ends_at && a[i].p.max_tokens > 9) assert_true(t.n_drafted > 0 && t.draft_us > 0);
        *accepted += t.n_accepted;
        steno_session_close(a[i].s);
    }
    steno_batch_close(b);
    steno_team_close(team);
}

static void test_drafted_texts_of_a_batch_are_what_they_are_alone(void **state)
{
    (void)state;
    static struct lm_made want[REQUESTS];
    static const int windows[] = { 1, 3, 8, 12 };
    steno_model *small = lm_open_as(padded_lm, STENO_COMPUTE_AUTO, 0), *large = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    steno_model *const pair[][2] = { { large, small }, { large, large }, { small, large } };
    for (int k = 0; k < 3; k++) {
        int64_t accepted = 0;
        for (int i = 0; i < REQUESTS; i++) alone(&want[i], pair[k][0], i);
        for (int i = 0; i < 4; i++) check_batch(want, pair[k][0], pair[k][1], windows[i], &accepted);
        assert_true(accepted > 0 || k != 1); /* it predicts its own text */
    }
    steno_model_close(small);
    steno_model_close(large);
}

static void test_a_drafted_batch_lives_through_every_allocation_that_fails(void **state)
{
    (void)state;
    need_counting();
    enum { FEW = 3 };
    static struct lm_made want[FEW];
    struct asked *a = asked;
    steno_model *m = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0), *draft = lm_open_as(padded_lm, STENO_COMPUTE_AUTO, 0);
    int failed = 0;
    for (int i = 0; i < FEW; i++) alone(&want[i], m, 1 + i);
    for (int64_t n = 0;; n++) {
        steno_error e = { 0 };
        int bad = 0;
        count_begin(n);
        steno_batch *b = batch_new(m, draft, NULL, 2, &e);
        struct heap h = count_end();
        if (!b) {
            assert_true(*e.text && e.status == STENO_ENOMEM);
            failed++;
            continue;
        }
        const int64_t opened = h.calls;
        for (int i = 0; i < FEW; i++) {
            asked_make(&a[i], 1 + i);
            a[i].s = lm_session(m, NULL, b);
        }
        count_begin(n - opened);
        for (int i = 0; i < FEW; i++) submit(b, &a[i]);
        assert_int_equal(steno_batch_run(b), STENO_OK);
        h = count_end();
        for (int i = 0; i < FEW; i++) {
            struct lm_made got;
            bad += a[i].status == STENO_ENOMEM;
            lm_made_of(&got, a[i].s, a[i].status);
            if (a[i].status != STENO_ENOMEM && lm_differ(&want[i], &got)) fail_msg("allocation %lld fails: request %d", (long long)n, i);
            steno_session_close(a[i].s);
        }
        steno_batch_close(b);
        failed += bad;
        if (h.calls <= n - opened) break;
    }
    assert_true(failed > 10);
    steno_model_close(m);
    steno_model_close(draft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drafted_texts_of_a_batch_are_what_they_are_alone),
        cmocka_unit_test(test_a_drafted_batch_lives_through_every_allocation_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

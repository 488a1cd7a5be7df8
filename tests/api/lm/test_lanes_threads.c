/* steno tests: texts that are asked for from several threads while another makes them. SPDX-License-Identifier: MIT
 *
 * Clients submit, cancel and wait as chance has it, each with a session of its own; one thread serves
 * the batch. Every text is the one that it is alone. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "lm_model.h"

enum { CLIENTS = 4, LANES = 3, KINDS = 6, HEAD = 64, ROUNDS = SANITIZED ? 8 : 30 };

struct scene;

struct client {
    struct scene *x;
    pthread_t id;
    steno_session *s;
    uint32_t seed;
    _Atomic int ended;
    int status, n_whole, n_canceled, bad;
};

struct scene {
    const steno_model *m;
    steno_batch *b;
    pthread_t runner;
    int run_status;
    struct client c[CLIENTS];
    int32_t ids[KINDS][HEAD + KINDS * 20];
    int n[KINDS];
    struct lm_made want[KINDS];
};

static uint32_t chance(struct client *c, uint32_t n)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (c->seed >> 8) % n;
}

static steno_generate_params params_of(int kind)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = 6 + 5 * kind;
    p.ignore_eos = 1;
    if (kind % 3 == 1) p.temperature = 0.9, p.top_k = 50, p.seed = (uint64_t)kind;
    if (kind % 3 == 2) p.draft_max = 5;
    return p;
}

static void told(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    for (int i = 0; i < CLIENTS; i++) {
        if (x->c[i].s != s) continue;
        x->c[i].status = status;
        atomic_store(&x->c[i].ended, 1);
    }
}

static void *serve(void *user)
{
    struct scene *x = user;
    x->run_status = steno_batch_run_as(x->b, STENO_RUN_SERVE);
    return NULL;
}

static void client_round(struct client *c)
{
    struct scene *x = c->x;
    const int kind = (int)chance(c, KINDS), cancels = chance(c, 4) == 0;
    const steno_generate_params p = params_of(kind);
    struct lm_made got;
    steno_request_params r;
    steno_request_params_init(&r);
    r.ids = x->ids[kind];
    r.n_ids = x->n[kind];
    r.generate = &p;
    atomic_store(&c->ended, 0);
    c->bad += steno_batch_submit(x->b, c->s, NULL, &r) != STENO_OK;
    if (cancels) {
        usleep(chance(c, 3000));
        steno_cancel(c->s);
    }
    while (!atomic_load(&c->ended)) usleep(200);
    lm_made_of(&got, c->s, c->status);
    if (c->status == STENO_ECANCELED && cancels) c->n_canceled++;
    else if (lm_differ(&x->want[kind], &got)) c->bad++;
    else c->n_whole++;
}

static void *client_run(void *user)
{
    struct client *c = user;
    for (int i = 0; i < ROUNDS; i++) client_round(c);
    return NULL;
}

static void test_threads_that_submit_and_cancel_get_their_own_texts(void **state)
{
    (void)state;
    static struct scene x;
    steno_batch_params bp;
    steno_team *team;
    steno_model *m = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 512);
    int whole = 0, canceled = 0, bad = 0;
    x.m = m;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    for (int k = 0; k < KINDS; k++) {
        const steno_generate_params p = params_of(k);
        steno_session *s = lm_session(m, NULL, NULL);
        x.n[k] = (k % 2 ? HEAD : 0) + 5 + 20 * k;
        lm_ids(x.ids[k], x.n[k], (uint32_t)k);
        if (k % 2) lm_ids(x.ids[k], HEAD, 1000);
        lm_made_of(&x.want[k], s, steno_generate(s, x.ids[k], x.n[k], &p));
        steno_session_close(s);
    }
    steno_batch_params_init(&bp);
    bp.max_windows = LANES;
    bp.user = &x;
    bp.on_done = told;
    assert_int_equal(steno_batch_open(&x.b, m, team, &bp, NULL), 0);
    for (int i = 0; i < CLIENTS; i++) {
        x.c[i].x = &x;
        x.c[i].seed = (uint32_t)i;
        x.c[i].s = lm_session(m, NULL, x.b);
    }
    assert_int_equal(pthread_create(&x.runner, NULL, serve, &x), 0);
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(pthread_create(&x.c[i].id, NULL, client_run, &x.c[i]), 0);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(x.c[i].id, NULL);
        whole += x.c[i].n_whole;
        canceled += x.c[i].n_canceled;
        bad += x.c[i].bad;
    }
    steno_batch_stop(x.b);
    pthread_join(x.runner, NULL);
    assert_int_equal(x.run_status, 0);
    print_message("%d texts, %d canceled\n", whole, canceled);
    assert_int_equal(bad, 0);
    assert_int_equal(whole + canceled, CLIENTS * ROUNDS);
    for (int i = 0; i < CLIENTS; i++) steno_session_close(x.c[i].s);
    steno_batch_close(x.b);
    steno_team_close(team);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads_that_submit_and_cancel_get_their_own_texts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno tests: work of a server that waits for the thread of an aligner. SPDX-License-Identifier: MIT
 *
 * The transcript of the first file is held on that thread, so the others wait for it with their texts. */
#include "engines_rig.h"

enum { WAIT_MS = 20000 };

static steno_model *aligner;

static struct held {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_here, is_free;
} held = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* The transcript of a file, on the thread of the aligner. */
static void hold(struct work *w, struct transcript *t)
{
    piece_output(w, t);
    pthread_mutex_lock(&held.lock);
    held.is_here = 1;
    pthread_cond_broadcast(&held.changed);
    while (!held.is_free) pthread_cond_wait(&held.changed, &held.lock);
    pthread_mutex_unlock(&held.lock);
}

static void hold_end(void)
{
    pthread_mutex_lock(&held.lock);
    held.is_free = 1;
    pthread_cond_broadcast(&held.changed);
    pthread_mutex_unlock(&held.lock);
}

static int prepare_without_words(struct work *w, const steno_model *m, struct api_error *e)
{
    (void)m, (void)e;
    w->job.aligner = NULL;
    return API_OK;
}

static int is_over(struct piece *x)
{
    pthread_mutex_lock(&x->lock);
    const int is = x->is_over;
    pthread_mutex_unlock(&x->lock);
    return is;
}

static void wait_over(struct piece *x)
{
    for (int i = 0; i < WAIT_MS && !is_over(x); i++) sleep_ms(1);
    assert_int_equal(is_over(x), 1);
}

/* A model with n sessions, or one more. The first file is held, the others, with this timeout (0: default), have their texts and wait. */
static void texts_wait(struct rig *r, struct piece *x, int n, double timeout_s)
{
    static const char spoken[] = "tests/data/demo.wav";
    rig_init(r, 1);
    r->aligner = aligner;
    r->p.parallel = (n + 1) / 2; /* twice as many sessions */
    rig_open(r);
    held.is_here = held.is_free = 0;
    for (int i = 0; i < n; i++) piece_init(&x[i], engines_at(r->es, 0), i ? "b" : "a"); /* each has a session */
    x[0].w.output = hold;
    piece_go(&x[0], spoken);
    pthread_mutex_lock(&held.lock);
    while (!held.is_here) pthread_cond_wait(&held.changed, &held.lock);
    pthread_mutex_unlock(&held.lock);
    r->p.timeout_s = timeout_s;
    for (int i = 1; i < n; i++) {
        piece_go(&x[i], spoken);
        for (int k = 0; k < WAIT_MS && !x[i].n_segments; k++) sleep_ms(1);
        assert_true(x[i].n_segments > 0);
    }
    sleep_ms(20); /* after its last segment */
}

static void end_all(struct rig *r, struct piece x[2])
{
    hold_end();
    expect_code(&x[0], API_OK, "");
    for (int i = 0; i < 2; i++) piece_free(&x[i]);
    rig_close(r);
}

static void test_a_client_that_leaves_frees_its_session_at_once(void **state)
{
    (void)state;
    static struct piece x[2], next;
    struct rig r;
    texts_wait(&r, x, 2, 0);
    work_cancel(&x[1].w);
    wait_over(&x[1]);
    expect_code(&x[1], API_cancelled, "");
    piece_init(&next, engines_at(r.es, 0), "d");
    next.w.prepare = prepare_without_words;
    piece_go(&next, "tests/data/demo.wav");
    wait_over(&next); /* the aligner is still at work for the first one */
    expect_code(&next, API_OK, "");
    piece_free(&next);
    assert_int_equal(engines_now(r.es).running, 1);
    end_all(&r, x);
}

static void test_a_client_that_leaves_when_its_text_ends_frees_its_session(void **state)
{
    (void)state;
    enum { N = 30 };
    static struct piece x[2], one;
    struct rig r;
    texts_wait(&r, x, 2, 0);
    work_cancel(&x[1].w);
    wait_over(&x[1]);
    for (int i = 0; i < N; i++) { /* at any moment around the end of the text */
        piece_init(&one, engines_at(r.es, 0), "c");
        piece_go(&one, "tests/data/demo.wav");
        for (int k = 0; k < WAIT_MS && !one.n_segments; k++) usleep(200);
        usleep((useconds_t)i * 20);
        work_cancel(&one.w);
        wait_over(&one);
        expect_code(&one, API_cancelled, "");
        piece_free(&one);
    }
    end_all(&r, x);
}

static void test_a_deadline_and_the_end_of_the_server_reach_it(void **state)
{
    (void)state;
    enum { TIMEOUT_S = 4 };
    static const enum api_code why[] = { API_timeout, API_draining };
    static struct piece x[2];
    for (int i = 0; i < 2; i++) {
        struct rig r;
        texts_wait(&r, x, 2, why[i] == API_timeout ? TIMEOUT_S : 0);
        if (why[i] == API_draining) engines_cancel(r.es);
        wait_over(&x[1]);
        expect_code(&x[1], why[i], "");
        hold_end();
        piece_wait(&x[0]);
        for (int k = 0; k < 2; k++) piece_free(&x[k]);
        rig_close(&r);
    }
}

/* Runs of the encoder by the aligner, which all pieces share. */
static int64_t encodes_of(const struct piece *x)
{
    steno_timings t = { .size = sizeof t };
    steno_timings_get(x->w.job.aligner, &t);
    return t.n_encodes;
}

static void test_texts_that_wait_together_share_a_run(void **state)
{
    enum { N = 3 };
    (void)state;
    static struct piece x[N];
    struct rig r;
    texts_wait(&r, x, N, 0);
    const int64_t one = encodes_of(x); /* of the first one, which has its words */
    hold_end();
    for (int i = 0; i < N; i++) expect_code(&x[i], API_OK, "");
    assert_true(one > 0);
    assert_int_equal(encodes_of(x), 2 * one);
    for (int i = 1; i < N; i++) assert_true(x[i].text.n == x[0].text.n && !memcmp(x[i].text.p, x[0].text.p, x[0].text.n));
    for (int i = 0; i < N; i++) piece_free(&x[i]);
    rig_close(&r);
}

static int open_all(void **state)
{
    steno_error e = { 0 };
    (void)state;
    return steno_model_open(&aligner, "tests/data/qwen3_aligner", NULL, &e);
}

static int close_all(void **state)
{
    (void)state;
    steno_model_close(aligner);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_that_leaves_frees_its_session_at_once),
        cmocka_unit_test(test_a_client_that_leaves_when_its_text_ends_frees_its_session),
        cmocka_unit_test(test_a_deadline_and_the_end_of_the_server_reach_it),
        cmocka_unit_test(test_texts_that_wait_together_share_a_run),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

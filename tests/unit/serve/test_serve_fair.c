/* steno tests: clients and short audio do not wait for others; live sessions. SPDX-License-Identifier: MIT */
#include "engines_rig.h"
#include "live_delays.h"

static struct folder folder;
static struct folder_file clip, long_one, big;

static int open_all(void **state)
{
    (void)state;
    folder = folder_new();
    clip = wav_put(&folder, "clip.wav", 1, 2 * RATE, 0, 1);
    long_one = wav_put(&folder, "long.wav", 1, 95 * RATE, 0, 1);
    big = wav_put(&folder, "big.wav", 2, 35 * RATE, 0, 1);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    folder_remove(&folder);
    return 0;
}

/* ---- fairness ---- */

static _Atomic int is_held, n_held;

/* As a file that takes long to decode. */
static int hold(struct work *w, const steno_model *m, struct api_error *e)
{
    n_held++;
    while (is_held) sleep_ms(1);
    return piece_prepare(w, m, e);
}

static void test_a_clip_does_not_wait_for_the_decoding_of_long_files(void **state)
{
    (void)state;
    static struct piece x[6];
    struct piece fast;
    struct rig r;
    rig_init(&r, 1);
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    is_held = 1;
    n_held = 0;
    for (int i = 0; i < 6; i++) {
        piece_init(&x[i], g, "c");
        x[i].w.prepare = hold;
        piece_go(&x[i], big.path);
    }
    while (n_held < 2) sleep_ms(1);
    piece_init(&fast, g, "c");
    piece_go(&fast, clip.path);
    expect_code(&fast, API_OK, "");
    piece_free(&fast);
    assert_int_equal(n_held, 2);
    is_held = 0;
    for (int i = 0; i < 6; i++) {
        expect_code(&x[i], API_OK, "");
        piece_free(&x[i]);
    }
    rig_close(&r);
}

static int n_over(struct piece *x, int n)
{
    int over = 0;
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&x[i].lock);
        over += x[i].is_over;
        pthread_mutex_unlock(&x[i].lock);
    }
    return over;
}

/* Number of the others that were over when the clip was decoded. */
static struct piece *others;
static int n_others;
static _Atomic int n_before;

static void admitted(struct work *w)
{
    (void)w;
    n_before = n_over(others, n_others);
}

/* Transcribes the clip while x[n] wait. @return the number of them that ended meanwhile */
static int overtaken_by_clip(struct piece *x, int n, struct engine *g, const char *client)
{
    struct piece fast;
    others = x;
    n_others = n;
    piece_init(&fast, g, client);
    fast.w.admitted = admitted;
    piece_go(&fast, clip.path);
    expect_code(&fast, API_OK, "");
    piece_free(&fast);
    return n_over(x, n) - n_before;
}

static void test_a_clip_does_not_wait_for_the_end_of_long_audio(void **state)
{
    (void)state;
    static struct piece x[12];
    struct rig r;
    rig_init(&r, 1);
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    for (int i = 0; i < 12; i++) {
        piece_init(&x[i], g, "c");
        piece_go(&x[i], long_one.path);
    }
    while (engines_now(r.es).running < 3) sleep_ms(1);
    sleep_ms(100);
    assert_in_range(overtaken_by_clip(x, 12, g, "c"), 0, 6); /* even of the same client */
    for (int i = 0; i < 12; i++) {
        work_cancel(&x[i].w);
        piece_wait(&x[i]);
        piece_free(&x[i]);
    }
    rig_close(&r);
}

static void test_a_client_with_much_work_leaves_a_place_to_others(void **state)
{
    (void)state;
    static struct piece x[40];
    struct rig r;
    rig_init(&r, 1);
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    for (int i = 0; i < 40; i++) {
        piece_init(&x[i], g, "many");
        piece_go(&x[i], clip.path);
    }
    piece_wait(&x[0]);
    assert_in_range(overtaken_by_clip(x, 40, g, "few"), 0, 20);
    for (int i = 0; i < 40; i++) {
        expect_code(&x[i], API_OK, "");
        piece_free(&x[i]);
    }
    rig_close(&r);
}

/* ---- live sessions ---- */

static void test_live_sessions_share_the_batch(void **state)
{
    (void)state;
    static struct piece x[4];
    struct rig r;
    struct api_error e = { 0 };
    const struct serve_engine *of;
    steno_session *s[3];
    const struct audio a = demo_audio(0, 0, 1);
    rig_init(&r, 1);
    r.p.idle_unload_s = 0.03;
    r.p.live_padding_ms = 2000;
    r.p.live_last = 1;
    rig_open(&r);
    struct engine *g = engines_at(r.es, 0);
    wait_loaded(g, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(engine_session(g, &s[i], &of, NULL, &e), API_OK);
        assert_true(of->live_padding_ms == 2000 && of->live_last == 1);
    }
    assert_int_equal(engine_session(g, &s[2], &of, NULL, &e), API_too_many_sessions);
    assert_true(e.retry_after_s > 0);
    assert_int_equal(engines_now(r.es).live, 2);
    for (int i = 0; i < 4; i++) {
        piece_init(&x[i], g, "c");
        piece_go(&x[i], long_one.path);
    }
    steno_transcribe_params p = of->job.params;
    p.sample_len = 40;
    p.audio_ctx = 0;
    for (int i = 0; i < 4; i++) {
        const steno_source src = { rig_pcm_read, rig_pcm_rewind, &(struct rig_pcm){ a.pcm, a.n, 0 } };
        assert_int_equal(engine_transcribe(g, s[i % 2], &src, &p, i < 2 ? STENO_PRIORITY_LIVE : STENO_PRIORITY_END_OF_TURN), STENO_OK);
        assert_string_equal(steno_text(s[i % 2]), demo_text);
    }
    for (int i = 0; i < 4; i++) {
        work_cancel(&x[i].w);
        piece_wait(&x[i]);
        piece_free(&x[i]);
    }
    sleep_ms(100);
    assert_true(engine_is_loaded(g)); /* the sessions hold it */
    p.beam_size = 30;
    const steno_source src = { rig_pcm_read, rig_pcm_rewind, &(struct rig_pcm){ a.pcm, a.n, 0 } };
    assert_int_equal(engine_transcribe(g, s[0], &src, &p, STENO_PRIORITY_LIVE), STENO_EARG);
    engines_cancel(r.es);
    p.beam_size = 0;
    assert_int_equal(engine_transcribe(g, s[0], &src, &p, STENO_PRIORITY_LIVE), STENO_ECANCELED);
    for (int i = 0; i < 2; i++) engine_session_end(g, s[i]);
    wait_loaded(g, 0);
    rig_close(&r);
    free(a.pcm);
}

static void test_the_limit_of_live_sessions_counts_all_models(void **state)
{
    (void)state;
    struct rig r;
    struct api_error e = { 0 };
    const struct serve_engine *of;
    steno_session *s[3];
    rig_init(&r, 2);
    rig_open(&r);
    struct engine *g[] = { engines_at(r.es, 0), engines_at(r.es, 1) };
    for (int i = 0; i < 2; i++) assert_int_equal(engine_session(g[i], &s[i], &of, NULL, &e), API_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(engine_session(g[i], &s[2], &of, NULL, &e), API_too_many_sessions);
    engine_session_end(g[0], s[0]);
    assert_int_equal(engine_session(g[1], &s[2], &of, NULL, &e), API_OK);
    assert_ptr_not_equal(s[1], s[2]);
    assert_int_equal(engine_session(g[0], &s[0], &of, NULL, &e), API_too_many_sessions);
    for (int i = 1; i < 3; i++) engine_session_end(g[1], s[i]);
    rig_close(&r);
}

static void test_passes_are_late_together(void **state)
{
    (void)state;
    enum { US = 1000000 };
    const int64_t t = 1000 * (int64_t)US;
    struct live_delays d = { 0 };
    assert_int_equal(live_delays_exceed(&d, t), 0);
    for (int i = 0; i < 3; i++) live_delays_add(&d, t, 1);
    assert_int_equal(live_delays_exceed(&d, t), 0); /* too few */
    live_delays_add(&d, t + US, 1);
    assert_int_equal(live_delays_exceed(&d, t + US), 1);
    for (int i = 0; i < 11; i++) live_delays_add(&d, t + 2 * US, 0);
    assert_int_equal(live_delays_exceed(&d, t + 2 * US), 1); /* 4 of 15 */
    live_delays_add(&d, t + 2 * US, 0);
    assert_int_equal(live_delays_exceed(&d, t + 2 * US), 0); /* a quarter */
    live_delays_add(&d, t + 9 * US, 1);
    assert_int_equal(live_delays_exceed(&d, t + 9 * US), 1); /* 5 of 17 */
    assert_int_equal(live_delays_exceed(&d, t + 10 * US), 0); /* the first three are old */
    for (int i = 0; i < 3; i++) {
        live_delays_add(&d, t + (100 + 9 * i) * (int64_t)US, 1);
        assert_int_equal(live_delays_exceed(&d, t + (100 + 9 * i) * (int64_t)US), 0);
    }
    live_delays_add(&d, t + 127 * (int64_t)US, 1);
    assert_int_equal(live_delays_exceed(&d, t + 129 * (int64_t)US), 1); /* rare passes: four within 30 s */
    assert_int_equal(live_delays_exceed(&d, t + 130 * (int64_t)US), 0);
}

static void test_late_texts_keep_new_sessions_out(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        struct rig r;
        struct api_error e = { 0 };
        rig_init(&r, 2);
        r.p.live_delay_s = limited ? 0.5 : 0;
        rig_open(&r);
        struct engine *g[] = { engines_at(r.es, 0), engines_at(r.es, 1) };
        for (int i = 0; i < 8; i++) engine_live_delay(g[0], 500000);
        assert_int_equal(engine_keeps_up(g[1], &e), API_OK);
        assert_int_equal(engines_now(r.es).is_late, 0);
        for (int i = 0; i < 8; i++) engine_live_delay(g[0], 500001);
        assert_int_equal(engine_keeps_up(g[1], &e), limited ? API_overloaded : API_OK); /* they share the processors */
        assert_int_equal(engines_now(r.es).is_late, limited);
        if (limited) assert_true(e.retry_after_s > 0 && strstr(e.message, "later than 0.5 s"));
        rig_close(&r);
    }
}

struct waits { struct engine *g; _Atomic int is_left; int code; };

static void *wait_for_session(void *user)
{
    struct waits *x = user;
    struct api_error e = { 0 };
    const struct serve_engine *of;
    steno_session *s;
    x->code = engine_session(x->g, &s, &of, &x->is_left, &e);
    return NULL;
}

/* A session waits for its model, which takes open_ms more to open. */
static void session_begin(struct rig *r, struct waits *x, pthread_t *t, int open_ms)
{
    rig_init(r, 1);
    r->p.idle_unload_s = 0.03;
    rig_open(r);
    *x = (struct waits){ .g = engines_at(r->es, 0) };
    wait_loaded(x->g, 0);
    r->open_ms = open_ms;
    assert_int_equal(pthread_create(t, NULL, wait_for_session, x), 0);
    for (int i = 0; i < 1000 && !engines_now(r->es).live; i++) sleep_ms(2);
}

static void test_a_server_closes_while_a_session_waits_for_its_model(void **state)
{
    (void)state;
    struct rig r;
    struct waits x;
    pthread_t t;
    session_begin(&r, &x, &t, 300);
    rig_close(&r);
    pthread_join(t, NULL);
    assert_int_equal(x.code, API_draining);
}

static void test_a_client_that_leaves_waits_for_no_model(void **state)
{
    (void)state;
    struct rig r;
    struct waits x;
    pthread_t t;
    session_begin(&r, &x, &t, 3000);
    x.is_left = 1;
    engine_session_stop(x.g);
    pthread_join(t, NULL);
    assert_int_equal(x.code, API_cancelled);
    assert_int_equal(engines_now(r.es).live, 0);
    assert_int_equal(r.n_opened, 1); /* it still opens: the seat is free before */
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clip_does_not_wait_for_the_decoding_of_long_files),
        cmocka_unit_test(test_a_clip_does_not_wait_for_the_end_of_long_audio),
        cmocka_unit_test(test_a_client_with_much_work_leaves_a_place_to_others),
        cmocka_unit_test(test_live_sessions_share_the_batch),
        cmocka_unit_test(test_the_limit_of_live_sessions_counts_all_models),
        cmocka_unit_test(test_passes_are_late_together),
        cmocka_unit_test(test_late_texts_keep_new_sessions_out),
        cmocka_unit_test(test_a_server_closes_while_a_session_waits_for_its_model),
        cmocka_unit_test(test_a_client_that_leaves_waits_for_no_model),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

/* steno tests: requests that come from several threads while another carries them out. SPDX-License-Identifier: MIT
 *
 * Sessions of one batch are in the hands of several threads. Each submits, cancels and waits as chance has it; sources have nothing now and
 * then until a further thread feeds them. Every result must be that of the request alone. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "funasr_model.h"
#include "small_pair.h"

enum { CLIENTS = 4, KINDS = 5, LANES = 2, ROUNDS = SANITIZED ? 6 : 12 };

static steno_transcribe_params params_of(int kind)
{
    static double const clips[] = { 0, 1, 0.3, 1.5 };
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    p.sample_len = 8;
    if (kind == 1) p.beam_size = LANES;
    if (kind == 2) p.best_of = LANES, p.temperature = 0.8;
    if (kind == 3) p.clip_timestamps = clips, p.n_clip_timestamps = 4, p.independent_clips = 1, p.condition_on_previous_text = 0;
    if (kind == 4) p.grammar = "root ::= [a-z]+ \".\"", p.hotwords = "ab\nba";
    return p;
}

struct scene;

struct client {
    struct scene *x;
    pthread_t id;
    steno_session *s;
    uint32_t seed;
    int64_t n, at;
    _Atomic int64_t fed;     /* samples that the source has */
    _Atomic int ended;       /* on_done has been called, with */
    int status;
    int n_ended, n_canceled, bad;
};

struct scene {
    const steno_model *m;
    steno_batch *b;
    pthread_t runner, feeder;
    int run_status;
    _Atomic int over;
    struct client c[CLIENTS];
    uint64_t want[KINDS];
};

static uint32_t chance(struct client *c, uint32_t n)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (c->seed >> 8) % n;
}

static int64_t client_read(void *user, float *pcm, int64_t n)
{
    struct client *c = user;
    const int64_t fed = atomic_load(&c->fed), left = c->n - c->at, has = fed - c->at;
    int64_t take = left < n ? left : n;
    if (take > has) take = has;
    if (left && take <= 0) return STENO_SOURCE_WAIT;
    memcpy(pcm, demo.pcm + c->at, (size_t)take * sizeof *pcm);
    c->at += take;
    return take;
}

static int client_rewind(void *user)
{
    ((struct client *)user)->at = 0;
    return 0;
}

static void on_done(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    int i = 0;
    while (x->c[i].s != s) i++;
    x->c[i].status = status;
    atomic_store(&x->c[i].ended, 1);
}

static int64_t samples_of(const struct scene *x)
{
    return (x->m == model ? 3 : 7) * RATE / 2;
}

static uint64_t digest_of(const steno_session *s)
{
    return result_digest(s) * 31 + spans_digest(s);
}

/* One request after the other, as a thread of a server has them. */
static void *client_run(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < ROUNDS; i++) {
        const int kind = (int)chance(c, KINDS);
        const steno_transcribe_params p = params_of(kind);
        const steno_source src = { client_read, client_rewind, c };
        steno_request_params r;
        steno_request_params_init(&r);
        r.priority = (int32_t)chance(c, 5) - 1;
        if (c->x->m == model) r.transcribe = &p;
        c->at = 0;
        c->n = samples_of(c->x);
        atomic_store(&c->fed, chance(c, 2) ? c->n : 1000);
        atomic_store(&c->ended, 0);
        const int is_canceled = !chance(c, 4);
        if (steno_batch_submit(c->x->b, c->s, &src, &r)) c->bad++;
        if (is_canceled) {
            usleep(chance(c, 2000));
            steno_cancel(c->s);
        }
        while (!atomic_load(&c->ended)) usleep(50);
        c->n_ended++;
        c->n_canceled += c->status == STENO_ECANCELED;
        if (c->status == STENO_ECANCELED && is_canceled) continue;
        if (c->status || digest_of(c->s) != c->x->want[kind]) {
            print_error("kind %d: status %d, %s\n", kind, c->status, steno_last_error(c->s));
            c->bad++;
        }
    }
    return NULL;
}

/* More samples for everybody, a little at a time. */
static void *feeder_run(void *arg)
{
    struct scene *x = arg;
    while (!atomic_load(&x->over)) {
        for (int i = 0; i < CLIENTS; i++) atomic_fetch_add(&x->c[i].fed, 2000);
        steno_batch_wake(x->b);
        usleep(300);
    }
    return NULL;
}

static void *runner_run(void *arg)
{
    struct scene *x = arg;
    x->run_status = steno_batch_run_as(x->b, STENO_RUN_SERVE);
    return NULL;
}

static void wants_make(struct scene *x)
{
    steno_session *s = session_new(x->m, NULL, LANES);
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(x->m, &info);
    for (int kind = 0; kind < KINDS; kind++) {
        const steno_transcribe_params p = params_of(kind);
        struct tap t = { demo.pcm, samples_of(x), 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        const int rc = info.n_vocab ? steno_transcribe_source(s, &src, x->m == model ? &p : NULL) : steno_find_speech(s, &src, NULL);
        assert_int_equal(rc, 0);
        x->want[kind] = digest_of(s);
    }
    steno_session_close(s);
}

static void scene_open(struct scene *x, steno_team *team, int windows)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = windows;
    bp.max_lanes = LANES;
    bp.user = x;
    bp.on_done = on_done;
    assert_int_equal(steno_batch_open(&x->b, x->m, team, &bp, NULL), 0);
    sp.batch = x->b;
    for (int i = 0; i < CLIENTS; i++) {
        x->c[i] = (struct client){ .x = x, .seed = (uint32_t)(17 * i + windows) };
        assert_int_equal(steno_session_open(&x->c[i].s, x->m, NULL, &sp, NULL), 0);
    }
}

static void scene_close(struct scene *x)
{
    for (int i = 0; i < CLIENTS; i++) steno_session_close(x->c[i].s);
    steno_batch_close(x->b);
}

static void check_clients(const steno_model *m)
{
    static struct scene x;
    steno_team *team;
    x.m = m;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    wants_make(&x);
    for (int windows = 1; windows <= 3; windows += 2) {
        scene_open(&x, windows > 1 ? team : NULL, windows);
        atomic_store(&x.over, 0);
        assert_int_equal(pthread_create(&x.runner, NULL, runner_run, &x), 0);
        assert_int_equal(pthread_create(&x.feeder, NULL, feeder_run, &x), 0);
        for (int i = 0; i < CLIENTS; i++) assert_int_equal(pthread_create(&x.c[i].id, NULL, client_run, &x.c[i]), 0);
        int canceled = 0;
        for (int i = 0; i < CLIENTS; i++) {
            pthread_join(x.c[i].id, NULL);
            assert_int_equal(x.c[i].bad, 0);
            assert_int_equal(x.c[i].n_ended, ROUNDS);
            canceled += x.c[i].n_canceled;
        }
        assert_true(canceled < CLIENTS * ROUNDS);
        atomic_store(&x.over, 1);
        steno_batch_stop(x.b);
        pthread_join(x.runner, NULL);
        pthread_join(x.feeder, NULL);
        assert_int_equal(x.run_status, 0);
        scene_close(&x);
    }
    steno_team_close(team);
}

static void test_threads_that_submit_wait_and_cancel_get_what_each_gets_alone(void **state)
{
    (void)state;
    check_clients(model);
}

static void test_so_do_those_of_models_with_tags_and_of_voice_activity_models(void **state)
{
    (void)state;
    steno_model *m[] = { funasr_open(ctc_folder, NULL), funasr_open(vad_folder, NULL) };
    for (int i = 0; i < 2; i++) {
        check_clients(m[i]);
        steno_model_close(m[i]);
    }
}

/* ---- sleeping and waking ------------------------------------------------------------------------------------------------------------- */

static void test_a_request_stopped_before_it_began_returns(void **state)
{
    (void)state;
    static struct scene x;
    x.m = model;
    scene_open(&x, NULL, 2);
    steno_batch_stop(x.b);
    assert_int_equal(steno_batch_run_as(x.b, STENO_RUN_SERVE), 0);
    steno_batch_wake(NULL);
    steno_batch_stop(NULL);
    scene_close(&x);
}

struct sleeper { pthread_t id; steno_batch *b; _Atomic int returned; };

static void *drain(void *arg)
{
    struct sleeper *z = arg;
    if (steno_batch_run(z->b)) return arg;
    atomic_store(&z->returned, 1);
    return NULL;
}

/* A thread that drains sleeps while all sources wait, until one has more, or a request is canceled. */
static void test_a_batch_whose_sources_all_wait_sleeps_until_it_is_woken(void **state)
{
    (void)state;
    static struct scene x;
    x.m = model;
    wants_make(&x);
    for (int canceled = 0; canceled < 2; canceled++) {
        scene_open(&x, NULL, 2);
        struct client *c = &x.c[0];
        const steno_transcribe_params p = params_of(0);
        const steno_source src = { client_read, client_rewind, c };
        c->n = 3 * RATE / 2;
        atomic_store(&c->fed, 5000);
        assert_int_equal(steno_batch_add(x.b, c->s, &src, &p), 0);
        struct sleeper z = { .b = x.b };
        void *bad;
        assert_int_equal(pthread_create(&z.id, NULL, drain, &z), 0);
        usleep(20000);
        assert_int_equal(atomic_load(&z.returned), 0);
        assert_int_equal(steno_batch_run(x.b), STENO_EARG); /* another thread runs it */
        if (canceled) {
            steno_cancel(c->s);
        } else {
            atomic_store(&c->fed, c->n);
            steno_batch_wake(x.b);
        }
        pthread_join(z.id, &bad);
        assert_null(bad);
        assert_int_equal(c->status, canceled ? STENO_ECANCELED : STENO_OK);
        if (!canceled) assert_true(digest_of(c->s) == x.want[0]);
        scene_close(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_submit_wait_and_cancel_get_what_each_gets_alone),
        cmocka_unit_test(test_so_do_those_of_models_with_tags_and_of_voice_activity_models),
        cmocka_unit_test(test_a_request_stopped_before_it_began_returns),
        cmocka_unit_test(test_a_batch_whose_sources_all_wait_sleeps_until_it_is_woken),
    };
    return cmocka_run_group_tests(tests, pair_open, pair_close);
}

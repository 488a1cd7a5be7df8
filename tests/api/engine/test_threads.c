/* steno tests: several threads. SPDX-License-Identifier: MIT
 *
 * Meant to run under the thread sanitizer too. */
#include "three_models.h"

/* ---- sharing ---- */

struct worker { steno_team *team; int rounds, rc; uint64_t digest; };

static void *transcribe_often(void *arg)
{
    struct worker *w = arg;
    const steno_transcribe_params p = params_new();
    steno_session *s = NULL;
    w->rc = steno_session_open(&s, model, w->team, NULL, NULL);
    for (int i = 0; i < w->rounds && !w->rc; i++) {
        w->rc = steno_transcribe(s, audio.pcm, audio.n, &p);
        const uint64_t d = result_digest(s);
        if (i && d != w->digest) w->rc = -100;
        w->digest = d;
    }
    steno_session_close(s);
    return NULL;
}

static void run_two(steno_team *a, steno_team *b, uint64_t want)
{
    struct worker w[2] = { { a, SANITIZED ? 1 : 3, 0, 0 }, { b, SANITIZED ? 1 : 3, 0, 0 } };
    pthread_t id[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&id[i], NULL, transcribe_often, &w[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(id[i], NULL);
        assert_int_equal(w[i].rc, 0);
        assert_true(w[i].digest == want);
    }
}

static void test_two_threads_on_one_model_and_one_team_give_what_one_gives(void **state)
{
    (void)state;
    struct worker alone = { NULL, 1, 0, 0 };
    transcribe_often(&alone);
    assert_int_equal(alone.rc, 0);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    run_two(team, team, alone.digest);
    run_two(NULL, NULL, alone.digest);
    run_two(team, NULL, alone.digest);
    steno_team_close(team);
}

/* ---- listening ahead: "on any thread, as many at a time as there are threads, without a session" ---- */

struct listener { pthread_t id; int64_t at; steno_heard heard; int rc; };

static int64_t listener_read(void *user, float *pcm, int64_t n)
{
    struct listener *l = user;
    const int64_t left = audio.n - l->at, take = n < left ? n : left;
    memcpy(pcm, audio.pcm + l->at, (size_t)take * sizeof *pcm);
    l->at += take;
    return take;
}

static void *listen_ahead(void *arg)
{
    struct listener *l = arg;
    const steno_source src = { listener_read, NULL, l };
    l->at = 0;
    l->heard.size = sizeof l->heard;
    l->rc = steno_listen(model, &src, &l->heard, NULL);
    return NULL;
}

static void test_several_threads_listen_at_a_time_while_another_transcribes(void **state)
{
    (void)state;
    enum { LISTENERS = 4 };
    static struct listener alone, l[LISTENERS];
    struct worker w = { NULL, 1, 0, 0 };
    listen_ahead(&alone);
    assert_int_equal(alone.rc, 0);
    assert_int_equal(alone.heard.samples, audio.n);
    for (int i = 0; i < LISTENERS; i++) assert_int_equal(pthread_create(&l[i].id, NULL, listen_ahead, &l[i]), 0);
    transcribe_often(&w);
    assert_int_equal(w.rc, 0);
    for (int i = 0; i < LISTENERS; i++) {
        pthread_join(l[i].id, NULL);
        assert_int_equal(l[i].rc, 0);
        assert_int_equal(l[i].heard.samples, audio.n);
        assert_true(l[i].heard.loudest == alone.heard.loudest);
    }
}

struct caller { pthread_t id; enum kind kind; steno_team *team; int rounds; int64_t rc; uint64_t digest; };

static void *call_often(void *arg)
{
    struct caller *c = arg;
    for (int i = 0; i < c->rounds; i++) {
        steno_session *s;
        c->rc = steno_session_open(&s, model_for(c->kind), c->team, NULL, NULL);
        if (!c->rc) c->rc = call(s, c->kind);
        if (c->rc < 0) break;
        c->digest = c->digest * 31 + (result_digest(s) ^ spans_digest(s));
        steno_session_close(s);
    }
    return NULL;
}

static void test_sessions_of_three_models_take_turns_on_one_team(void **state)
{
    (void)state;
    enum { N = N_KINDS };
    struct caller c[N];
    uint64_t want[N];
    const int rounds = SANITIZED ? 1 : 2;
    steno_team *team, *own[N];
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    for (int shared = -1; shared < 2; shared++) { /* one after the other, one team, teams of their own */
        for (int i = 0; i < N; i++) {
            own[i] = NULL;
            if (!shared) assert_int_equal(steno_team_open(&own[i], 2, NULL), 0);
            c[i] = (struct caller){ .kind = (enum kind)i, .team = shared > 0 ? team : own[i], .rounds = rounds };
            assert_int_equal(pthread_create(&c[i].id, NULL, call_often, &c[i]), 0);
            if (shared < 0) pthread_join(c[i].id, NULL);
        }
        for (int i = 0; i < N; i++) {
            if (shared >= 0) pthread_join(c[i].id, NULL);
            if (c[i].rc < 0) fail_msg("kind %d: status %lld", i, (long long)c[i].rc);
            if (shared < 0) want[i] = c[i].digest;
            if (c[i].digest != want[i]) fail_msg("kind %d gives another result beside others", i);
            steno_team_close(own[i]);
        }
    }
    steno_team_close(team);
}

static void test_sessions_of_one_model_work_beside_each_other(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct caller c[3] = { { .team = NULL } };
        steno_team *team[3] = { NULL };
        assert_int_equal(steno_team_open(&team[1], 2, NULL), 0);
        assert_int_equal(steno_team_open(&team[2], 3, NULL), 0);
        for (int i = 0; i < 3; i++) {
            c[i] = (struct caller){ .kind = (enum kind)k, .team = team[i], .rounds = 1 };
            assert_int_equal(pthread_create(&c[i].id, NULL, call_often, &c[i]), 0);
        }
        for (int i = 0; i < 3; i++) {
            pthread_join(c[i].id, NULL);
            assert_true(c[i].rc >= 0 && c[i].digest == c[0].digest);
            steno_team_close(team[i]);
        }
    }
}

/* ---- a model that several threads read through callbacks ---- */

struct shelf { struct bytes file; _Atomic int64_t reads, most; _Atomic int inside, closed; int64_t fail_at; };

static int shelf_read(void *user, uint64_t off, void *dst, size_t n)
{
    struct shelf *f = user;
    const int inside = atomic_fetch_add(&f->inside, 1) + 1;
    if (inside > atomic_load(&f->most)) atomic_store(&f->most, inside);
    const int64_t k = atomic_fetch_add(&f->reads, 1);
    const int bad = off > f->file.n || n > f->file.n - off || k == f->fail_at;
    if (!bad) memcpy(dst, f->file.p + off, n);
    atomic_fetch_sub(&f->inside, 1);
    return bad ? -1 : 0;
}

static void shelf_close(void *user)
{
    atomic_fetch_add(&((struct shelf *)user)->closed, 1);
}

struct opening { pthread_t id; struct shelf shelf; steno_team *team; int rc; steno_error e; int64_t bytes; };

static void *open_from_shelf(void *arg)
{
    struct opening *o = arg;
    const steno_reader r = { o->shelf.file.n, shelf_read, shelf_close, &o->shelf };
    steno_model_params p;
    steno_model_info info = { .size = sizeof info };
    steno_model *m;
    steno_model_params_init(&p);
    p.team = o->team;
    o->rc = steno_model_open_reader(&m, &r, &p, &o->e);
    if (!o->rc) steno_model_info_get(m, &info);
    o->bytes = info.weight_bytes;
    steno_model_close(m);
    return NULL;
}

static void test_models_are_read_through_callbacks_from_every_thread_of_a_team(void **state)
{
    (void)state;
    const struct bytes file = random_bytes(&small_dims, DT_F16, 3);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    struct opening o[3] = { { .team = team }, { .team = team }, { .team = NULL } };
    for (int i = 0; i < 3; i++) {
        o[i].shelf = (struct shelf){ .file = file, .fail_at = -1 };
        assert_int_equal(pthread_create(&o[i].id, NULL, open_from_shelf, &o[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(o[i].id, NULL);
        if (o[i].rc) fail_msg("%s", o[i].e.text);
        assert_int_equal(o[i].shelf.closed, 1);
        assert_int_equal(o[i].bytes, o[0].bytes);
    }
    assert_int_equal(o[2].shelf.most, 1); /* without a team there is no other session */
    const int64_t all = o[2].shelf.reads;
    for (int i = 0; i < 10; i++) {
        o[0] = (struct opening){ .team = i % 2 ? team : NULL, .shelf = { .file = file, .fail_at = all * i / 10 } };
        open_from_shelf(&o[0]);
        if (o[0].rc != STENO_EIO || !strstr(o[0].e.text, "reader")) fail_msg("read %d fails: status %d, %s", i, o[0].rc, o[0].e.text);
        assert_int_equal(o[0].shelf.closed, 1);
    }
    steno_team_close(team);
    free(file.p);
}

/* ---- batches ----------------------------------------------------------------------------------------------------------------- */

enum { IN_LINE = 4 };

/* A batch of calls that search, draw, are cut into clips and listen to a grammar, on a thread of its own. */
struct line {
    pthread_t id;
    const steno_model *m;
    steno_team *team;
    steno_session *s[IN_LINE];
    struct pest pest;      /* of the first session, where there is one */
    int rounds, endless, bad, ended;
    uint64_t digest[IN_LINE];
};

static steno_transcribe_params params_in_line(int i)
{
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.condition_on_previous_text = 0;
    p.sample_len = 6;
    p.without_timestamps = 1;
    if (i == 1) p.beam_size = 2;
    if (i == 2) p.best_of = 2, p.temperature = 0.7, p.independent_clips = 1;
    if (i == 3) p.grammar = "root ::= [a-m]+ \".\"", p.hotwords = "ab";
    return p;
}

static void line_done(void *user, steno_session *s, int status)
{
    struct line *l = user;
    int i = 0;
    while (l->s[i] != s) i++;
    if (!i && status == STENO_ECANCELED) {
        l->ended++;
        return;
    }
    const uint64_t d = result_digest(s);
    l->bad += status || (l->digest[i] && l->digest[i] != d);
    l->digest[i] = d;
}

static void *run_line(void *arg)
{
    struct line *l = arg;
    steno_batch *b;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 3;
    bp.max_lanes = 2;
    bp.user = l;
    bp.on_done = line_done;
    l->bad = steno_batch_open(&b, l->m, l->team, &bp, NULL) != 0;
    sp.batch = b;
    for (int i = 0; i < IN_LINE && !l->bad; i++) l->bad = steno_session_open(&l->s[i], l->m, NULL, &sp, NULL) != 0;
    for (int k = 0; k < l->rounds && !l->bad; k++) {
        struct loop audio_of[IN_LINE];
        steno_transcribe_params p[IN_LINE];
        for (int i = 0; i < IN_LINE; i++) {
            const int64_t n = !i && l->endless ? 3600 * RATE : (2 + i) * RATE / 2;
            audio_of[i] = (struct loop){ &audio, n, 0, n };
            const steno_source src = { loop_read, loop_rewind, &audio_of[i] };
            p[i] = params_in_line(i);
            l->bad += steno_batch_add(b, l->s[i], &src, &p[i]) != 0;
        }
        l->pest = (struct pest){ .s = l->s[0] };
        if (l->endless) l->bad += pthread_create(&l->pest.id, NULL, cancel_over_and_over, &l->pest) != 0;
        l->bad += steno_batch_run(b) != 0;
        if (!l->endless) continue;
        atomic_store(&l->pest.done, 1);
        pthread_join(l->pest.id, NULL);
    }
    for (int i = 0; i < IN_LINE; i++) steno_session_close(l->s[i]);
    steno_batch_close(b);
    return NULL;
}

static void test_two_batches_on_one_team_give_what_one_gives(void **state)
{
    (void)state;
    steno_model *m = random_model(&small_dims, DT_F16, 3, NULL);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    struct line alone = { .m = m, .rounds = 1 };
    run_line(&alone);
    assert_int_equal(alone.bad, 0);
    struct line l[3] = { { .m = m, .team = team, .rounds = 3 }, { .m = m, .team = team, .rounds = 3 }, { .m = m, .rounds = 3 } };
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&l[i].id, NULL, run_line, &l[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(l[i].id, NULL);
        assert_int_equal(l[i].bad, 0);
        assert_memory_equal(l[i].digest, alone.digest, sizeof alone.digest);
    }
    steno_team_close(team);
    steno_model_close(m);
}

static void test_another_thread_ends_one_call_of_a_batch(void **state)
{
    (void)state;
    steno_model *m = random_model(&small_dims, DT_F16, 3, NULL);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    struct line alone = { .m = m, .rounds = 1 };
    run_line(&alone);
    struct line l[2] = { { .m = m, .team = team, .rounds = 3, .endless = 1 }, { .m = m, .team = team, .rounds = 3, .endless = 1 } };
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&l[i].id, NULL, run_line, &l[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(l[i].id, NULL);
        assert_int_equal(l[i].bad, 0);
        assert_int_equal(l[i].ended, 3); /* an hour of audio */
        assert_memory_equal(l[i].digest + 1, alone.digest + 1, sizeof alone.digest - sizeof *alone.digest);
    }
    steno_team_close(team);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_threads_on_one_model_and_one_team_give_what_one_gives),
        cmocka_unit_test(test_several_threads_listen_at_a_time_while_another_transcribes),
        cmocka_unit_test(test_sessions_of_three_models_take_turns_on_one_team),
        cmocka_unit_test(test_sessions_of_one_model_work_beside_each_other),
        cmocka_unit_test(test_models_are_read_through_callbacks_from_every_thread_of_a_team),
        cmocka_unit_test(test_two_batches_on_one_team_give_what_one_gives),
        cmocka_unit_test(test_another_thread_ends_one_call_of_a_batch),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}

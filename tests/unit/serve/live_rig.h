/* steno tests: a client of live sessions, with an engine in place of the server's. SPDX-License-Identifier: MIT
 *
 * Passes run on the session's thread, and a test can hold them up. */
#ifndef STENO_TESTS_LIVE_RIG_H
#define STENO_TESTS_LIVE_RIG_H
#include "harness.h"
#include "live_session.h"
#include <pthread.h>
#include <stdio.h>

enum { TEXT_SZ = 1 << 13, RATE = 16000, MOST = 20 * RATE };

/* ---- the engine -------------------------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct serve_engine e;
    int is_loaded, loads, holds, n_sessions, most, n_passes, n_last, fails;
    int beams[2]; /* largest beam_size of updates, and of last passes */
    int n_delays, is_late; /* passes whose delay was reported; no session is accepted */
    int64_t delay_us;      /* the longest */
    int windows[2]; /* number of them that encode a whole window */
} engine = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void engine_set(int *field, int value)
{
    pthread_mutex_lock(&engine.lock);
    *field = value;
    pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
}

static int engine_get(const int *field)
{
    pthread_mutex_lock(&engine.lock);
    const int value = *field;
    pthread_mutex_unlock(&engine.lock);
    return value;
}

int engine_is_loaded(const struct engine *g)
{
    (void)g;
    return engine_get(&engine.is_loaded);
}

int engine_session(struct engine *g, steno_session **s, const struct serve_engine **of, const _Atomic int *stop, struct api_error *e)
{
    steno_error why = { 0 };
    (void)g;
    *s = NULL;
    pthread_mutex_lock(&engine.lock);
    while (!engine.is_loaded && engine.loads && !(stop && *stop)) pthread_cond_wait(&engine.changed, &engine.lock);
    if (stop && *stop) {
        pthread_mutex_unlock(&engine.lock);
        return api_fail(e, API_cancelled, NULL, "the client left");
    }
    const int is_full = engine.n_sessions == engine.most;
    engine.n_sessions += !is_full;
    pthread_mutex_unlock(&engine.lock);
    if (is_full) return api_fail(e, API_too_many_sessions, NULL, "no more sessions");
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = 2;
    assert_int_equal(steno_session_open(s, engine.e.model, NULL, &sp, &why), STENO_OK);
    *of = &engine.e;
    return API_OK;
}

void engine_session_stop(struct engine *g)
{
    (void)g;
    pthread_mutex_lock(&engine.lock);
    pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.lock);
}

void engine_session_end(struct engine *g, steno_session *s)
{
    (void)g;
    steno_session_close(s);
    pthread_mutex_lock(&engine.lock);
    engine.n_sessions--;
    pthread_mutex_unlock(&engine.lock);
}

void engine_live_delay(struct engine *g, int64_t delay_us)
{
    (void)g;
    pthread_mutex_lock(&engine.lock);
    engine.n_delays++;
    if (delay_us > engine.delay_us) engine.delay_us = delay_us;
    pthread_mutex_unlock(&engine.lock);
}

int engine_keeps_up(const struct engine *g, struct api_error *e)
{
    (void)g;
    return engine_get(&engine.is_late) ? api_fail(e, API_overloaded, NULL, "texts are late") : API_OK;
}

int engine_stream_begin(struct engine *g, steno_session *s, const steno_source *src, const steno_request_params *p)
{
    (void)g, (void)s, (void)src, (void)p;
    return STENO_EUNSUPPORTED; /* its models decode no streams */
}

int engine_stream_run(struct engine *g, steno_session *s, int is_over)
{
    (void)g, (void)s, (void)is_over;
    return STENO_EUNSUPPORTED;
}

int engine_transcribe(struct engine *g, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int priority)
{
    (void)g;
    pthread_mutex_lock(&engine.lock);
    engine.n_passes++;
    const int is_last = priority == STENO_PRIORITY_END_OF_TURN;
    engine.n_last += is_last;
    if (p->beam_size > engine.beams[is_last]) engine.beams[is_last] = p->beam_size;
    engine.windows[is_last] += !p->audio_ctx;
    const int fails = engine.fails;
    while (engine.holds) pthread_cond_wait(&engine.changed, &engine.lock);
    pthread_mutex_unlock(&engine.lock);
    return fails ? STENO_ENOMEM : steno_transcribe_source(s, src, p);
}

/* ---- the sound, and opening -------------------------------------------------------------------------------------------------- */

static int16_t sound[MOST];
static int64_t n_sound;

/* Before all tests. @return 0, or a failure */
static inline int rig_open(void)
{
    steno_error e = { 0 };
    FILE *f = fopen("tests/data/demo.wav", "rb");
    if (!f) return -1;
    fseek(f, 44, SEEK_SET);
    n_sound = (int64_t)fread(sound, sizeof *sound, MOST, f);
    fclose(f);
    engine.is_loaded = 1;
    engine.most = 4;
    steno_transcribe_params_init(&engine.e.job.params);
    steno_model *m = NULL;
    const int rc = steno_model_open(&m, "models/whisper-digits/whisper-digits.bin", NULL, &e);
    engine.e.model = m;
    return rc;
}

/* ---- a client ---------------------------------------------------------------------------------------------------------------- */

struct client {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char text[TEXT_SZ], final[TEXT_SZ], log[TEXT_SZ], why[512];
    enum api_code code;
    int n_endpoints, n_room, is_over, closes;
    int64_t end_ms;
    struct live_session *s;
};

static void note(struct client *c, const char *fmt, long long value)
{
    const size_t n = strlen(c->log);
    snprintf(c->log + n, sizeof c->log - n, fmt, value); /* NOLINT: formats of this file */
}

static void enter(struct client *c) { pthread_mutex_lock(&c->lock); }

static void leave(struct client *c)
{
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void on_event(void *user, const struct live_event *e)
{
    struct client *c = user;
    enter(c);
    const size_t n = strlen(c->final);
    if (e->kind == LIVE_FINAL) snprintf(c->final + n, sizeof c->final - n, "%s%s", n ? " " : "", e->text);
    if (e->kind == LIVE_ENDPOINT) {
        c->n_endpoints++;
        c->end_ms = e->t1_ms;
        note(c, "e%lld ", e->turn);
    }
    leave(c);
}

static void on_speech(void *user, int begins, int64_t at_ms)
{
    struct client *c = user;
    enter(c);
    note(c, begins ? "+%lld " : "-%lld ", at_ms);
    leave(c);
}

static void on_flushed(void *user)
{
    struct client *c = user;
    enter(c);
    note(c, "f%lld ", 0);
    leave(c);
}

static void on_cleared(void *user)
{
    struct client *c = user;
    enter(c);
    note(c, "c%lld ", 0);
    leave(c);
}

static void on_room(void *user)
{
    struct client *c = user;
    enter(c);
    c->n_room++;
    leave(c);
}

static void on_ended(void *user, const struct api_error *e)
{
    struct client *c = user;
    enter(c);
    while (!c->s) pthread_cond_wait(&c->changed, &c->lock); /* live_session_open has not returned */
    if (c->closes) live_session_close(c->s);
    snprintf(c->why, sizeof c->why, "%s", e ? e->message : "");
    c->code = e ? e->code : API_OK;
    c->is_over = 1;
    leave(c);
}

static inline struct live_session_params params_of(struct client *c)
{
    *c = (struct client){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    return (struct live_session_params){ .encoding = AUDIO_S16LE, .rate = 16000, .channels = 1, .threshold = -1, .silence_ms = -1,
                                         .padding_ms = -1, .language = "en", .event = on_event, .speech = on_speech,
                                         .flushed = on_flushed, .cleared = on_cleared, .room = on_room, .ended = on_ended, .user = c };
}

static inline void client_open(struct client *c, const struct live_session_params *p)
{
    struct api_error e = { 0 };
    struct live_session *s;
    if (live_session_open(&s, p, &e) != API_OK) fail_msg("%s", e.message);
    enter(c);
    c->s = s;
    leave(c);
}

static inline void wait_for(struct client *c, const int *field, int least)
{
    enter(c);
    while (*field < least) pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static inline void client_end(struct client *c)
{
    wait_for(c, &c->is_over, 1);
    enter(c); /* the callback has left */
    pthread_mutex_unlock(&c->lock);
    if (!c->closes) live_session_close(c->s);
    assert_int_equal(engine_get(&engine.n_sessions), 0);
}

/* Pieces of up to `most` bytes. */
static inline void push(struct client *c, const void *bytes, size_t n, size_t most)
{
    uint32_t seed = (uint32_t)most;
    for (size_t at = 0, k; at < n; at += k) {
        seed = seed * 1664525 + 1013904223;
        k = 1 + (seed >> 8) % most;
        if (k > n - at) k = n - at;
        assert_int_equal(live_session_push(c->s, (const char *)bytes + at, k), 0);
    }
}
#endif

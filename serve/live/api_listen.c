/* steno-serve: the route of Deepgram's streaming API. SPDX-License-Identifier: MIT
 *
 * A connection is a WebSocket, a live session, and the machine between them. It ends when both its WebSocket and its session have ended. */
#include "api_listen.h"
#include "api_error.h"
#include "listen.h"
#include "live_session.h"
#include "sessions.h"
#include "ws.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct listener {
    struct session_entry entry;
    struct api_listen *a;
    struct listen *machine;
    struct listen_config config;
    struct engine *engine;
    struct loop_timer *expiry;
    struct ws *w;
    pthread_mutex_t lock;
    struct live_session *live; /* under the lock; NULL: not open, or ended */
    int n_parts;               /* the WebSocket, and the session if it was opened */
};

struct api_listen {
    struct api_listen_params p;
    struct sessions sessions;
};

/* ---- a connection -------------------------------------------------------------------------------------------------------------- */

/* One of its parts has ended. */
static void part_over(struct listener *c)
{
    struct api_listen *a = c->a;
    pthread_mutex_lock(&c->lock);
    const int is_last = --c->n_parts == 0;
    pthread_mutex_unlock(&c->lock);
    if (!is_last) return;
    if (c->w) ws_drop(c->w);
    listen_close(c->machine);
    pthread_mutex_destroy(&c->lock);
    free(c);
    sessions_count(&a->sessions, -1);
}

/* The session's functions, while it is open. They do not wait. */
static void live_do(struct listener *c, void (*fn)(struct live_session *s))
{
    pthread_mutex_lock(&c->lock);
    if (c->live) fn(c->live);
    pthread_mutex_unlock(&c->lock);
}

static void on_send(void *user, const char *text, size_t n) { ws_send(((struct listener *)user)->w, text, n); }
static void on_event(void *user, const struct live_event *e) { listen_event(((struct listener *)user)->machine, e); }
static void on_speech(void *user, int begins, int64_t at_ms) { listen_speech(((struct listener *)user)->machine, begins, at_ms); }
static void on_flushing(void *user) { listen_flushing(((struct listener *)user)->machine); }
static void on_flushed(void *user) { listen_flushed(((struct listener *)user)->machine); }

/* Under the lock, so that it comes after the pause. */
static void on_room(void *user)
{
    struct listener *c = user;
    pthread_mutex_lock(&c->lock);
    ws_pause(c->w, 0);
    pthread_mutex_unlock(&c->lock);
}

/* The session has failed, or was refused. */
static void close_failed(struct listener *c, const struct api_error *e)
{
    listen_ended(c->machine, e->message);
    const int code = live_session_refused(c->a->p.metrics, e);
    ws_close(c->w, code, code == LIVE_CLOSE_FAILED ? "the session failed" : api_code_name(e->code));
}

static void on_ended(void *user, const struct api_error *e)
{
    struct listener *c = user;
    pthread_mutex_lock(&c->lock); /* live_session_open has returned */
    struct live_session *live = c->live;
    c->live = NULL;
    pthread_mutex_unlock(&c->lock);
    if (e) close_failed(c, e);
    else listen_ended(c->machine, NULL);
    if (!e) ws_close(c->w, LIVE_CLOSE_END, "");
    live_session_close(live);
    part_over(c);
}

static int session_open(struct listener *c, struct api_error *e)
{
    const struct serve_params *serve = c->a->p.serve;
    const struct live_session_params p = {
        .engine = c->engine, .metrics = c->a->p.metrics,
        .encoding = c->config.encoding, .rate = c->config.rate, .channels = c->config.channels, .uses_vad = 1,
        .threshold = -1, .silence_ms = c->config.silence_ms, .padding_ms = -1, .step_ms = serve->live_step_ms,
        .max_turn_ms = serve->live_turn_ms, .task = STENO_TRANSCRIBE, .language = *c->config.language ? c->config.language : NULL,
        .hotwords = *c->config.hotwords ? c->config.hotwords : NULL,
        .event = on_event, .speech = on_speech, .flushing = on_flushing, .flushed = on_flushed,
        .room = on_room, .ended = on_ended, .user = c,
    };
    pthread_mutex_lock(&c->lock);
    const int rc = live_session_open(&c->live, &p, e);
    if (rc == API_OK) c->n_parts++;
    else c->live = NULL;
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static void on_text(void *user, const char *text, size_t n)
{
    struct listener *c = user;
    const enum listen_message m = listen_text(c->machine, text, n);
    if (m == LISTEN_FINALIZE) live_do(c, live_session_commit);
    if (m == LISTEN_CLOSE) live_do(c, live_session_end);
}

/* An empty message ends the audio, as CloseStream. */
static void on_binary(void *user, const char *bytes, size_t n)
{
    struct listener *c = user;
    int rc = -1;
    int64_t ms = 0;
    if (!n) {
        live_do(c, live_session_end);
        return;
    }
    pthread_mutex_lock(&c->lock);
    if (c->live) {
        rc = live_session_push(c->live, bytes, n);
        ms = live_session_pushed_ms(c->live);
        if (rc == 1) ws_pause(c->w, 1);
    }
    pthread_mutex_unlock(&c->lock);
    if (rc >= 0) listen_pushed(c->machine, ms);
}

static void on_closed(void *user)
{
    struct listener *c = user;
    if (c->expiry) loop_timer_cancel(c->expiry);
    sessions_unlist(&c->a->sessions, &c->entry);
    live_do(c, live_session_cancel);
    part_over(c);
}

static void on_expiry(void *user)
{
    struct listener *c = user;
    c->expiry = NULL;
    live_do(c, live_session_end);
}

static void on_opened(void *user, struct ws *w)
{
    struct listener *c = user;
    struct api_error e = { 0 };
    const double longest_s = c->a->p.serve->live_seconds_max;
    if (!w) {
        part_over(c);
        return;
    }
    c->w = w;
    ws_keep(w);
    ws_events(w, &(struct ws_events){ on_text, on_binary, on_closed, c });
    if (longest_s > 0) c->expiry = loop_at(c->a->p.loop, loop_now_ms() + (int64_t)(longest_s * 1000), on_expiry, c);
    if (session_open(c, &e) != API_OK) close_failed(c, &e);
    sessions_list(&c->a->sessions, &c->entry);
}

/* ---- the route's state --------------------------------------------------------------------------------------------------------- */

static void listener_end(struct session_entry *entry) { live_do((struct listener *)entry, live_session_end); }

struct api_listen *api_listen_open(const struct api_listen_params *p)
{
    struct api_listen *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->p = *p;
    sessions_open(&a->sessions, listener_end);
    return a;
}

void api_listen_drain(struct api_listen *a) { sessions_drain(&a->sessions); }
int api_listen_sessions(const struct api_listen *a) { return sessions_now(&a->sessions); }

void api_listen_close(struct api_listen *a)
{
    if (!a) return;
    sessions_close(&a->sessions);
    free(a);
}

/* ---- GET /v1/listen ------------------------------------------------------------------------------------------------------------ */

struct listen_asked { struct api_listen *a; struct exchange *x; struct listen_config config; struct api_error e; };

static void each_query(void *user, const char *name, const char *value)
{
    struct listen_asked *q = user;
    if (q->e.code == API_OK) listen_query(&q->config, name, value ? value : "", q->a->p.serve->is_strict, &q->e);
}

/* Checks what was asked for. @return API_OK or a code in q->e */
static int config_read(struct listen_asked *q, struct engine **g)
{
    struct listen_config *c = &q->config;
    const char *code;
    listen_config_init(c, 0);
    exchange_queries(q->x, each_query, q);
    if (q->e.code != API_OK || listen_config_check(c, &q->e) != API_OK) return q->e.code;
    *g = engines_for(q->a->p.engines, listen_model(q->a->p.engines, c), ENGINE_TRANSCRIBES, &q->e);
    if (!*g || engine_language(*g, c->language, &code, &q->e) != API_OK) return q->e.code;
    snprintf(c->language, sizeof c->language, "%s", code ? code : "");
    return API_OK;
}

static struct listener *listener_make(struct listen_asked *q, struct engine *g)
{
    char created[LISTEN_TIME_SZ];
    steno_model_info info = { .size = sizeof info };
    struct listener *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    if (engine_info(g, &info)) info.family[0] = '\0';
    listen_time(created);
    c->a = q->a;
    c->engine = g;
    c->config = q->config;
    c->n_parts = 1;
    const struct listen_params p = { &c->config, exchange_id(q->x), engine_id(g), info.family, created, on_send, c };
    c->machine = listen_open(&p);
    if (!c->machine) {
        free(c);
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    sessions_count(&q->a->sessions, 1);
    return c;
}

/* Browsers send the key as a subprotocol, after "token" or "bearer", and need it back. */
static const char *protocol_of(const struct exchange *x)
{
    const char *list = exchange_header(x, "Sec-WebSocket-Protocol"), *one;
    size_t n;
    while ((one = ws_protocol_next(&list, &n))) {
        if (n == 5 && !strncasecmp(one, "token", n)) return "token";
        if (n == 6 && !strncasecmp(one, "bearer", n)) return "bearer";
    }
    return NULL;
}

static void upgrade_end(void *request)
{
    struct listen_asked *q = request;
    struct engine *g = NULL;
    struct listener *c = NULL;
    if (config_read(q, &g) == API_OK && !(c = listener_make(q, g)))
        api_fail(&q->e, API_internal_error, NULL, "The server is out of memory.");
    if (c && ws_accept(q->x, q->a->p.loop, protocol_of(q->x), on_opened, c, &q->e) != API_OK) part_over(c);
    if (q->e.code != API_OK) api_answer_error(q->x, &q->e);
}

static void upgrade_closed(void *request, int complete)
{
    (void)complete;
    free(request);
}

const struct http_handler *api_listen_route(struct api_listen *a, struct exchange *x, void **request)
{
    static const struct http_handler handler = { .end = upgrade_end, .closed = upgrade_closed };
    struct listen_asked *q = calloc(1, sizeof *q);
    struct api_error e = { 0 };
    *request = q;
    if (q) {
        q->a = a;
        q->x = x;
        return &handler;
    }
    api_fail(&e, API_internal_error, NULL, "The server is out of memory.");
    api_answer_error(x, &e);
    return NULL;
}

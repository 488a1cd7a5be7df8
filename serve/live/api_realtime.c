/* steno-serve: the routes of realtime transcription. SPDX-License-Identifier: MIT */
#include "api_realtime.h"
#include "api_error.h"
#include "live_session.h"
#include "realtime.h"
#include "realtime_secrets.h"
#include "sessions.h"
#include "ws.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#define KEY_PROTOCOL "openai-insecure-api-key."
enum { BODY_MAX = 64 << 10, KEY_SZ = 512 };

struct connection {
    struct session_entry entry;
    struct api_realtime *a;
    struct realtime *rt;
    struct ws *w;
    struct loop_timer *expiry;
    int had_session; /* with the lock of the machine */
};

struct api_realtime {
    struct api_realtime_params p;
    struct secrets *secrets;
    struct sessions sessions;
};

static void connection_end(struct session_entry *entry) { realtime_end(((struct connection *)entry)->rt, 0); }

struct api_realtime *api_realtime_open(const struct api_realtime_params *p)
{
    struct api_realtime *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->p = *p;
    a->secrets = secrets_open();
    if (!a->secrets) {
        free(a);
        return NULL;
    }
    sessions_open(&a->sessions, connection_end);
    return a;
}

void api_realtime_drain(struct api_realtime *a) { sessions_drain(&a->sessions); }
int api_realtime_sessions(const struct api_realtime *a) { return sessions_now(&a->sessions); }

void api_realtime_close(struct api_realtime *a)
{
    if (!a) return;
    sessions_close(&a->sessions);
    secrets_close(a->secrets);
    free(a);
}

/* ---- the live session -------------------------------------------------------------------------------------------------------- */

static struct realtime *machine(void *connection) { return ((struct connection *)connection)->rt; }
static void on_event(void *user, const struct live_event *e) { realtime_live_event(machine(user), e); }
static void on_speech(void *user, int begins, int64_t at_ms) { realtime_live_speech(machine(user), begins, at_ms); }
static void on_flushed(void *user) { realtime_live_flushed(machine(user)); }
static void on_cleared(void *user) { realtime_live_cleared(machine(user)); }
static void on_room(void *user) { realtime_live_room(machine(user)); }

static void on_ended(void *user, const struct api_error *e)
{
    const struct connection *c = user;
    if (e) live_session_refused(c->a->p.metrics, e);
    realtime_live_ended(c->rt, e);
}

static void *audio_open(void *user, const struct realtime_config *c, struct realtime *rt, struct api_error *e)
{
    static const enum audio_encoding encodings[] = { [REALTIME_PCM] = AUDIO_S16LE, [REALTIME_ULAW] = AUDIO_ULAW,
                                                     [REALTIME_ALAW] = AUDIO_ALAW };
    struct connection *connection = user;
    const struct api_realtime *a = connection->a;
    struct live_session *s;
    (void)rt; /* that of the connection */
    const struct live_session_params p = {
        .engine = engines_for(a->p.engines, c->model, ENGINE_TRANSCRIBES, e), .metrics = a->p.metrics,
        .encoding = encodings[c->format], .rate = c->rate, .channels = 1,
        .uses_vad = c->uses_vad, .threshold = c->threshold, .silence_ms = c->silence_ms, .padding_ms = c->padding_ms,
        .step_ms = c->step_ms ? c->step_ms : a->p.serve->live_step_ms, .max_turn_ms = a->p.serve->live_turn_ms,
        .task = STENO_TRANSCRIBE, .language = c->language, .prompt = c->prompt, .hotwords = c->hotwords,
        .event = on_event, .speech = on_speech, .flushed = on_flushed, .cleared = on_cleared, .room = on_room, .ended = on_ended,
        .continues = connection->had_session, .user = connection,
    };
    const int is_open = p.engine && live_session_open(&s, &p, e) == API_OK;
    connection->had_session |= is_open;
    if (!is_open) live_session_refused(a->p.metrics, e);
    return is_open ? s : NULL;
}

static int audio_push(void *live, const void *bytes, size_t n) { return live_session_push(live, bytes, n); }
static void audio_commit(void *live) { live_session_commit(live); }
static void audio_clear(void *live) { live_session_clear(live); }
static void audio_end(void *live) { live_session_end(live); }
static void audio_cancel(void *live) { live_session_cancel(live); }
static void audio_close(void *live) { live_session_close(live); }

static const struct realtime_audio audio = { audio_open, audio_push, audio_commit, audio_clear, audio_end, audio_cancel, audio_close };

/* Of several languages, detection chooses one. @return API_OK or a code, in *e */
static int languages_check(const struct engine *g, const char *list, struct api_error *e)
{
    const char *const *of = engine_languages(g), *code;
    char name[40];
    if (!list || !strchr(list, ',')) return engine_language(g, list, &code, e);
    if (of && !of[0])
        return api_fail(e, API_invalid_value, "languages", "the model \"%s\" does not choose among several languages; send one, or none",
                        engine_id(g));
    for (size_t n; *list && e->code == API_OK; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        engine_language(g, name, &code, e);
    }
    if (e->code != API_OK) snprintf(e->param, sizeof e->param, "languages");
    return (int)e->code;
}

/* Refuses models and languages that do not exist. */
static int check(void *user, const struct realtime_config *c, struct realtime_error *e)
{
    const struct api_realtime *a = user;
    struct api_error why = { 0 };
    const struct engine *g = engines_for(a->p.engines, c->model, ENGINE_TRANSCRIBES, &why);
    char path[128];
    if (g && languages_check(g, c->language, &why) == API_OK) return 0;
    snprintf(path, sizeof path, "session.audio.input.transcription.%s", why.param);
    return realtime_fail(e, "invalid_value", path, "%s", why.message);
}

static int finds_turns(void *user, const char *model)
{
    struct api_error e = { 0 };
    const struct engine *g = engines_for(((struct connection *)user)->a->p.engines, model, ENGINE_TRANSCRIBES, &e);
    return !g || engine_finds_turns(g);
}

static int connection_check(void *user, const struct realtime_config *c, struct realtime_error *e)
{
    return check(((struct connection *)user)->a, c, e);
}

/* ---- a connection ------------------------------------------------------------------------------------------------------------ */

static void on_send(void *user, const char *text, size_t n) { ws_send(((struct connection *)user)->w, text, n); }
static void on_close(void *user, int code, const char *reason) { ws_close(((struct connection *)user)->w, code, reason); }
static void on_pause(void *user, int on) { ws_pause(((struct connection *)user)->w, on); }

/* The machine is freed: any thread. */
static void on_over(void *user)
{
    struct connection *c = user;
    struct api_realtime *a = c->a;
    if (c->w) ws_drop(c->w);
    free(c);
    sessions_count(&a->sessions, -1);
}

static void on_text(void *user, const char *text, size_t n) { realtime_text(((struct connection *)user)->rt, text, n); }
static void on_binary(void *user, const char *bytes, size_t n) { realtime_binary(((struct connection *)user)->rt, bytes, n); }

static void on_closed(void *user)
{
    struct connection *c = user;
    if (c->expiry) loop_timer_cancel(c->expiry);
    sessions_unlist(&c->a->sessions, &c->entry);
    realtime_gone(c->rt);
}

static void on_expiry(void *user)
{
    struct connection *c = user;
    c->expiry = NULL;
    realtime_end(c->rt, 1);
}

static void on_opened(void *user, struct ws *w)
{
    struct connection *c = user;
    const struct ws_events ev = { .text = on_text, .binary = on_binary, .closed = on_closed, .user = c };
    const double longest_s = c->a->p.serve->live_seconds_max;
    if (!w) {
        realtime_gone(c->rt);
        return;
    }
    c->w = w;
    ws_keep(w);
    ws_events(w, &ev);
    if (longest_s > 0) c->expiry = loop_at(c->a->p.loop, loop_now_ms() + (int64_t)(longest_s * 1000), on_expiry, c);
    realtime_begin(c->rt);
    sessions_list(&c->a->sessions, &c->entry);
}

/* ---- GET /v1/realtime -------------------------------------------------------------------------------------------------------- */

int api_realtime_key(const struct exchange *x, char *out, size_t n)
{
    const char *key = exchange_header(x, "Authorization"), *list = exchange_header(x, "Sec-WebSocket-Protocol");
    size_t length = 0;
    if (key && !strncasecmp(key, "Bearer ", 7)) {
        key += 7 + strspn(key + 7, " ");
        length = strlen(key);
    } else {
        while ((key = ws_protocol_next(&list, &length)) && strncmp(key, KEY_PROTOCOL, strlen(KEY_PROTOCOL)) != 0) continue;
        if (!key) return -1;
        key += strlen(KEY_PROTOCOL);
        length -= strlen(KEY_PROTOCOL);
    }
    if (!length || length >= n) return -1;
    memcpy(out, key, length);
    out[length] = '\0';
    return 0;
}

int api_realtime_is_secret(const struct api_realtime *a, const char *key)
{
    return secrets_check(a->secrets, key, (int64_t)time(NULL), NULL);
}

static int offers_realtime(const struct exchange *x)
{
    const char *list = exchange_header(x, "Sec-WebSocket-Protocol"), *one;
    size_t n;
    while ((one = ws_protocol_next(&list, &n)))
        if (n == 8 && !memcmp(one, "realtime", 8)) return 1;
    return 0;
}

static int is_beta(const struct exchange *x)
{
    const char *value = exchange_header(x, "OpenAI-Beta");
    return value && strstr(value, "realtime=v1");
}

static int no_memory(struct api_error *e) { return api_fail(e, API_internal_error, NULL, "The server is out of memory."); }

/* The session that the client's secret was created with; without a secret nothing. */
static int secret_apply(struct connection *c, const struct exchange *x, struct api_error *e)
{
    char key[KEY_SZ];
    json_t *session = NULL;
    struct realtime_error why = { 0 };
    if (api_realtime_key(x, key, sizeof key) || !secrets_check(c->a->secrets, key, (int64_t)time(NULL), &session)) return API_OK;
    realtime_configure(c->rt, session, &why);
    json_decref(session);
    return why.code ? api_fail(e, API_invalid_value, why.param, "%s", why.message) : API_OK;
}

/* @return API_OK, or a code with *e; then *out is NULL */
static int connection_make(struct api_realtime *a, const struct exchange *x, struct connection **out, struct api_error *e)
{
    const char *model = exchange_query(x, "model"), *intent = exchange_query(x, "intent");
    const struct engine *g = engines_for(a->p.engines, model, ENGINE_TRANSCRIBES, e);
    unsigned char bytes[8] = { 0 };
    char seed[17];
    *out = NULL;
    if (intent && strcmp(intent, "transcription") != 0)
        return api_fail(e, API_invalid_value, "intent", "intent must be transcription: this server does not reply to speech.");
    if (!g) return e->code;
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return api_fail(e, API_internal_error, NULL, "There are no random numbers.");
    for (size_t i = 0; i < sizeof bytes; i++) sprintf(seed + 2 * i, "%02x", bytes[i]);
    struct connection *c = calloc(1, sizeof *c);
    if (!c) return no_memory(e);
    c->a = a;
    const double longest_s = a->p.serve->live_seconds_max;
    const struct realtime_params p = {
        .is_beta = is_beta(x), .seed = seed, .model = model && *model ? model : engine_id(g),
        .expires_at = longest_s > 0 ? (int64_t)time(NULL) + (int64_t)longest_s : 0, .audio = &audio,
        .send = on_send, .close = on_close, .pause = on_pause, .over = on_over, .check = connection_check,
        .finds_turns = finds_turns, .user = c,
    };
    if (realtime_open(&c->rt, &p)) {
        free(c);
        return no_memory(e);
    }
    sessions_count(&a->sessions, 1);
    const int code = secret_apply(c, x, e);
    if (code == API_OK) *out = c;
    else realtime_gone(c->rt); /* frees it */
    return code;
}

struct asked { struct api_realtime *a; struct exchange *x; };

static void upgrade_end(void *request)
{
    struct asked *q = request;
    struct api_error e = { 0 };
    struct connection *c;
    int code = connection_make(q->a, q->x, &c, &e);
    if (code == API_OK) {
        code = ws_accept(q->x, q->a->p.loop, offers_realtime(q->x) ? "realtime" : NULL, on_opened, c, &e);
        if (code != API_OK) realtime_gone(c->rt);
    }
    if (code != API_OK) api_answer_error(q->x, &e);
}

static void upgrade_closed(void *request, int complete)
{
    (void)complete;
    free(request);
}

const struct http_handler *api_realtime_route(struct api_realtime *a, struct exchange *x, void **request)
{
    static const struct http_handler handler = { .end = upgrade_end, .closed = upgrade_closed };
    struct asked *q = malloc(sizeof *q);
    struct api_error e = { 0 };
    *request = q;
    if (q) {
        *q = (struct asked){ a, x };
        return &handler;
    }
    no_memory(&e);
    api_answer_error(x, &e);
    return NULL;
}

/* ---- POST /v1/realtime/client_secrets, /v1/realtime/transcription_sessions --------------------------------------------------- */

struct secret_asked { struct api_realtime *a; struct exchange *x; int is_flat; size_t n; char body[BODY_MAX]; };

static int secret_body(void *request, const char *bytes, size_t n)
{
    struct secret_asked *q = request;
    struct api_error e = { 0 };
    if (n <= sizeof q->body - q->n) {
        memcpy(q->body + q->n, bytes, n);
        q->n += n;
        return 0;
    }
    api_fail(&e, API_request_too_large, NULL, "The body is larger than %d bytes.", BODY_MAX);
    api_answer_error(q->x, &e);
    return 1;
}

static void secret_end(void *request)
{
    struct secret_asked *q = request;
    struct api_error e = { 0 };
    struct http_answer answer = { .status = 200, .type = "application/json" };
    const struct engine *g = engines_for(q->a->p.engines, "", ENGINE_TRANSCRIBES, &(struct api_error){ 0 });
    const struct secret_request wanted = { .body = q->body, .n = q->n, .is_flat = q->is_flat, .model = g ? engine_id(g) : "",
                                           .now = (int64_t)time(NULL), .check = check, .user = q->a };
    if (secrets_create(q->a->secrets, &wanted, &answer.body, &answer.n, &e) == API_OK) exchange_answer(q->x, &answer);
    else api_answer_error(q->x, &e);
}

const struct http_handler *api_realtime_secret_route(struct api_realtime *a, struct exchange *x, int is_flat, void **request)
{
    static const struct http_handler handler = { .body = secret_body, .end = secret_end, .closed = upgrade_closed };
    struct secret_asked *q = malloc(sizeof *q);
    struct api_error e = { 0 };
    *request = q;
    if (q) {
        q->a = a;
        q->x = x;
        q->is_flat = is_flat;
        q->n = 0;
        return &handler;
    }
    no_memory(&e);
    api_answer_error(x, &e);
    return NULL;
}

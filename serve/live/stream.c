/* steno-serve: the plain protocol of live audio. SPDX-License-Identifier: MIT */
#include "stream.h"
#include "live_line.h"
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- the query --------------------------------------------------------------------------------------------------------------- */

enum value_kind { VALUE_TEXT, VALUE_INT, VALUE_REAL, VALUE_WORD };

static const struct parameter {
    const char *name;
    enum value_kind kind;
    size_t at;         /* in struct stream_query */
    double lo, hi;
    const char *words; /* "a|b|c"; the value is the index */
} parameters[] = {
#define AT(field) offsetof(struct stream_query, field)
    { "model", VALUE_TEXT, AT(model), 0, 0, NULL },
    { "language", VALUE_TEXT, AT(live.language), 0, 0, NULL },
    { "prompt", VALUE_TEXT, AT(live.prompt), 0, 0, NULL },
    { "hotwords", VALUE_TEXT, AT(live.hotwords), 0, 0, NULL },
    { "task", VALUE_WORD, AT(live.task), 0, 0, "transcribe|translate" },
    { "rate", VALUE_INT, AT(live.rate), 8000, 192000, NULL },
    { "channels", VALUE_INT, AT(live.channels), 1, 8, NULL },
    { "encoding", VALUE_WORD, AT(live.encoding), 0, 0, "s16le|f32le|ulaw|alaw|s32le|u8" },
    { "vad", VALUE_WORD, AT(live.uses_vad), 0, 0, "off|on" },
    { "vad_threshold", VALUE_REAL, AT(live.threshold), 0, 1, NULL },
    { "vad_min_silence_ms", VALUE_INT, AT(live.silence_ms), 0, 60000, NULL },
    { "step_ms", VALUE_INT, AT(live.step_ms), 200, 10000, NULL },
    { "max_turn_ms", VALUE_INT, AT(live.max_turn_ms), 2000, 30000, NULL },
#undef AT
};

_Static_assert(sizeof(enum audio_encoding) == sizeof(int), "a word is stored as an int");

/* @return index of the word, -1: none */
static int word_find(const char *words, const char *value)
{
    const size_t n = strlen(value);
    int i = 0;
    for (const char *w = words;; i++) {
        const size_t k = strcspn(w, "|");
        if (k == n && !strncmp(w, value, n)) return i;
        if (!w[k]) return -1;
        w += k + 1;
    }
}

static void value_set(struct stream_query *q, const struct parameter *p, const char *value)
{
    char *at = (char *)q + p->at, *end;
    if (p->kind == VALUE_TEXT) {
        *(const char **)at = value;
        return;
    }
    if (p->kind == VALUE_WORD) {
        const int i = word_find(p->words, value);
        if (i < 0) api_fail(&q->e, API_invalid_value, p->name, "%s is \"%.80s\", not one of %s", p->name, value, p->words);
        else *(int *)at = i;
        return;
    }
    errno = 0;
    const double x = strtod(value, &end);
    const int is_plain = *value && strspn(value, p->kind == VALUE_INT ? "0123456789" : "0123456789.") == strlen(value);
    if (!is_plain || *end || errno || !(x >= p->lo && x <= p->hi))
        api_fail(&q->e, API_invalid_value, p->name, "%s is \"%.80s\", not a number from %g to %g", p->name, value, p->lo, p->hi);
    else if (p->kind == VALUE_INT) *(int *)at = (int)x;
    else *(double *)at = x;
}

void stream_query_begin(struct stream_query *q)
{
    *q = (struct stream_query){ .model = "", .live = { .encoding = AUDIO_S16LE, .rate = 16000, .channels = 1, .uses_vad = 1,
                                                       .threshold = -1, .silence_ms = -1, .padding_ms = -1 } };
}

void stream_query_add(void *user, const char *name, const char *value)
{
    struct stream_query *q = user;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (!strcmp(parameters[i].name, name)) {
            value_set(q, &parameters[i], value ? value : "");
            return;
        }
    api_fail(&q->e, API_unknown_parameter, name, "/v1/stream has no parameter \"%.60s\"", name);
}

/* ---- the connection ---------------------------------------------------------------------------------------------------------- */

/* Referenced by the live session until `ended`, and by the connection until it is closed. */
struct stream {
    struct session_entry entry;
    struct sessions *of;        /* NULL: none */
    pthread_mutex_t lock;
    int n_refs;
    struct ws *w;               /* NULL: not open yet, or closed */
    struct live_session *s;     /* NULL: over */
    int is_over;                /* the live session has ended, for the reason `why` */
    int64_t most_ms;            /* 0: no limit */
    int is_at_limit, is_draining;
    struct metrics *metrics;
    struct api_error why;       /* API_OK: it has not failed */
};

void stream_end(struct session_entry *entry)
{
    struct stream *s = (struct stream *)entry;
    pthread_mutex_lock(&s->lock);
    s->is_draining = 1;
    if (s->s) live_session_end(s->s);
    pthread_mutex_unlock(&s->lock);
}

static void stream_free(struct stream *s)
{
    if (s->of) {
        sessions_unlist(s->of, &s->entry);
        sessions_count(s->of, -1);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void leave(struct stream *s, int drops)
{
    s->n_refs -= drops;
    const int is_last = !s->n_refs;
    pthread_mutex_unlock(&s->lock);
    if (is_last) stream_free(s);
}

static void line_send(struct stream *s, struct sink_memory *m, const struct sink *to)
{
    const int rc = to->failed || !s->w ? -1 : ws_send(s->w, m->p, m->n - 1); /* a message needs no line end */
    if (rc && s->s) live_session_cancel(s->s);
    free(m->p);
}

static void error_send(struct stream *s, const char *message)
{
    struct sink_memory m = { 0 };
    struct sink to = sink_to_memory(&m);
    live_line_error(&to, message);
    line_send(s, &m, &to);
}

/* With the lock: the connection ends as the session did. */
static void connection_end(struct stream *s)
{
    if (!s->w) return;
    if (s->why.code != API_OK) {
        const int code = live_session_refused(s->metrics, &s->why);
        error_send(s, s->why.message);
        ws_close(s->w, code, code == LIVE_CLOSE_FAILED ? "the transcription failed" : api_code_name(s->why.code));
    } else if (s->is_at_limit) ws_close(s->w, LIVE_CLOSE_STOPPING, "the session reached its longest time");
    else if (s->is_draining) ws_close(s->w, LIVE_CLOSE_STOPPING, "the server is stopping");
    else ws_close(s->w, LIVE_CLOSE_END, "");
}

/* ---- from the live session */

static void on_event(void *user, const struct live_event *e)
{
    static const char *const kind[] = { [LIVE_PARTIAL] = "partial", [LIVE_FINAL] = "final", [LIVE_ENDPOINT] = "endpoint" };
    struct stream *s = user;
    struct sink_memory m = { 0 };
    struct sink to = sink_to_memory(&m);
    pthread_mutex_lock(&s->lock);
    const int64_t latency = s->s && e->t1_ms >= 0 ? live_session_latency_ms(s->s, e->t1_ms) : 0;
    const struct live_line l = { .type = kind[e->kind], .turn = e->turn, .t0_ms = e->t0_ms, .t1_ms = e->t1_ms, .text = e->text,
                                 .spaces = e->spaces, .decoded_ms = e->decoded_ms, .language = e->language, .latency_ms = latency };
    live_line_put(&to, &l);
    line_send(s, &m, &to);
    leave(s, 0);
}

static void on_room(void *user)
{
    struct stream *s = user;
    pthread_mutex_lock(&s->lock);
    if (s->w) ws_pause(s->w, 0);
    leave(s, 0);
}

static void on_ended(void *user, const struct api_error *e)
{
    struct stream *s = user;
    pthread_mutex_lock(&s->lock);
    live_session_close(s->s);
    s->s = NULL;
    s->is_over = 1;
    if (e) s->why = *e;
    connection_end(s);
    leave(s, 1);
}

/* ---- from the client */

static void on_binary(void *user, const char *bytes, size_t n)
{
    struct stream *s = user;
    pthread_mutex_lock(&s->lock);
    if (s->s && !s->is_at_limit) {
        if (live_session_push(s->s, bytes, n) == 1 && s->w) ws_pause(s->w, 1);
        s->is_at_limit = s->most_ms && live_session_pushed_ms(s->s) >= s->most_ms;
        if (s->is_at_limit) live_session_end(s->s);
    }
    leave(s, 0);
}

static void on_text(void *user, const char *text, size_t n)
{
    static const struct { const char *type; void (*call)(struct live_session *s); } types[] = {
        { "end", live_session_end }, { "commit", live_session_commit }, { "clear", live_session_clear } };
    struct stream *s = user;
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const char *type = json_string_value(json_object_get(j, "type"));
    int is_known = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, types[i].type)) {
            is_known = 1;
            if (s->s) types[i].call(s->s);
        }
    if (!is_known) error_send(s, "a text message must be {\"type\":\"end\"}, {\"type\":\"commit\"} or {\"type\":\"clear\"}; audio is "
                                 "sent as binary messages");
    leave(s, 0);
    json_decref(j);
}

static void on_closed(void *user)
{
    struct stream *s = user;
    pthread_mutex_lock(&s->lock);
    s->w = NULL;
    if (s->s) live_session_cancel(s->s);
    leave(s, 1);
}

void stream_opened(void *user, struct ws *w)
{
    struct stream *s = user;
    if (!w) {
        stream_drop(s);
        return;
    }
    const struct ws_events ev = { .text = on_text, .binary = on_binary, .closed = on_closed, .user = s };
    ws_events(w, &ev);
    pthread_mutex_lock(&s->lock);
    s->w = w;
    if (s->is_over) connection_end(s);
    leave(s, 0);
}

void stream_drop(struct stream *s)
{
    on_closed(s);
}

int stream_open(struct stream **out, struct sessions *of, const struct live_session_params *p, int64_t most_ms, struct api_error *e)
{
    struct live_session_params own = *p;
    struct stream *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return api_fail(e, API_internal_error, NULL, "out of memory for a stream");
    pthread_mutex_init(&s->lock, NULL);
    s->n_refs = 2;
    s->most_ms = most_ms;
    s->metrics = p->metrics;
    own.event = on_event;
    own.speech = NULL;
    own.flushing = own.flushed = own.cleared = NULL;
    own.room = on_room;
    own.ended = on_ended;
    own.user = s;
    pthread_mutex_lock(&s->lock); /* callbacks wait until s->s is set */
    const int code = live_session_open(&s->s, &own, e);
    s->of = code == API_OK ? of : NULL;
    pthread_mutex_unlock(&s->lock);
    if (code != API_OK) {
        stream_free(s);
        return code;
    }
    if (of) {
        sessions_count(of, 1);
        sessions_list(of, &s->entry);
    }
    *out = s;
    return code;
}

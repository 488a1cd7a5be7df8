/* steno tests: a realtime transcription with a live session that a test plays, and a check of all that is promised to clients.
 * SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_REALTIME_PROMISES_H
#define STENO_TESTS_REALTIME_PROMISES_H
#include "live.h"
#include "live_words.h"
#include "realtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct played {
    struct realtime *rt;
    json_t *sent;           /* list of all events */
    size_t n_taken;
    int closed;             /* code */
    int is_paused, is_over;
    const char *wrong;      /* the first broken promise */
    /* the live session */
    int is_live, n_open, fails_to_open; /* code of API_ERRORS */
    size_t n_bytes;         /* of all live sessions */
    unsigned char bytes[1 << 12]; /* the first ones */
    int n_commits, clears, ends, is_cancelled, is_lost; /* not answered yet */
    int ring_ms, ring_full_ms; /* a ring of ring_full_ms is full; 0: never */
    struct realtime_config config;
    char language[36];
    int refuses_model, finds_none;
};

static void played_wrong(struct played *p, const char *why) { if (!p->wrong) p->wrong = why; }

static void *played_open(void *user, const struct realtime_config *c, struct realtime *rt, struct api_error *e)
{
    struct played *p = user;
    (void)rt;
    if (p->is_live) played_wrong(p, "two live sessions");
    if (p->fails_to_open) {
        e->code = (enum api_code)p->fails_to_open;
        snprintf(e->message, sizeof e->message, "it fails");
        return NULL;
    }
    p->config = *c;
    snprintf(p->language, sizeof p->language, "%s", c->language ? c->language : "");
    p->is_live = 1;
    p->n_open++;
    p->n_commits = p->clears = p->ends = p->is_cancelled = p->is_lost = p->ring_ms = 0;
    return p;
}

static int played_push(void *live, const void *bytes, size_t n)
{
    struct played *p = live;
    if (!p->is_live || p->ends) played_wrong(p, "audio for a session that was ended");
    if (p->is_lost) return -1;
    if (p->ring_full_ms && p->ring_ms >= p->ring_full_ms) played_wrong(p, "audio for a full ring");
    if (n % (p->config.format == REALTIME_PCM ? 2 : 1)) played_wrong(p, "half a sample");
    for (size_t i = 0; i < n && p->n_bytes + i < sizeof p->bytes; i++) p->bytes[p->n_bytes + i] = ((const unsigned char *)bytes)[i];
    p->n_bytes += n;
    p->ring_ms += (int)(n / (p->config.format == REALTIME_PCM ? 2 : 1)) * 1000 / p->config.rate;
    return p->ring_full_ms && p->ring_ms >= p->ring_full_ms;
}

static void played_commit(void *live) { ((struct played *)live)->n_commits++; }
static void played_clear(void *live) { ((struct played *)live)->clears++; }
static void played_end(void *live) { ((struct played *)live)->ends++; }
static void played_cancel(void *live) { ((struct played *)live)->is_cancelled = 1; }
static void played_close(void *live) { ((struct played *)live)->is_live = 0; }

static const struct realtime_audio played_audio = { played_open, played_push, played_commit, played_clear, played_end, played_cancel,
                                                    played_close };

static void played_send(void *user, const char *text, size_t n)
{
    struct played *p = user;
    json_t *event = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    if (p->closed) played_wrong(p, "an event after the close");
    if (!event) played_wrong(p, "an event that is not JSON");
    else json_array_append_new(p->sent, event);
}

static void played_closes(void *user, int code, const char *reason)
{
    struct played *p = user;
    if (p->closed || strlen(reason) > 123) played_wrong(p, "a second close, or a long reason");
    p->closed = code;
}

static void played_pause(void *user, int on)
{
    struct played *p = user;
    if (on == p->is_paused) played_wrong(p, "a pause within a pause");
    p->is_paused = on;
}

static void played_over(void *user) { ((struct played *)user)->is_over = 1; }

static int played_check(void *user, const struct realtime_config *c, struct realtime_error *e)
{
    if (!((struct played *)user)->refuses_model || strcmp(c->model, "base") == 0) return 0;
    return realtime_fail(e, "invalid_value", "session.audio.input.transcription.model", "no such model");
}

static int played_finds(void *user, const char *model)
{
    (void)model;
    return !((struct played *)user)->finds_none;
}

static int played_begin(struct played *p, int is_beta)
{
    *p = (struct played){ .sent = json_array() };
    const struct realtime_params params = { .is_beta = is_beta, .seed = "7f", .model = "base", .audio = &played_audio,
        .send = played_send, .close = played_closes, .pause = played_pause, .over = played_over, .check = played_check,
        .finds_turns = played_finds, .user = p };
    return !p->sent || realtime_open(&p->rt, &params);
}

/* ---- the live session's part ------------------------------------------------------------------------------------------------- */

static void played_words(struct played *p, enum live_kind kind, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    struct words w = { 0 };
    if (live_words_add_units(&w, text, t0_ms, t1_ms)) abort();
    live_words_rate(&w, 0, 0.5);
    char *stripped = live_words_text(&w, 0, w.n);
    if (!stripped) abort();
    const struct live_event e = { .kind = kind, .turn = 1, .t0_ms = t0_ms, .t1_ms = t1_ms, .decoded_ms = t1_ms, .now_ms = t1_ms,
                                  .text = stripped, .words = w.w, .n_words = w.n, .language = kind == LIVE_ENDPOINT ? "en" : NULL };
    realtime_live_event(p->rt, &e);
    free(stripped);
    live_words_free(&w);
}

static void played_flushed(struct played *p)
{
    if (!p->n_commits) return;
    p->n_commits--;
    realtime_live_flushed(p->rt);
}

static void played_ended(struct played *p, const char *why)
{
    while (!why && p->n_commits && !p->is_cancelled) played_flushed(p);
    struct api_error e = { 0 };
    if (why) api_fail(&e, API_internal_error, NULL, "%s", why);
    realtime_live_ended(p->rt, why ? &e : NULL);
}

/* ---- promises ---------------------------------------------------------------------------------------------------------------- */

static const char *text_at(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static int ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

struct promised { json_t *committed, *text, *done; size_t n_done; const char *last; };

static const char *promise_of(struct promised *q, const json_t *e)
{
    const char *type = text_at(e, "type"), *id = text_at(e, "item_id");
    if (ends_with(type, "buffer.committed")) {
        const json_t *previous = json_object_get(e, "previous_item_id");
        if (!*id || json_object_get(q->done, id)) return "an item is committed twice";
        if (q->last ? strcmp(text_at(e, "previous_item_id"), q->last) != 0 : !json_is_null(previous)) return "the wrong previous item";
        json_array_append_new(q->committed, json_string(id));
        json_object_set_new(q->done, id, json_false());
        q->last = json_string_value(json_array_get(q->committed, json_array_size(q->committed) - 1));
    } else if (ends_with(type, ".delta")) {
        if (json_is_true(json_object_get(q->done, id))) return "a delta after the end of its item";
        if (!*text_at(e, "delta")) return "an empty delta";
        char *joined;
        if (asprintf(&joined, "%s%s", text_at(q->text, id), text_at(e, "delta")) < 0) abort();
        json_object_set_new(q->text, id, json_string(joined));
        free(joined);
    } else if (ends_with(type, "transcription.completed") || ends_with(type, "transcription.failed")) {
        if (!json_is_false(json_object_get(q->done, id))) return "the end of an item that is not committed, or ended before";
        if (strcmp(id, json_string_value(json_array_get(q->committed, q->n_done++))) != 0) return "items end in another order";
        json_object_set_new(q->done, id, json_true());
        const char *text = text_at(e, "transcript");
        if (ends_with(type, "completed") && strcmp(text, text_at(q->text, id)) != 0) return "deltas are not the transcript";
        if (*text == ' ' || ends_with(text, " ")) return "spaces around a transcript";
    }
    return NULL;
}

/* @return what is broken; NULL: nothing. `is_over`: each committed item must have ended */
static const char *promises_broken(const struct played *p, int is_over)
{
    struct promised q = { json_array(), json_object(), json_object(), 0, NULL };
    const char *why = p->wrong;
    size_t i;
    json_t *e, *ids = json_object();
    json_array_foreach(p->sent, i, e) {
        if (why) break;
        const char *id = text_at(e, "event_id");
        if (!*id || json_object_get(ids, id)) why = "an event_id that is empty or not new";
        json_object_set_new(ids, id, json_true());
        if (!why) why = promise_of(&q, e);
    }
    if (!why && is_over && q.n_done != json_array_size(q.committed)) why = "an item did not end";
    json_decref(ids);
    json_decref(q.committed);
    json_decref(q.text);
    json_decref(q.done);
    return why;
}

/* The connection breaks, and the live session ends. */
static void played_finish(struct played *p)
{
    realtime_gone(p->rt);
    if (p->is_live) played_ended(p, NULL);
    if (!p->is_over) played_wrong(p, "the machine was not freed");
    json_decref(p->sent);
}
#endif

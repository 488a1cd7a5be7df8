/* steno-serve: realtime transcription: the client's side. SPDX-License-Identifier: MIT */
#include "ask_json.h"
#include "base64.h"
#include "realtime_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------------------------------------------------------------- */

int realtime_open(struct realtime **out, const struct realtime_params *p)
{
    struct realtime *rt = calloc(1, sizeof *rt);
    *out = NULL;
    if (!rt) return -1;
    rt->p = *p;
    snprintf(rt->seed, sizeof rt->seed, "%s", p->seed);
    snprintf(rt->model, sizeof rt->model, "%s", p->model);
    rt->held_end = &rt->held;
    if (realtime_session_init(&rt->session, rt->model)) {
        free(rt);
        return -1;
    }
    if (pthread_mutex_init(&rt->lock, NULL)) {
        realtime_session_free(&rt->session);
        free(rt);
        return -1;
    }
    realtime_session_config(&rt->session, &rt->config);
    *out = rt;
    return 0;
}

static void held_drop(struct realtime *rt)
{
    while (rt->held) {
        struct realtime_held *h = rt->held;
        rt->held = h->next;
        free(h);
    }
    rt->held_end = &rt->held;
    rt->held_bytes = 0;
}

static void machine_free(struct realtime *rt)
{
    void (*over)(void *user) = rt->p.over;
    void *user = rt->p.user;
    held_drop(rt);
    while (rt->items) item_drop(rt, rt->items);
    realtime_session_free(&rt->session);
    json_decref(rt->live_input);
    pthread_mutex_destroy(&rt->lock);
    free(rt);
    if (over) over(user);
}

int64_t realtime_now_ms(const struct realtime *rt)
{
    return rt->base_ms + (rt->live ? rt->live_bytes / rt->width * 1000 / rt->rate : 0);
}

/* ---- audio ------------------------------------------------------------------------------------------------------------------- */

static int is_held(const struct realtime *rt)
{
    return rt->n_flushes >= FLUSHES_MAX || rt->is_full || rt->is_swapping || rt->is_clearing || rt->clear_waits || rt->commit_waits;
}

/* Keeps a message: behind the others, or before them. */
static void hold(struct realtime *rt, int is_binary, const void *bytes, size_t n, int first)
{
    struct realtime_held *h = n > HELD_MAX - rt->held_bytes ? NULL : malloc(sizeof *h + n);
    if (!h) {
        out_close(rt, CLOSE_POLICY, "too much audio waits");
        return;
    }
    *h = (struct realtime_held){ .is_binary = is_binary, .n = n };
    memcpy(h->bytes, bytes, n);
    rt->held_bytes += n;
    if (first) {
        h->next = rt->held;
        rt->held = h;
        if (!h->next) rt->held_end = &h->next;
    } else {
        *rt->held_end = h;
        rt->held_end = &h->next;
    }
}

void realtime_refused(struct realtime *rt, const struct api_error *e)
{
    struct realtime_error why = { 0 };
    switch (e->code) {
    case API_too_many_sessions: case API_queue_full: out_close(rt, CLOSE_BUSY, "no free session"); return;
    case API_loading: out_close(rt, CLOSE_BUSY, "the model is not loaded"); return;
    case API_overloaded: out_close(rt, CLOSE_BUSY, "the server is overloaded"); return;
    case API_draining: out_close(rt, CLOSE_GOING, "the server is stopping"); return;
    case API_invalid_value: case API_unknown_parameter: case API_model_not_found:
        realtime_fail(&why, "invalid_value", e->param, "%s", e->message);
        out_error(rt, &why, NULL);
        out_close(rt, CLOSE_UNSERVED, "the session cannot be served");
        return;
    default: out_close(rt, CLOSE_BROKEN, "internal error");
    }
}

static int live_begin(struct realtime *rt)
{
    struct api_error e = { 0 };
    if (rt->live) return 0;
    json_decref(rt->live_input);
    rt->live_input = json_deep_copy(rt->session.input);
    rt->rate = rt->config.rate;
    rt->width = rt->config.format == REALTIME_PCM ? 2 : 1;
    rt->live_bytes = 0;
    rt->live_has_vad = rt->config.uses_vad;
    rt->live = rt->live_input ? rt->p.audio->open(rt->p.user, &rt->config, rt, &e) : NULL;
    if (!rt->live) realtime_refused(rt, &e);
    return rt->live ? 0 : -1;
}

/* Pushes whole samples, at most a second at a time. @return the number of bytes that were taken */
static size_t push(struct realtime *rt, const unsigned char *bytes, size_t n)
{
    const size_t most = (size_t)(rt->rate * rt->width);
    size_t at = 0;
    while (at < n && !is_held(rt)) {
        const size_t some = n - at < most ? n - at : most;
        const int rc = rt->p.audio->push(rt->live, bytes + at, some);
        if (rc < 0) { /* `ended` follows */
            rt->is_swapping = 1;
            break;
        }
        rt->live_bytes += (int64_t)some;
        at += some;
        if (rc) rt->is_full = 1;
    }
    return at;
}

static void audio_in(struct realtime *rt, const unsigned char *bytes, size_t n)
{
    if (!n || live_begin(rt)) return;
    if (rt->width == 2 && rt->has_carry) {
        const unsigned char sample[2] = { rt->carry, bytes[0] };
        if (push(rt, sample, 2) < 2) {
            hold(rt, 1, bytes, n, 1);
            return;
        }
        rt->has_carry = 0;
        bytes++;
        n--;
    }
    const size_t whole = n - n % (size_t)rt->width, taken = push(rt, bytes, whole);
    if (taken < whole) {
        hold(rt, 1, bytes + taken, n - taken, 1);
        return;
    }
    if (whole == n) return;
    rt->carry = bytes[whole];
    rt->has_carry = 1;
}

/* ---- client events ----------------------------------------------------------------------------------------------------------- */

struct request { struct realtime *rt; const json_t *event; const char *id; };

static void refuse(struct request *q, const char *code, const char *param, const char *message)
{
    struct realtime_error e = { 0 };
    realtime_fail(&e, code, param, "%s", message);
    out_error(q->rt, &e, q->id);
}

static void on_append(struct request *q)
{
    struct realtime *rt = q->rt;
    const json_t *audio = json_object_get(q->event, "audio");
    char message[200];
    struct base64 d;
    if (!audio) {
        refuse(q, "missing_required_parameter", "audio", "input_audio_buffer.append needs 'audio': samples in base64.");
        return;
    }
    if (!json_is_string(audio)) {
        refuse(q, "invalid_value", "audio", "'audio' must be a string: samples in base64.");
        return;
    }
    size_t n = json_string_length(audio);
    unsigned char *bytes = malloc(BASE64_DECODED_MAX(n));
    if (!bytes) out_close(rt, CLOSE_BROKEN, "out of memory");
    else if (!base64_decode(&d, json_string_value(audio), n, bytes, &n)) audio_in(rt, bytes, n);
    else {
        snprintf(message, sizeof message, "'audio' is not base64: at character %zu: %s.", d.at, d.why);
        refuse(q, "invalid_value", "audio", message);
    }
    free(bytes);
}

static void too_short(struct realtime *rt, const char *event_id, int64_t ms)
{
    struct realtime_error e = { 0 };
    realtime_fail(&e, "input_audio_buffer_commit_empty", NULL, "The buffer has %lld ms of audio: a commit needs at least %d ms.",
                  (long long)ms, COMMIT_LEAST_MS);
    out_error(rt, &e, event_id);
}

static void on_commit(struct request *q)
{
    struct realtime *rt = q->rt;
    const int64_t now = realtime_now_ms(rt);
    struct realtime_item *it = item_filling(rt);
    const int by_turns = rt->live && rt->live_has_vad;
    if (now - rt->commit_ms < COMMIT_LEAST_MS && !(by_turns && (it || rt->n_committed))) {
        too_short(rt, q->id, now - rt->commit_ms);
        return;
    }
    if (by_turns) { /* a turn may begin in audio that is not decoded yet, so the answer comes with `flushed` */
        rt->commit_waits = 1;
        rt->flush_ms = now;
    } else {
        if (!it) it = item_open(rt, rt->commit_ms);
        if (!it) return;
        item_commit(rt, it, now);
        rt->n_committed = 0;
    }
    if (rt->live) {
        rt->n_flushes++;
        rt->p.audio->commit(rt->live);
    } else item_complete(rt); /* its audio was lost, or it is older than a change of the session */
}

/* Items that are committed are completed before the rest is dropped. */
static void clear_begin(struct realtime *rt)
{
    rt->clear_waits = rt->items && rt->items->is_committed;
    if (rt->clear_waits) return;
    rt->has_carry = 0;
    rt->is_clearing = 1;
    if (rt->live) rt->p.audio->clear(rt->live);
}

void realtime_clear_end(struct realtime *rt)
{
    struct realtime_item *it = item_filling(rt);
    if (it) item_drop(rt, it);
    rt->is_clearing = 0;
    rt->commit_ms = realtime_now_ms(rt);
    rt->n_committed = 0;
    out_event(rt, "input_audio_buffer.cleared", json_object());
}

static void on_clear(struct request *q)
{
    clear_begin(q->rt);
    if (!q->rt->live && q->rt->is_clearing) realtime_clear_end(q->rt);
}

/* @return 0, or -1 with *e: the session stays as it was */
static int session_change(struct realtime *rt, const json_t *patch, struct realtime_error *e)
{
    struct realtime_session next;
    struct realtime_config c;
    if (realtime_session_copy(&next, &rt->session)) return realtime_fail(e, "server_error", NULL, "The server is out of memory.");
    int rc = realtime_session_update(&next, patch, e);
    realtime_session_config(&next, &c);
    const int is_new_format = c.format != rt->config.format || c.rate != rt->config.rate;
    if (!rc && is_new_format && (realtime_now_ms(rt) > rt->commit_ms || rt->has_carry || rt->items))
        rc = realtime_fail(e, "invalid_value", "session.audio.input.format",
                           "The format cannot change while audio is buffered: send input_audio_buffer.commit or clear before.");
    if (!rc && rt->p.check) rc = rt->p.check(rt->p.user, &c, e);
    if (rc) {
        realtime_session_free(&next);
        return -1;
    }
    realtime_session_free(&rt->session);
    rt->session = next;
    realtime_session_config(&rt->session, &rt->config);
    return 0;
}

int realtime_configure(struct realtime *rt, const json_t *session, struct realtime_error *e) { return session_change(rt, session, e); }

static void on_update(struct request *q)
{
    struct realtime *rt = q->rt;
    struct realtime_error e = { 0 };
    const json_t *session = json_object_get(q->event, "session");
    if (!session) realtime_fail(&e, "missing_required_parameter", "session", "An update needs 'session'.");
    else session_change(rt, session, &e);
    if (e.code) {
        out_error(rt, &e, q->id);
        if (e.ends) out_close(rt, CLOSE_UNSERVED, "this server transcribes only");
        return;
    }
    out_session(rt, 0);
    if (!rt->live || json_equal(rt->live_input, rt->session.input)) return;
    rt->is_swapping = 1; /* another live session, when this one has decoded its audio */
    rt->p.audio->end(rt->live);
}

static const struct { const char *type; void (*handle)(struct request *q); } events[] = {
    { "input_audio_buffer.append", on_append }, { "input_audio_buffer.commit", on_commit }, { "input_audio_buffer.clear", on_clear },
    { "session.update", on_update }, { "transcription_session.update", on_update },
};

static int begins_with(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static void event_handle(struct request *q, const char *type)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (strcmp(events[i].type, type) != 0) continue;
        events[i].handle(q);
        return;
    }
    if (begins_with(type, "conversation.item.") || begins_with(type, "response.") || begins_with(type, "output_audio_buffer."))
        refuse(q, "invalid_value", "type", "A transcription session does not accept this event.");
    else refuse(q, "invalid_event", "type", "The type of the event is not known.");
}

static void text_handle(struct realtime *rt, const char *text, size_t n)
{
    json_error_t why;
    char message[300];
    json_t *event = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    struct request q = { rt, event, NULL };
    const json_t *id = json_object_get(event, "event_id"), *type = json_object_get(event, "type");
    if (!event) {
        snprintf(message, sizeof message, "The event %s: line %d, column %d.", ask_json_mistake(&why), why.line, why.column);
        refuse(&q, "invalid_json", NULL, message);
    } else if (!json_is_object(event)) refuse(&q, "invalid_event", NULL, "An event must be a JSON object.");
    else if (id && !json_is_null(id) && (!json_is_string(id) || json_string_length(id) > 512))
        refuse(&q, "invalid_value", "event_id", "'event_id' must be a string of at most 512 bytes.");
    else {
        q.id = json_is_string(id) ? json_string_value(id) : "";
        if (!json_is_string(type)) refuse(&q, "invalid_event", "type", "An event needs 'type', a string.");
        else event_handle(&q, json_string_value(type));
    }
    json_decref(event);
}

/* ---- messages that waited ---------------------------------------------------------------------------------------------------- */

static void message_in(struct realtime *rt, int is_binary, const void *bytes, size_t n)
{
    if (is_binary) audio_in(rt, bytes, n);
    else text_handle(rt, bytes, n);
}

static void held_handle(struct realtime *rt)
{
    while (rt->held && !is_held(rt) && !rt->is_closed) {
        struct realtime_held *h = rt->held;
        rt->held = h->next;
        if (!rt->held) rt->held_end = &rt->held;
        rt->held_bytes -= h->n;
        message_in(rt, h->is_binary, h->bytes, h->n);
        free(h);
    }
}

void realtime_lock(struct realtime *rt) { pthread_mutex_lock(&rt->lock); }

void realtime_unlock(struct realtime *rt)
{
    if (!rt->is_ending && !rt->is_gone) {
        if (rt->clear_waits && !(rt->items && rt->items->is_committed)) {
            clear_begin(rt);
            if (!rt->live) realtime_clear_end(rt);
        }
        held_handle(rt);
    }
    if (rt->is_ending || rt->is_gone || rt->is_closed) held_drop(rt);
    const int pauses = (is_held(rt) || rt->held) && !rt->is_ending;
    if (pauses != rt->is_paused && !rt->is_gone && !rt->is_closed) rt->p.pause(rt->p.user, rt->is_paused = pauses);
    const int is_over = rt->is_gone && !rt->live;
    pthread_mutex_unlock(&rt->lock);
    if (is_over) machine_free(rt);
}

static void message(struct realtime *rt, int is_binary, const void *bytes, size_t n)
{
    realtime_lock(rt);
    const int is_over = rt->is_ending || rt->is_closed || rt->is_gone;
    if (!is_over && (rt->held || is_held(rt))) hold(rt, is_binary, bytes, n, 0);
    else if (!is_over) message_in(rt, is_binary, bytes, n);
    realtime_unlock(rt);
}

void realtime_text(struct realtime *rt, const char *text, size_t n) { message(rt, 0, text, n); }
void realtime_binary(struct realtime *rt, const void *bytes, size_t n) { message(rt, 1, bytes, n); }

void realtime_begin(struct realtime *rt)
{
    realtime_lock(rt);
    out_session(rt, 1);
    realtime_unlock(rt);
}

void realtime_gone(struct realtime *rt)
{
    realtime_lock(rt);
    rt->is_gone = 1;
    if (rt->live) rt->p.audio->cancel(rt->live);
    realtime_unlock(rt);
}

void realtime_end(struct realtime *rt, int is_expired)
{
    realtime_lock(rt);
    if (!rt->is_ending && !rt->is_gone) {
        struct realtime_error e = { 0 };
        realtime_fail(&e, "session_expired", NULL, "The session has reached its longest time.");
        if (is_expired) out_error(rt, &e, NULL);
        rt->is_ending = 1;
        if (!rt->live) out_close(rt, CLOSE_GOING, is_expired ? "the session has expired" : "the server is stopping");
        else if (!rt->is_swapping) rt->p.audio->end(rt->live);
    }
    realtime_unlock(rt);
}

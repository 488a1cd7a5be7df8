/* steno-serve: secrets of realtime sessions. SPDX-License-Identifier: MIT */
#include "realtime_secrets.h"
#include "ask_json.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SECRET_BEGIN "ek_"
enum { SECRET_BYTES = 32 };

struct secret { char text[SECRET_SZ]; int64_t expires_at; json_t *session; };

struct secrets {
    pthread_mutex_t lock;
    struct secret secret[SECRETS_MAX]; /* expires_at 0: free */
};

struct secrets *secrets_open(void)
{
    struct secrets *s = calloc(1, sizeof *s);
    if (!s || !pthread_mutex_init(&s->lock, NULL)) return s;
    free(s);
    return NULL;
}

static void secret_drop(struct secret *k)
{
    json_decref(k->session);
    *k = (struct secret){ .session = NULL };
}

void secrets_close(struct secrets *s)
{
    if (!s) return;
    for (int i = 0; i < SECRETS_MAX; i++) secret_drop(&s->secret[i]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* @return 0, or -1: there are no random bits */
static int secret_make(char out[SECRET_SZ])
{
    unsigned char bytes[SECRET_BYTES];
    size_t n = 0;
    while (n < sizeof bytes) {
        const ssize_t got = getrandom(bytes + n, sizeof bytes - n, 0);
        if (got <= 0) return -1;
        n += (size_t)got;
    }
    out += sprintf(out, SECRET_BEGIN);
    for (size_t i = 0; i < sizeof bytes; i++) out += sprintf(out, "%02x", bytes[i]);
    return 0;
}

/* Adds a secret. @return API_OK or a code, in *e */
static int secret_add(struct secrets *s, const json_t *session, int64_t now, int64_t expires_at, char out[SECRET_SZ], struct api_error *e)
{
    json_t *copy = json_deep_copy(session);
    struct secret *at = NULL;
    if (!copy || secret_make(out)) {
        json_decref(copy);
        return api_fail(e, API_internal_error, NULL, "There are no random numbers, or no memory.");
    }
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < SECRETS_MAX; i++) {
        if (s->secret[i].expires_at <= now) secret_drop(&s->secret[i]);
        if (!s->secret[i].expires_at && !at) at = &s->secret[i];
    }
    if (at) {
        at->expires_at = expires_at;
        at->session = copy;
        memcpy(at->text, out, SECRET_SZ);
    }
    pthread_mutex_unlock(&s->lock);
    if (at) return API_OK;
    json_decref(copy);
    e->retry_after_s = 60;
    return api_fail(e, API_too_many_sessions, NULL, "%d secrets are valid, and no more are created. Wait until some have expired.",
                    SECRETS_MAX);
}

int secrets_check(struct secrets *s, const char *text, int64_t now, json_t **session)
{
    char given[SECRET_SZ] = "";
    int found = -1;
    if (session) *session = NULL;
    if (strlen(text) != SECRET_SZ - 1) return 0;
    memcpy(given, text, SECRET_SZ);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < SECRETS_MAX; i++) {
        unsigned char differs = 0;
        for (int k = 0; k < SECRET_SZ; k++) differs |= (unsigned char)(s->secret[i].text[k] ^ given[k]);
        if (!differs && s->secret[i].expires_at > now) found = i;
    }
    if (found >= 0 && session) *session = json_incref(s->secret[found].session);
    pthread_mutex_unlock(&s->lock);
    return found >= 0;
}

/* ---- requests ---------------------------------------------------------------------------------------------------------------- */

/* expires_after: {anchor, seconds} */
static int expiry_read(const json_t *v, int64_t *seconds, struct api_error *e)
{
    const char *key;
    json_t *one;
    *seconds = SECRET_USUAL_S;
    if (!v || json_is_null(v)) return API_OK;
    if (!json_is_object(v)) return api_fail(e, API_invalid_value, "expires_after", "'expires_after' must be an object.");
    json_object_foreach((json_t *)v, key, one) {
        if (!strcmp(key, "anchor")) {
            if (json_is_string(one) && !strcmp(json_string_value(one), "created_at")) continue;
            return api_fail(e, API_invalid_value, "expires_after.anchor", "'expires_after.anchor' must be created_at.");
        }
        if (strcmp(key, "seconds") != 0)
            return api_fail(e, API_unknown_parameter, "expires_after", "'expires_after' may have anchor and seconds.");
        *seconds = json_integer_value(one);
        if (!json_is_integer(one) || *seconds < SECRET_LEAST_S || *seconds > SECRET_MOST_S)
            return api_fail(e, API_invalid_value, "expires_after.seconds", "'expires_after.seconds' must be an integer from %d to %d.",
                            SECRET_LEAST_S, SECRET_MOST_S);
    }
    return API_OK;
}

/* Splits the body into the session and its expiry. */
static int body_read(const json_t *body, int is_flat, const json_t **session, int64_t *seconds, struct api_error *e)
{
    const char *key;
    json_t *one;
    if (is_flat) {
        *session = body;
        return expiry_read(json_object_get(json_object_get(body, "client_secret"), "expires_after"), seconds, e);
    }
    *session = json_object_get(body, "session");
    json_object_foreach((json_t *)body, key, one) {
        if (strcmp(key, "session") != 0 && strcmp(key, "expires_after") != 0)
            return api_fail(e, API_unknown_parameter, key, "The body may have session and expires_after.");
    }
    return expiry_read(json_object_get(body, "expires_after"), seconds, e);
}

/* The body of the answer; NULL: out of memory. */
static char *answer_make(const struct realtime_session *session, int is_flat, const char *value, int64_t expires_at, size_t *n)
{
    char id[24];
    snprintf(id, sizeof id, "sess_%.16s", value + sizeof SECRET_BEGIN - 1 + 48);
    json_t *inner = realtime_session_json(session, is_flat, id, is_flat ? 0 : expires_at), *out = NULL;
    if (!inner) return NULL;
    if (!is_flat) out = json_pack("{s:s,s:I,s:o}", "value", value, "expires_at", (json_int_t)expires_at, "session", inner);
    else if (json_object_set_new(inner, "client_secret", json_pack("{s:s,s:I}", "value", value, "expires_at", (json_int_t)expires_at)))
        json_decref(inner);
    else out = inner;
    char *text = json_dumps(out, JSON_COMPACT);
    json_decref(out);
    *n = text ? strlen(text) : 0;
    return text;
}

/* Merges the session that was asked for. */
static int session_read(struct realtime_session *to, const json_t *session, const struct secret_request *q, struct api_error *e)
{
    struct realtime_error why = { 0 };
    struct realtime_config c;
    if (session && !json_is_null(session)) realtime_session_update(to, session, &why);
    realtime_session_config(to, &c);
    if (!why.code && q->check) q->check(q->user, &c, &why);
    if (!why.code) return API_OK;
    const enum api_code code = !strcmp(why.code, "unknown_parameter") ? API_unknown_parameter :
        !strcmp(why.code, "server_error") ? API_internal_error : API_invalid_value;
    return api_fail(e, code, why.param, "%s", why.message);
}

static int no_memory(struct api_error *e) { return api_fail(e, API_internal_error, NULL, "The server is out of memory."); }

static int create(struct secrets *s, const json_t *body, const struct secret_request *q, char **answer, size_t *n, struct api_error *e)
{
    struct realtime_session session;
    const json_t *patch;
    char value[SECRET_SZ];
    int64_t seconds;
    int code = body_read(body, q->is_flat, &patch, &seconds, e);
    if (code != API_OK) return code;
    if (realtime_session_init(&session, q->model)) return no_memory(e);
    code = session_read(&session, patch, q, e);
    json_t *kept = code == API_OK ? realtime_session_json(&session, 0, NULL, 0) : NULL;
    if (code == API_OK) code = kept ? secret_add(s, kept, q->now, q->now + seconds, value, e) : no_memory(e);
    if (code == API_OK && !(*answer = answer_make(&session, q->is_flat, value, q->now + seconds, n))) code = no_memory(e);
    json_decref(kept);
    realtime_session_free(&session);
    return code;
}

int secrets_create(struct secrets *s, const struct secret_request *q, char **answer, size_t *n, struct api_error *e)
{
    json_error_t why = { 0 };
    json_t *body = q->n ? json_loadb(q->body, q->n, JSON_REJECT_DUPLICATES, &why) : json_object();
    *answer = NULL;
    if (!body)
        return api_fail(e, API_invalid_json, NULL, "The body %s: line %d, column %d.", ask_json_mistake(&why), why.line, why.column);
    const int code = json_is_object(body) ? create(s, body, q, answer, n, e)
                                          : api_fail(e, API_invalid_json, NULL, "The body must be a JSON object.");
    json_decref(body);
    return code;
}

/* steno-serve: the routes, and the way from a head to one of them. SPDX-License-Identifier: MIT */
#include "routes.h"
#include "api_realtime.h"
#include "page.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct route_row routes[] = {
    { HTTP_POST, "/v1/audio/transcriptions", 0, ROUTE_TRANSCRIPTIONS, transcriptions_begin },
    { HTTP_POST, "/v1/audio/translations", 0, ROUTE_TRANSLATIONS, translations_begin },
    { HTTP_POST, "/inference", 0, ROUTE_INFERENCE, inference_begin },
    { HTTP_POST, "/asr", 0, ROUTE_ASR, asr_begin },
    { HTTP_POST, "/detect-language", 0, ROUTE_DETECT, detect_begin },
    { HTTP_GET, "/v1/models", 0, ROUTE_MODELS, models_begin },
    { HTTP_GET, "/v1/models/", 0, ROUTE_MODELS, models_begin },
    { HTTP_POST, "/v1/chat/completions", 0, ROUTE_CHAT, chat_begin },
    { HTTP_POST, "/v1/embeddings", 0, ROUTE_EMBEDDINGS, embeddings_begin },
    { HTTP_GET, "/v1/realtime", 0, ROUTE_REALTIME, live_realtime_begin },
    { HTTP_POST, "/v1/realtime/client_secrets", 0, ROUTE_REALTIME, client_secrets_begin },
    { HTTP_POST, "/v1/realtime/transcription_sessions", 0, ROUTE_REALTIME, transcription_sessions_begin },
    { HTTP_POST, "/v1/listen", 0, ROUTE_LISTEN, listen_file_begin },
    { HTTP_GET, "/v1/listen", 0, ROUTE_LISTEN, listen_begin },
    { HTTP_GET, "/v1/stream", 0, ROUTE_STREAM, live_stream_begin },
    { HTTP_GET, "/openapi.json", 1, ROUTE_OPS, openapi_begin },
    { HTTP_GET, "/livez", 1, ROUTE_OPS, livez_begin },
    { HTTP_GET, "/healthz", 1, ROUTE_OPS, livez_begin },
    { HTTP_GET, "/health", 1, ROUTE_OPS, livez_begin },
    { HTTP_GET, "/readyz", 1, ROUTE_OPS, readyz_begin },
    { HTTP_GET, "/version", 1, ROUTE_OPS, version_begin },
    { HTTP_GET, "/metrics", 0, ROUTE_OPS, metrics_begin },
    { 0, NULL, 0, ROUTE_NONE, NULL },
};

/* ---- finding a route --------------------------------------------------------------------------------------------------------- */

static int path_matches(const char *row, const char *path)
{
    const size_t n = strlen(row);
    return row[n - 1] == '/' && n > 1 ? strncmp(row, path, n) == 0 && path[n] : strcmp(row, path) == 0;
}

/* Its GET begins a WebSocket. */
static int is_socket(const struct route_row *r)
{
    return r->begin == live_realtime_begin || r->begin == listen_begin || r->begin == live_stream_begin;
}

/* Methods of a path for the header Allow: "GET, HEAD". @return 0: no such path */
static int methods_of(const struct serve *s, const char *path, char *out, size_t n)
{
    const char *sep = "";
    snprintf(out, n, "%s", s->p.page && page_find(path) ? "GET, HEAD" : "");
    for (const struct route_row *r = routes; r->path; r++) {
        const char *name = r->method != HTTP_GET ? "POST" : is_socket(r) ? "GET" : "GET, HEAD";
        if (!path_matches(r->path, path) || strstr(out, name)) continue;
        const size_t at = strlen(out);
        if (at + strlen(sep) + strlen(name) < n) {
            strcpy(out + at, sep);
            strcat(out, name);
        }
        sep = ", ";
    }
    return out[0] != '\0';
}

static const struct route_row *row_find(enum http_method method, const char *path)
{
    const int is_head = method == HTTP_HEAD;
    for (const struct route_row *r = routes; r->path; r++)
        if (r->method == (is_head ? HTTP_GET : method) && path_matches(r->path, path)) return is_head && is_socket(r) ? NULL : r;
    return NULL;
}

/* The path behind --prefix. @return NULL: it lies outside */
static const char *path_inside(const struct serve *s, const char *path)
{
    const size_t n = strlen(s->p.prefix);
    if (strncmp(path, s->p.prefix, n) != 0) return NULL;
    if (!path[n]) return "/";
    return path[n] == '/' ? path + n : NULL;
}

static const struct http_handler *refuse_path(struct serve *s, struct exchange *x, const char *path, void **request)
{
    struct api_error e = { 0 };
    char allow[64];
    if (path && methods_of(s, path, allow, sizeof allow)) {
        api_fail(&e, API_method_not_allowed, NULL, "%s is not for %.100s: use %s", exchange_method_name(x), path, allow);
        struct http_answer a = { .status = 405, .type = "application/json", .header = { { "Allow", allow } },
                                 .reason = api_code_name(e.code) };
        a.body = api_error_json(&e, &a.n);
        return call_answer(s, x, ROUTE_NONE, &a, request);
    }
    if (path && strncmp(path, "/v1/v1/", 7) == 0)
        api_fail(&e, API_not_found, NULL, "the path begins with /v1 twice: the client adds it, so the base URL must end without it");
    else api_fail(&e, API_not_found, NULL, "there is no %.200s here; GET %s/openapi.json lists the routes", exchange_path(x), s->p.prefix);
    return call_fail(s, x, ROUTE_NONE, &e, request);
}

/* OPTIONS without an Origin is not the question of a browser before a request: the answer has the methods of the path. */
static const struct http_handler *options_begin(struct serve *s, struct exchange *x, const char *path, void **request)
{
    char allow[64], with_options[80];
    if (exchange_header(x, "Origin")) return preflight_begin(s, x, request);
    if (!methods_of(s, path, allow, sizeof allow)) return refuse_path(s, x, path, request);
    snprintf(with_options, sizeof with_options, "%s, OPTIONS", allow);
    struct http_answer a = { .status = 204, .header = { { "Allow", with_options } } };
    return call_answer(s, x, ROUTE_NONE, &a, request);
}

/* Bodies are read as they are: a compressed one would be found to be no form or no JSON. */
static int is_compressed(const struct exchange *x, const struct route_row *r, struct api_error *e)
{
    const char *coding = r && r->method == HTTP_POST ? exchange_header(x, "Content-Encoding") : NULL;
    if (!coding || !*coding || strcasecmp(coding, "identity") == 0) return 0;
    api_fail(e, API_unsupported_media_type, NULL, "The body has the Content-Encoding %.40s: send it without one", coding);
    return 1;
}

/* A secret opens realtime sessions for a while; access_check knows only keys. */
static int has_secret(struct serve *s, const struct exchange *x, const struct route_row *r, const struct api_error *e)
{
    char key[ACCESS_KEY_MAX + 1];
    if (e->code != API_invalid_api_key || !r || r->begin != live_realtime_begin || api_realtime_key(x, key, sizeof key)) return 0;
    return api_realtime_is_secret(s->realtime, key);
}

void routes_over(void *serve, const struct exchange *x, int complete)
{
    struct serve *s = serve;
    const char *path = path_inside(s, exchange_path(x));
    const struct route_row *r = path ? row_find(exchange_method(x), path) : NULL;
    if (!exchange_is_handled(x)) call_over(s, x, r ? r->route : ROUTE_NONE, complete);
}

const struct http_handler *routes_begin(void *serve, struct exchange *x, void **request)
{
    struct serve *s = serve;
    struct api_error e = { 0 };
    const char *path = path_inside(s, exchange_path(x));
    const enum http_method method = exchange_method(x);
    const struct route_row *r = path ? row_find(method, path) : NULL;
    const struct page_file *page = path && s->p.page && (method == HTTP_GET || method == HTTP_HEAD) ? page_find(path) : NULL;
    if (method == HTTP_OPTIONS && path) return options_begin(s, x, path, request);
    if (access_check(s->access, x, page || (r && r->is_open), &e) != API_OK && !has_secret(s, x, r, &e))
        return call_fail(s, x, r ? r->route : ROUTE_NONE, &e, request);
    if (is_compressed(x, r, &e)) return call_fail(s, x, r->route, &e, request);
    if (page) return page_begin(s, x, page, request);
    return r ? r->begin(s, x, request) : refuse_path(s, x, path, request);
}

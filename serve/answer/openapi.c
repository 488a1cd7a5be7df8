/* steno-serve: the description of all routes, OpenAPI 3.1. SPDX-License-Identifier: MIT */
#include "openapi.h"
#include "api_error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct openapi_route routes[] = {
    { "/v1/audio/transcriptions", "post", "Transcribe a file", "form:TranscriptionForm", NULL, "Transcription", OPENAPI_WORK, 0 },
    { "/v1/audio/translations", "post", "Translate a file to English", "form:TranscriptionForm", NULL, "Transcription", OPENAPI_WORK, 0 },
    { "/v1/chat/completions", "post", "Continue a conversation", "ChatRequest", NULL, "ChatCompletion", OPENAPI_WORK, 0 },
    { "/v1/embeddings", "post", "Vectors of texts", "EmbeddingRequest", NULL, "EmbeddingList", OPENAPI_WORK, 0 },
    { "/v1/models", "get", "The models", NULL, NULL, "ModelList", OPENAPI_SIMPLE, 0 },
    { "/v1/models/{id}", "get", "One model; its name may have slashes", NULL, NULL, "Model", OPENAPI_SIMPLE, 0 },
    { "/v1/realtime", "get", "Live audio over WebSocket, as in OpenAI's API", NULL, "RealtimeQuery", NULL, OPENAPI_SIMPLE, 0 },
    { "/v1/realtime/client_secrets", "post", "A secret for one live session", "SecretRequest", NULL, "Secret", OPENAPI_SIMPLE, 0 },
    { "/v1/realtime/transcription_sessions", "post", "A secret, in the older form", "SessionRequest", NULL, "SessionSecret",
      OPENAPI_SIMPLE, 0 },
    { "/v1/listen", "post", "Transcribe a file, as in Deepgram's API", "Audio", "ListenFileQuery", "ListenAnswer", OPENAPI_WORK, 0 },
    { "/v1/listen", "get", "Live audio over WebSocket, as in Deepgram's API", NULL, "ListenQuery", NULL, OPENAPI_SIMPLE, 0 },
    { "/v1/stream", "get", "Live audio over WebSocket as raw samples", NULL, "StreamQuery", NULL, OPENAPI_SIMPLE, 0 },
    { "/inference", "post", "Transcribe a file, as whisper.cpp's server", "form:InferenceForm", NULL, "Transcription",
      OPENAPI_WORK, 0 },
    { "/asr", "post", "Transcribe a file, as whisper-asr-webservice", "form:AsrForm", "AsrQuery", "Transcription", OPENAPI_WORK, 0 },
    { "/detect-language", "post", "The language of a file", "form:AsrForm", NULL, "DetectedLanguage", OPENAPI_WORK, 0 },
    { "/metrics", "get", "Figures for Prometheus", NULL, NULL, "text/plain", OPENAPI_SIMPLE, 0 },
    { "/livez", "get", "The server runs", NULL, NULL, "Status", OPENAPI_NO_ERRORS, 1 },
    { "/healthz", "get", "As /livez", NULL, NULL, "Status", OPENAPI_NO_ERRORS, 1 },
    { "/health", "get", "As /livez", NULL, NULL, "Status", OPENAPI_NO_ERRORS, 1 },
    { "/readyz", "get", "The server takes requests; 503: not now", NULL, NULL, "Status", OPENAPI_NO_ERRORS, 1 },
    { "/version", "get", "The version", NULL, NULL, "Version", OPENAPI_NO_ERRORS, 1 },
    { "/openapi.json", "get", "This description", NULL, NULL, "application/json", OPENAPI_NO_ERRORS, 1 },
    { "/", "get", "The page", NULL, NULL, "text/html", OPENAPI_NO_ERRORS, 1 },
};
/* clang-format on */

enum { N_ROUTE_ROWS = sizeof routes / sizeof *routes };

const struct openapi_route *openapi_route_at(int i)
{
    return i >= 0 && i < N_ROUTE_ROWS ? &routes[i] : NULL;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

static json_t *content(const char *type, json_t *schema)
{
    return json_pack("{s:{s:o}}", type, "schema", schema);
}

/* A type of media has a slash. */
static json_t *success(const struct openapi_route *r)
{
    if (!r->answer) return json_pack("{s:s}", "description", "The connection becomes a WebSocket");
    const int is_media = !!strchr(r->answer, '/');
    json_t *media = content(is_media ? r->answer : "application/json", openapi_type(is_media ? "string" : r->answer));
    if (media && !strcmp(r->answer, "Transcription")) {
        static const char *const texts[] = { "text/plain", "application/x-subrip", "text/vtt", "text/tab-separated-values",
                                             "text/event-stream" };
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            json_t *more = content(texts[i], openapi_type("string"));
            if (!more || json_object_update(media, more)) json_decref(media), media = NULL;
            json_decref(more);
        }
    }
    return json_pack("{s:s, s:o}", "description", "Success", "content", media);
}

/* The codes of a status: "invalid_value, ..." */
static void codes_of(int status, char *out, size_t n)
{
    size_t at = 0;
    out[0] = '\0';
    for (int i = API_OK + 1; i < API_N_CODES; i++) {
        if (api_status((enum api_code)i) != status || at + 40 > n) continue;
        at += (size_t)snprintf(out + at, n - at, "%s%s", at ? ", " : "", api_code_name((enum api_code)i));
    }
}

static int is_answered(const struct openapi_route *r, int status)
{
    static const int simple[] = { 400, 401, 403, 404, 405, 503 };
    if (r->errors == OPENAPI_WORK) return 1;
    for (size_t i = 0; r->errors == OPENAPI_SIMPLE && i < sizeof simple / sizeof *simple; i++)
        if (simple[i] == status) return 1;
    return !r->answer && status == 429; /* live sessions have a maximum number */
}

static json_t *responses(const struct openapi_route *r)
{
    json_t *o = json_object();
    int bad = !o || json_object_set_new(o, r->answer ? "200" : "101", success(r));
    for (int status = 400; status < 600 && !bad; status++) {
        char codes[512], key[16];
        codes_of(status, codes, sizeof codes);
        if (!codes[0] || status == 499 || !is_answered(r, status)) continue; /* 499 is never sent */
        snprintf(key, sizeof key, "%d", status);
        bad = json_object_set_new(o, key, json_pack("{s:s, s:o}", "description", codes, "content",
                                                    content("application/json", openapi_type("Error"))));
    }
    if (!bad && !strcmp(r->path, "/readyz"))
        bad = json_object_set_new(o, "503", json_pack("{s:s, s:o}", "description", "loading, draining or spool_full", "content",
                                                      content("application/json", openapi_type("Status"))));
    if (!bad) return o;
    json_decref(o);
    return NULL;
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

static json_t *body(const struct openapi_route *r)
{
    const int is_form = !strncmp(r->body, "form:", 5);
    const char *schema = is_form ? r->body + 5 : r->body;
    const char *type = is_form ? "multipart/form-data" : !strcmp(schema, "Audio") ? "application/octet-stream" : "application/json";
    return json_pack("{s:b, s:o}", "required", 1, "content", content(type, openapi_type(schema)));
}

static json_t *parameters(const struct openapi_route *r)
{
    json_t *list = r->query ? openapi_parameters(r->query) : json_array();
    if (list && strchr(r->path, '{') &&
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:o}", "name", "id", "in", "path", "required", 1, "schema",
                                              openapi_type("string")))) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *operation(const struct openapi_route *r)
{
    json_t *o = json_pack("{s:s, s:o, s:o}", "summary", r->summary, "parameters", parameters(r), "responses", responses(r));
    int bad = !o || (r->body && json_object_set_new(o, "requestBody", body(r)));
    if (!bad && r->is_open) bad = json_object_set_new(o, "security", json_array());
    if (!bad) return o;
    json_decref(o);
    return NULL;
}

static json_t *paths(void)
{
    json_t *all = json_object();
    int bad = !all;
    for (int i = 0; i < N_ROUTE_ROWS && !bad; i++) {
        json_t *path = json_object_get(all, routes[i].path);
        if (!path) {
            path = json_object();
            bad = json_object_set_new(all, routes[i].path, path);
        }
        bad = bad || json_object_set_new(path, routes[i].method, operation(&routes[i]));
    }
    if (!bad) return all;
    json_decref(all);
    return NULL;
}

char *openapi_json(const char *version, const char *prefix, size_t *n)
{
    json_t *o = json_pack("{s:s, s:{s:s, s:s}, s:[{s:s}], s:[{s:[]}], s:o, s:{s:o, s:{s:{s:s, s:s}}}}", "openapi", "3.1.0", "info", "title",
                          "steno serve", "version", version, "servers", "url", *prefix ? prefix : "/", "security", "key", "paths", paths(),
                          "components", "schemas", openapi_schemas(), "securitySchemes", "key", "type", "http", "scheme", "bearer");
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    json_decref(o);
    *n = text ? strlen(text) : 0;
    return text;
}

/* steno-serve: health, version, metrics, models. SPDX-License-Identifier: MIT */
#include "api.h"
#include "api_models.h"
#include "openapi.h"
#include <stdlib.h>
#include <string.h>

/* Answers with JSON, malloc'd [n]; NULL: out of memory. */
static const struct http_handler *json(struct serve *s, struct exchange *x, enum route route, int status, char *text, size_t n,
                                       void **request)
{
    struct api_error e = { 0 };
    struct http_answer a = { .status = status, .type = "application/json", .body = text, .n = n };
    if (text) return call_answer(s, x, route, &a, request);
    api_fail(&e, API_internal_error, NULL, "out of memory for the answer");
    return call_fail(s, x, route, &e, request);
}

const struct http_handler *livez_begin(struct serve *s, struct exchange *x, void **request)
{
    size_t n = 0;
    char *text = live_json(&n);
    return json(s, x, ROUTE_OPS, 200, text, n, request);
}

const struct http_handler *readyz_begin(struct serve *s, struct exchange *x, void **request)
{
    size_t n = 0;
    const enum readiness is = atomic_load(&s->n_stops) ? IS_DRAINING : !engines_ready(s->engines) ? IS_LOADING :
                              spool_bytes(s->spool) >= spool_max(s->spool) ? HAS_FULL_SPOOL : IS_READY;
    char *text = ready_json(is, &n);
    return json(s, x, ROUTE_OPS, is == IS_READY ? 200 : 503, text, n, request);
}

const struct http_handler *version_begin(struct serve *s, struct exchange *x, void **request)
{
    size_t n = 0;
    char *text = version_json(s->p.version, &n);
    return json(s, x, ROUTE_OPS, 200, text, n, request);
}

const struct http_handler *openapi_begin(struct serve *s, struct exchange *x, void **request)
{
    size_t n = 0;
    char *text = openapi_json(s->p.version, s->p.prefix, &n);
    return json(s, x, ROUTE_OPS, 200, text, n, request);
}

const struct http_handler *metrics_begin(struct serve *s, struct exchange *x, void **request)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    if (!s->p.metrics) {
        struct api_error e = { 0 };
        api_fail(&e, API_not_found, NULL, "this server has no /metrics (--no-metrics)");
        return call_fail(s, x, ROUTE_OPS, &e, request);
    }
    const struct engines_now of = engines_now(s->engines);
    const struct metrics_now now = {
        .running = of.running, .waiting = of.waiting, .live = of.live, .live_is_late = of.is_late,
        .connections = httpd_connections(s->http),
        .spool_bytes = spool_bytes(s->spool), .models_loaded = of.loaded, .model_bytes = of.memory, .ready = engines_ready(s->engines),
        .websockets = httpd_upgraded(s->http), .wyoming = wyoming_connections(s->wyoming),
    };
    metrics_write(s->metrics, &to, &now);
    if (to.failed) {
        free(text.p);
        return json(s, x, ROUTE_OPS, 500, NULL, 0, request);
    }
    struct http_answer a = { .status = 200, .type = METRICS_TYPE, .body = text.p, .n = text.n };
    return call_answer(s, x, ROUTE_OPS, &a, request);
}

const struct http_handler *models_begin(struct serve *s, struct exchange *x, void **request)
{
    const char *below = exchange_path(x) + strlen(s->p.prefix) + strlen("/v1/models");
    struct api_error e = { 0 };
    struct engine *g = *below ? engines_find(s->engines, below + 1) : NULL;
    size_t n = 0;
    char *text = NULL;
    if (*below && !g) {
        engines_unknown(s->engines, below + 1, &e);
        return call_fail(s, x, ROUTE_MODELS, &e, request);
    }
    text = g ? api_model(&s->p, g, &n) : api_models(s->engines, &s->p, &n);
    return json(s, x, ROUTE_MODELS, 200, text, n, request);
}

const struct http_handler *preflight_begin(struct serve *s, struct exchange *x, void **request)
{
    struct http_answer a = { 0 };
    struct api_error e = { 0 };
    if (access_preflight(s->access, x, &a, &e) != API_OK) return call_fail(s, x, ROUTE_NONE, &e, request);
    return call_answer(s, x, ROUTE_NONE, &a, request);
}

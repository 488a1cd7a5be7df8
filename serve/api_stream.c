/* steno-serve: the route /v1/stream. SPDX-License-Identifier: MIT */
#include "api_stream.h"

/* @return API_OK: the exchange is upgraded, or a code, in *e */
static int stream_begin(struct exchange *x, const struct api_stream_params *p, struct api_error *e)
{
    struct stream_query q;
    struct stream *s;
    stream_query_begin(&q);
    exchange_queries(x, stream_query_add, &q);
    if (q.e.code != API_OK) {
        *e = q.e;
        return q.e.code;
    }
    q.live.engine = engines_find(p->engines, q.model);
    if (!q.live.engine) return api_fail(e, API_model_not_found, "model", "the model \"%.100s\" does not exist", q.model);
    if (q.live.language && *q.live.language) {
        const char *code = steno_language_code(q.live.language);
        if (!code || !engine_has_language(q.live.engine, code))
            return api_fail(e, API_invalid_value, "language", "the model does not have the language \"%.40s\"", q.live.language);
        q.live.language = code;
    }
    q.live.metrics = p->metrics;
    if (!q.live.step_ms) q.live.step_ms = p->serve->live_step_ms;
    if (!q.live.max_turn_ms) q.live.max_turn_ms = p->serve->live_turn_ms;
    int code = stream_open(&s, p->streams, &q.live, (int64_t)(p->serve->live_seconds_max * 1000), e);
    if (code != API_OK) return code;
    code = ws_accept(x, p->loop, NULL, stream_opened, s, e);
    if (code != API_OK) stream_drop(s);
    return code;
}

void api_stream(struct exchange *x, const struct api_stream_params *p)
{
    struct api_error e = { 0 };
    if (exchange_method(x) != HTTP_GET)
        api_fail(&e, API_method_not_allowed, NULL, "/v1/stream is a WebSocket: connect with GET. A file goes to /v1/audio/transcriptions");
    else stream_begin(x, p, &e);
    if (e.code != API_OK) api_answer_error(x, &e);
}

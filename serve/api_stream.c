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
    q.live.engine = engines_for(p->engines, q.model, ENGINE_TRANSCRIBES, e);
    if (!q.live.engine || engine_language(q.live.engine, q.live.language, &q.live.language, e) != API_OK) return e->code;
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
    if (stream_begin(x, p, &e) != API_OK) api_answer_error(x, &e);
}

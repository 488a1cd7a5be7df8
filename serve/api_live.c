/* steno-serve: routes of live audio. SPDX-License-Identifier: MIT */
#include "api.h"
#include "api_listen.h"
#include "api_realtime.h"
#include "api_stream.h"

const struct http_handler *live_realtime_begin(struct serve *s, struct exchange *x, void **request)
{
    return call_watch(s, x, ROUTE_REALTIME, api_realtime_route(s->realtime, x, request), request);
}

const struct http_handler *client_secrets_begin(struct serve *s, struct exchange *x, void **request)
{
    return call_watch(s, x, ROUTE_REALTIME, api_realtime_secret_route(s->realtime, x, 0, request), request);
}

const struct http_handler *transcription_sessions_begin(struct serve *s, struct exchange *x, void **request)
{
    return call_watch(s, x, ROUTE_REALTIME, api_realtime_secret_route(s->realtime, x, 1, request), request);
}

const struct http_handler *listen_begin(struct serve *s, struct exchange *x, void **request)
{
    return call_watch(s, x, ROUTE_LISTEN, api_listen_route(s->listen, x, request), request);
}

const struct http_handler *live_stream_begin(struct serve *s, struct exchange *x, void **request)
{
    *request = NULL;
    api_stream(x, &(struct api_stream_params){ s->engines, s->loop, &s->p, s->metrics, &s->streams });
    return call_watch(s, x, ROUTE_STREAM, NULL, request);
}

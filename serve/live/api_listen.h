/* steno-serve: the route of Deepgram's streaming API, GET /v1/listen. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_API_LISTEN_H
#define STENO_SERVE_API_LISTEN_H
#include "engines.h"
#include "http.h"
#include "loop.h"
#include "metrics.h"

struct api_listen;

/* All of them stay until api_listen_close. */
struct api_listen_params {
    struct engines *engines;
    struct loop *loop;
    const struct serve_params *serve;
    struct metrics *metrics;
};

struct api_listen *api_listen_open(const struct api_listen_params *p); /* NULL: out of memory */
void api_listen_drain(struct api_listen *a);         /* what was sent is decoded, then the connections are closed */
int api_listen_sessions(const struct api_listen *a); /* number of those that have not ended */
/* Waits until all sessions have ended: before it, the connections must be over, and engines_cancel may be called. NULL is allowed */
void api_listen_close(struct api_listen *a);

/* As http_params.route returns it. NULL: an answer was given */
const struct http_handler *api_listen_route(struct api_listen *a, struct exchange *x, void **request);
#endif

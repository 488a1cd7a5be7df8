/* steno-serve: the route /v1/stream. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_API_STREAM_H
#define STENO_SERVE_API_STREAM_H
#include "engines.h"
#include "loop.h"
#include "serve.h"
#include "stream.h"

struct api_stream_params {
    struct engines *engines;
    struct loop *loop;
    const struct serve_params *serve;
    struct metrics *metrics;
    struct sessions *streams;
};

/* Answers a GET with a WebSocket of the plain protocol (stream.h), or with an error. On the HTTP thread. A POST is refused: libmicrohttpd
 * begins no response while a body arrives, so lines could not follow the audio. */
void api_stream(struct exchange *x, const struct api_stream_params *p);
#endif

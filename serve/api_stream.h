/* steno-serve: the route /v1/stream. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_API_STREAM_H
#define STENO_SERVE_API_STREAM_H
#include "engines.h"
#include "loop.h"
#include "serve.h"

/* Answers a GET with a WebSocket of the plain protocol (stream.h), or with an error. On the HTTP thread. A POST is refused: libmicrohttpd
 * begins no response while a body arrives, so lines could not follow the audio. */
void api_stream(struct exchange *x, struct engines *es, struct loop *l, const struct serve_params *p);
#endif

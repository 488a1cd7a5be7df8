/* steno-serve: the routes of OpenAI's realtime transcription. SPDX-License-Identifier: MIT
 *
 * GET /v1/realtime, a WebSocket, and POST /v1/realtime/client_secrets and /v1/realtime/transcription_sessions. */
#ifndef STENO_SERVE_API_REALTIME_H
#define STENO_SERVE_API_REALTIME_H
#include "engines.h"
#include "http.h"
#include "loop.h"
#include "metrics.h"

struct api_realtime;

/* All of them stay until api_realtime_close. */
struct api_realtime_params {
    struct engines *engines;
    struct loop *loop;
    const struct serve_params *serve;
    struct metrics *metrics;
};

struct api_realtime *api_realtime_open(const struct api_realtime_params *p); /* NULL: out of memory */
void api_realtime_drain(struct api_realtime *a);          /* live turns are completed, then the connections are closed with 1001 */
int api_realtime_sessions(const struct api_realtime *a);  /* number of those that have not ended */
/* Waits until all sessions have ended: before it, the connections must be over, and engines_cancel may be called. */
void api_realtime_close(struct api_realtime *a);

/* For the access check. The key that a client sends, in Authorization: Bearer, or, as browsers must, in Sec-WebSocket-Protocol after
 * "openai-insecure-api-key.": into out[n]. @return 0, or -1: none, or longer */
int api_realtime_key(const struct exchange *x, char *out, size_t n);
/* Is this key a secret that opens realtime sessions now? @return 1 or 0 */
int api_realtime_is_secret(const struct api_realtime *a, const char *key);

/* Handlers, as http_params.route returns them. NULL: an answer was given */
const struct http_handler *api_realtime_route(struct api_realtime *a, struct exchange *x, void **request);
const struct http_handler *api_realtime_secret_route(struct api_realtime *a, struct exchange *x, int is_flat, void **request);
#endif

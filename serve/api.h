/* steno-serve: what begins each kind of request. SPDX-License-Identifier: MIT
 *
 * Called on the HTTP thread when a head has arrived and access is granted. Each returns the handler of the body, with its request in
 * *request; NULL: an answer was given. */
#ifndef STENO_SERVE_API_H
#define STENO_SERVE_API_H
#include "call.h"

struct page_file;

typedef const struct http_handler *api_begin(struct serve *s, struct exchange *x, void **request);

api_begin transcriptions_begin, translations_begin, inference_begin, asr_begin, detect_begin, listen_file_begin, models_begin;
api_begin chat_begin, embeddings_begin;
api_begin live_realtime_begin, listen_begin, live_stream_begin, client_secrets_begin, transcription_sessions_begin;
api_begin livez_begin, readyz_begin, version_begin, metrics_begin, openapi_begin, preflight_begin;

const struct http_handler *page_begin(struct serve *s, struct exchange *x, const struct page_file *f, void **request);
#endif

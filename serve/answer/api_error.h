/* steno-serve: errors in the shape of OpenAI's API. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_API_ERROR_H
#define STENO_SERVE_API_ERROR_H
#include "http.h"

/* Codes, their status and type. X(name, status, type) */
#define API_ERRORS(X) \
    X(missing_required_parameter, 400, invalid_request_error) X(invalid_value, 400, invalid_request_error) \
    X(duplicate_parameter, 400, invalid_request_error) X(unknown_parameter, 400, invalid_request_error) \
    X(invalid_multipart, 400, invalid_request_error) X(bad_request, 400, invalid_request_error) \
    X(invalid_json, 400, invalid_request_error) \
    X(unsupported_format, 400, invalid_request_error) X(invalid_audio, 400, invalid_request_error) \
    X(no_audio_stream, 400, invalid_request_error) X(audio_too_short, 400, invalid_request_error) \
    X(audio_too_long, 400, invalid_request_error) X(context_length_exceeded, 400, invalid_request_error) \
    X(invalid_api_key, 401, invalid_request_error) \
    X(origin_not_allowed, 403, invalid_request_error) X(host_not_allowed, 403, invalid_request_error) \
    X(model_not_found, 404, invalid_request_error) X(not_found, 404, invalid_request_error) \
    X(method_not_allowed, 405, invalid_request_error) X(request_too_large, 413, invalid_request_error) \
    X(target_too_long, 414, invalid_request_error) X(headers_too_large, 431, invalid_request_error) \
    X(unsupported_media_type, 415, invalid_request_error) X(upgrade_required, 426, invalid_request_error) \
    X(queue_full, 429, rate_limit_error) X(too_many_sessions, 429, rate_limit_error) X(too_many_connections, 429, rate_limit_error) \
    X(internal_error, 500, server_error) X(timeout, 504, server_error) \
    X(cancelled, 499, server_error) /* the client left: logged and counted, never sent */ \
    X(loading, 503, server_error) X(draining, 503, server_error) X(spool_full, 503, server_error) \
    X(overloaded, 503, server_error)

#define API_CODE(name, status, type) API_##name,
enum api_code { API_OK, API_ERRORS(API_CODE) API_N_CODES };
#undef API_CODE

struct api_error {
    enum api_code code;
    char param[64];     /* "": null */
    char message[512];  /* UTF-8: what, where, and what to do */
    int retry_after_s;  /* 0: none */
};

/* Sets the error, unless one is set. Control characters and invalid UTF-8 of the texts become \\xNN, so parts of requests may be in them.
 * @return the code of *e, so that callers can write `return api_fail(...)` */
int api_fail(struct api_error *e, enum api_code code, const char *param, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

const char *api_code_name(enum api_code code);
int api_status(enum api_code code);
const char *api_type(enum api_code code);

/* {"error": {...}}, malloc'd; NULL: out of memory. */
char *api_error_json(const struct api_error *e, size_t *n);

/* Header fields of the answer: Retry-After and retry-after-ms for 429 and 503, x-should-retry: false for 500 and 504, WWW-Authenticate for
 * 401. The values of a wait are texts of *h, which must stay in place. */
enum { API_RETRY_MAX_S = 120, API_NUMBER_SZ = 12 };
struct api_headers {
    struct http_header header[ANSWER_HEADERS_MAX]; /* ends with a NULL name */
    char seconds[API_NUMBER_SZ], ms[API_NUMBER_SZ];
};
void api_error_headers(struct api_headers *h, const struct api_error *e);

/* Answers with it, and with these fields (in api_answer.c). */
void api_answer_error(struct exchange *x, const struct api_error *e);
#endif

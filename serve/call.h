/* steno-serve: a request, whatever its route, and the server that it belongs to. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_CALL_H
#define STENO_SERVE_CALL_H
#include "access.h"
#include "access_log.h"
#include "engines.h"
#include "http.h"
#include "loop.h"
#include "metrics.h"
#include "serve.h"
#include "sessions.h"
#include "spool.h"
#include "wyoming.h"
#include <stdatomic.h>

struct serve {
    struct serve_params p;
    struct loop *loop;
    struct spool *spool;
    struct engines *engines;
    struct metrics *metrics;
    struct access *access;
    struct httpd *http;
    struct api_realtime *realtime;
    struct api_listen *listen;
    struct sessions streams;
    struct wyoming *wyoming; /* NULL: off */
    atomic_int n_stops;  /* calls of serve_stop */
    atomic_int reload;   /* serve_reload was called */
    int wake;            /* eventfd that serve_run waits for */
};

void serve_log(struct serve *s, const char *line); /* a line of the log */

/* ---- a request, whatever its route ------------------------------------------------------------------------------------------- */

/* The first member of a route's request. What is known about it goes to the log and the metrics when it is over. */
struct call {
    struct serve *serve;
    struct exchange *x;
    enum route route;
    /* from `closed` on */
    int status;
    int64_t bytes_in, bytes_out, total_us, begun_ms;
    char client[64], id[72], method[24], path[LOG_WORD_MAX];
    /* of the work */
    enum api_code reason; /* of a refusal or a failure */
    const char *answered; /* reason of the answer, where `reason` is not set; NULL: none */
    const struct engine *engine;
    const char *file;     /* its name, valid until call_end */
    char language[16];
    int64_t audio_ms, ingest_us, queue_us, first_text_us; /* -1: not known */
    int n_together;       /* as in struct work */
    int64_t n_tokens;
    char *text;           /* malloc'd, for a log with texts; NULL: none */
    steno_timings timings;
    /* of a request with work */
    atomic_int owners;
    void (*release)(struct call *c);
};

void call_begin(struct call *c, struct serve *s, struct exchange *x, enum route route);
void call_refuse(struct call *c, const struct api_error *e);             /* answers with an error of the API */
void call_work(struct call *c, const struct work *w);                    /* the work has ended */

/* A request with work belongs to its exchange, its work and whatever else keeps it. The last call_drop writes the log, counts the request,
 * and calls release, which frees it. Each owner keeps the exchange, too. */
void call_share(struct call *c, void (*release)(struct call *c)); /* after call_begin: the exchange owns it */
void call_keep(struct call *c);
void call_drop(struct call *c);
void call_shared_closed(void *request, int complete); /* as http_handler.closed */

void call_utterance(void *serve, const struct wyoming_utterance *u); /* logs and counts one, which has no exchange */

/* Logs and counts what had no handler: an exchange, and a connection that the limits refused (serve: struct serve). */
void call_over(struct serve *s, const struct exchange *x, enum route route, int complete);
void call_refused(void *serve, const char *client, int status, const char *reason);

/* ---- answers that need no work ----------------------------------------------------------------------------------------------- */

/* Answers at once, with a malloc'd body. For requests whose body, if any, is dropped. @return the handler of the rest */
const struct http_handler *call_answer(struct serve *s, struct exchange *x, enum route route, struct http_answer *a, void **request);
const struct http_handler *call_fail(struct serve *s, struct exchange *x, enum route route, const struct api_error *e, void **request);

/* Logs and counts a request that another handler serves. `of` NULL: it was answered. Keeps *request and replaces it. */
const struct http_handler *call_watch(struct serve *s, struct exchange *x, enum route route, const struct http_handler *of, void **request);
#endif

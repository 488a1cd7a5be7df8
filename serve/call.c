/* steno-serve: what the log and the metrics keep of a request. SPDX-License-Identifier: MIT */
#include "call.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void serve_log(struct serve *s, const char *line)
{
    if (s->p.log) s->p.log(s->p.user, line);
}

void call_begin(struct call *c, struct serve *s, struct exchange *x, enum route route)
{
    *c = (struct call){ .serve = s, .x = x, .route = route, .audio_ms = -1, .ingest_us = -1, .queue_us = -1, .first_text_us = -1 };
}

void call_refuse(struct call *c, const struct api_error *e)
{
    c->reason = e->code;
    api_answer_error(c->x, e);
}

void call_work(struct call *c, const struct work *w)
{
    c->engine = w->engine;
    c->file = w->name;
    c->audio_ms = w->audio_ms;
    c->n_together = w->n_together;
    c->timings = w->timings;
    if (w->ingested_us) c->ingest_us = w->ingested_us - w->submitted_us;
    if (w->first_us) c->first_text_us = w->first_us - w->submitted_us;
}

/* Sets the time of the beginning, from now. */
static void call_date(struct call *c)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    c->begun_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - (c->total_us > 0 ? c->total_us / 1000 : 0);
}

/* What the exchange knows at its end. */
static void call_take(struct call *c, const struct exchange *x, int complete)
{
    c->status = complete || exchange_status(x) >= 400 ? exchange_status(x) : 499;
    c->bytes_in = exchange_bytes_in(x);
    c->bytes_out = exchange_bytes_out(x);
    c->total_us = loop_now_us() - exchange_begun_us(x);
    snprintf(c->client, sizeof c->client, "%s", exchange_client(x));
    snprintf(c->id, sizeof c->id, "%s", exchange_id(x));
    snprintf(c->method, sizeof c->method, "%s", exchange_method_name(x));
    snprintf(c->path, sizeof c->path, "%s", exchange_path(x));
    call_date(c);
    c->answered = exchange_reason(x);
}

static double seconds(int64_t us)
{
    return us < 0 ? -1 : (double)us / 1e6;
}

static const char *call_reason(const struct call *c)
{
    return c->reason ? api_code_name(c->reason) : c->answered;
}

static void call_count(const struct call *c)
{
    struct metrics_request m = {
        .route = c->route, .status = c->status, .total_s = seconds(c->total_us), .queue_s = seconds(c->queue_us),
        .ingest_s = seconds(c->ingest_us), .first_text_s = seconds(c->first_text_us),
        .audio_s = c->audio_ms < 0 ? -1 : (double)c->audio_ms / 1000, .bytes_in = c->bytes_in, .n_tokens = c->n_tokens,
        .n_together = c->n_together,
    };
    if (call_reason(c) && (c->status == 429 || c->status == 503)) metrics_rejected(c->serve->metrics, call_reason(c));
    metrics_request_take(&m, &c->timings);
    metrics_request(c->serve->metrics, &m);
}

static const char *known(const char *word)
{
    return word[0] ? word : NULL;
}

/* Writes the log, and counts the request. */
static void call_end(struct call *c)
{
    const struct access_record record = {
        .time_ms = c->begun_ms, .id = known(c->id), .client = known(c->client), .method = known(c->method), .route = known(c->path),
        .code = c->status, .bytes_in = c->bytes_in, .bytes_out = c->bytes_out, .audio_s = c->audio_ms < 0 ? -1 : (double)c->audio_ms / 1000,
        .queue_s = seconds(c->queue_us), .total_s = seconds(c->total_us), .model = c->engine ? engine_id(c->engine) : NULL,
        .language = known(c->language), .reason = call_reason(c), .file = c->file,
        .text = c->text,
    };
    size_t n;
    char *line = access_line(&record, c->serve->p.log_text, &n);
    call_count(c);
    if (line) serve_log(c->serve, line);
    free(line);
    free(c->text);
}

/* ---- requests with work ------------------------------------------------------------------------------------------------------- */

void call_share(struct call *c, void (*release)(struct call *c))
{
    c->release = release;
    atomic_store(&c->owners, 0);
    call_keep(c);
}

void call_keep(struct call *c)
{
    exchange_keep(c->x);
    atomic_fetch_add(&c->owners, 1);
}

void call_drop(struct call *c)
{
    exchange_drop(c->x);
    if (atomic_fetch_sub(&c->owners, 1) > 1) return;
    call_end(c);
    c->release(c);
}

void call_shared_closed(void *request, int complete)
{
    struct call *c = request;
    call_take(c, c->x, complete);
    call_drop(c);
}

/* ---- what has no handler ------------------------------------------------------------------------------------------------------ */

void call_utterance(void *serve, const struct wyoming_utterance *u)
{
    struct call c;
    call_begin(&c, serve, NULL, ROUTE_WYOMING);
    if (u->work) call_work(&c, u->work);
    c.file = NULL;
    if (c.audio_ms <= 0) c.audio_ms = u->audio_ms;
    c.reason = u->code;
    c.status = u->code == API_OK ? 200 : api_status(u->code);
    c.bytes_in = u->bytes_in;
    c.bytes_out = u->bytes_out;
    c.total_us = u->total_us;
    call_date(&c);
    snprintf(c.client, sizeof c.client, "%s", u->client);
    snprintf(c.language, sizeof c.language, "%s", u->language);
    snprintf(c.path, sizeof c.path, "wyoming");
    if (c.serve->p.log_text && u->text) c.text = strdup(u->text);
    call_end(&c);
}

void call_over(struct serve *s, const struct exchange *x, enum route route, int complete)
{
    struct call c;
    call_begin(&c, s, NULL, route);
    call_take(&c, x, complete);
    call_end(&c);
}

void call_refused(void *serve, const char *client, int status, const char *reason)
{
    struct call c;
    call_begin(&c, serve, NULL, ROUTE_NONE);
    c.total_us = -1;
    call_date(&c);
    c.status = status;
    c.answered = reason;
    snprintf(c.client, sizeof c.client, "%s", client);
    call_end(&c);
}

/* ---- answers that need no work ----------------------------------------------------------------------------------------------- */

static void call_closed(void *request, int complete)
{
    struct call *c = request;
    call_take(c, c->x, complete);
    call_end(c);
    free(c);
}

static const struct http_handler answered = { .closed = call_closed };

/* @return NULL: out of memory; the exchange is answered without a place in the log */
static struct call *call_new(struct serve *s, struct exchange *x, enum route route)
{
    struct call *c = malloc(sizeof *c);
    if (c) call_begin(c, s, x, route);
    return c;
}

const struct http_handler *call_answer(struct serve *s, struct exchange *x, enum route route, struct http_answer *a, void **request)
{
    struct call *c = call_new(s, x, route);
    *request = c;
    exchange_answer(x, a);
    return c ? &answered : NULL;
}

const struct http_handler *call_fail(struct serve *s, struct exchange *x, enum route route, const struct api_error *e, void **request)
{
    struct call *c = call_new(s, x, route);
    *request = c;
    if (c) call_refuse(c, e);
    else api_answer_error(x, e);
    return c ? &answered : NULL;
}

/* ---- handlers that know nothing of calls --------------------------------------------------------------------------------------- */

struct watched {
    struct call call; /* must be first */
    const struct http_handler *of;
    void *request;
};

static int watched_body(void *request, const char *bytes, size_t n)
{
    struct watched *w = request;
    return w->of && w->of->body ? w->of->body(w->request, bytes, n) : 0;
}

static void watched_end(void *request)
{
    struct watched *w = request;
    if (w->of && w->of->end) w->of->end(w->request);
}

static void watched_left(void *request)
{
    struct watched *w = request;
    if (w->of && w->of->left) w->of->left(w->request);
}

static void watched_closed(void *request, int complete)
{
    struct watched *w = request;
    if (w->of && w->of->closed) w->of->closed(w->request, complete);
    call_closed(&w->call, complete);
}

const struct http_handler *call_watch(struct serve *s, struct exchange *x, enum route route, const struct http_handler *of, void **request)
{
    static const struct http_handler watching = { watched_body, watched_end, watched_left, watched_closed };
    struct watched *w = of ? calloc(1, sizeof *w) : NULL;
    if (!w) return of; /* without a line in the log */
    call_begin(&w->call, s, x, route);
    w->of = of;
    w->request = *request;
    *request = w;
    return &watching;
}

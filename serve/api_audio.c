/* steno-serve: transcriptions, translations, and the same by the routes of other servers. SPDX-License-Identifier: MIT
 *
 * The form arrives in the spool, the file becomes work of a model, and its transcript the answer, or the events of a stream. A request
 * belongs to its exchange and to its work, and is freed when both are over. */
#include "answer.h"
#include "api.h"
#include "ask_other.h"
#include "upload.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIVE_MS = 15000 }; /* a comment of a stream, so that proxies keep quiet connections */

struct audio_request {
    struct call call; /* must be first */
    enum ask_route fields;
    int task;
    struct ask ask;
    struct upload upload;
    struct work work;
    atomic_int owners;       /* exchange, work, and the loop while a stream is kept alive */
    atomic_int is_streaming; /* 1: the response has begun */
    atomic_int is_submitted; /* 1: there is work that can be cancelled */
    struct answer_stream stream;
    struct loop_timer *alive; /* used on the loop's thread only */
    char *body;              /* [n] the answer of the work */
    size_t n;
    char language[16];
};

static void request_release(struct audio_request *r)
{
    if (atomic_fetch_sub(&r->owners, 1) > 1) return;
    call_end(&r->call);
    upload_free(&r->upload);
    ask_free(&r->ask);
    free(r->body);
    free(r);
}

/* ---- the stream stays alive -------------------------------------------------------------------------------------------------- */

static void keep_alive(void *user)
{
    struct audio_request *r = user;
    r->alive = NULL;
    if (exchange_send(r->call.x, ANSWER_STREAM_ALIVE, strlen(ANSWER_STREAM_ALIVE))) return; /* the client is gone */
    r->alive = loop_at(r->call.serve->loop, loop_now_ms() + ALIVE_MS, keep_alive, r);
}

static void alive_end(void *user)
{
    struct audio_request *r = user;
    if (r->alive) loop_timer_cancel(r->alive);
    exchange_drop(r->call.x);
    request_release(r);
}

static void stream_begin(struct audio_request *r)
{
    struct http_header more[3] = { { "X-Accel-Buffering", "no" }, { 0 }, { 0 } };
    if (r->ask.ignored[0]) more[1] = (struct http_header){ "steno-ignored", r->ask.ignored };
    if (exchange_stream(r->call.x, 200, ANSWER_STREAM_TYPE, more)) return;
    atomic_store(&r->is_streaming, 1);
    atomic_fetch_add(&r->owners, 1); /* until alive_end */
    exchange_keep(r->call.x);
    loop_call(r->call.serve->loop, keep_alive, r);
}

/* ---- work -------------------------------------------------------------------------------------------------------------------- */

static int prepare(struct work *w, const steno_model *m, struct api_error *e)
{
    struct audio_request *r = w->user;
    const int rc = ask_fill(&r->ask, &r->upload.form, &w->job, m, e);
    w->use_vad = r->ask.use_vad;
    return rc;
}

static void admitted(struct work *w)
{
    struct audio_request *r = w->user;
    r->stream.holds = w->job.punctuation != NULL;
    if (r->ask.stream) stream_begin(r);
}

static void send_events(struct audio_request *r, char *events, size_t n)
{
    if (events && n) exchange_send(r->call.x, events, n);
    if (!events) work_cancel(&r->work); /* out of memory */
    free(events);
}

static void segment(struct work *w, const steno_segment *seg)
{
    struct audio_request *r = w->user;
    size_t n = 0;
    if (!atomic_load(&r->is_streaming)) return;
    char *events = answer_delta(&r->stream, w->session, seg, w->job.model, &r->ask, &n);
    send_events(r, events, n);
}

static void output(struct work *w, struct transcript *t)
{
    struct audio_request *r = w->user;
    struct answer_usage u;
    steno_timings now = { .size = sizeof now };
    steno_timings_get(w->session, &now);
    answer_usage_take(&u, t, now.n_prompt_tokens);
    steno_request_timings times = { .size = sizeof times };
    if (!steno_request_timings_get(w->session, &times)) r->call.queue_us = times.first_window_us;
    r->call.n_tokens = u.text_tokens;
    if (r->call.serve->p.log_text) r->call.text = strdup(t->text);
    strncpy(r->language, t->language, sizeof r->language - 1);
    if (r->ask.detects) r->body = answer_language(t, &r->n);
    else if (atomic_load(&r->is_streaming)) r->body = answer_done(&r->stream, t, &r->ask, &u, &r->n);
    else r->body = answer_body(t, &r->ask, &u, &r->n);
}

static void stream_finish(struct audio_request *r, const struct api_error *e)
{
    size_t n = 0;
    if (e->code != API_OK) {
        char *event = answer_stream_error(e, &n);
        send_events(r, event, n);
    } else {
        send_events(r, r->body, r->n);
        r->body = NULL;
        exchange_send(r->call.x, ANSWER_STREAM_END, strlen(ANSWER_STREAM_END));
    }
    exchange_finish(r->call.x, 1);
}

static void answer(struct audio_request *r)
{
    const enum ask_format format = r->ask.detects ? ASK_JSON : r->ask.format;
    struct http_answer a = { .status = 200, .type = answer_type(format), .body = r->body, .n = r->n };
    if (r->ask.ignored[0]) a.header[0] = (struct http_header){ "steno-ignored", r->ask.ignored };
    r->body = NULL;
    exchange_answer(r->call.x, &a);
}

static void ended(struct work *w, const struct api_error *e)
{
    struct audio_request *r = w->user;
    struct api_error own = *e;
    if (own.code == API_OK && !r->body) api_fail(&own, API_internal_error, NULL, "out of memory for the answer");
    call_work(&r->call, w, r->language);
    if (atomic_load(&r->is_streaming)) stream_finish(r, &own);
    else if (own.code != API_OK) call_refuse(&r->call, &own);
    else answer(r);
    if (atomic_load(&r->is_streaming)) loop_call(r->call.serve->loop, alive_end, r);
    exchange_drop(r->call.x);
    request_release(r);
}

/* ---- the exchange ------------------------------------------------------------------------------------------------------------ */

static int body(void *request, const char *bytes, size_t n)
{
    struct audio_request *r = request;
    if (upload_add(&r->upload, bytes, n) == API_OK) return 0;
    call_refuse(&r->call, &r->upload.error);
    return 1;
}

/* @return API_OK or a code, in *e */
static int submit(struct audio_request *r, struct api_error *e)
{
    struct serve *s = r->call.serve;
    const char *model = "";
    if (upload_end(&r->upload) != API_OK) {
        *e = r->upload.error;
        return e->code;
    }
    if (form_text(&r->upload.form, "model", &model, e) != API_OK) return e->code;
    if (ask_read_as(&r->ask, &r->upload.form, r->fields, r->task, s->p.is_strict, e) != API_OK) return e->code;
    struct engine *engine = call_engine(s, model, ENGINE_TRANSCRIBES, e);
    if (!engine) return e->code;
    r->work = (struct work){
        .user = r, .engine = engine, .fd = dup(spool_fd(r->upload.file)), .name = r->upload.file_name, .priority = r->ask.priority,
        .client = exchange_client(r->call.x), .prepare = prepare, .admitted = admitted, .segment = segment, .output = output,
        .ended = ended,
    };
    if (r->work.fd < 0) return api_fail(e, API_internal_error, NULL, "no more files can be opened");
    exchange_keep(r->call.x);
    atomic_fetch_add(&r->owners, 1);
    if (work_submit(&r->work, e) == API_OK) {
        atomic_store(&r->is_submitted, 1);
        if (exchange_is_gone(r->call.x)) work_cancel(&r->work); /* it left before there was work to cancel */
        return API_OK;
    }
    exchange_drop(r->call.x);
    atomic_fetch_sub(&r->owners, 1);
    return e->code;
}

static void end(void *request)
{
    struct audio_request *r = request;
    struct api_error e = { 0 };
    if (submit(r, &e) != API_OK) call_refuse(&r->call, &e);
}

static void left(void *request)
{
    struct audio_request *r = request;
    if (atomic_load(&r->is_submitted)) work_cancel(&r->work); /* else submit sees that the client is gone */
}

static void closed(void *request, int complete)
{
    struct audio_request *r = request;
    call_close(&r->call, complete);
    request_release(r);
}

static const struct http_handler handler = { body, end, left, closed };

/* Options in the query are fields, too. */
static void add_query(void *user, const char *name, const char *value)
{
    struct audio_request *r = user;
    form_add(&r->upload.form, name, value, strlen(value), &r->upload.error);
}

static const struct http_handler *audio_begin(struct serve *s, struct exchange *x, enum route route, enum ask_route fields, void **request)
{
    struct audio_request *r = calloc(1, sizeof *r);
    struct api_error e = { 0 };
    if (!r) {
        api_fail(&e, API_internal_error, NULL, "out of memory for a request");
        return call_fail(s, x, route, &e, request);
    }
    call_begin(&r->call, s, x, route);
    atomic_store(&r->owners, 1);
    r->fields = fields;
    r->task = route == ROUTE_TRANSLATIONS ? STENO_TRANSLATE : STENO_TRANSCRIBE;
    r->upload.file_field = ask_file_field(fields);
    r->upload.spool = s->spool;
    r->upload.max_bytes = s->p.upload_max;
    *request = r;
    if (fields == ASK_ASR || fields == ASK_DETECT_LANGUAGE) exchange_queries(x, add_query, r);
    if (r->upload.error.code != API_OK || upload_begin(&r->upload, x) != API_OK) call_refuse(&r->call, &r->upload.error);
    return &handler;
}

const struct http_handler *transcriptions_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_TRANSCRIPTIONS, ASK_OPENAI, request);
}

const struct http_handler *translations_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_TRANSLATIONS, ASK_OPENAI, request);
}

const struct http_handler *inference_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_INFERENCE, ASK_INFERENCE, request);
}

const struct http_handler *asr_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_ASR, ASK_ASR, request);
}

const struct http_handler *detect_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_DETECT, ASK_DETECT_LANGUAGE, request);
}

/* steno-serve: transcriptions, translations, and the same by the routes of other servers. SPDX-License-Identifier: MIT
 *
 * The form, or the file alone, arrives in the spool. The file becomes work of a model, and its transcript the answer, or the events of a
 * stream. */
#include "answer.h"
#include "answer_listen.h"
#include "api.h"
#include "ask_other.h"
#include "event_stream.h"
#include "listen.h"
#include "upload.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct audio_request {
    struct call call; /* must be first */
    enum ask_route fields;
    int task;
    struct ask ask;
    struct listen_config listen; /* parameters of Deepgram's route */
    char created[LISTEN_TIME_SZ];
    struct upload upload;
    struct work work;
    struct event_stream events;
    struct answer_stream stream;
    char *body;              /* [n] the answer of the work */
    size_t n;
};

static void request_free(struct call *c)
{
    struct audio_request *r = (struct audio_request *)c;
    upload_free(&r->upload);
    ask_free(&r->ask);
    free(r->body);
    free(r);
}

/* ---- work -------------------------------------------------------------------------------------------------------------------- */

static int prepare(struct work *w, const steno_model *m, struct api_error *e)
{
    struct audio_request *r = w->user;
    r->ask.vad_default = w->use_vad;
    r->ask.vad = w->vad;
    if (r->fields == ASK_LISTEN && (w->job.aligner || steno_serves(m, STENO_CALL_TRANSCRIBE, "word_timestamps")))
        r->ask.granularities |= ASK_WORDS;
    const int rc = ask_fill(&r->ask, &r->upload.form, &w->job, m, e);
    w->use_vad = r->ask.use_vad;
    return rc;
}

static void admitted(struct work *w)
{
    struct audio_request *r = w->user;
    r->stream.holds = w->job.punctuation != NULL;
    if (r->ask.stream) event_stream_begin(&r->events, &r->call, r->ask.ignored);
}

static void segment(struct work *w, const steno_segment *seg)
{
    struct audio_request *r = w->user;
    size_t n = 0;
    if (!atomic_load(&r->events.is_open)) return;
    char *events = answer_delta(&r->stream, w->session, seg, w->job.model, &r->ask, &n);
    if (event_stream_send(&r->events, events, n)) work_cancel(w);
}

static char *listen_body(const struct audio_request *r, const struct transcript *t, size_t *n)
{
    steno_model_info info = { .size = sizeof info };
    if (engine_info(r->work.engine, &info)) info.family[0] = '\0';
    const struct listen_reply reply = {
        .id = exchange_id(r->call.x), .created = r->created, .model = engine_id(r->work.engine), .family = info.family,
        .has_utterances = r->listen.utterances, .utt_split_s = r->listen.utt_split_s, .has_language = r->listen.detects_language,
    };
    return answer_listen(t, &reply, n);
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
    snprintf(r->call.language, sizeof r->call.language, "%s", t->language);
    if (r->fields == ASK_LISTEN) r->body = listen_body(r, t, &r->n);
    else if (r->ask.detects) r->body = answer_language(t, &r->n);
    else if (atomic_load(&r->events.is_open)) r->body = answer_done(&r->stream, t, &r->ask, &u, &r->n);
    else r->body = answer_body(t, &r->ask, &u, &r->n);
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
    call_work(&r->call, w);
    if (atomic_load(&r->events.is_open)) event_stream_end(&r->events, &own, r->body, r->n);
    else if (own.code != API_OK) call_refuse(&r->call, &own);
    else answer(r);
    call_drop(&r->call);
}

/* ---- the exchange ------------------------------------------------------------------------------------------------------------ */

static int body(void *request, const char *bytes, size_t n)
{
    struct audio_request *r = request;
    if (upload_add(&r->upload, bytes, n) == API_OK) return 0;
    call_refuse(&r->call, &r->upload.error);
    return 1;
}

/* Deepgram's parameters as a form. @return API_OK or a code, in *e */
static int listen_form(struct audio_request *r, struct api_error *e)
{
    const struct listen_config *c = &r->listen;
    const struct { const char *name, *value; } fields[] = {
        { "model", listen_model(r->call.serve->engines, c) }, { "language", c->language }, { "keyterm", c->hotwords },
    };
    listen_config_check(&r->listen, e);
    for (size_t i = 0; i < sizeof fields / sizeof *fields && e->code == API_OK; i++)
        form_add(&r->upload.form, fields[i].name, fields[i].value, strlen(fields[i].value), e);
    return (int)e->code;
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
    if (r->fields == ASK_LISTEN && listen_form(r, e) != API_OK) return e->code;
    if (form_text(&r->upload.form, "model", &model, e) != API_OK) return e->code;
    if (ask_read_as(&r->ask, &r->upload.form, r->fields, r->task, s->p.is_strict, e) != API_OK) return e->code;
    struct engine *engine = engines_for(s->engines, model, ENGINE_TRANSCRIBES, e);
    if (!engine) return e->code;
    r->work = (struct work){
        .user = r, .engine = engine, .fd = dup(spool_fd(r->upload.file)), .name = r->upload.file_name, .priority = r->ask.priority,
        .client = exchange_client(r->call.x), .prepare = prepare, .admitted = admitted, .segment = segment, .output = output,
        .ended = ended,
    };
    if (r->work.fd < 0) return api_fail(e, API_internal_error, NULL, "no more files can be opened");
    call_keep(&r->call); /* until `ended` */
    if (work_submit(&r->work, e) == API_OK) {
        if (exchange_is_gone(r->call.x)) work_cancel(&r->work); /* it left before there was work to cancel */
        return API_OK;
    }
    call_drop(&r->call);
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
    work_cancel(&r->work); /* before submit it has no effect, and submit sees that the client is gone */
}

static const struct http_handler handler = { body, end, left, call_shared_closed };

/* Options in the query are fields, too. */
static void add_query(void *user, const char *name, const char *value)
{
    struct audio_request *r = user;
    form_add(&r->upload.form, name, value, strlen(value), &r->upload.error);
}

static void add_parameter(void *user, const char *name, const char *value)
{
    struct audio_request *r = user;
    if (r->upload.error.code == API_OK) listen_query(&r->listen, name, value ? value : "", r->call.serve->p.is_strict, &r->upload.error);
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
    call_share(&r->call, request_free);
    r->fields = fields;
    r->task = route == ROUTE_TRANSLATIONS ? STENO_TRANSLATE : STENO_TRANSCRIBE;
    r->upload.file_field = ask_file_field(fields);
    r->upload.spool = s->spool;
    r->upload.max_bytes = s->p.upload_max;
    *request = r;
    if (fields == ASK_ASR || fields == ASK_DETECT_LANGUAGE) exchange_queries(x, add_query, r);
    if (fields == ASK_LISTEN) {
        listen_config_init(&r->listen, 1);
        listen_time(r->created);
        exchange_queries(x, add_parameter, r);
    }
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

const struct http_handler *listen_file_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_LISTEN, ASK_LISTEN, request);
}

const struct http_handler *detect_begin(struct serve *s, struct exchange *x, void **request)
{
    return audio_begin(s, x, ROUTE_DETECT, ASK_DETECT_LANGUAGE, request);
}

/* steno-serve: /v1/chat/completions and /v1/embeddings, for language models. SPDX-License-Identifier: MIT
 *
 * The JSON body becomes work of a model. */
#include "answer.h"
#include "answer_chat.h"
#include "api.h"
#include "ask_chat.h"
#include "ask_embed.h"
#include "event_stream.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BODY_MAX = 8 << 20 };

struct text_request {
    struct call call; /* must be first */
    int is_chat;
    struct ask_chat chat;
    struct ask_embed embed;
    struct lm_work work;
    struct sink_memory in;   /* the body */
    struct sink in_sink;
    struct chat_reply reply;
    struct event_stream events;
    char *body;              /* [n] the answer */
    size_t n;
};

static void request_free(struct call *c)
{
    struct text_request *r = (struct text_request *)c;
    ask_chat_free(&r->chat);
    ask_embed_free(&r->embed);
    free(r->in.p);
    free(r->body);
    free(r);
}

/* ---- work -------------------------------------------------------------------------------------------------------------------- */

static int prepare(struct lm_work *w, const steno_model *m, struct api_error *e)
{
    struct text_request *r = w->user;
    if (!r->is_chat) {
        w->texts = r->embed.texts;
        w->n_texts = r->embed.n_texts;
        return ask_embed_fill(&r->embed, &w->embed, m, e);
    }
    if (ask_chat_fill(&r->chat, &w->generate, m, e) != API_OK) return (int)e->code;
    w->ids = r->chat.ids;
    w->n_ids = r->chat.n_ids;
    return API_OK;
}

static void stream_begin(struct text_request *r)
{
    size_t n = 0;
    event_stream_begin(&r->events, &r->call, r->chat.ignored);
    if (!atomic_load(&r->events.is_open)) return;
    char *event = chat_event_role(&r->reply, &n);
    event_stream_send(&r->events, event, n);
}

/* @return non-zero ends the text */
static int token(struct lm_work *w, const struct steno_token *tok, const char *text, size_t n)
{
    struct text_request *r = w->user;
    size_t n_event = 0;
    (void)tok;
    if (!r->chat.stream) return exchange_is_gone(r->call.x);
    if (!atomic_load(&r->events.is_open)) stream_begin(r);
    if (!n) return 0;
    char *event = chat_event_text(&r->reply, text, n, &n_event);
    return event_stream_send(&r->events, event, n_event);
}

static void reply_settle(struct text_request *r, const struct lm_work *w)
{
    steno_timings now = { .size = sizeof now };
    steno_timings_get(w->session, &now);
    int n_made = 0;
    steno_generated(w->session, &n_made);
    r->reply.finish = steno_generate_finish(w->session);
    r->reply.prompt_tokens = w->n_ids;
    r->reply.cached_tokens = now.n_reused;
    r->reply.text_tokens = n_made;
    r->call.n_tokens = r->reply.text_tokens;
}

static void embeddings_take(struct text_request *r, const struct lm_work *w)
{
    steno_embedding first = { .size = sizeof first };
    const int count = steno_embedding_count(w->session);
    if (steno_embedding_get(w->session, 0, &first) != STENO_OK) return;
    const size_t width = (size_t)first.n;
    float *rows = malloc((size_t)count * width * sizeof *rows);
    struct embed_reply reply = { .model = engine_id(w->engine), .rows = rows, .count = count, .width = first.n,
                                 .is_base64 = r->embed.is_base64 };
    for (int i = 0; rows && i < count; i++) {
        steno_embedding at = { .size = sizeof at };
        steno_embedding_get(w->session, i, &at);
        memcpy(rows + (size_t)i * width, at.vector, width * sizeof *rows);
        reply.prompt_tokens += at.n_tokens;
    }
    if (rows) r->body = embed_body(&reply, &r->n);
    free(rows);
}

static void output(struct lm_work *w)
{
    struct text_request *r = w->user;
    if (!r->is_chat) {
        embeddings_take(r, w);
        return;
    }
    reply_settle(r, w);
    if (r->chat.stream) {
        if (!atomic_load(&r->events.is_open)) stream_begin(r);
        r->body = chat_event_end(&r->reply, r->chat.has_usage, &r->n);
    } else {
        const char *text = steno_generated_text(w->session);
        r->body = chat_body(&r->reply, text, strlen(text), &r->n);
    }
}

static void answer(struct text_request *r)
{
    const char *ignored = r->is_chat ? r->chat.ignored : r->embed.ignored;
    struct http_answer a = { .status = 200, .type = "application/json", .body = r->body, .n = r->n };
    if (ignored[0]) a.header[0] = (struct http_header){ "steno-ignored", ignored };
    r->body = NULL;
    exchange_answer(r->call.x, &a);
}

static void ended(struct lm_work *w, const struct api_error *e)
{
    struct text_request *r = w->user;
    struct api_error own = *e;
    if (own.code == API_OK && !r->body) api_fail(&own, API_internal_error, NULL, "out of memory for the answer");
    r->call.engine = w->engine;
    r->call.timings = w->timings;
    if (atomic_load(&r->events.is_open)) event_stream_end(&r->events, &own, r->body, r->n);
    else if (own.code != API_OK) call_refuse(&r->call, &own);
    else answer(r);
    call_drop(&r->call);
}

/* ---- the exchange ------------------------------------------------------------------------------------------------------------ */

static int body(void *request, const char *bytes, size_t n)
{
    struct text_request *r = request;
    struct api_error e = { 0 };
    if (r->in.n + n > BODY_MAX) api_fail(&e, API_request_too_large, NULL, "the body is larger than %d bytes, the server's limit", BODY_MAX);
    else sink_bytes(&r->in_sink, bytes, n);
    if (r->in_sink.failed) api_fail(&e, API_internal_error, NULL, "out of memory for the body");
    if (e.code == API_OK) return 0;
    call_refuse(&r->call, &e);
    return 1;
}

/* @return API_OK or a code, in *e */
static int submit(struct text_request *r, struct api_error *e)
{
    struct serve *s = r->call.serve;
    const char *in = r->in.p ? r->in.p : "";
    const int rc = r->is_chat ? ask_chat_read(&r->chat, in, r->in.n, s->p.is_strict, e) :
                   ask_embed_read(&r->embed, in, r->in.n, s->p.is_strict, e);
    if (rc != API_OK) return rc;
    const char *model = r->is_chat ? r->chat.model : r->embed.model;
    struct engine *engine = engines_for(s->engines, model, r->is_chat ? ENGINE_GENERATES : ENGINE_EMBEDS, e);
    if (!engine) return (int)e->code;
    r->reply = (struct chat_reply){ .id = exchange_id(r->call.x), .model = engine_id(engine), .created = (int64_t)time(NULL) };
    r->work = (struct lm_work){ .user = r, .engine = engine, .client = exchange_client(r->call.x), .prepare = prepare,
                                .token = r->is_chat ? token : NULL, .output = output, .ended = ended };
    call_keep(&r->call); /* until `ended` */
    if (lm_work_submit(&r->work, e) == API_OK) {
        if (exchange_is_gone(r->call.x)) lm_work_cancel(&r->work); /* it left before there was work to cancel */
        return API_OK;
    }
    call_drop(&r->call);
    return (int)e->code;
}

static void end(void *request)
{
    struct text_request *r = request;
    struct api_error e = { 0 };
    if (submit(r, &e) != API_OK) call_refuse(&r->call, &e);
}

static void left(void *request)
{
    struct text_request *r = request;
    lm_work_cancel(&r->work);
}

static const struct http_handler handler = { body, end, left, call_shared_closed };

static const struct http_handler *text_begin(struct serve *s, struct exchange *x, enum route route, void **request)
{
    struct text_request *r = calloc(1, sizeof *r);
    struct api_error e = { 0 };
    if (!r) {
        api_fail(&e, API_internal_error, NULL, "out of memory for a request");
        return call_fail(s, x, route, &e, request);
    }
    call_begin(&r->call, s, x, route);
    call_share(&r->call, request_free);
    r->is_chat = route == ROUTE_CHAT;
    r->in_sink = sink_to_memory(&r->in);
    *request = r;
    return &handler;
}

const struct http_handler *chat_begin(struct serve *s, struct exchange *x, void **request)
{
    return text_begin(s, x, ROUTE_CHAT, request);
}

const struct http_handler *embeddings_begin(struct serve *s, struct exchange *x, void **request)
{
    return text_begin(s, x, ROUTE_EMBEDDINGS, request);
}

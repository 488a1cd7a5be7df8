/* steno-serve: /v1/chat/completions and /v1/embeddings, for language models. SPDX-License-Identifier: MIT
 *
 * The JSON body becomes work of a model. */
#include "answer.h"
#include "answer_chat.h"
#include "api.h"
#include "ask_embed.h"
#include "choices.h"
#include <stdlib.h>
#include <string.h>

enum { BODY_MAX = 8 << 20 };

struct text_request {
    struct call call; /* must be first */
    int is_chat;
    struct ask_chat chat;
    struct ask_embed embed;
    struct lm_work work;     /* of vectors */
    struct sink_memory in;   /* the body */
    struct sink in_sink;
    struct choices choices;  /* of a chat */
    char *body;              /* [n] the answer of vectors */
    size_t n;
};

static void request_free(struct call *c)
{
    struct text_request *r = (struct text_request *)c;
    choices_free(&r->choices);
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
    w->texts = r->embed.texts;
    w->n_texts = r->embed.n_texts;
    return ask_embed_fill(&r->embed, &w->embed, m, e);
}

static void output(struct lm_work *w)
{
    struct text_request *r = w->user;
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

static void answer(struct text_request *r)
{
    struct http_answer a = { .status = 200, .type = "application/json", .body = r->body, .n = r->n };
    if (r->embed.ignored[0]) a.header[0] = (struct http_header){ "steno-ignored", r->embed.ignored };
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
    if (own.code != API_OK) call_refuse(&r->call, &own);
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
    if (r->is_chat) return choices_submit(&r->choices, &r->call, &r->chat, engine, e);
    r->work = (struct lm_work){ .user = r, .engine = engine, .client = exchange_client(r->call.x), .prepare = prepare, .output = output,
                                .ended = ended };
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
    choices_cancel(&r->choices);
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

/* steno-serve: the choices of a chat. SPDX-License-Identifier: MIT
 *
 * All choices of a model run on its thread, so their events do not mix. Their ends may come from any thread. */
#include "choices.h"
#include "answer_tokens.h"
#include "call_reader.h"
#include "sink.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct choice {
    struct lm_work work;
    struct choices *of;
    const steno_model *model;
    struct chat_choice answer;
    int n_made, is_over;       /* is_over: with the lock; its work has ended */
    int has_role;              /* its first event was sent */
    struct call_reader reader; /* of a chat with tools: tells calls from text, */
    struct sink_memory plain, calls; /* which are kept here unless they are streamed */
    struct sink to_plain, to_calls;
    char *text;                /* of the answer */
    /* log-probabilities: of the text so far, and of tokens whose characters are held back */
    struct sink_memory settled, held;
    struct sink to_settled, to_held;
    int n_settled, n_held;
};

/* ---- work of one ------------------------------------------------------------------------------------------------------------- */

/* Fields and ids are the same for all; only the seed differs. */
static int prepare(struct lm_work *w, const steno_model *m, struct api_error *e)
{
    struct choice *x = w->user;
    struct choices *c = x->of;
    x->model = m;
    pthread_mutex_lock(&c->lock);
    if (!c->is_filled) {
        c->generate = w->generate;
        ask_chat_fill(c->chat, &c->generate, m, &c->fill_error);
        c->is_filled = 1;
    }
    *e = c->fill_error;
    w->generate = c->generate;
    w->generate.seed += (uint64_t)x->answer.index;
    w->ids = c->chat->ids;
    w->n_ids = c->chat->n_ids;
    pthread_mutex_unlock(&c->lock);
    return (int)e->code;
}

static void stream_begin(struct choice *x)
{
    struct choices *c = x->of;
    size_t n = 0;
    if (!atomic_load(&c->events.is_open)) event_stream_begin(&c->events, c->call, c->chat->ignored);
    if (!atomic_load(&c->events.is_open)) return;
    x->has_role = 1;
    char *event = chat_event_role(&c->reply, x->answer.index, &n);
    event_stream_send(&c->events, event, n);
}

/* A token whose characters may be held back, as a possible beginning of a stop text. */
static void logprob_hold(struct choice *x, const struct steno_token *tok)
{
    int n_made, n = x->n_settled + x->n_held; /* in the list so far */
    steno_generated(x->work.session, &n_made);
    put_chat_logprob(&x->to_held, x->model, x->work.session, n_made - 1, tok, &n);
    x->n_held = n - x->n_settled;
}

/* Its characters have come. */
static void logprobs_settle(struct choice *x)
{
    sink_bytes(&x->to_settled, x->held.p, x->held.n);
    x->n_settled += x->n_held;
    x->n_held = 0;
    x->held.n = 0;
}

/* They belong to the answer, or were sent with an event. */
static void logprobs_give(struct choice *x)
{
    x->answer.logprobs = x->of->chat->logprobs ? x->settled.p ? x->settled.p : "" : NULL;
    x->answer.n_logprobs = x->settled.n;
}

static int text_send(struct choice *x, const char *text, size_t n)
{
    size_t n_event = 0;
    x->answer.text = text;
    x->answer.n_text = n;
    logprobs_give(x);
    char *event = x->to_held.failed || x->to_settled.failed ? NULL : chat_event_text(&x->of->reply, &x->answer, &n_event);
    x->n_settled = 0;
    x->settled.n = 0;
    return event_stream_send(&x->of->events, event, n_event);
}

static int calls_send(struct choice *x, const char *item, size_t n)
{
    size_t n_event = 0;
    struct chat_choice c = x->answer;
    c.calls = item;
    c.n_calls = n;
    logprobs_settle(x);
    logprobs_give(x);
    c.logprobs = x->answer.logprobs;
    c.n_logprobs = x->answer.n_logprobs;
    char *event = x->to_held.failed || x->to_settled.failed ? NULL : chat_event_calls(&x->of->reply, &c, &n_event);
    x->n_settled = 0;
    x->settled.n = 0;
    return event_stream_send(&x->of->events, event, n_event);
}

/* ---- text and calls of an answer with tools */

static int reader_text(void *user, const char *text, size_t n)
{
    struct choice *x = user;
    if (x->of->chat->stream) return text_send(x, text, n);
    sink_bytes(&x->to_plain, text, n);
    return x->to_plain.failed;
}

static int reader_call(void *user, int index, const char *item, size_t n)
{
    struct choice *x = user;
    if (!x->of->chat->stream) {
        if (index) sink_text(&x->to_calls, ", ");
        sink_char(&x->to_calls, '{');
        sink_bytes(&x->to_calls, item, n);
        return x->to_calls.failed;
    }
    struct sink_memory memory = { 0 };
    struct sink f = sink_to_memory(&memory);
    sink_format(&f, "{\"index\": %d, ", index);
    sink_bytes(&f, item, n);
    if (f.failed) x->reader.to_held.failed = 1;
    const int stops = f.failed || calls_send(x, memory.p, memory.n);
    free(memory.p);
    return stops;
}

/* @return non-zero ends the text */
static int token(struct lm_work *w, const struct steno_token *tok, const char *text, size_t n)
{
    struct choice *x = w->user;
    struct choices *c = x->of;
    if (c->chat->logprobs && tok) logprob_hold(x, tok);
    if (c->chat->logprobs && n) logprobs_settle(x);
    const int has_tools = c->chat->tools.mode != TOOLS_OFF;
    if (c->chat->stream && !x->has_role) stream_begin(x);
    if (!c->chat->stream && exchange_is_gone(c->call->x)) return 1;
    if (has_tools && n) return call_reader_add(&x->reader, text, n);
    return c->chat->stream && n ? text_send(x, text, n) : 0;
}

static int lost_memory(const struct choice *x)
{
    return x->to_held.failed || x->to_settled.failed || x->reader.to_held.failed || x->to_plain.failed || x->to_calls.failed;
}

/* Of an answer that is not streamed. */
static void take_text(struct choice *x, const char *all)
{
    const int has_tools = x->of->chat->tools.mode != TOOLS_OFF;
    const char *text = has_tools ? x->plain.p ? x->plain.p : "" : all;
    x->text = strdup(text);
    x->answer.text = x->text;
    x->answer.n_text = strlen(text);
    x->answer.calls = x->reader.n_calls ? x->calls.p : NULL;
    x->answer.n_calls = x->calls.n;
    logprobs_give(x);
}

static void output(struct lm_work *w)
{
    struct choice *x = w->user;
    struct choices *c = x->of;
    steno_timings now = { .size = sizeof now };
    steno_timings_get(w->session, &now);
    steno_generated(w->session, &x->n_made);
    x->answer.finish = steno_generate_finish(w->session);
    if (x->answer.finish == STENO_FINISH_NONE) x->answer.finish = STENO_FINISH_END;
    c->reply.prompt_tokens = w->n_ids;
    c->reply.text_tokens += x->n_made;
    if (!x->answer.index) c->reply.cached_tokens = now.n_reused;
    if (c->chat->stream && !x->has_role) stream_begin(x);
    if (c->chat->tools.mode != TOOLS_OFF) call_reader_end(&x->reader);
    if (!c->chat->stream) {
        take_text(x, steno_generated_text(w->session));
        return;
    }
    if (lost_memory(x)) return; /* `ended` says so */
    if (x->settled.n && c->chat->tools.mode != TOOLS_OFF) text_send(x, "", 0); /* of white space behind calls */
    size_t n = 0;
    x->answer.calls = x->reader.n_calls ? "" : NULL;
    char *event = chat_event_end(&c->reply, &x->answer, &n);
    event_stream_send(&c->events, event, n);
}

/* ---- the end of all ---------------------------------------------------------------------------------------------------------- */

static char *body_of(const struct choices *c, size_t *n)
{
    struct chat_choice *all = calloc((size_t)c->n, sizeof *all);
    int bad = !all;
    for (int i = 0; i < c->n && !bad; i++) {
        const struct choice *x = &c->choice[i];
        all[i] = x->answer;
        bad = !x->text || lost_memory(x);
    }
    char *body = bad ? NULL : chat_body(&c->reply, all, c->n, n);
    free(all);
    return body;
}

static void answer(struct choices *c)
{
    struct http_answer a = { .status = 200, .type = "application/json" };
    if (c->error.code == API_OK && !(a.body = body_of(c, &a.n)))
        api_fail(&c->error, API_internal_error, NULL, "out of memory for the answer");
    if (c->error.code != API_OK) {
        call_refuse(c->call, &c->error);
        return;
    }
    if (c->chat->ignored[0]) a.header[0] = (struct http_header){ "steno-ignored", c->chat->ignored };
    exchange_answer(c->call->x, &a);
}

static void all_over(struct choices *c)
{
    size_t n = 0;
    c->call->n_tokens = c->reply.text_tokens;
    if (!atomic_load(&c->events.is_open)) {
        answer(c);
        return;
    }
    char *usage = c->chat->has_usage ? chat_event_usage(&c->reply, &n) : NULL;
    if (c->chat->has_usage && !usage) api_fail(&c->error, API_internal_error, NULL, "out of memory for the answer");
    event_stream_end(&c->events, &c->error, usage, n);
    free(usage);
}

static void cancel_running(struct choices *c)
{
    for (int i = 0; i < c->n; i++)
        if (!c->choice[i].is_over) lm_work_cancel(&c->choice[i].work);
}

/* With the lock: n choices have ended, or were not submitted. An error ends the others. @return 1: they were the last ones */
static int settle(struct choices *c, int n, const struct api_error *e)
{
    c->n_left -= n;
    if (e->code == API_OK || c->error.code != API_OK) return !c->n_left;
    c->error = *e;
    cancel_running(c);
    return !c->n_left;
}

/* What the metrics count of language models. */
static void timings_add(steno_timings *to, const steno_timings *t)
{
    to->n_windows += t->n_windows;
    to->n_steps += t->n_steps;
    to->prompt_us += t->prompt_us;
    to->decode_us += t->decode_us;
}

/* The function at this place of a schema of calls: a number among those that are allowed. @return its number, or -1 */
static int allowed_function(const struct ask_tools *t, unsigned long place)
{
    for (int i = 0; i < t->n; i++)
        if (ask_tools_allow(t, json_string_value(json_object_get(t->function[i], "name"))) && !place--) return i;
    return -1;
}

/* A fault of the schema that the server made of the tools is one of the tools, at a place that the client knows. */
static struct api_error with_field(const struct api_error *e, const struct ask_tools *tools)
{
    static const char schema[] = "json_schema, ", list[] = "/anyOf/", arguments[] = "/properties/arguments";
    struct api_error of_tools = { 0 };
    if (!tools->schema || strncmp(e->message, schema, sizeof schema - 1) != 0) return *e;
    const char *at = e->message + sizeof schema - 1;
    char *behind = NULL;
    const int has_place = !strncmp(at, list, sizeof list - 1);
    const int i = has_place ? allowed_function(tools, strtoul(at + sizeof list - 1, &behind, 10)) : -1;
    if (i < 0 || strncmp(behind, arguments, sizeof arguments - 1) != 0)
        api_fail(&of_tools, e->code, "tools", "the schema of the tools: %.400s", at);
    else api_fail(&of_tools, e->code, "tools", "tools[%d].function.parameters%.400s", i, behind + sizeof arguments - 1);
    return of_tools;
}

static void ended(struct lm_work *w, const struct api_error *error)
{
    struct choice *x = w->user;
    struct choices *c = x->of;
    struct api_error named = with_field(error, &c->chat->tools);
    const struct api_error *e = &named;
    if (named.code == API_OK && lost_memory(x)) api_fail(&named, API_internal_error, NULL, "out of memory for the answer");
    struct call *call = c->call;
    pthread_mutex_lock(&c->lock);
    x->is_over = 1;
    call->engine = w->engine;
    timings_add(&call->timings, &w->timings);
    const int is_last = settle(c, 1, e);
    pthread_mutex_unlock(&c->lock);
    if (is_last) all_over(c);
    call_drop(call);
}

/* ---- all --------------------------------------------------------------------------------------------------------------------- */

static void choice_init(struct choice *x, struct choices *c, int index, struct engine *g)
{
    x->of = c;
    x->answer.index = index;
    x->to_settled = sink_to_memory(&x->settled);
    x->to_held = sink_to_memory(&x->held);
    x->to_plain = sink_to_memory(&x->plain);
    x->to_calls = sink_to_memory(&x->calls);
    x->reader = (struct call_reader){ .tools = &c->chat->tools, .text = reader_text, .call = reader_call, .user = x };
    call_reader_begin(&x->reader);
    x->work = (struct lm_work){ .user = x, .engine = g, .client = exchange_client(c->call->x), .prepare = prepare, .token = token,
                                .output = output, .ended = ended };
}

int choices_submit(struct choices *c, struct call *call, struct ask_chat *chat, struct engine *g, struct api_error *e)
{
    struct choice *all = calloc((size_t)chat->n, sizeof *all);
    if (!all) return api_fail(e, API_internal_error, NULL, "out of memory for a request");
    pthread_mutex_init(&c->lock, NULL);
    c->call = call;
    c->chat = chat;
    c->n = c->n_left = chat->n;
    c->reply = (struct chat_reply){ .id = exchange_id(call->x), .model = engine_id(g), .created = (int64_t)time(NULL) };
    for (int i = 0; i < c->n; i++) choice_init(&all[i], c, i, g);
    c->choice = all;
    for (int i = 0; i < c->n; i++) {
        call_keep(call); /* until `ended` */
        if (lm_work_submit(&all[i].work, e) == API_OK) continue;
        call_drop(call);
        if (!i) return (int)e->code;
        pthread_mutex_lock(&c->lock);
        for (int k = i; k < c->n; k++) all[k].is_over = 1;
        const int is_last = settle(c, c->n - i, e);
        pthread_mutex_unlock(&c->lock);
        if (is_last) all_over(c);
        break;
    }
    if (exchange_is_gone(call->x)) choices_cancel(c); /* it left before there was work to cancel */
    return API_OK;
}

void choices_cancel(struct choices *c)
{
    if (!c->choice) return;
    pthread_mutex_lock(&c->lock);
    cancel_running(c);
    pthread_mutex_unlock(&c->lock);
}

void choices_free(struct choices *c)
{
    if (!c->choice) return;
    for (int i = 0; i < c->n; i++) {
        free(c->choice[i].text);
        free(c->choice[i].settled.p);
        free(c->choice[i].held.p);
        free(c->choice[i].plain.p);
        free(c->choice[i].calls.p);
        call_reader_free(&c->choice[i].reader);
    }
    free(c->choice);
    pthread_mutex_destroy(&c->lock);
}

/* steno-serve: an answer of server-sent events. SPDX-License-Identifier: MIT */
#include "event_stream.h"
#include "answer.h"
#include <stdlib.h>
#include <string.h>

enum { ALIVE_MS = 15000 }; /* between comments, so that proxies keep quiet connections */

static int send_text(struct event_stream *es, const char *text)
{
    return exchange_send(es->call->x, text, strlen(text));
}

static void keep_alive(void *user)
{
    struct event_stream *es = user;
    es->alive = NULL;
    if (send_text(es, ANSWER_STREAM_ALIVE)) return; /* the client is gone */
    es->alive = loop_at(es->call->serve->loop, loop_now_ms() + ALIVE_MS, keep_alive, es);
}

static void alive_end(void *user)
{
    struct event_stream *es = user;
    if (es->alive) loop_timer_cancel(es->alive);
    call_drop(es->call);
}

void event_stream_begin(struct event_stream *es, struct call *c, const char *ignored)
{
    const struct http_header more[3] = { { "X-Accel-Buffering", "no" }, { ignored[0] ? "steno-ignored" : NULL, ignored } };
    es->call = c;
    if (exchange_stream(c->x, 200, ANSWER_STREAM_TYPE, more)) return;
    atomic_store(&es->is_open, 1);
    call_keep(c); /* until alive_end */
    loop_call(c->serve->loop, keep_alive, es);
}

int event_stream_send(struct event_stream *es, char *events, size_t n)
{
    const int failed = !events || (n && exchange_send(es->call->x, events, n));
    free(events);
    return failed ? -1 : 0;
}

void event_stream_end(struct event_stream *es, const struct api_error *e, const char *last, size_t n)
{
    es->call->reason = e->code;
    if (e->code == API_OK) {
        exchange_send(es->call->x, last, n);
        send_text(es, ANSWER_STREAM_END);
    } else {
        char *event = answer_stream_error(e, &n);
        event_stream_send(es, event, n);
    }
    exchange_finish(es->call->x, 1);
    loop_call(es->call->serve->loop, alive_end, es);
}

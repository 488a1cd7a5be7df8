/* steno-serve: an answer of server-sent events, which a comment keeps alive. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_EVENT_STREAM_H
#define STENO_SERVE_EVENT_STREAM_H
#include "call.h"

/* Begins as { 0 }; a member of a call's request. */
struct event_stream {
    struct call *call;
    atomic_int is_open;       /* 1: the response has begun */
    struct loop_timer *alive; /* used on the loop's thread only */
};

/* The status line goes out. `ignored`: names of fields for the header steno-ignored, "": none. The stream keeps the call until it ends. */
void event_stream_begin(struct event_stream *es, struct call *c, const char *ignored);
/* Adds events, [n] bytes, malloc'd, which it frees; NULL: there was no memory for them. @return 0, or -1: the client lacks them */
int event_stream_send(struct event_stream *es, char *events, size_t n);
/* The end: the last events, [n] bytes, and [DONE]; or the error, which the log gets, too. */
void event_stream_end(struct event_stream *es, const struct api_error *e, const char *last, size_t n);
#endif

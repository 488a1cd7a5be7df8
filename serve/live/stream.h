/* steno-serve: the plain protocol of live audio, /v1/stream. SPDX-License-Identifier: MIT
 *
 * A WebSocket. The client sends raw samples as binary messages of any size, and the text messages {"type":"commit"}, {"type":"clear"} and
 * {"type":"end"}. The server sends the lines of `steno stream`, one a message. A failure is {"type":"error","message":...}, and the
 * connection ends with 1011; with 1013 and the error's code if a busy server refuses the session. After {"type":"end"} the rest is
 * decoded, and the connection ends with 1000; with 1001 if the server stops. */
#ifndef STENO_SERVE_STREAM_H
#define STENO_SERVE_STREAM_H
#include "live_session.h"
#include "sessions.h"
#include "ws.h"

/* Parameters in the query of the request. Texts point into the query. */
struct stream_query {
    struct live_session_params live;
    const char *model;
    struct api_error e; /* of the first bad one */
};

void stream_query_begin(struct stream_query *q); /* s16le, mono, 16 kHz, turns by voice activity */
void stream_query_add(void *q, const char *name, const char *value); /* q: struct stream_query. As the callback of exchange_queries */

struct stream;
/* Opens the live session; the callbacks in *p are overwritten. After most_ms of audio (0: no limit) it ends, with 1001 and a message.
 * of: those of the server, with stream_end; NULL: none. @return API_OK or a code, in *e */
int stream_open(struct stream **out, struct sessions *of, const struct live_session_params *p, int64_t most_ms, struct api_error *e);
void stream_opened(void *s, struct ws *w); /* s: struct stream. As the callback of ws_accept */
void stream_end(struct session_entry *s);  /* what was sent is decoded, then the connection is closed with 1001. Of sessions_open */
void stream_drop(struct stream *s);        /* instead of stream_opened, if there is no connection */
#endif

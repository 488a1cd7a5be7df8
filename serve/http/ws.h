/* steno-serve: WebSocket frames (RFC 6455) on a socket of the loop. SPDX-License-Identifier: MIT
 *
 * Only ws.c knows libwslay, which is loaded when the first connection is opened. Callbacks run on the loop's thread. */
#ifndef STENO_SERVE_WS_H
#define STENO_SERVE_WS_H
#include "http.h"
#include "loop.h"

struct ws;

enum { WS_MESSAGE_MAX = 1 << 20, WS_OUT_MAX = 1 << 20, WS_PING_S = 20, WS_SILENCE_S = 40 };

struct ws_events {
    void (*text)(void *user, const char *text, size_t n);       /* UTF-8, checked */
    void (*binary)(void *user, const char *bytes, size_t n);
    void (*closed)(void *user); /* the last call; code: of the client's close frame, 1005: none, 1006: the connection broke */
    void *user;
};

/* The fields of a handshake's answer, or the reason of a refusal (400, 426). `protocol`: chosen subprotocol, or NULL. Then the exchange is
 * upgraded, and `opened` is called on the loop's thread. @return API_OK or a code (api_error.h) */
struct api_error;
int ws_accept(struct exchange *x, struct loop *l, const char *protocol, void (*opened)(void *user, struct ws *w), void *user,
              struct api_error *e);
void ws_events(struct ws *w, const struct ws_events *ev); /* within `opened` */

/* Any thread, while `closed` has not returned. @return 0; -1: the connection is closing (1008 if more than WS_OUT_MAX wait) */
int ws_send(struct ws *w, const char *text, size_t n);
void ws_close(struct ws *w, int code, const char *reason);
/* Stops reading from the client, or goes on: backpressure. Any thread. */
void ws_pause(struct ws *w, int on);
void ws_keep(struct ws *w); /* a reference for another thread */
void ws_drop(struct ws *w);
#endif

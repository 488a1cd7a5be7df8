/* steno-serve: WebSocket frames (RFC 6455) on a socket of the loop. SPDX-License-Identifier: MIT
 *
 * Only ws*.c know libwslay, which is loaded when the first connection is opened. Callbacks run on the loop's thread. */
#ifndef STENO_SERVE_WS_H
#define STENO_SERVE_WS_H
#include "http.h"
#include "loop.h"

struct ws;

enum { WS_MESSAGE_MAX = 1 << 20, WS_OUT_MAX = 1 << 20, WS_PING_S = 20, WS_SILENCE_S = 40, WS_LINGER_S = 5 };

struct ws_events {
    void (*text)(void *user, const char *text, size_t n);       /* UTF-8, checked */
    void (*binary)(void *user, const char *bytes, size_t n);
    void (*closed)(void *user); /* the last call; ws_close_code may be called */
    void *user;
};

/* Answers the handshake of a request and upgrades the exchange; after a refusal the caller answers. `protocol`: chosen subprotocol, or
 * NULL. `opened` is called once, on the loop's thread, or with w NULL on any thread: the connection broke before.
 * @return API_OK or a code (api_error.h), in *e; then `opened` is not called */
struct api_error;
int ws_accept(struct exchange *x, struct loop *l, const char *protocol, void (*opened)(void *user, struct ws *w), void *user,
              struct api_error *e);
void ws_events(struct ws *w, const struct ws_events *ev); /* within `opened` */

/* Any thread, while `closed` has not returned. @return 0; -1: the connection is closing (1008 if more than WS_OUT_MAX wait) */
int ws_send(struct ws *w, const char *text, size_t n);
/* Sends what waits, then the close frame; messages of the client are dropped from now on. `closed` is called soon. */
void ws_close(struct ws *w, int code, const char *reason);
int ws_close_code(const struct ws *w); /* within `closed`: of the client's close frame, 1005: it had none, 1006: no close frame came */
/* Stops reading from the client, or goes on: backpressure. Any thread. */
void ws_pause(struct ws *w, int on);
void ws_keep(struct ws *w); /* a reference for another thread */
void ws_drop(struct ws *w);

/* Entries of a list that a client offers, as in Sec-WebSocket-Protocol: "a, b". *list moves on. @return the entry, NULL: no more */
const char *ws_protocol_next(const char **list, size_t *n);

/* ---- without HTTP ------------------------------------------------------------------------------------------------------------- */

struct ws_times { int ping_ms, silence_ms, linger_ms; };

/* A connected socket, owned from now on, and bytes that were read from it; t NULL: the usual times. @return 0; -1: out of memory, or no
 * libwslay; then the descriptor is closed, and `opened` is not called */
int ws_take(struct loop *l, int fd, const char *bytes, size_t n, const struct ws_times *t, void (*opened)(void *user, struct ws *w),
            void *user);

/* Sec-WebSocket-Accept for a Sec-WebSocket-Key. @return 0, or -1: it is not the base64 of 16 bytes */
enum { WS_ACCEPT_SZ = 29 };
int ws_accept_value(char out[WS_ACCEPT_SZ], const char *key);
/* Fields of a handshake; NULL: absent. @return API_OK or a code, in *e */
int ws_check(int is_get, const char *upgrade, const char *connection, const char *version, const char *key, struct api_error *e);
#endif

/* steno-serve: the Wyoming protocol, with which Home Assistant asks for texts. SPDX-License-Identifier: MIT
 *
 * An own port, on the loop. An utterance is a file for the model: its audio is spooled as WAV, and its text is that of the command line for
 * this file. With a model that decodes a stream chunk by chunk, a client of version 1.7 receives words while it sends audio, of a live
 * session; if none is free, the utterance is a file. The protocol has no keys. */
#ifndef STENO_SERVE_WYOMING_H
#define STENO_SERVE_WYOMING_H
#include "engines.h"
#include "loop.h"

enum { WYOMING_CONNECTIONS_MAX = 256, WYOMING_IDLE_S = 300, WYOMING_LINGER_S = 5 };

struct metrics;
struct wyoming;

/* An utterance that is over, or an event that was refused. Valid during the call. */
struct wyoming_utterance {
    enum api_code code;      /* API_OK: its text was sent; API_cancelled: the client left before */
    const char *client;
    const struct work *work; /* NULL: no model was asked */
    const char *language, *text; /* text: NULL: none */
    int64_t audio_ms;        /* of what arrived; -1: none */
    int64_t bytes_in, bytes_out, total_us; /* total_us: since the first event of the utterance */
};

struct wyoming_params {
    struct loop *loop;
    struct engines *engines;
    struct spool *spool;
    const char *host; int port;  /* port 0: any free one */
    const int *fds; int n_fds;   /* listening sockets received from systemd, instead of host and port */
    int64_t upload_max;          /* bytes of an utterance */
    struct metrics *metrics;     /* of live sessions; NULL: none */
    int64_t live_ms_max;         /* of an utterance whose words are sent while it is spoken; 0: no limit */
    const char *version;         /* of the server */
    void (*over)(void *user, const struct wyoming_utterance *u); /* on the loop's thread; NULL: not called */
    void *user;
};

int wyoming_open(struct wyoming **out, const struct wyoming_params *p, steno_error *e); /* strings are copied. @return as httpd_open */
int wyoming_port(const struct wyoming *w);
int wyoming_connections(const struct wyoming *w); /* number of open ones, any thread; w NULL: 0 */
void wyoming_drain(struct wyoming *w); /* accepts no more connections; open ones go on */
void wyoming_close(struct wyoming *w); /* cuts what is open; not on the loop's thread. NULL is allowed */
#endif

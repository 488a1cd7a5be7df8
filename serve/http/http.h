/* steno-serve: HTTP/1.1 for the rest of this folder. SPDX-License-Identifier: MIT
 *
 * One thread accepts connections and calls the handlers, which must not block. Requests are answered from any thread. Only http*.c know
 * libmicrohttpd, which is loaded when a server is opened, so that other verbs do not pay for it.
 *
 * Before a handler sees a request, its head has passed the checks of http_gate.h, and the client's address its limits. Every response
 * has X-Request-Id. Every one but 101 also has Cache-Control: no-store (unless the answer has its own), X-Content-Type-Options: nosniff,
 * steno-processing-ms and, for a listed origin, the headers of CORS. */
#ifndef STENO_SERVE_HTTP_H
#define STENO_SERVE_HTTP_H
#include <stddef.h>
#include <stdint.h>
#include <steno/steno.h>

struct httpd;    /* the server */
struct exchange; /* a request and its response */

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_POST, HTTP_OPTIONS, HTTP_OTHER };

/* ---- the server -------------------------------------------------------------------------------------------------------------- */

/* What happens with the body of a request, and at its end. Called on the HTTP thread, except `left`. */
struct http_handler {
    /* n more bytes of the body. @return 0, or 1: an answer was given, and the rest of the body is dropped. NULL: the body is dropped */
    int (*body)(void *request, const char *bytes, size_t n);
    /* The body is complete: answer now, or later from any thread. Not called after an answer was given */
    void (*end)(void *request);
    /* The client closed its connection, or a deadline passed, before the response was complete. Called at most once, on the watching
     * thread, at any time before `closed`, but not while `body` or `end` runs; these are not called after it. May be NULL */
    void (*left)(void *request);
    /* The last call: the exchange is over. `complete`: the whole response was sent. The request may still run: it keeps the exchange
     * with exchange_keep if it answers later */
    void (*closed)(void *request, int complete);
};

struct http_params {
    const char *host;        /* address or name; NULL: not by TCP */
    int port;                /* 0: any free port (httpd_port) */
    const char *unix_path;   /* path of a Unix socket, NULL: none */
    const int *fds;          /* [n_fds] listening sockets received from systemd, instead of host and unix_path; closed by the server */
    int n_fds;
    const char *tls_cert, *tls_key; /* PEM files; NULL: plain HTTP */
    int max_connections, max_per_ip;
    const char *const *trusted; /* [n_trusted] addresses or ranges (CIDR) of proxies whose X-Forwarded-For is believed, or "unix" */
    int n_trusted;
    const char *const *origins; /* [n_origins] origins that browsers may call from (CORS); they stay until httpd_close */
    int n_origins;
    double head_timeout_s;   /* total time for a head */
    double body_timeout_s;   /* total time for a body: this, and 1 s for each 64 kB */
    double idle_timeout_s;   /* between requests of a connection */
    void *user;
    /* Called on the HTTP thread when a head has arrived. @return the handler, with its request in *request; or NULL: an answer was
     * given */
    const struct http_handler *(*route)(void *user, struct exchange *x, void **request);
    /* Called on the HTTP thread when an exchange is over, after `closed`; also of those that `route` did not see. May be NULL */
    void (*over)(void *user, const struct exchange *x, int complete);
    /* Called on the watching thread when max_connections or max_per_ip refused a connection, before its head was read. May be NULL */
    void (*refused)(void *user, const char *client, int status, const char *reason);
};

/* @return STENO_OK; STENO_EUNSUPPORTED (no libmicrohttpd), STENO_EARG (address), STENO_EIO (address in use, no permission), STENO_ENOMEM;
 * with the reason in *e */
int httpd_open(struct httpd **out, const struct http_params *p, steno_error *e);
int httpd_port(const struct httpd *h);
void httpd_quiesce(struct httpd *h);     /* accept no more connections; open ones go on */
int httpd_exchanges(const struct httpd *h); /* number of requests that are not complete */
int httpd_connections(const struct httpd *h);
int httpd_upgraded(const struct httpd *h); /* number of those that another protocol has */
void httpd_close(struct httpd *h);       /* cuts what is still open */

/* Sockets that listen, for other protocols: as httpd_open opens them. fd: [*n] non-blocking, owned by the caller. @return as httpd_open */
enum { HTTP_SOCKETS_MAX = 16 };
struct http_sockets { const char *host; int port; const int *fds; int n_fds; };
int http_sockets(int fd[HTTP_SOCKETS_MAX], int *n, int *port, const struct http_sockets *s, steno_error *e);

/* Writes the reason of a failure; e may be NULL. @return status */
int http_fail(steno_error *e, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- a request --------------------------------------------------------------------------------------------------------------- */

enum http_method exchange_method(const struct exchange *x);
const char *exchange_method_name(const struct exchange *x);
const char *exchange_path(const struct exchange *x); /* decoded once, without the query; begins with / */
const char *exchange_header(const struct exchange *x, const char *name); /* first of that name, in any case; NULL: none */
const char *exchange_query(const struct exchange *x, const char *name);  /* decoded; NULL: none */
void exchange_queries(const struct exchange *x, void (*each)(void *user, const char *name, const char *value), void *user);
int64_t exchange_content_length(const struct exchange *x); /* -1: chunked; 0: no body */
const char *exchange_client(const struct exchange *x);     /* address of the client, or of a trusted proxy's client; "unix" */
const char *exchange_id(const struct exchange *x);         /* X-Request-Id */
int64_t exchange_begun_us(const struct exchange *x);       /* monotonic clock, when its head had arrived */
int exchange_is_gone(const struct exchange *x);            /* 1: the response is read no more; any thread */

/* A request that answers after its handler returned keeps the exchange until it has answered. Any thread. */
void exchange_keep(struct exchange *x);
void exchange_drop(struct exchange *x);

/* ---- the response: from any thread, once per exchange ------------------------------------------------------------------------ */

struct http_header { const char *name, *value; };
enum { ANSWER_HEADERS_MAX = 8 };

struct http_answer {
    int status;
    const char *type; /* Content-Type; NULL: none */
    char *body;       /* [n] malloc'd, freed by exchange_answer; NULL: none */
    size_t n;
    struct http_header header[ANSWER_HEADERS_MAX]; /* ends with a NULL name; copied */
    int closes;       /* 1: the connection is closed after it */
    const char *reason; /* of a refusal, for the log: a constant; NULL: none */
};

void exchange_answer(struct exchange *x, struct http_answer *a);

/* Begin a response that is sent in pieces (chunked), then add bytes, then end it. At most 1 MiB waits for a slow client; then it is cut
 * off, and `left` is called. @return 0, or -1: the client is gone, bytes are dropped */
int exchange_stream(struct exchange *x, int status, const char *type, const struct http_header *header);
int exchange_send(struct exchange *x, const char *bytes, size_t n);
void exchange_finish(struct exchange *x, int properly); /* 0: cut the connection, so that the client sees a failure */

/* Switch protocols (101). `taken` is called once, on the HTTP thread: with the socket, which does not block and which the callee owns until
 * upgraded_close, and with bytes that the client has already sent; or, if the client left before, with u NULL and fd -1, on any thread. The
 * sockets are closed before httpd_close. */
struct upgraded;
void exchange_upgrade(struct exchange *x, const struct http_header *header,
                      void (*taken)(void *user, struct upgraded *u, int fd, const char *bytes, size_t n), void *user);
void upgraded_close(struct upgraded *u);

/* Status and body so far, for the log: valid in `closed`. */
int exchange_status(const struct exchange *x);
const char *exchange_reason(const struct exchange *x); /* of its answer; NULL: none */
int exchange_is_handled(const struct exchange *x);     /* 1: `route` returned a handler */
int64_t exchange_bytes_in(const struct exchange *x);
int64_t exchange_bytes_out(const struct exchange *x);
#endif

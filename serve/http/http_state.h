/* steno-serve: the state that the files of HTTP share. SPDX-License-Identifier: MIT
 *
 * Two threads: the HTTP thread (http_drive.c), which runs libmicrohttpd, so that it reads heads and bodies and writes responses, and the
 * watching thread (http_watch.c), which accepts connections, ends late ones, and sees clients leave while libmicrohttpd does not look.
 * One lock guards everything below except fields marked as constant. No callback of the server's user is called with the lock held.
 * libmicrohttpd calls back without its own locks, so that it can be called with this one. */
#ifndef STENO_SERVE_HTTP_STATE_H
#define STENO_SERVE_HTTP_STATE_H
#include "http.h"
#include "http_text.h"
#include "loop.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* ---- libmicrohttpd, loaded (http_mhd.c) --------------------------------------------------------------------------------------- */

#define MHD_CALLS(X) \
    X(MHD_start_daemon) X(MHD_stop_daemon) X(MHD_add_connection) X(MHD_suspend_connection) X(MHD_resume_connection) \
    X(MHD_get_connection_info) X(MHD_get_connection_values_n) X(MHD_queue_response) X(MHD_create_response_from_buffer) \
    X(MHD_create_response_from_callback) X(MHD_create_response_for_upgrade) X(MHD_upgrade_action) X(MHD_add_response_header) \
    X(MHD_destroy_response) X(MHD_is_feature_supported) X(MHD_get_daemon_info) X(MHD_get_timeout) X(MHD_run)

struct mhd {
    void *lib;
#define MHD_FIELD(f) __typeof__(f) *f;
    MHD_CALLS(MHD_FIELD)
#undef MHD_FIELD
};

int mhd_load(struct mhd *m, steno_error *e); /* @return STENO_OK or STENO_EUNSUPPORTED */

/* ---- connections -------------------------------------------------------------------------------------------------------------- */

enum conn_phase {
    CONN_NEW,      /* libmicrohttpd has not taken it yet */
    CONN_HEAD, CONN_BODY,
    CONN_WORK,     /* the request is complete, and libmicrohttpd waits for the answer: it does not look at the socket */
    CONN_WRITE, CONN_IDLE, CONN_UPGRADED,
    CONN_CUT,      /* shut down; libmicrohttpd will close it */
};

#define NEVER INT64_MAX
enum { STREAM_MAX = 1 << 20, UPLOAD_RATE = 65536, SWALLOW_MIN = 1 << 20, SWALLOW_MAX = 1 << 30 };

struct conn {
    struct httpd *h;
    struct conn *prev, *next;
    int fd;               /* libmicrohttpd's */
    int watched;          /* its duplicate; -1: closed */
    enum conn_phase phase;
    int64_t deadline_us;  /* the watching thread cuts the connection then */
    int half_closed;      /* the client has closed its side */
    struct address address;
    int is_trusted;       /* a proxy whose X-Forwarded-For is believed */
    struct arrival *arrival; /* in CONN_NEW */
    struct exchange *x;   /* the current request; NULL: none */
    struct upgraded *upgraded;
};

/* A connection on its way from the watching thread to the HTTP thread. */
struct arrival {
    struct arrival *next;
    struct conn *conn;    /* NULL: it was cut meanwhile, or libmicrohttpd has it */
    int fd;
    socklen_t n_sa;
    struct sockaddr_storage sa;
};

/* The thread that runs libmicrohttpd. */
struct drive {
    pthread_t thread;
    int is_running, epoll, wake;
    atomic_int ends;
    struct arrival *first, **last;
    struct arrival *given; /* of the HTTP thread: to libmicrohttpd, which has not begun with them */
};

struct httpd {
    struct mhd mhd;
    struct http_params p;   /* constant */
    struct range *trusted;  /* [p.n_trusted] */
    int trusts_unix;
    char *tls_cert, *tls_key;
    struct MHD_Daemon *daemon;
    struct drive drive;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* `leaving` ended, the last connection was closed, listening ended */
    atomic_int refs;        /* of the server and of its exchanges */
    atomic_int n_exchanges, n_connections, n_upgraded, quiet, closing;
    atomic_ullong last_id;
    /* of the watching thread */
    pthread_t watcher;
    int has_watcher, epoll, wake;
    int listener[HTTP_SOCKETS_MAX], n_listeners, are_listening, port;
    char *unix_path;
    int64_t wake_us;        /* when it looks at the deadlines next */
    int64_t accept_us;      /* it accepts again from then on; 0: now */
    struct conn *conns, *dead;
};


/* Sets phase and deadline; wakes the watching thread if that is earlier than it expects. With the lock. */
enum { HANGUP_S = 5 }; /* after the client's end: time in which the bytes that have arrived are read */
void conn_phase_set(struct conn *c, enum conn_phase phase, int64_t deadline_us);

int httpd_listen(struct httpd *h, steno_error *e); /* opens the sockets */
int drive_open(struct httpd *h, steno_error *e);   /* starts the HTTP thread */
void drive_wake(struct httpd *h);                  /* after each call that resumes or closes a connection of libmicrohttpd */
void drive_close(struct httpd *h);                 /* ends it */
int arrival_add(struct httpd *h, struct conn *c, const struct sockaddr *sa, socklen_t n_sa); /* @return -1: no memory. With the lock */
struct arrival *arrival_next(struct httpd *h);     /* takes it from the queue. @return NULL: there is none */
struct arrival *arrival_given(struct httpd *h, int fd); /* takes the one of the socket from those that were given. @return NULL: none */
struct conn *arrival_leave(struct arrival *a);     /* separates the two. @return its connection, or NULL. With the lock */
int watch_open(struct httpd *h, steno_error *e);   /* starts the watching thread */
void watch_wake(struct httpd *h);
void watch_close(struct httpd *h);                 /* ends it, when connections are closed or after 5 s */
void conn_retire(struct conn *c);                  /* libmicrohttpd closes its socket. With the lock */
void httpd_drop(struct httpd *h);                  /* gives a reference back */

/* ---- exchanges ---------------------------------------------------------------------------------------------------------------- */

struct exchange {
    struct httpd *h;
    atomic_int refs;
    struct conn *conn;          /* NULL: the exchange is over */
    struct MHD_Connection *mc;  /* valid with `conn` */
    const struct http_handler *handler;
    void *request;
    /* the head: constant from the call of `route` on */
    enum http_method method;
    char method_name[24], id[72], client[ADDRESS_TEXT];
    char *target, *path;         /* raw with its query; decoded without */
    struct http_header *field, *query;
    int n_fields, n_query;
    const char *origin;          /* a listed one, for CORS */
    int64_t content_length, begun_us;
    /* the response */
    struct MHD_Response *response; /* not given to libmicrohttpd yet */
    int status, is_closing;
    const char *reason;
    int64_t bytes_in, bytes_out;
    size_t swallowed;            /* bytes of the body after the answer was given */
    int has_head, is_counted, is_dropping, was_upgraded; /* of libmicrohttpd's thread */
    unsigned has_ended : 1, is_answered : 1, is_queued : 1, is_suspended : 1, is_gone : 1, is_leaving : 1,
        has_left : 1, is_over : 1, is_stream : 1, is_finished : 1, is_broken : 1, is_upgrade : 1,
        is_busy : 1; /* `body` or `end` runs: `left` waits */
    char *out;                   /* [out_n] bytes of a stream; those before out_at are sent */
    size_t out_n, out_at, out_cap;
    void (*taken)(void *user, struct upgraded *u, int fd, const char *bytes, size_t n);
    void *taken_user;
};

struct exchange *exchange_new(struct httpd *h, const char *target); /* NULL: out of memory */
int exchange_add_field(struct exchange *x, const char *name, size_t n_name, const char *value, size_t n_value);
void exchange_wake(struct exchange *x); /* libmicrohttpd goes on with it. With the lock */
void exchange_withdraw(struct exchange *x); /* on its end: what was not sent is freed */
void upgraded_force(struct upgraded *u);    /* closes it, although its owner did not */
#endif

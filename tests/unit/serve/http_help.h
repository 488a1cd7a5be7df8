/* steno: a small server and raw clients, for tests of HTTP. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_HTTP_HELP_H
#define STENO_TESTS_HTTP_HELP_H
#include "harness.h"
#include "http.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* What the handlers saw. */
static struct seen { atomic_int n_routes, n_left, n_closed, n_complete, n_over, n_late, n_mixed; } seen;

/* Threads of the test before may still count. */
static inline void seen_clear(void)
{
    atomic_int *const all[] = { &seen.n_routes, &seen.n_left, &seen.n_closed, &seen.n_complete, &seen.n_over, &seen.n_late,
                                &seen.n_mixed };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) atomic_store(all[i], 0);
}

static inline void pause_ms(int ms)
{
    const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL);
}

static inline void answer_text(struct exchange *x, int status, const char *text)
{
    struct http_answer a = { .status = status, .type = "text/plain", .body = strdup(text), .n = strlen(text) };
    exchange_answer(x, &a);
}

/* ---- the handlers -------------------------------------------------------------------------------------------------------------- */

struct request {
    struct exchange *x;
    size_t n, limit;
    unsigned sum;
    atomic_int has_left, refs, is_inside;
};

static inline void request_drop(struct request *r)
{
    if (atomic_fetch_sub(&r->refs, 1) == 1) free(r);
}

static inline int on_body(void *user, const char *bytes, size_t n)
{
    struct request *r = user;
    for (size_t i = 0; i < n; i++) r->sum = r->sum * 31 + (unsigned char)bytes[i];
    r->n += n;
    if (!r->limit || r->n <= r->limit) return 0;
    answer_text(r->x, 413, "too large");
    return 1;
}

/* A handler that takes too long, so that deadlines pass meanwhile. */
static inline int slow_body(void *user, const char *bytes, size_t n)
{
    struct request *r = user;
    (void)bytes, (void)n;
    if (atomic_load(&r->has_left)) atomic_fetch_add(&seen.n_mixed, 1);
    atomic_store(&r->is_inside, 1);
    pause_ms(150);
    atomic_store(&r->is_inside, 0);
    return 0;
}

static inline void echo_end(void *user)
{
    struct request *r = user;
    char text[64];
    snprintf(text, sizeof text, "%zu bytes, sum %u", r->n, r->sum);
    answer_text(r->x, 200, text);
}

static inline void on_left(void *user)
{
    struct request *r = user;
    if (atomic_load(&r->is_inside)) atomic_fetch_add(&seen.n_mixed, 1);
    atomic_store(&r->has_left, 1);
    atomic_fetch_add(&seen.n_left, 1);
}

static inline void on_closed(void *user, int complete)
{
    atomic_fetch_add(&seen.n_closed, 1);
    atomic_fetch_add(&seen.n_complete, complete);
    request_drop(user);
}

static inline void *late_run(void *user)
{
    struct request *r = user;
    pause_ms(30);
    answer_text(r->x, 200, "late");
    exchange_drop(r->x);
    request_drop(r);
    return NULL;
}

/* Answers after the client has left. */
static inline void *hold_run(void *user)
{
    struct request *r = user;
    for (int i = 0; i < 500 && !atomic_load(&r->has_left); i++) pause_ms(10);
    pause_ms(30);
    answer_text(r->x, 200, "held");
    atomic_fetch_add(&seen.n_late, 1);
    exchange_drop(r->x);
    request_drop(r);
    return NULL;
}

static inline void *stream_run(void *user)
{
    struct request *r = user;
    const struct http_header fields[] = { { "X-Accel-Buffering", "no" }, { NULL, NULL } };
    exchange_stream(r->x, 200, "text/event-stream", fields);
    for (int i = 0; i < 3; i++) {
        char text[32];
        snprintf(text, sizeof text, "data: %d\n\n", i);
        exchange_send(r->x, text, strlen(text));
        pause_ms(20);
    }
    exchange_finish(r->x, strcmp(exchange_path(r->x), "/broken") != 0);
    exchange_drop(r->x);
    request_drop(r);
    return NULL;
}

/* Sends until the client is cut off. */
static inline void *flood_run(void *user)
{
    struct request *r = user;
    static char block[65536];
    exchange_stream(r->x, 200, "text/plain", NULL);
    for (int i = 0; i < 4000 && exchange_send(r->x, block, sizeof block) == 0; i++) {}
    for (int i = 0; i < 200 && !atomic_load(&r->has_left); i++) pause_ms(10);
    exchange_finish(r->x, 1);
    exchange_drop(r->x);
    request_drop(r);
    return NULL;
}

static inline void start(struct request *r, void *(*run)(void *))
{
    pthread_t t;
    exchange_keep(r->x);
    atomic_fetch_add(&r->refs, 1);
    assert_int_equal(pthread_create(&t, NULL, run, r), 0);
    pthread_detach(t);
}

static inline void late_end(void *user) { start(user, late_run); }
static inline void hold_end(void *user) { start(user, hold_run); }
static inline void stream_end(void *user) { start(user, stream_run); }
static inline void flood_end(void *user) { start(user, flood_run); }

static inline void on_query(void *user, const char *name, const char *value)
{
    char *text = user;
    snprintf(text + strlen(text), 512 - strlen(text), "[%s=%s]", name, value);
}

static inline void info_end(void *user)
{
    struct request *r = user;
    char text[512];
    snprintf(text, sizeof text, "%s %s from %s ", exchange_method_name(r->x), exchange_path(r->x), exchange_client(r->x));
    exchange_queries(r->x, on_query, text);
    const char *q = exchange_query(r->x, "q");
    snprintf(text + strlen(text), sizeof text - strlen(text), " q=%s", q ? q : "(none)");
    answer_text(r->x, 200, text);
}

static inline void up_taken(void *user, struct upgraded *u, int fd, const char *bytes, size_t n)
{
    (void)user;
    if (!u) return;
    if (n && send(fd, bytes, n, MSG_NOSIGNAL) < 0) {}
    if (send(fd, "taken", 5, MSG_NOSIGNAL) < 0) {}
    upgraded_close(u);
}

static const struct http_handler echo = { on_body, echo_end, on_left, on_closed }, late = { NULL, late_end, on_left, on_closed },
                                 hold = { on_body, hold_end, on_left, on_closed }, stream = { NULL, stream_end, on_left, on_closed },
                                 flood = { NULL, flood_end, on_left, on_closed }, info = { NULL, info_end, on_left, on_closed },
                                 slow = { slow_body, echo_end, on_left, on_closed };

static const struct http_handler *on_route(void *user, struct exchange *x, void **request)
{
    static const struct { const char *path; const struct http_handler *handler; size_t limit; } routes[] = {
        { "/echo", &echo, 0 }, { "/limit", &echo, 1000 }, { "/middle", &echo, 1000 }, { "/late", &late, 0 }, { "/hold", &hold, 0 },
        { "/stream", &stream, 0 }, { "/broken", &stream, 0 }, { "/flood", &flood, 0 }, { "/info", &info, 0 }, { "/slow", &slow, 0 },
    };
    (void)user;
    atomic_fetch_add(&seen.n_routes, 1);
    const char *path = exchange_path(x);
    const struct http_header fields[] = { { "Upgrade", "steno" }, { NULL, NULL } };
    if (strcmp(path, "/up") == 0) exchange_upgrade(x, fields, up_taken, NULL);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strncmp(path, routes[i].path, strlen(routes[i].path)) != 0) continue;
        if (strcmp(path, "/limit") == 0 && exchange_content_length(x) > (int64_t)routes[i].limit) break;
        struct request *r = calloc(1, sizeof *r);
        assert_non_null(r);
        *r = (struct request){ .x = x, .limit = routes[i].limit, .refs = 1 };
        *request = r;
        return routes[i].handler;
    }
    if (strcmp(path, "/up") != 0) answer_text(x, strcmp(path, "/limit") == 0 ? 413 : 404, "refused");
    return NULL;
}

static inline void on_over(void *user, const struct exchange *x, int complete)
{
    (void)user, (void)x, (void)complete;
    atomic_fetch_add(&seen.n_over, 1);
}

/* ---- server and clients -------------------------------------------------------------------------------------------------------- */

static const struct http_params usual = { .host = "127.0.0.1", .max_connections = 64, .max_per_ip = 64, .head_timeout_s = 5,
                                          .body_timeout_s = 5, .idle_timeout_s = 5, .route = on_route, .over = on_over };

static inline struct httpd *server(const struct http_params *p)
{
    struct httpd *h = NULL;
    steno_error e = { 0 };
    seen_clear();
    const int rc = httpd_open(&h, p, &e);
    if (rc == STENO_EUNSUPPORTED) {
        print_message("%s\n", e.text);
        skip();
    }
    if (rc) fail_msg("%s", e.text);
    return h;
}

static inline int client(const struct httpd *h)
{
    const struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)httpd_port(h)),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
    return fd;
}

static inline int say_n(int fd, const char *text, size_t n)
{
    while (n) {
        const ssize_t k = send(fd, text, n, MSG_NOSIGNAL);
        if (k <= 0) return -1;
        text += k;
        n -= (size_t)k;
    }
    return 0;
}

static inline int say(int fd, const char *text)
{
    return say_n(fd, text, strlen(text));
}

/* Reads until the end of the connection, `until` was read, or ms have passed. @return 1: the server has closed the connection */
static inline int listen_for(int fd, const char *until, int ms, char *out, size_t sz)
{
    size_t n = 0;
    out[0] = '\0';
    while (n + 1 < sz && !(until && strstr(out, until))) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, ms) <= 0) return 0;
        const ssize_t k = recv(fd, out + n, sz - 1 - n, 0);
        if (k <= 0) return 1;
        n += (size_t)k;
        out[n] = '\0';
    }
    return 0;
}

/* Sends all, and reads the whole answer of a connection that is then closed. */
static inline void ask(const struct httpd *h, const char *text, char *out, size_t sz)
{
    const int fd = client(h);
    say(fd, text);
    listen_for(fd, NULL, 10000, out, sz);
    close(fd);
}

static inline void wait_for(atomic_int *n, int value)
{
    for (int i = 0; i < 2000 && atomic_load(n) < value; i++) pause_ms(10);
    assert_int_equal(atomic_load(n), value);
}

#define HEAD(method, target) method " " target " HTTP/1.1\r\nHost: x\r\n"
#endif

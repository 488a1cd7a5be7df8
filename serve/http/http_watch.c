/* steno-serve: the thread that accepts connections and watches them. SPDX-License-Identifier: MIT
 *
 * libmicrohttpd's timeout is for pauses only, and it does not look at the socket of a suspended connection. So this thread holds a
 * duplicate of each socket: it waits for the hang-up of the client there, and shuts the socket down when a deadline has passed, which
 * libmicrohttpd then sees as the end of the connection. */
#include "http_state.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ACCEPTS_MAX = 64, EVENTS_MAX = 64, CLOSE_S = 5 };

static void conn_unlink(struct conn *c)
{
    struct httpd *h = c->h;
    if (c->prev) c->prev->next = c->next;
    else h->conns = c->next;
    if (c->next) c->next->prev = c->prev;
    atomic_fetch_sub(&h->n_connections, 1);
    if (!h->conns) pthread_cond_broadcast(&h->changed);
}

void conn_retire(struct conn *c)
{
    struct httpd *h = c->h;
    conn_unlink(c);
    if (c->arrival) arrival_leave(c->arrival);
    epoll_ctl(h->epoll, EPOLL_CTL_DEL, c->watched, NULL);
    close(c->watched);
    c->watched = -1;
    c->next = h->dead; /* this thread may have an event of it in its hands */
    h->dead = c;
    if (atomic_load(&h->closing) || h->accept_us) watch_wake(h);
}

/* Ends a connection, and calls `left` of its request. With the lock, which is released while `left` runs. @return 1: it was released */
static int conn_cut(struct conn *c)
{
    struct httpd *h = c->h;
    struct exchange *x = c->x;
    int was_released = 0;
    if (c->phase == CONN_NEW) { /* libmicrohttpd has not even begun with it */
        shutdown(c->watched, SHUT_RDWR);
        conn_retire(c);
        return 1;
    }
    c->phase = CONN_CUT;
    c->deadline_us = NEVER;
    if (x && !x->is_over) x->is_gone = 1;
    if (x && !x->is_over && x->handler && x->handler->left && !x->has_left) {
        x->has_left = x->is_leaving = 1;
        exchange_keep(x);
        while (x->is_busy) pthread_cond_wait(&h->changed, &h->lock);
        pthread_mutex_unlock(&h->lock);
        x->handler->left(x->request);
        pthread_mutex_lock(&h->lock);
        x->is_leaving = 0;
        pthread_cond_broadcast(&h->changed);
        was_released = 1;
    }
    if (c->watched >= 0) shutdown(c->watched, SHUT_RDWR);
    if (c->x) exchange_wake(c->x);
    if (!was_released) return 0;
    pthread_mutex_unlock(&h->lock);
    exchange_drop(x);
    pthread_mutex_lock(&h->lock);
    return 1;
}

/* Cuts connections whose deadline has passed. With the lock. */
static void sweep(struct httpd *h)
{
    const int64_t now = loop_now_us();
    int again = 1;
    while (again) {
        again = 0;
        h->wake_us = NEVER;
        for (struct conn *c = h->conns; c && !again; c = c->next) {
            if (c->deadline_us <= now) again = conn_cut(c);
            if (!again && c->deadline_us < h->wake_us) h->wake_us = c->deadline_us;
        }
    }
    while (h->dead) {
        struct conn *c = h->dead;
        h->dead = c->next;
        free(c);
    }
}

/* ---- new connections ---------------------------------------------------------------------------------------------------------- */

struct refusal { int status; const char *words, *type, *message; };
#define TOO_MANY "too_many_connections"

static const struct refusal crowded = { 429, "Too Many Requests", "rate_limit_error",
                                        "Your address has as many open connections as this server allows. Close some, or use them again." };
static const struct refusal full = { 503, "Service Unavailable", "server_error",
                                     "This server has as many open connections as it allows." };

/* A refusal before HTTP begins, so that a flood costs no memory. Over TLS the connection is only closed. */
static void refuse(const struct httpd *h, int fd, const struct refusal *r)
{
    char text[640], body[400];
    if (!h->p.tls_cert) {
        static const char form[] = "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":\"" TOO_MANY "\"}}";
        const int n = snprintf(body, sizeof body, form, r->message, r->type);
        const int all = snprintf(text, sizeof text,
                                 "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nRetry-After: 5\r\n"
                                 "Cache-Control: no-store\r\nConnection: close\r\n\r\n%s",
                                 r->status, r->words, n, body);
        if (send(fd, text, (size_t)all, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {}
        shutdown(fd, SHUT_WR);
        if (recv(fd, text, sizeof text, MSG_DONTWAIT) < 0) {} /* what was not read would reset the connection */
    }
    close(fd);
}

/* @return why there is no room for the connection; NULL: there is. With the lock */
static const struct refusal *refusal_of(struct httpd *h, const struct address *a, int is_trusted)
{
    int n_same = 0;
    struct conn *oldest = NULL;
    for (struct conn *c = h->conns; c; c = c->next) {
        n_same += !a->is_unix && address_equal(&c->address, a);
        if (c->phase == CONN_IDLE && (!oldest || c->deadline_us < oldest->deadline_us)) oldest = c;
    }
    if (!is_trusted && !a->is_unix && h->p.max_per_ip > 0 && n_same >= h->p.max_per_ip) return &crowded;
    if (h->p.max_connections <= 0 || atomic_load(&h->n_connections) < h->p.max_connections) return NULL;
    if (oldest) conn_cut(oldest); /* the idle one that waits longest makes room; a request on it at this moment is sent again */
    return oldest ? NULL : &full;
}

static void refuse_and_report(const struct httpd *h, int fd, const struct refusal *r, const struct address *a)
{
    char client[ADDRESS_TEXT];
    address_write(client, a);
    refuse(h, fd, r);
    if (h->p.refused) h->p.refused(h->p.user, client, r->status, TOO_MANY);
}

static void take(struct httpd *h, int fd, const struct sockaddr *sa, socklen_t n_sa)
{
    struct conn *c = calloc(1, sizeof *c);
    struct address a;
    address_of(&a, sa);
    const int is_trusted = a.is_unix ? h->trusts_unix : ranges_have(h->trusted, h->p.n_trusted, &a);
    pthread_mutex_lock(&h->lock);
    const struct refusal *why = refusal_of(h, &a, is_trusted);
    const int watched = why || !c ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    struct epoll_event ev = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = c };
    if (watched < 0 || epoll_ctl(h->epoll, EPOLL_CTL_ADD, watched, &ev)) {
        pthread_mutex_unlock(&h->lock);
        if (watched >= 0) close(watched);
        if (why) refuse_and_report(h, fd, why, &a);
        else close(fd);
        free(c);
        return;
    }
    *c = (struct conn){ .h = h, .next = h->conns, .fd = fd, .watched = watched, .address = a, .is_trusted = is_trusted };
    if (h->conns) h->conns->prev = c;
    h->conns = c;
    atomic_fetch_add(&h->n_connections, 1);
    conn_phase_set(c, CONN_NEW, loop_now_us() + (int64_t)(1e6 * h->p.head_timeout_s));
    const int failed = arrival_add(h, c, sa, n_sa);
    if (failed) conn_retire(c);
    pthread_mutex_unlock(&h->lock);
    if (failed) close(fd);
}

static void accept_all(struct httpd *h, int listener)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage sa = { 0 };
        socklen_t n = sizeof sa;
        const int fd = accept4(listener, (struct sockaddr *)&sa, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            if (n < sizeof(sa_family_t)) sa.ss_family = AF_UNIX;
            take(h, fd, (const struct sockaddr *)&sa, n < sizeof(sa_family_t) ? (socklen_t)sizeof(sa_family_t) : n);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pthread_mutex_lock(&h->lock);
            h->accept_us = loop_now_us() + 100000; /* the waiting connection stays in the queue of the system */
            pthread_mutex_unlock(&h->lock);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

/* ---- the thread --------------------------------------------------------------------------------------------------------------- */

static void listen_to(struct httpd *h, int on)
{
    for (int i = 0; i < h->n_listeners && on != h->are_listening; i++) {
        struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &h->listener[i] };
        epoll_ctl(h->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, h->listener[i], &ev);
    }
    h->are_listening = on;
}

static void listen_end(struct httpd *h)
{
    listen_to(h, 0);
    for (int i = 0; i < h->n_listeners; i++) close(h->listener[i]);
    if (h->unix_path && h->n_listeners) unlink(h->unix_path);
    pthread_mutex_lock(&h->lock);
    h->n_listeners = 0;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static void on_event(struct httpd *h, const struct epoll_event *ev)
{
    uint64_t n;
    if (ev->data.ptr == h) {
        if (read(h->wake, &n, sizeof n) < 0) {}
    } else if ((int *)ev->data.ptr >= h->listener && (int *)ev->data.ptr < h->listener + HTTP_SOCKETS_MAX) {
        if (h->are_listening && h->n_listeners) accept_all(h, *(int *)ev->data.ptr);
    } else {
        struct conn *c = ev->data.ptr;
        pthread_mutex_lock(&h->lock);
        c->half_closed = 1;
        /* In other phases libmicrohttpd reads the end itself, but sometimes it is not woken for it. No more bytes come. */
        const int64_t last_us = loop_now_us() + HANGUP_S * 1000000;
        if (c->watched >= 0 && c->phase == CONN_WORK) conn_cut(c);
        else if (c->watched >= 0 && c->phase == CONN_BODY && c->deadline_us > last_us) conn_phase_set(c, CONN_BODY, last_us);
        pthread_mutex_unlock(&h->lock);
    }
}

static int is_done(struct httpd *h, int64_t *limit_us)
{
    if (!atomic_load(&h->closing)) return 0;
    const int64_t now = loop_now_us();
    if (!*limit_us) *limit_us = now + CLOSE_S * 1000000;
    pthread_mutex_lock(&h->lock);
    for (struct conn *c = h->conns; c; c = c->next) {
        if (c->phase == CONN_UPGRADED) shutdown(c->watched, SHUT_RDWR); /* its owner sees the end, and closes it */
        else if (c->phase != CONN_CUT) c->deadline_us = 0;
    }
    sweep(h);
    const int done = !h->conns || now >= *limit_us;
    pthread_mutex_unlock(&h->lock);
    return done;
}

static void *watch_run(void *user)
{
    struct httpd *h = user;
    struct epoll_event ev[EVENTS_MAX];
    int64_t limit_us = 0;
    while (!is_done(h, &limit_us)) {
        if (h->n_listeners && (atomic_load(&h->quiet) || atomic_load(&h->closing))) listen_end(h);
        pthread_mutex_lock(&h->lock);
        sweep(h);
        const int64_t now = loop_now_us();
        if (h->accept_us && h->accept_us <= now) h->accept_us = 0;
        if (atomic_load(&h->closing) && h->wake_us > now + 20000) h->wake_us = now + 20000;
        if (h->accept_us && h->accept_us < h->wake_us) h->wake_us = h->accept_us;
        const int64_t wait_us = h->wake_us - now;
        const int is_paused = h->accept_us != 0;
        pthread_mutex_unlock(&h->lock);
        listen_to(h, !is_paused);
        const int wait_ms = wait_us < 0 ? 0 : wait_us > 3600000000 ? 3600000 : (int)((wait_us + 999) / 1000);
        const int n = epoll_wait(h->epoll, ev, EVENTS_MAX, wait_ms);
        for (int i = 0; i < n; i++) on_event(h, &ev[i]);
    }
    return NULL;
}

int watch_open(struct httpd *h, steno_error *e)
{
    h->wake_us = NEVER;
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = h };
    if (h->epoll < 0 || h->wake < 0 || epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->wake, &ev))
        return http_fail(e, STENO_EIO, "the server cannot watch its sockets: %s", strerror(errno));
    if (pthread_create(&h->watcher, NULL, watch_run, h)) return http_fail(e, STENO_ENOMEM, "a thread of the server cannot be started");
    h->has_watcher = 1;
    return STENO_OK;
}

void watch_close(struct httpd *h)
{
    atomic_store(&h->closing, 1);
    if (h->has_watcher) {
        watch_wake(h);
        pthread_join(h->watcher, NULL);
        h->has_watcher = 0;
    }
    if (h->n_listeners) listen_end(h); /* without connections the thread ends before it does */
}

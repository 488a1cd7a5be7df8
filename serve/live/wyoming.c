/* steno-serve: the Wyoming server: its sockets, and its end. SPDX-License-Identifier: MIT */
#include "wyoming_in.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SWEEP_MS = 1000 };

/* ---- connections --------------------------------------------------------------------------------------------------------------- */

static void accept_peers(void *user, int events)
{
    struct wyoming *w = user;
    (void)events;
    for (int i = 0; i < w->n_fds; i++) {
        for (int fd; (fd = accept4(w->fd[i], NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
            if (w->n_peers >= WYOMING_CONNECTIONS_MAX || w->is_closing) close(fd);
            else wyoming_peer_add(w, fd);
        }
        if ((errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) && w->f[i]) loop_change(w->f[i], 0);
    }
}

static void sweep(void *user)
{
    struct wyoming *w = user;
    const int64_t now = loop_now_ms();
    for (int i = 0; i < w->n_fds; i++) /* after a lack of descriptors */
        if (w->f[i]) loop_change(w->f[i], LOOP_READ);
    for (struct wyoming_peer *c = w->peers, *next; c; c = next) {
        next = c->next;
        wyoming_peer_sweep(c, now);
    }
    w->sweep = loop_at(w->p.loop, now + SWEEP_MS, sweep, w);
}

static void stop_listening(void *user)
{
    struct wyoming *w = user;
    for (int i = 0; i < w->n_fds; i++) {
        if (w->f[i]) loop_remove(w->f[i], NULL);
        close(w->fd[i]);
    }
    w->n_fds = 0;
}

static void begin(void *user)
{
    struct wyoming *w = user;
    for (int i = 0; i < w->n_fds; i++) w->f[i] = loop_add(w->p.loop, w->fd[i], LOOP_READ, accept_peers, w);
    sweep(w);
}

int wyoming_open(struct wyoming **out, const struct wyoming_params *p, steno_error *e)
{
    struct wyoming *w = *out = calloc(1, sizeof *w);
    if (!w) return STENO_ENOMEM;
    w->p = *p;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->version = strdup(p->version ? p->version : "");
    const struct http_sockets s = { .host = p->host, .port = p->port, .fds = p->fds, .n_fds = p->n_fds };
    const int rc = w->version ? http_sockets(w->fd, &w->n_fds, &w->port, &s, e) : STENO_ENOMEM;
    if (rc == STENO_OK) {
        loop_call(p->loop, begin, w);
        return STENO_OK;
    }
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->version);
    free(w);
    *out = NULL;
    return rc;
}

int wyoming_port(const struct wyoming *w)
{
    return w->port;
}

int wyoming_connections(const struct wyoming *w)
{
    return w ? atomic_load(&w->n_peers) : 0;
}

void wyoming_drain(struct wyoming *w)
{
    loop_call(w->p.loop, stop_listening, w);
}

static void close_all(void *user)
{
    struct wyoming *w = user;
    w->is_closing = 1;
    stop_listening(w);
    if (w->sweep) loop_timer_cancel(w->sweep);
    w->n_peers++; /* the last call of wyoming_peer_removed is below */
    for (struct wyoming_peer *c = w->peers, *next; c; c = next) {
        next = c->next;
        wyoming_peer_close(c);
    }
    w->n_peers--;
    wyoming_peer_removed(w);
}

void wyoming_close(struct wyoming *w)
{
    if (!w) return;
    loop_call(w->p.loop, close_all, w);
    pthread_mutex_lock(&w->lock);
    while (!w->is_closed) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->version);
    free(w);
}

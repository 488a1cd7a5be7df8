/* steno-serve: the thread that runs libmicrohttpd. SPDX-License-Identifier: MIT
 *
 * The thread of libmicrohttpd (all versions up to 1.0.1) asks for up to 128 events, and when it gets exactly 128 it waits for more before
 * it looks at them: their clients get no answer until another event comes. Run from outside it never waits, so this thread waits for it.
 * MHD_get_timeout does not count resumed connections, and their own signal may be lost, so who resumes one also calls drive_wake. */
#include "http_state.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void arrival_end(struct httpd *h, struct arrival *a)
{
    pthread_mutex_lock(&h->lock);
    struct conn *c = arrival_leave(a);
    if (c) conn_retire(c);
    pthread_mutex_unlock(&h->lock);
    free(a);
}

/* Gives new connections to libmicrohttpd. It reports each of them to conn_begin: 0.9 within the call, 1.0 from MHD_run. */
static void give_arrivals(struct httpd *h)
{
    for (struct arrival *a; (a = arrival_next(h));) {
        const int fd = a->fd;
        pthread_mutex_lock(&h->lock);
        const int is_cut = !a->conn;
        pthread_mutex_unlock(&h->lock);
        if (is_cut) {
            close(fd);
            free(a);
            continue;
        }
        a->next = h->drive.given;
        h->drive.given = a;
        if (h->mhd.MHD_add_connection(h->daemon, fd, (const struct sockaddr *)&a->sa, a->n_sa) == MHD_YES) continue;
        a = arrival_given(h, fd); /* libmicrohttpd has closed the socket */
        if (a) arrival_end(h, a);
    }
}

/* ---- the thread --------------------------------------------------------------------------------------------------------------- */

static void *drive_run(void *user)
{
    struct httpd *h = user;
    struct pollfd p[2] = { { .fd = h->drive.epoll, .events = POLLIN }, { .fd = h->drive.wake, .events = POLLIN } };
    while (!atomic_load(&h->drive.ends)) {
        uint64_t n;
        MHD_UNSIGNED_LONG_LONG ms = 0;
        const int is_limited = h->mhd.MHD_get_timeout(h->daemon, &ms) == MHD_YES;
        if (poll(p, 2, !is_limited ? -1 : ms > 60000 ? 60000 : (int)ms) > 0 && p[1].revents && read(h->drive.wake, &n, sizeof n) < 0) {}
        h->mhd.MHD_run(h->daemon); /* connections that end are counted out before new requests begin */
        give_arrivals(h);
    }
    return NULL;
}

int drive_open(struct httpd *h, steno_error *e)
{
    const union MHD_DaemonInfo *info = h->mhd.MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    h->drive.epoll = info ? info->epoll_fd : -1;
    h->drive.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (h->drive.epoll < 0 || h->drive.wake < 0) return http_fail(e, STENO_EIO, "the server cannot watch its sockets: %s", strerror(errno));
    if (pthread_create(&h->drive.thread, NULL, drive_run, h)) return http_fail(e, STENO_ENOMEM, "a thread of the server cannot be started");
    h->drive.is_running = 1;
    return STENO_OK;
}

void drive_close(struct httpd *h)
{
    if (h->drive.is_running) {
        atomic_store(&h->drive.ends, 1);
        drive_wake(h);
        pthread_join(h->drive.thread, NULL);
    }
    for (struct arrival *a; (a = arrival_next(h)); arrival_end(h, a)) close(a->fd);
    for (struct arrival *a; (a = h->drive.given);) {
        h->drive.given = a->next;
        arrival_end(h, a);
    }
    if (h->drive.wake >= 0) close(h->drive.wake);
}

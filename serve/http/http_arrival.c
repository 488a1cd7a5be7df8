/* steno-serve: new connections on their way to the HTTP thread. SPDX-License-Identifier: MIT */
#include "http_state.h"
#include <stdlib.h>
#include <string.h>

int arrival_add(struct httpd *h, struct conn *c, const struct sockaddr *sa, socklen_t n_sa)
{
    struct arrival *a = malloc(sizeof *a);
    if (!a) return -1;
    *a = (struct arrival){ .conn = c, .fd = c->fd, .n_sa = n_sa };
    memcpy(&a->sa, sa, n_sa);
    c->arrival = a;
    *h->drive.last = a;
    h->drive.last = &a->next;
    if (h->drive.first == a) drive_wake(h);
    return 0;
}

struct arrival *arrival_next(struct httpd *h)
{
    pthread_mutex_lock(&h->lock);
    struct arrival *a = h->drive.first;
    if (a && !(h->drive.first = a->next)) h->drive.last = &h->drive.first;
    pthread_mutex_unlock(&h->lock);
    return a;
}

struct arrival *arrival_given(struct httpd *h, int fd)
{
    for (struct arrival **at = &h->drive.given; *at; at = &(*at)->next) {
        struct arrival *a = *at;
        if (a->fd != fd) continue;
        *at = a->next;
        return a;
    }
    return NULL;
}

struct conn *arrival_leave(struct arrival *a)
{
    struct conn *c = a->conn;
    if (c) c->arrival = NULL;
    a->conn = NULL;
    return c;
}

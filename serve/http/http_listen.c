/* steno-serve: sockets that listen. SPDX-License-Identifier: MIT */
#include "http_state.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* Linux makes it at most net.core.somaxconn; beyond it a client tries again after a second */

static int listener_add(struct httpd *h, int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    if (h->n_listeners == HTTP_SOCKETS_MAX || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) || listen(fd, BACKLOG)) return -1;
    h->listener[h->n_listeners++] = fd;
    return 0;
}

static int port_of(int fd)
{
    struct sockaddr_storage sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    socklen_t n = sizeof sa;
    if (getsockname(fd, (struct sockaddr *)&sa, &n)) return 0;
    memcpy(&in, &sa, sizeof in);
    memcpy(&in6, &sa, sizeof in6);
    return sa.ss_family == AF_INET ? ntohs(in.sin_port) : sa.ss_family == AF_INET6 ? ntohs(in6.sin6_port) : 0;
}

static int bind_fail(steno_error *e, const char *where, int error)
{
    const char *what = strerror(error);
    if (error == EADDRINUSE) what = "another program listens there; choose another port, or end that program";
    if (error == EACCES) what = "no permission; ports below 1024 need rights of the system";
    if (error == EADDRNOTAVAIL) what = "this machine does not have that address";
    return http_fail(e, STENO_EIO, "%s: %s", where, what);
}

/* One address of a name. @return 0, or an errno */
static int listen_address(struct httpd *h, const struct addrinfo *ai, int is_only)
{
    struct sockaddr_storage sa = { 0 };
    const int one = 1, v6_only = !is_only, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memcpy(&sa, ai->ai_addr, ai->ai_addrlen);
    if (fd < 0) return errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (ai->ai_family == AF_INET6) {
        struct sockaddr_in6 in6;
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof v6_only);
        memcpy(&in6, &sa, sizeof in6);
        in6.sin6_port = htons((uint16_t)h->port);
        memcpy(&sa, &in6, sizeof in6);
    } else {
        struct sockaddr_in in;
        memcpy(&in, &sa, sizeof in);
        in.sin_port = htons((uint16_t)h->port);
        memcpy(&sa, &in, sizeof in);
    }
    if (bind(fd, (const struct sockaddr *)&sa, ai->ai_addrlen) || listener_add(h, fd)) {
        const int error = errno;
        close(fd);
        return error;
    }
    if (h->port == 0) h->port = port_of(fd);
    return 0;
}

/* The list has it already: a file of hosts may name an address twice. */
static int is_repeated(const struct addrinfo *list, const struct addrinfo *ai)
{
    for (const struct addrinfo *b = list; b != ai; b = b->ai_next)
        if (b->ai_addrlen == ai->ai_addrlen && memcmp(b->ai_addr, ai->ai_addr, ai->ai_addrlen) == 0) return 1;
    return 0;
}

/* All addresses of the host: "localhost" has two. An address family that the system does not have is left out, if another one works. */
static int listen_tcp(struct httpd *h, steno_error *e)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    struct addrinfo *list = NULL;
    char where[320];
    if (h->p.port < 0 || h->p.port > 65535) return http_fail(e, STENO_EARG, "port %d: a port is 0 to 65535", h->p.port);
    h->port = h->p.port;
    snprintf(where, sizeof where, "%s:%d", h->p.host, h->p.port);
    const int rc = getaddrinfo(h->p.host, NULL, &hints, &list);
    if (rc) return http_fail(e, STENO_EARG, "the host \"%s\" is unknown: %s", h->p.host, gai_strerror(rc));
    int error = 0, n_open = 0;
    for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
        if ((ai->ai_family != AF_INET && ai->ai_family != AF_INET6) || is_repeated(list, ai)) continue;
        const int failed = listen_address(h, ai, !list->ai_next);
        if (!failed) n_open++;
        else if (!error || failed == EADDRINUSE) error = failed;
    }
    freeaddrinfo(list);
    return n_open && (error != EADDRINUSE || h->p.port == 0) ? STENO_OK : bind_fail(e, where, error ? error : EADDRNOTAVAIL);
}

/* A socket's file that is left from a server which has ended is replaced; one that is in use is not. */
static int listen_unix(struct httpd *h, steno_error *e)
{
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    const char *path = h->p.unix_path;
    if (strlen(path) >= sizeof sa.sun_path)
        return http_fail(e, STENO_EARG, "%s: the path of a Unix socket has at most %zu bytes", path, sizeof sa.sun_path - 1);
    memcpy(sa.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe >= 0 && connect(probe, (const struct sockaddr *)&sa, sizeof sa) && errno == ECONNREFUSED) unlink(path);
    if (probe >= 0) close(probe);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&sa, sizeof sa) == 0) {
        h->unix_path = strdup(path);
        if (h->unix_path && listener_add(h, fd) == 0) return STENO_OK;
    }
    const int error = errno;
    if (fd >= 0) close(fd);
    return bind_fail(e, path, error);
}

int httpd_listen(struct httpd *h, steno_error *e)
{
    for (int i = 0; i < h->p.n_fds; i++) {
        if (listener_add(h, h->p.fds[i])) return http_fail(e, STENO_EIO, "a given socket cannot listen: %s", strerror(errno));
        if (!h->port) h->port = port_of(h->p.fds[i]);
    }
    int rc = STENO_OK;
    if (!h->p.n_fds && h->p.unix_path) rc = listen_unix(h, e);
    if (rc == STENO_OK && !h->p.n_fds && h->p.host) rc = listen_tcp(h, e);
    if (rc == STENO_OK && !h->n_listeners) return http_fail(e, STENO_EARG, "the server has no address: give a host or a Unix socket");
    return rc;
}

int http_sockets(int fd[HTTP_SOCKETS_MAX], int *n, int *port, const struct http_sockets *s, steno_error *e)
{
    struct httpd *h = calloc(1, sizeof *h);
    if (!h) return http_fail(e, STENO_ENOMEM, "no memory for sockets");
    h->p = (struct http_params){ .host = s->host, .port = s->port, .fds = s->fds, .n_fds = s->n_fds };
    const int rc = httpd_listen(h, e);
    *n = 0;
    for (int i = 0; i < h->n_listeners; i++) {
        if (rc == STENO_OK) fd[(*n)++] = h->listener[i];
        else close(h->listener[i]);
    }
    *port = h->port;
    free(h);
    return rc;
}

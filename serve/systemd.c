/* steno-serve: the service manager's datagrams and descriptors. SPDX-License-Identifier: MIT
 *
 * A socket is opened for each message: messages are rare, and so no thread shares a descriptor. */
#include "systemd.h"
#include "http_text.h"
#include "loop.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROW(v) [SYSTEMD_##v] = #v
const char *const systemd_variable_name[N_SYSTEMD_VARIABLES] = {
    ROW(NOTIFY_SOCKET), ROW(WATCHDOG_USEC), ROW(WATCHDOG_PID), ROW(LISTEN_PID), ROW(LISTEN_FDS), ROW(LISTEN_FDNAMES),
};
#undef ROW

static int fail(steno_error *e, enum systemd_variable v, const char *value, const char *accepts)
{
    e->status = STENO_EARG;
    snprintf(e->text, sizeof e->text, "the environment has %s=%.100s: %s", systemd_variable_name[v], value, accepts);
    return STENO_EARG;
}

/* Digits only, at most `most`. @return -1: anything else */
static int64_t number(const char *text, int64_t most)
{
    int64_t n = 0;
    if (!*text) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || n > (most - (*text - '0')) / 10) return -1;
        n = n * 10 + (*text - '0');
    }
    return n;
}

/* ---- values of variables ----------------------------------------------------------------------------------------------------- */

static int read_path(struct systemd *s, const char *value, steno_error *e)
{
    if (!value || !*value) return STENO_OK;
    const size_t n = strlen(value);
    if ((*value != '/' && *value != '@') || n < 2) return fail(e, SYSTEMD_NOTIFY_SOCKET, value, "a path that begins with / or @ is needed");
    if (n >= sizeof s->path) return fail(e, SYSTEMD_NOTIFY_SOCKET, value, "a path of at most 107 bytes is needed");
    memcpy(s->path, value, n);
    if (*value == '@') s->path[0] = 0;
    s->path_n = n;
    return STENO_OK;
}

static int read_watchdog(struct systemd *s, const char *const *value, int64_t pid, steno_error *e)
{
    const char *usec = value[SYSTEMD_WATCHDOG_USEC], *of = value[SYSTEMD_WATCHDOG_PID];
    if (!usec || !*usec || (of && *of && number(of, INT64_MAX) != pid)) return STENO_OK;
    const int64_t us = number(usec, INT64_MAX);
    if (us < 1) return fail(e, SYSTEMD_WATCHDOG_USEC, usec, "a number of microseconds, at least 1, is needed");
    s->watchdog_ms = us < 2000 ? 1 : us / 2000;
    return STENO_OK;
}

static int is_listening(int fd)
{
    int on = 0;
    socklen_t n = sizeof on;
    return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) && on;
}

/* A name is FileDescriptorName= of the socket unit; by default it is the name of that unit. */
static int take_fd(struct systemd *s, int fd, const char *name, size_t n, const char *names, steno_error *e)
{
    static const char suffix[] = ".socket";
    const int is_unit = n >= sizeof suffix && !memcmp(name + n - (sizeof suffix - 1), suffix, sizeof suffix - 1);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) || !is_listening(fd)) {
        return fail(e, SYSTEMD_LISTEN_FDS, names, "each descriptor must be a listening stream socket (ListenStream=, Accept=no)");
    }
    if (n == 7 && !memcmp(name, "wyoming", 7)) {
        if (s->wyoming_fd >= 0) return fail(e, SYSTEMD_LISTEN_FDNAMES, names, "at most one socket may be named wyoming");
        s->wyoming_fd = fd;
        return STENO_OK;
    }
    if (!is_unit && n && !(n == 4 && !memcmp(name, "http", 4)) && !(n == 7 && !memcmp(name, "unknown", 7))) {
        return fail(e, SYSTEMD_LISTEN_FDNAMES, names, "names of sockets are http and wyoming (FileDescriptorName= of the socket unit)");
    }
    s->http_fd[s->n_http++] = fd;
    return STENO_OK;
}

static int read_fds(struct systemd *s, const char *const *value, int64_t pid, steno_error *e)
{
    const char *of = value[SYSTEMD_LISTEN_PID], *count = value[SYSTEMD_LISTEN_FDS], *name = value[SYSTEMD_LISTEN_FDNAMES];
    if (!of || !count || !*count || number(of, INT64_MAX) != pid) return STENO_OK;
    const int64_t n = number(count, SYSTEMD_FDS_MAX);
    if (n < 0) return fail(e, SYSTEMD_LISTEN_FDS, count, "a number of sockets, at most 16, is needed");
    if (!name) name = "";
    const char *names = *name ? name : count;
    for (int i = 0; i < n; i++) {
        const size_t k = strcspn(name, ":");
        if (take_fd(s, SYSTEMD_FIRST_FD + i, name, k, names, e)) return STENO_EARG;
        name += k + (name[k] == ':');
    }
    return STENO_OK;
}

int systemd_open(struct systemd *s, const char *const value[N_SYSTEMD_VARIABLES], int64_t pid, steno_error *e)
{
    *s = (struct systemd){ .wyoming_fd = -1 };
    int status = read_path(s, value[SYSTEMD_NOTIFY_SOCKET], e);
    if (!status) status = read_watchdog(s, value, pid, e);
    if (!status) status = read_fds(s, value, pid, e);
    return status;
}

int systemd_fd_is_public(int fd)
{
    struct sockaddr_storage of = { 0 };
    struct address a;
    socklen_t n = sizeof of;
    if (getsockname(fd, (struct sockaddr *)&of, &n)) return 1;
    if (of.ss_family == AF_UNIX) return 0;
    if (of.ss_family != AF_INET && of.ss_family != AF_INET6) return 1;
    address_of(&a, (const struct sockaddr *)&of);
    return !address_is_loopback(&a);
}

int systemd_is_public(const struct systemd *s)
{
    for (int i = 0; i < s->n_http; i++) {
        if (systemd_fd_is_public(s->http_fd[i])) return 1;
    }
    return s->wyoming_fd >= 0 && systemd_fd_is_public(s->wyoming_fd);
}

/* ---- messages ---------------------------------------------------------------------------------------------------------------- */

static int send_message(const struct systemd *s, const char *message)
{
    if (!s->path_n) return 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    memcpy(a.sun_path, s->path, s->path_n);
    const socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + s->path_n);
    const size_t len = strlen(message);
    const ssize_t sent = sendto(fd, message, len, MSG_NOSIGNAL, (const struct sockaddr *)&a, n);
    close(fd);
    return sent == (ssize_t)len ? 0 : -1;
}

static int __attribute__((format(printf, 2, 3))) send_lines(const struct systemd *s, const char *fmt, ...)
{
    char text[SYSTEMD_MESSAGE_SZ];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return send_message(s, text);
}

/* A line end would begin another assignment. */
static const char *one_line(char out[SYSTEMD_MESSAGE_SZ / 2], const char *text)
{
    snprintf(out, SYSTEMD_MESSAGE_SZ / 2, "%s", text);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < ' ') *c = ' ';
    }
    return out;
}

int systemd_ready(const struct systemd *s, const char *status)
{
    char line[SYSTEMD_MESSAGE_SZ / 2];
    return send_lines(s, "READY=1\nSTATUS=%s", one_line(line, status));
}

int systemd_alive(const struct systemd *s)
{
    return send_lines(s, "WATCHDOG=1");
}

int systemd_reloading(const struct systemd *s)
{
    return send_lines(s, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)loop_now_us());
}

int systemd_stopping(const struct systemd *s, double seconds)
{
    if (!(seconds >= 0)) seconds = 0;
    if (seconds > 1e9) seconds = 1e9;
    return send_lines(s, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld", (long long)(seconds * 1e6));
}

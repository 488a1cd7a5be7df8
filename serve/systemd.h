/* steno-serve: messages to systemd, and listening sockets from it. SPDX-License-Identifier: MIT
 *
 * The protocols of sd_notify(3), sd_watchdog_enabled(3) and sd_listen_fds(3), without libsystemd. The program reads the variables, passes
 * their values, and removes all of them from its environment, so that no child uses them again. */
#ifndef STENO_SERVE_SYSTEMD_H
#define STENO_SERVE_SYSTEMD_H
#include <stddef.h>
#include <stdint.h>
#include <steno/steno.h>

enum systemd_variable { SYSTEMD_NOTIFY_SOCKET, SYSTEMD_WATCHDOG_USEC, SYSTEMD_WATCHDOG_PID, SYSTEMD_LISTEN_PID, SYSTEMD_LISTEN_FDS,
                        SYSTEMD_LISTEN_FDNAMES, N_SYSTEMD_VARIABLES };
extern const char *const systemd_variable_name[N_SYSTEMD_VARIABLES];

enum { SYSTEMD_FIRST_FD = 3, SYSTEMD_FDS_MAX = 16, SYSTEMD_PATH_SZ = 108, SYSTEMD_MESSAGE_SZ = 512 };

struct systemd {
    char path[SYSTEMD_PATH_SZ]; /* of the socket for messages, [path_n] bytes; a NUL first: an abstract name */
    size_t path_n;              /* 0: there is no service manager */
    int64_t watchdog_ms;        /* send systemd_alive this often: half of WATCHDOG_USEC; 0: no watchdog */
    int http_fd[SYSTEMD_FDS_MAX], n_http; /* listening sockets: named http, after their socket unit, or without a name */
    int wyoming_fd;                       /* named wyoming; -1: none */
};

/* @param value       values of the variables, NULL: not set
 * @param pid         of this process: variables for other processes are ignored
 * Received descriptors are set close-on-exec.
 * @return STENO_OK; STENO_EARG with the variable, its value and what it accepts in *e */
int systemd_open(struct systemd *s, const char *const value[N_SYSTEMD_VARIABLES], int64_t pid, steno_error *e);

/* 1: other machines reach a received socket, so keys are needed, as with a host that is not a loopback address */
int systemd_is_public(const struct systemd *s);
int systemd_fd_is_public(int fd); /* the same for one socket */

/* Each sends one datagram, never waits, and may be called from any thread. Without a service manager they do nothing.
 * @return 0, or -1: it could not be sent */
int systemd_ready(const struct systemd *s, const char *status);    /* READY=1: it listens; status: a line for `systemctl status` */
int systemd_alive(const struct systemd *s);                        /* WATCHDOG=1 */
int systemd_reloading(const struct systemd *s);                    /* RELOADING=1; systemd_ready ends it */
int systemd_stopping(const struct systemd *s, double seconds);     /* STOPPING=1: the manager allows this much more time */
#endif

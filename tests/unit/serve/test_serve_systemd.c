/* steno: messages to a service manager, and sockets from it. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "systemd.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 4711 };

static int opened(struct systemd *s, const char *const *value)
{
    steno_error e = { 0 };
    const int status = systemd_open(s, value, PID, &e);
    assert_int_equal(e.status, status);
    assert_true(!status == !*e.text);
    return status;
}

/* A datagram socket at the address, where a leading @ is an abstract name. */
static int manager_open(const char *path)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    const size_t n = strlen(path);
    memcpy(a.sun_path, path, n);
    if (*path == '@') a.sun_path[0] = 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)), 0);
    return fd;
}

static const char *received(int fd, char *text, size_t sz)
{
    const ssize_t n = recv(fd, text, sz - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static void check_messages(const char *path)
{
    char text[1024], status[600];
    struct systemd s;
    const int fd = manager_open(path);
    assert_int_equal(opened(&s, (const char *const[N_SYSTEMD_VARIABLES]){ [SYSTEMD_NOTIFY_SOCKET] = path }), STENO_OK);
    assert_int_equal(systemd_ready(&s, "listening\nMAINPID=1"), 0);
    assert_string_equal(received(fd, text, sizeof text), "READY=1\nSTATUS=listening MAINPID=1");
    assert_int_equal(systemd_alive(&s), 0);
    assert_string_equal(received(fd, text, sizeof text), "WATCHDOG=1");
    assert_int_equal(systemd_stopping(&s, 30.5), 0);
    assert_string_equal(received(fd, text, sizeof text), "STOPPING=1\nEXTEND_TIMEOUT_USEC=30500000");
    assert_int_equal(systemd_stopping(&s, -1), 0);
    assert_string_equal(received(fd, text, sizeof text), "STOPPING=1\nEXTEND_TIMEOUT_USEC=0");
    assert_int_equal(systemd_reloading(&s), 0);
    assert_memory_equal(received(fd, text, sizeof text), "RELOADING=1\nMONOTONIC_USEC=", 27);
    memset(status, 'x', sizeof status);
    status[sizeof status - 1] = 0;
    assert_int_equal(systemd_ready(&s, status), 0);
    assert_int_equal(strlen(received(fd, text, sizeof text)), 15 + SYSTEMD_MESSAGE_SZ / 2 - 1); /* cut, not refused */
    close(fd);
    assert_int_equal(systemd_alive(&s), -1); /* the manager is gone */
}

static void test_messages_reach_an_abstract_socket(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "@steno-test-%d", (int)getpid());
    check_messages(name);
}

static void test_messages_reach_a_socket_with_a_path(void **state)
{
    (void)state;
    char dir[] = "/tmp/steno-systemd-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/notify", dir);
    check_messages(path);
    unlink(path);
    rmdir(dir);
}

static void test_without_a_manager_messages_do_nothing(void **state)
{
    (void)state;
    struct systemd s;
    assert_int_equal(opened(&s, (const char *const[N_SYSTEMD_VARIABLES]){ 0 }), STENO_OK);
    assert_int_equal(systemd_ready(&s, "x") | systemd_alive(&s) | systemd_stopping(&s, 1) | systemd_reloading(&s), 0);
    assert_int_equal(s.watchdog_ms, 0);
    assert_int_equal(s.n_http, 0);
    assert_int_equal(s.wyoming_fd, -1);
}

static void test_paths_have_the_length_of_an_address(void **state)
{
    (void)state;
    char path[200];
    const char *value[N_SYSTEMD_VARIABLES] = { [SYSTEMD_NOTIFY_SOCKET] = path };
    struct systemd s;
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[107] = 0;
    assert_int_equal(opened(&s, value), STENO_OK);
    assert_int_equal(s.path_n, 107);
    path[107] = 'a';
    path[108] = 0;
    assert_int_equal(opened(&s, value), STENO_EARG);
    static const char *const bad[] = { "x", "/", "@", "vsock:2:1234", "relative/path" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        value[SYSTEMD_NOTIFY_SOCKET] = bad[i];
        assert_int_equal(opened(&s, value), STENO_EARG);
    }
}

static void test_the_watchdog_has_half_of_its_period(void **state)
{
    (void)state;
    static const struct { const char *usec, *pid; int64_t ms; } row[] = {
        { "30000000", "4711", 15000 }, { "30000000", NULL, 15000 }, { "30000000", "", 15000 }, { "30000000", "1", 0 }, { "1", NULL, 1 },
        { "2000", NULL, 1 }, { "", NULL, 0 }, { "9223372036854775807", NULL, 4611686018427387 },
        { "0", NULL, -1 }, { "-5", NULL, -1 }, { "10s", NULL, -1 }, { "9223372036854775808", NULL, -1 },
        { "99999999999999999999", NULL, -1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *value[N_SYSTEMD_VARIABLES] = { [SYSTEMD_WATCHDOG_USEC] = row[i].usec, [SYSTEMD_WATCHDOG_PID] = row[i].pid };
        struct systemd s;
        assert_int_equal(opened(&s, value), row[i].ms < 0 ? STENO_EARG : STENO_OK);
        if (row[i].ms >= 0) assert_int_equal(s.watchdog_ms, row[i].ms);
    }
}

/* ---- sockets: each case in a child, whose descriptors from 3 on are `kinds`: l a listening socket, s a socket that does not listen,
 * f a file */

static int descriptor(char kind)
{
    if (kind == 'f') return open("/dev/null", O_RDONLY);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    if (kind == 'l' && (bind(fd, (struct sockaddr *)&a, sizeof a.sun_family) || listen(fd, 1))) return -1; /* a name by the kernel */
    return fd;
}

/* @return 100 + 10 * sockets of http + (1: one of wyoming), or 99: refused */
static int received_sockets(const char *kinds, const char *fds, const char *names, const char *pid)
{
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        for (int fd = SYSTEMD_FIRST_FD; fd < 64; fd++) close(fd);
        for (const char *k = kinds; *k; k++) {
            if (descriptor(*k) != SYSTEMD_FIRST_FD + (int)(k - kinds)) _exit(1);
        }
        const char *value[N_SYSTEMD_VARIABLES] = {
            [SYSTEMD_LISTEN_PID] = pid, [SYSTEMD_LISTEN_FDS] = fds, [SYSTEMD_LISTEN_FDNAMES] = names };
        struct systemd s;
        steno_error e = { 0 };
        if (systemd_open(&s, value, PID, &e)) _exit(*e.text ? 99 : 2);
        for (int i = 0; i < s.n_http; i++) {
            if (!(fcntl(s.http_fd[i], F_GETFD) & FD_CLOEXEC)) _exit(3);
        }
        _exit(100 + 10 * s.n_http + (s.wyoming_fd >= 0));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_sockets_have_names(void **state)
{
    (void)state;
    static const struct { const char *kinds, *fds, *names, *pid; int want; } row[] = {
        { "l", "1", "http", "4711", 110 }, { "l", "1", NULL, "4711", 110 }, { "l", "1", "steno.socket", "4711", 110 },
        { "l", "1", "unknown", "4711", 110 }, { "ll", "2", "http:wyoming", "4711", 111 }, { "ll", "2", "wyoming:http", "4711", 111 },
        { "ll", "2", "http", "4711", 120 }, { "lll", "3", "http:wyoming:http", "4711", 121 }, { "llllllllllllllll", "16", "", "4711", 260 },
        { "l", "1", "http", "4712", 100 }, { "l", "1", "http", NULL, 100 }, { "l", "1", "http", "x", 100 },
        { "l", "", "http", "4711", 100 },
        { "", "0", "", "4711", 100 },
        { "l", "1", "metrics", "4711", 99 }, { "l", "1", ".socket", "4711", 99 }, { "ll", "2", "wyoming:wyoming", "4711", 99 },
        { "l", "2", "http:http", "4711", 99 }, { "s", "1", "http", "4711", 99 }, { "f", "1", "http", "4711", 99 },
        { "l", "-1", "http", "4711", 99 }, { "l", "17", "", "4711", 99 }, { "l", "99999999999999999999", "", "4711", 99 },
        { "l", "1x", "", "4711", 99 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const int got = received_sockets(row[i].kinds, row[i].fds, row[i].names, row[i].pid);
        if (got != (row[i].want & 255)) fail_msg("row %zu: %d instead of %d", i, got, row[i].want & 255);
    }
}

static int socket_at(const char *address)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    struct sockaddr *a = (struct sockaddr *)&un;
    socklen_t n = sizeof un.sun_family;
    if (inet_pton(AF_INET, address, &v4.sin_addr) == 1) a = (struct sockaddr *)&v4, n = sizeof v4;
    if (inet_pton(AF_INET6, address, &v6.sin6_addr) == 1) a = (struct sockaddr *)&v6, n = sizeof v6;
    const int fd = socket(a->sa_family, SOCK_STREAM, 0);
    if (fd < 0) return -1;
    if (!bind(fd, a, n) && !listen(fd, 1)) return fd;
    close(fd);
    return -1;
}

static void test_sockets_that_others_reach_are_public(void **state)
{
    (void)state;
    static const struct { const char *address; int is_public; } row[] = {
        { "127.0.0.1", 0 }, { "127.1.2.3", 0 }, { "unix", 0 }, { "0.0.0.0", 1 }, { "::1", 0 }, { "::ffff:127.0.0.1", 0 }, { "::", 1 },
        { "::ffff:0.0.0.0", 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const int fd = socket_at(row[i].address);
        if (fd < 0 && strchr(row[i].address, ':')) continue; /* a machine without IPv6 */
        assert_true(fd >= 0);
        const struct systemd http = { .http_fd = { fd }, .n_http = 1, .wyoming_fd = -1 }, wyoming = { .wyoming_fd = fd };
        assert_int_equal(systemd_is_public(&http), row[i].is_public);
        assert_int_equal(systemd_is_public(&wyoming), row[i].is_public);
        close(fd);
    }
    assert_int_equal(systemd_is_public(&(struct systemd){ .wyoming_fd = -1 }), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_reach_an_abstract_socket),
        cmocka_unit_test(test_messages_reach_a_socket_with_a_path),
        cmocka_unit_test(test_without_a_manager_messages_do_nothing),
        cmocka_unit_test(test_paths_have_the_length_of_an_address),
        cmocka_unit_test(test_the_watchdog_has_half_of_its_period),
        cmocka_unit_test(test_sockets_have_names),
        cmocka_unit_test(test_sockets_that_others_reach_are_public),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

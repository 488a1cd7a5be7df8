/* steno: late clients are cut off, and connections are limited. SPDX-License-Identifier: MIT */
#include "serve/http_help.h"
#include <fcntl.h>
#include <sys/resource.h>

static char out[1 << 16];
static const struct http_params brief = { .host = "127.0.0.1", .max_connections = 64, .max_per_ip = 64, .head_timeout_s = 0.5,
                                          .body_timeout_s = 0.5, .idle_timeout_s = 0.5, .route = on_route, .over = on_over };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sends a byte every 50 ms until the connection is closed. @return ms until then */
static int drip(int fd, const char *text, size_t n)
{
    const int64_t begun = now_ms();
    for (size_t i = 0; i < n; i++) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (say_n(fd, text + i, 1) || (poll(&p, 1, 50) > 0 && recv(fd, out, 1, 0) <= 0)) return (int)(now_ms() - begun);
    }
    return -1;
}

static void check_cut(int ms)
{
    if (ms < 400 || ms > 10000) /* a busy machine is late */
        fail_msg("cut off after %d ms, 500 is the limit", ms);
}

static void test_a_byte_now_and_then_does_not_keep_a_connection(void **state)
{
    (void)state;
    struct httpd *h = server(&brief);
    static char head[] = HEAD("GET", "/info") "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static char body[200];
    int fd = client(h);
    check_cut(drip(fd, head, strlen(head))); /* in a head */
    close(fd);
    fd = client(h); /* in a body */
    say(fd, HEAD("POST", "/echo") "Content-Length: 1000\r\n\r\n");
    check_cut(drip(fd, body, sizeof body));
    close(fd);
    fd = client(h); /* in the size of a chunk */
    say(fd, HEAD("POST", "/echo") "Transfer-Encoding: chunked\r\n\r\n");
    check_cut(drip(fd, "000000000000000000000000000000000000000000000000000000000000", 60));
    close(fd);
    fd = client(h); /* in the request line of a second request */
    say(fd, HEAD("GET", "/info") "\r\n");
    listen_for(fd, "q=", 10000, out, sizeof out);
    check_cut(drip(fd, head, strlen(head)));
    close(fd);
    wait_for(&seen.n_closed, atomic_load(&seen.n_routes));
    pause_ms(50);
    assert_int_equal(httpd_connections(h), 0);
    assert_int_equal(httpd_exchanges(h), 0);
    httpd_close(h);
}

static void test_silent_connections_end(void **state)
{
    (void)state;
    struct httpd *h = server(&brief);
    for (int i = 0; i < 3; i++) { /* nothing at all, half a head, after an answer */
        const int fd = client(h);
        const int64_t begun = now_ms();
        if (i == 1) say(fd, "GET / HT");
        if (i == 2) say(fd, HEAD("GET", "/info") "\r\n");
        assert_int_equal(listen_for(fd, NULL, 10000, out, sizeof out), 1);
        check_cut((int)(now_ms() - begun));
        close(fd);
    }
    httpd_close(h);
}

static void test_a_fast_upload_may_take_longer_than_a_slow_one(void **state)
{
    (void)state;
    struct httpd *h = server(&brief);
    static char block[32768];
    const int fd = client(h);
    say(fd, HEAD("POST", "/echo") "Content-Length: 327680\r\n\r\n");
    for (int i = 0; i < 10; i++) say_n(fd, block, sizeof block), pause_ms(100); /* a second; 5 s for its 320 kB are allowed */
    listen_for(fd, "327680 bytes", 10000, out, sizeof out);
    assert_non_null(strstr(out, "327680 bytes"));
    close(fd);
    httpd_close(h);
}

static void test_a_request_that_runs_has_no_deadline(void **state)
{
    (void)state;
    struct http_params p = brief;
    p.body_timeout_s = p.idle_timeout_s = 0.02;
    struct httpd *h = server(&p);
    int n = 0;
    for (int i = 0; i < 100 && !n; i++) { /* the handler needs 30 ms; a busy machine may be late with the rest */
        ask(h, HEAD("GET", "/late") "Connection: close\r\n\r\n", out, sizeof out);
        n += strstr(out, "late") != NULL;
    }
    assert_true(n > 0);
    httpd_close(h);
}

static void test_leaving_waits_for_the_handler(void **state)
{
    (void)state;
    struct http_params p = brief;
    p.body_timeout_s = 0.02;
    struct httpd *h = server(&p);
    const int fd = client(h);
    say(fd, HEAD("POST", "/slow") "Content-Length: 9\r\n\r\nabc");
    pause_ms(50);
    say(fd, "defghi");
    wait_for(&seen.n_closed, 1);
    assert_int_equal(atomic_load(&seen.n_left), 1);
    assert_int_equal(atomic_load(&seen.n_mixed), 0);
    close(fd);
    httpd_close(h);
}

static void test_an_address_has_a_limit_of_connections(void **state)
{
    (void)state;
    struct http_params p = usual;
    p.max_per_ip = 3;
    struct httpd *h = server(&p);
    int fd[5];
    for (int i = 0; i < 3; i++) fd[i] = client(h);
    for (int i = 0; i < 3; i++) say(fd[i], HEAD("GET", "/info") "\r\n"), listen_for(fd[i], "q=", 10000, out, sizeof out);
    fd[3] = client(h);
    assert_int_equal(listen_for(fd[3], NULL, 10000, out, sizeof out), 1);
    assert_int_equal(strncmp(out, "HTTP/1.1 429 ", 13), 0);
    assert_non_null(strstr(out, "{\"error\":{\"message\":"));
    close(fd[0]);
    for (int i = 0; i < 200 && httpd_connections(h) > 2; i++) pause_ms(10);
    fd[4] = client(h);
    say(fd[4], HEAD("GET", "/info") "\r\n");
    listen_for(fd[4], "q=", 10000, out, sizeof out);
    assert_int_equal(strncmp(out, "HTTP/1.1 200 ", 13), 0);
    for (int i = 1; i < 5; i++) close(fd[i]);
    httpd_close(h);
    const char *const local[] = { "127.0.0.0/8" }; /* a proxy's address has none */
    p.trusted = local, p.n_trusted = 1;
    h = server(&p);
    for (int i = 0; i < 5; i++) fd[i] = client(h);
    for (int i = 0; i < 5; i++) {
        say(fd[i], HEAD("GET", "/info") "\r\n");
        listen_for(fd[i], "q=", 10000, out, sizeof out);
        assert_int_equal(strncmp(out, "HTTP/1.1 200 ", 13), 0);
        close(fd[i]);
    }
    httpd_close(h);
}

static void test_the_longest_idle_connection_makes_room(void **state)
{
    (void)state;
    struct http_params p = usual;
    p.max_connections = 2;
    struct httpd *h = server(&p);
    int fd[3];
    for (int i = 0; i < 3; i++) {
        fd[i] = client(h);
        say(fd[i], HEAD("GET", "/info") "\r\n");
        listen_for(fd[i], "q=", 10000, out, sizeof out);
        assert_int_equal(strncmp(out, "HTTP/1.1 200 ", 13), 0);
        pause_ms(20);
    }
    assert_int_equal(listen_for(fd[0], NULL, 10000, out, sizeof out), 1);
    say(fd[1], HEAD("POST", "/hold") "Content-Length: 1\r\n\r\na");
    say(fd[2], HEAD("POST", "/hold") "Content-Length: 1\r\n\r\na");
    wait_for(&seen.n_routes, 5);
    const int more = client(h); /* no connection is idle */
    listen_for(more, NULL, 10000, out, sizeof out);
    assert_int_equal(strncmp(out, "HTTP/1.1 503 ", 13), 0);
    close(more);
    for (int i = 0; i < 3; i++) close(fd[i]);
    wait_for(&seen.n_closed, 5);
    httpd_close(h);
}

static void test_hundreds_of_idle_connections_do_not_slow_others(void **state)
{
    (void)state;
    enum { N = 400 };
    static int fd[N];
    struct http_params p = usual;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    const int n = files.rlim_cur < 3 * N + 64 ? (int)(files.rlim_cur - 64) / 3 : N;
    p.max_connections = p.max_per_ip = 2 * N;
    struct httpd *h = server(&p);
    for (int i = 0; i < n; i++) fd[i] = client(h);
    for (int i = 0; i < n; i += 2) say(fd[i], HEAD("GET", "/info") "\r\n");
    for (int i = 0; i < 20; i++) {
        const int64_t begun = now_ms();
        ask(h, HEAD("GET", "/info") "Connection: close\r\n\r\n", out, sizeof out);
        assert_non_null(strstr(out, "q="));
        assert_true(now_ms() - begun < 5000);
    }
    assert_true(httpd_connections(h) >= n);
    for (int i = 0; i < n; i++) close(fd[i]);
    for (int i = 0; i < 2000 && httpd_connections(h); i++) pause_ms(10);
    assert_int_equal(httpd_connections(h), 0);
    httpd_close(h);
}

/* Many sockets become ready while the thread of HTTP is in a handler. libmicrohttpd takes up to 128 events at once, and waits for more
 * when it has exactly 128; no deadline and no other client wakes it here. */
static void test_any_number_of_sockets_may_be_ready_at_once(void **state)
{
    (void)state;
    enum { MOST = 260 };
    static const int counts[] = { 127, 128, 129, 255, 256, MOST };
    static int fd[MOST];
    struct http_params p = usual;
    p.max_connections = p.max_per_ip = MOST + 8;
    p.head_timeout_s = p.body_timeout_s = p.idle_timeout_s = 600;
    struct httpd *h = server(&p);
    for (int i = 0; i < MOST; i++) {
        fd[i] = client(h);
        say(fd[i], HEAD("GET", "/info") "\r\n");
        listen_for(fd[i], "q=", 10000, out, sizeof out);
    }
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int routes = atomic_load(&seen.n_routes), busy = client(h);
        say(busy, HEAD("POST", "/slow") "Content-Length: 4\r\n\r\nabc"); /* its handler takes 150 ms for the three bytes */
        wait_for(&seen.n_routes, routes + 1);
        for (int i = 0; i < counts[k]; i++) say(fd[i], HEAD("GET", "/info") "\r\n");
        for (int i = 0; i < counts[k]; i++) {
            listen_for(fd[i], "q=", 10000, out, sizeof out);
            if (!strstr(out, "q=")) fail_msg("%d sockets ready at once: client %d has no answer", counts[k], i);
        }
        close(busy);
    }
    for (int i = 0; i < MOST; i++) close(fd[i]);
    httpd_close(h);
}

static void test_the_client_behind_a_trusted_proxy_is_found(void **state)
{
    (void)state;
    static const struct { const char *fields, *client; } cases[] = {
        { "", "127.0.0.1" },
        { "X-Forwarded-For: 9.9.9.9\r\n", "9.9.9.9" },
        { "X-Forwarded-For: 8.8.8.8, 9.9.9.9\r\n", "9.9.9.9" },
        { "X-Forwarded-For: 8.8.8.8, 9.9.9.9, 10.1.2.3\r\n", "9.9.9.9" },
        { "X-Forwarded-For: 8.8.8.8, 9.9.9.9\r\nX-Forwarded-For: 10.0.0.1 , 10.0.0.2\r\n", "9.9.9.9" },
        { "X-Forwarded-For: 10.0.0.1\r\n", "10.0.0.1" },
        { "X-Forwarded-For: 2001:db8::1\r\n", "2001:db8::1" },
        { "X-Forwarded-For: [2001:db8::1]:99\r\n", "2001:db8::1" },
        { "X-Forwarded-For: 9.9.9.9:1234\r\n", "9.9.9.9" },
        { "X-Forwarded-For: 9.9.9.9, nonsense\r\n", "127.0.0.1" },
        { "X-Forwarded-For: 9.9.9.9, nonsense, 10.0.0.1\r\n", "10.0.0.1" },
        { "X-Forwarded-For: 9.9.9.9:x\r\n", "127.0.0.1" },
        { "X-Forwarded-For: [2001:db8::1]x\r\n", "127.0.0.1" },
        { "X-Forwarded-For: ,,,\r\n", "127.0.0.1" },
    };
    const char *const proxies[] = { "127.0.0.1", "10.0.0.0/8" };
    struct http_params p = usual;
    for (int trusts = 0; trusts < 2; trusts++) {
        p.trusted = proxies, p.n_trusted = trusts ? 2 : 0;
        struct httpd *h = server(&p);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char head[512], from[80];
            snprintf(head, sizeof head, HEAD("GET", "/info") "%sConnection: close\r\n\r\n", cases[i].fields);
            snprintf(from, sizeof from, "from %s ", trusts ? cases[i].client : "127.0.0.1");
            ask(h, head, out, sizeof out);
            if (!strstr(out, from)) fail_msg("case %zu, %s: not \"%s\" in %s", i, cases[i].fields, from, out);
        }
        httpd_close(h);
    }
}

static void test_requests_behind_a_proxy_are_limited_by_address(void **state)
{
    (void)state;
    const char *const proxies[] = { "127.0.0.1" };
    struct http_params p = usual;
    p.trusted = proxies, p.n_trusted = 1, p.max_per_ip = 3;
    struct httpd *h = server(&p);
    int fd[5];
    for (int i = 0; i < 4; i++) {
        fd[i] = client(h);
        say(fd[i], HEAD("POST", "/hold") "X-Forwarded-For: 9.9.9.9\r\nContent-Length: 1\r\n\r\na");
        if (i < 3) wait_for(&seen.n_routes, i + 1);
    }
    listen_for(fd[3], NULL, 10000, out, sizeof out);
    assert_int_equal(strncmp(out, "HTTP/1.1 429 ", 13), 0);
    assert_non_null(strstr(out, "too_many_connections"));
    assert_non_null(strstr(out, "Retry-After: 5\r\n"));
    fd[4] = client(h);
    say(fd[4], HEAD("GET", "/info") "X-Forwarded-For: 9.9.9.8\r\n\r\n");
    listen_for(fd[4], "q=", 10000, out, sizeof out);
    assert_int_equal(strncmp(out, "HTTP/1.1 200 ", 13), 0);
    for (int i = 0; i < 5; i++) close(fd[i]);
    wait_for(&seen.n_closed, 4);
    httpd_close(h);
}

static void test_quiesce_accepts_no_more(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    const int port = httpd_port(h), open_one = client(h);
    say(open_one, HEAD("GET", "/late") "\r\n");
    wait_for(&seen.n_routes, 1);
    httpd_quiesce(h);
    const struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof sa), -1);
    assert_int_equal(listen_for(open_one, NULL, 10000, out, sizeof out), 1); /* the open one is served, then closed */
    assert_non_null(strstr(out, "\r\n\r\nlate"));
    assert_non_null(strstr(out, "Connection: close\r\n"));
    close(fd);
    close(open_one);
    httpd_close(h);
}

static void test_a_given_socket_serves(void **state)
{
    (void)state;
    struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
    assert_int_equal(listen(fd, 8), 0);
    struct http_params p = usual;
    p.fds = &fd, p.n_fds = 1;
    struct httpd *h = server(&p);
    ask(h, HEAD("GET", "/info") "Connection: close\r\n\r\n", out, sizeof out);
    assert_non_null(strstr(out, "from 127.0.0.1"));
    httpd_close(h);
}

static void test_tls_serves(void **state)
{
    (void)state;
    char dir[] = "/tmp/steno-tls-XXXXXX", cert[64], key[64], command[512];
    assert_non_null(mkdtemp(dir));
    snprintf(cert, sizeof cert, "%s/cert.pem", dir);
    snprintf(key, sizeof key, "%s/key.pem", dir);
    snprintf(command, sizeof command, "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -days 2 -keyout %s -out %s 2>/dev/null", key,
             cert);
    const int has_openssl = system(command) == 0;
    if (has_openssl) {
        struct http_params p = usual;
        p.tls_cert = cert, p.tls_key = key;
        struct httpd *h = server(&p);
        snprintf(command, sizeof command,
                 "(printf 'GET /late HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'; sleep 1) | openssl s_client -quiet "
                 "-connect 127.0.0.1:%d 2>/dev/null", httpd_port(h));
        FILE *f = popen(command, "r");
        assert_non_null(f);
        out[fread(out, 1, sizeof out - 1, f)] = '\0';
        pclose(f);
        assert_non_null(strstr(out, "\r\n\r\nlate"));
        ask(h, HEAD("GET", "/info") "Connection: close\r\n\r\n", out, sizeof out);
        assert_null(strstr(out, "HTTP/1.1 200"));
        httpd_close(h);
    }
    unlink(cert);
    unlink(key);
    rmdir(dir);
    if (!has_openssl) skip();
}

/* Clients that leave at any moment, from several threads. */
static void *leave_run(void *user)
{
    const struct httpd *h = user;
    static const char *const requests[] = {
        HEAD("POST", "/hold") "Content-Length: 3\r\n\r\nabc", HEAD("GET", "/stream") "\r\n", HEAD("GET", "/late") "\r\n",
        HEAD("POST", "/echo") "Content-Length: 9\r\n\r\nabc", HEAD("GET", "/flood") "\r\n",
        HEAD("GET", "/up") "Connection: Upgrade\r\n\r\n",
        HEAD("GET", "/info"), HEAD("GET", "/broken") "\r\n",
    };
    unsigned seed = (unsigned)(uintptr_t)&h;
    char answer[512];
    for (int i = 0; i < 60; i++) {
        const int fd = client(h);
        say(fd, requests[(unsigned)rand_r(&seed) % 8]);
        const int ms = rand_r(&seed) % 40;
        if (ms % 2) pause_ms(ms / 2);
        else listen_for(fd, NULL, ms, answer, sizeof answer);
        const struct linger hard = { 1, 0 };
        if (ms % 3 == 0) setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard); /* a reset */
        close(fd);
    }
    return NULL;
}

static void test_clients_leave_at_any_moment(void **state)
{
    (void)state;
    struct http_params p = usual;
    p.head_timeout_s = 0.2;
    struct httpd *h = server(&p);
    pthread_t t[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&t[i], NULL, leave_run, h), 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < 2000 && (httpd_connections(h) || httpd_exchanges(h)); i++) pause_ms(10);
    assert_int_equal(httpd_connections(h), 0);
    assert_int_equal(httpd_exchanges(h), 0);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&t[i], NULL, leave_run, h), 0);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    httpd_close(h); /* while requests run */
    pause_ms(200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_byte_now_and_then_does_not_keep_a_connection),
        cmocka_unit_test(test_silent_connections_end),
        cmocka_unit_test(test_a_fast_upload_may_take_longer_than_a_slow_one),
        cmocka_unit_test(test_a_request_that_runs_has_no_deadline),
        cmocka_unit_test(test_leaving_waits_for_the_handler),
        cmocka_unit_test(test_an_address_has_a_limit_of_connections),
        cmocka_unit_test(test_the_longest_idle_connection_makes_room),
        cmocka_unit_test(test_hundreds_of_idle_connections_do_not_slow_others),
        cmocka_unit_test(test_any_number_of_sockets_may_be_ready_at_once),
        cmocka_unit_test(test_the_client_behind_a_trusted_proxy_is_found),
        cmocka_unit_test(test_requests_behind_a_proxy_are_limited_by_address),
        cmocka_unit_test(test_quiesce_accepts_no_more),
        cmocka_unit_test(test_a_given_socket_serves),
        cmocka_unit_test(test_tls_serves),
        cmocka_unit_test(test_clients_leave_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* steno: the HTTP server answers over sockets. SPDX-License-Identifier: MIT */
#include "serve/http_help.h"

static char out[1 << 16];

static void check_has(const char *text)
{
    if (!strstr(out, text)) fail_msg("\"%s\" is not in:\n%s", text, out);
}

static void test_a_body_reaches_its_handler_and_the_connection_goes_on(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    const int fd = client(h);
    for (int i = 0; i < 3; i++) {
        say(fd, HEAD("POST", "/echo") "Content-Length: 5\r\nX-Request-Id: mine-1\r\n\r\nhello");
        listen_for(fd, "sum 99162322", 10000, out, sizeof out);
        check_has("HTTP/1.1 200");
        check_has("X-Request-Id: mine-1\r\n");
        check_has("Cache-Control: no-store\r\n");
        check_has("X-Content-Type-Options: nosniff\r\n");
        check_has("steno-processing-ms: ");
        check_has("5 bytes, sum 99162322");
    }
    say(fd, HEAD("POST", "/echo") "Transfer-Encoding: chunked\r\nX-Request-Id: bad id\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
    listen_for(fd, "sum 99162322", 10000, out, sizeof out);
    check_has("X-Request-Id: req_");
    wait_for(&seen.n_complete, 4);
    assert_int_equal(httpd_exchanges(h), 0);
    assert_int_equal(httpd_connections(h), 1);
    close(fd);
    httpd_close(h);
}

static void test_paths_and_queries_are_decoded_once(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    ask(h, HEAD("GET", "/info%2Fa%2541b?q=1%262+3&empty&=x&%71=2") "Connection: close\r\n\r\n", out, sizeof out);
    check_has("GET /info/a%41b from 127.0.0.1 [q=1&2 3][empty=][q=2] q=1&2 3");
    ask(h, HEAD("HEAD", "/info") "Connection: close\r\n\r\n", out, sizeof out);
    check_has("HTTP/1.1 200");
    assert_string_equal(strstr(out, "\r\n\r\n"), "\r\n\r\n");
    httpd_close(h);
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    ask(h, HEAD("GET", "/info?q=1") "\r\n" HEAD("GET", "/late") "\r\n" HEAD("POST", "/echo") "Content-Length: 5\r\n\r\nhello" HEAD(
               "GET", "/info?q=4") "Connection: close\r\n\r\n", out, sizeof out);
    const char *one = strstr(out, "q=1"), *two = strstr(out, "late"), *three = strstr(out, "5 bytes"), *four = strstr(out, "q=4");
    assert_true(one && two && three && four && one < two && two < three && three < four);
    httpd_close(h);
}

static void test_another_thread_answers(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    for (int i = 0; i < 5; i++) {
        ask(h, HEAD("GET", "/late") "Connection: close\r\n\r\n", out, sizeof out);
        check_has("\r\n\r\nlate");
    }
    wait_for(&seen.n_complete, 5);
    httpd_close(h);
}

static void test_a_stream_ends_or_breaks_off(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    ask(h, HEAD("GET", "/stream") "Connection: close\r\n\r\n", out, sizeof out);
    check_has("Content-Type: text/event-stream\r\n");
    check_has("X-Accel-Buffering: no\r\n");
    check_has("data: 0\n\n");
    check_has("data: 2\n\n\r\n0\r\n\r\n");
    ask(h, HEAD("GET", "/broken") "\r\n", out, sizeof out);
    check_has("data: 2\n\n");
    assert_null(strstr(out, "\r\n0\r\n"));
    ask(h, HEAD("HEAD", "/stream") "Connection: close\r\n\r\n", out, sizeof out);
    assert_null(strstr(out, "data:"));
    wait_for(&seen.n_closed, 3);
    httpd_close(h);
}

static void test_old_clients_get_a_stream_without_chunks(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    ask(h, "GET /stream HTTP/1.0\r\n\r\n", out, sizeof out);
    check_has("\r\n\r\ndata: 0\n\ndata: 1\n\ndata: 2\n\n");
    assert_null(strstr(out, "chunked"));
    httpd_close(h);
}

static void test_listed_origins_may_read_responses(void **state)
{
    (void)state;
    const char *const origins[] = { "https://app.example" };
    struct http_params p = usual;
    p.origins = origins, p.n_origins = 1;
    struct httpd *h = server(&p);
    ask(h, HEAD("GET", "/info") "Origin: https://app.example\r\nConnection: close\r\n\r\n", out, sizeof out);
    check_has("Access-Control-Allow-Origin: https://app.example\r\n");
    check_has("Vary: Origin\r\n");
    ask(h, HEAD("GET", "/info") "Origin: https://evil.example\r\nConnection: close\r\n\r\n", out, sizeof out);
    check_has("Vary: Origin\r\n");
    assert_null(strstr(out, "Access-Control"));
    httpd_close(h);
}

static void test_a_client_that_does_not_read_is_cut_off(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    const int fd = client(h);
    say(fd, HEAD("GET", "/flood") "\r\n");
    wait_for(&seen.n_closed, 1);
    assert_int_equal(atomic_load(&seen.n_complete), 0);
    close(fd);
    httpd_close(h);
}

static void test_an_early_413_reaches_a_client_that_sends(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    static char block[1 << 16];
    int fd = client(h);
    say(fd, HEAD("POST", "/limit") "Content-Length: 60000000\r\n\r\n");
    for (int i = 0; i < 900 && say_n(fd, block, sizeof block) == 0; i++) {}
    listen_for(fd, "refused", 10000, out, sizeof out);
    check_has("HTTP/1.1 413");
    close(fd);
    fd = client(h); /* chunked: the answer is given in the middle, and sent at the end */
    say(fd, HEAD("POST", "/limit") "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 3; i++) say(fd, "3e8\r\n"), say_n(fd, block, 1000), say(fd, "\r\n");
    say(fd, "0\r\n\r\n");
    listen_for(fd, "too large", 10000, out, sizeof out);
    check_has("HTTP/1.1 413");
    close(fd);
    fd = client(h); /* a client that goes on for ever is cut off */
    say(fd, HEAD("POST", "/limit") "Transfer-Encoding: chunked\r\n\r\n");
    int n = 0;
    while (n < 1000 && say(fd, "10000\r\n") == 0 && say_n(fd, block, sizeof block) == 0 && say(fd, "\r\n") == 0) n++;
    assert_true(n < 1000);
    close(fd);
    httpd_close(h);
}

static void test_an_answer_in_the_middle_of_a_body_reaches_its_client(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    static char block[1 << 16];
    const int fd = client(h);
    say(fd, HEAD("POST", "/middle") "Content-Length: 8388608\r\n\r\n");
    for (int i = 0; i < 128; i++) assert_int_equal(say_n(fd, block, sizeof block), 0);
    listen_for(fd, "too large", 10000, out, sizeof out);
    check_has("HTTP/1.1 413");
    close(fd);
    httpd_close(h);
}

static void test_a_client_may_wait_for_100_continue(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    int fd = client(h);
    say(fd, HEAD("POST", "/echo") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    listen_for(fd, "\r\n\r\n", 10000, out, sizeof out);
    check_has("HTTP/1.1 100 Continue");
    say(fd, "hello");
    listen_for(fd, "sum", 10000, out, sizeof out);
    check_has("HTTP/1.1 200");
    close(fd);
    fd = client(h);
    say(fd, HEAD("POST", "/limit") "Content-Length: 5000\r\nExpect: 100-continue\r\n\r\n");
    listen_for(fd, "refused", 10000, out, sizeof out);
    assert_int_equal(strncmp(out, "HTTP/1.1 413", 12), 0);
    close(fd);
    httpd_close(h);
}

static void test_a_hang_up_is_seen_while_the_request_runs(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    for (int i = 1; i <= 20; i++) {
        const int fd = client(h);
        say(fd, HEAD("POST", "/hold") "Content-Length: 3\r\n\r\nabc");
        if (i % 2) wait_for(&seen.n_routes, i);
        if (i % 4 == 0) pause_ms(i);
        close(fd);
    }
    wait_for(&seen.n_closed, atomic_load(&seen.n_routes));
    wait_for(&seen.n_over, atomic_load(&seen.n_routes));
    assert_int_equal(atomic_load(&seen.n_complete), 0);
    pause_ms(100); /* answers come after the clients have left */
    assert_int_equal(httpd_exchanges(h), 0);
    assert_int_equal(httpd_connections(h), 0);
    httpd_close(h);
}

static void test_close_ends_requests_that_run(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    int fd[8];
    for (int i = 0; i < 8; i++) {
        fd[i] = client(h);
        say(fd[i], i % 2 ? HEAD("POST", "/hold") "Content-Length: 3\r\n\r\nabc" : HEAD("POST", "/hold") "Content-Length: 3\r\n\r\na");
    }
    wait_for(&seen.n_routes, 8);
    pause_ms(50);
    httpd_close(h);
    assert_int_equal(atomic_load(&seen.n_closed), 8);
    assert_int_equal(atomic_load(&seen.n_complete), 0);
    for (int i = 0; i < 8; i++) close(fd[i]);
    pause_ms(100);
}

static void test_a_protocol_can_be_switched(void **state)
{
    (void)state;
    struct httpd *h = server(&usual);
    const int fd = client(h);
    say(fd, HEAD("GET", "/up") "Connection: Upgrade\r\nUpgrade: steno\r\n\r\nearly ");
    assert_int_equal(listen_for(fd, NULL, 10000, out, sizeof out), 1);
    check_has("HTTP/1.1 101");
    check_has("Upgrade: steno\r\n");
    check_has("\r\n\r\nearly taken");
    close(fd);
    httpd_close(h);
}

static void test_a_unix_socket_serves(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/steno-http-%d.sock", (int)getpid());
    struct http_params p = usual;
    p.unix_path = path;
    struct httpd *h = server(&p), *second = NULL;
    steno_error e;
    p.host = NULL;
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EIO); /* in use */
    struct sockaddr_un sa = { .sun_family = AF_UNIX };
    snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
    say(fd, HEAD("GET", "/info") "\r\n");
    listen_for(fd, "q=", 10000, out, sizeof out);
    check_has("from unix");
    close(fd);
    ask(h, HEAD("GET", "/info") "Connection: close\r\n\r\n", out, sizeof out);
    check_has("from 127.0.0.1");
    httpd_quiesce(h);
    assert_int_equal(access(path, F_OK), -1);
    httpd_close(h);
    const int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stale, (const struct sockaddr *)&sa, sizeof sa), 0);
    close(stale);
    h = server(&p); /* a file that is left is replaced */
    httpd_close(h);
    assert_int_equal(access(path, F_OK), -1); /* the end of the server removes it, also without httpd_quiesce */
}

static void test_a_port_in_use_and_bad_parameters_are_errors(void **state)
{
    (void)state;
    struct http_params p = usual;
    struct httpd *h = server(&p), *second = NULL;
    steno_error e;
    p.port = httpd_port(h);
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EIO);
    assert_non_null(strstr(e.text, "another program listens there"));
    assert_null(second);
    p.port = 65536;
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EARG);
    p = usual;
    p.host = NULL;
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EARG);
    const char *const proxies[] = { "10.0.0.0/33" };
    p = usual;
    p.trusted = proxies, p.n_trusted = 1;
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EARG);
    p = usual;
    p.tls_cert = "README.md";
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EARG);
    p.tls_key = "README.md";
    assert_int_equal(httpd_open(&second, &p, &e), STENO_EARG);
    httpd_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_reaches_its_handler_and_the_connection_goes_on),
        cmocka_unit_test(test_paths_and_queries_are_decoded_once),
        cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
        cmocka_unit_test(test_another_thread_answers),
        cmocka_unit_test(test_a_stream_ends_or_breaks_off),
        cmocka_unit_test(test_old_clients_get_a_stream_without_chunks),
        cmocka_unit_test(test_listed_origins_may_read_responses),
        cmocka_unit_test(test_a_client_that_does_not_read_is_cut_off),
        cmocka_unit_test(test_an_early_413_reaches_a_client_that_sends),
        cmocka_unit_test(test_an_answer_in_the_middle_of_a_body_reaches_its_client),
        cmocka_unit_test(test_a_client_may_wait_for_100_continue),
        cmocka_unit_test(test_a_hang_up_is_seen_while_the_request_runs),
        cmocka_unit_test(test_close_ends_requests_that_run),
        cmocka_unit_test(test_a_protocol_can_be_switched),
        cmocka_unit_test(test_a_unix_socket_serves),
        cmocka_unit_test(test_a_port_in_use_and_bad_parameters_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

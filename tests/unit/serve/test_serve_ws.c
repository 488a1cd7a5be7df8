/* steno-serve: WebSocket frames over a socket pair, byte by byte as a client may send them. SPDX-License-Identifier: MIT */
#include "loop_help.h"
#include "ws.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOG_SZ = 1 << 16, BIG = 1 << 20 };

/* ---- a connection whose messages are logged ------------------------------------------------------------------------------------ */

struct peer {
    int fd; /* the client's end */
    struct ws *ws;
    pthread_mutex_t lock;
    char log[LOG_SZ]; /* "t:text;" "b:3;" "closed 1000" */
    size_t n_log;
    atomic_llong n_bytes;
    atomic_int opened, closed, pauses, echoes;
};

static void note(struct peer *p, const char *text, size_t n)
{
    pthread_mutex_lock(&p->lock);
    if (n < LOG_SZ - 1 - p->n_log) memcpy(p->log + p->n_log, text, n), p->n_log += n;
    p->log[p->n_log] = '\0';
    pthread_mutex_unlock(&p->lock);
}

static void on_text(void *user, const char *text, size_t n)
{
    struct peer *p = user;
    if (atomic_load(&p->echoes)) ws_send(p->ws, text, n);
    note(p, "t:", 2);
    note(p, text, n < 40 ? n : 40);
    note(p, ";", 1);
}

static void on_binary(void *user, const char *bytes, size_t n)
{
    struct peer *p = user;
    char line[32];
    atomic_fetch_add(&p->n_bytes, (long long)n);
    if (n && bytes[0] == 'P') ws_pause(p->ws, 1);
    note(p, line, (size_t)snprintf(line, sizeof line, "b:%zu;", n));
}

static void on_closed(void *user)
{
    struct peer *p = user;
    char line[32];
    note(p, line, (size_t)snprintf(line, sizeof line, "closed %d", ws_close_code(p->ws)));
    assert_int_equal(ws_send(p->ws, "late", 4), -1);
    atomic_fetch_add(&p->closed, 1);
}

static void on_opened(void *user, struct ws *w)
{
    struct peer *p = user;
    p->ws = w;
    if (w) {
        ws_keep(w);
        ws_events(w, &(struct ws_events){ on_text, on_binary, on_closed, p });
    }
    atomic_store(&p->opened, w ? 1 : 2);
}

static struct peer *peer_open(const char *first, size_t n_first, const struct ws_times *t)
{
    struct peer *p = calloc(1, sizeof *p);
    int fd[2];
    assert_non_null(p);
    pthread_mutex_init(&p->lock, NULL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    p->fd = fd[0];
    assert_int_equal(ws_take(loop, fd[1], first, n_first, t, on_opened, p), 0);
    for (int i = 0; i < 5000 && !atomic_load(&p->opened); i++) nap(1);
    assert_int_equal(atomic_load(&p->opened), 1);
    return p;
}

static void peer_send(struct peer *p, const void *bytes, size_t n)
{
    const char *b = bytes;
    while (n) {
        const ssize_t put = send(p->fd, b, n, MSG_NOSIGNAL);
        if (put < 0) return; /* the server has closed */
        b += put;
        n -= (size_t)put;
    }
}

/* Reads until `n` bytes or the end. @return bytes */
static size_t peer_read(struct peer *p, unsigned char *to, size_t n, int wait_ms)
{
    size_t got = 0;
    struct pollfd f = { p->fd, POLLIN, 0 };
    while (got < n && poll(&f, 1, wait_ms) > 0) {
        const ssize_t k = recv(p->fd, to + got, n - got, 0);
        if (k <= 0) break;
        got += (size_t)k;
    }
    return got;
}

static void expect_closed(struct peer *p, const char *log)
{
    for (int i = 0; i < 5000 && !atomic_load(&p->closed); i++) nap(1);
    pthread_mutex_lock(&p->lock);
    assert_string_equal(p->log, log);
    pthread_mutex_unlock(&p->lock);
    assert_int_equal(atomic_load(&p->closed), 1);
}

static void expect_logged(struct peer *p, const char *log)
{
    for (int i = 0; i < 5000; i++, nap(1)) {
        pthread_mutex_lock(&p->lock);
        const int same = strcmp(p->log, log) == 0;
        pthread_mutex_unlock(&p->lock);
        if (same) return;
    }
    assert_string_equal(p->log, log);
}

static void peer_close(struct peer *p)
{
    shutdown(p->fd, SHUT_RDWR);
    close(p->fd);
    for (int i = 0; i < 5000 && !atomic_load(&p->closed); i++) nap(1);
    ws_drop(p->ws);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* A frame of a client, with a mask. @return its length */
static size_t frame(unsigned char *to, unsigned first, int masked, const void *data, size_t n)
{
    static const unsigned char mask[4] = { 0x12, 0x34, 0x56, 0x78 };
    size_t at = 0;
    to[at++] = (unsigned char)first;
    to[at++] = (unsigned char)((masked ? 0x80 : 0) | (n < 126 ? n : n < 65536 ? 126 : 127));
    if (n >= 126) for (int i = n < 65536 ? 1 : 7; i >= 0; i--) to[at++] = (unsigned char)((uint64_t)n >> (8 * i));
    if (masked) memcpy(to + at, mask, 4), at += 4;
    for (size_t i = 0; i < n; i++) to[at + i] = (unsigned char)(((const unsigned char *)data)[i] ^ (masked ? mask[i % 4] : 0));
    return at + n;
}

/* ---- frames -------------------------------------------------------------------------------------------------------------------- */

struct frames_case {
    const char *name;
    struct { unsigned first; int masked; const char *data; int n; } f[4];
    const char *log;
    int code;
};

static const struct frames_case cases[] = {
    { "text", { { 0x81, 1, "hello", 5 }, { 0x88, 1, "\3\xe8", 2 } }, "t:hello;closed 1000", 1000 },
    { "empty messages", { { 0x81, 1, "", 0 }, { 0x82, 1, "", 0 }, { 0x88, 1, "\3\xe8", 2 } }, "t:;b:0;closed 1000", 1000 },
    { "binary", { { 0x82, 1, "abc", 3 }, { 0x88, 1, "\3\xe9" "bye", 5 } }, "b:3;closed 1001", 1001 },
    { "close without a code", { { 0x88, 1, "", 0 } }, "closed 1005", 0 },
    { "fragments", { { 0x01, 1, "he", 2 }, { 0x89, 1, "p", 1 }, { 0x80, 1, "llo", 3 }, { 0x88, 1, "\3\xe8", 2 } },
      "t:hello;closed 1000", 1000 },
    { "half a character at a border", { { 0x01, 1, "\xc3", 1 }, { 0x80, 1, "\xa4", 1 }, { 0x88, 1, "\3\xe8", 2 } },
      "t:\xc3\xa4;closed 1000", 1000 },
    { "no mask", { { 0x81, 0, "hello", 5 } }, "closed 1006", 1002 },
    { "reserved bit", { { 0xc1, 1, "hello", 5 } }, "closed 1006", 1002 },
    { "unknown code", { { 0x83, 1, "hello", 5 } }, "closed 1006", 1002 },
    { "unknown control code", { { 0x8b, 1, "", 0 } }, "closed 1006", 1002 },
    { "continuation of nothing", { { 0x80, 1, "hello", 5 } }, "closed 1006", 1002 },
    { "text within fragments", { { 0x01, 1, "he", 2 }, { 0x81, 1, "llo", 3 } }, "closed 1006", 1002 },
    { "control frame in fragments", { { 0x09, 1, "p", 1 } }, "closed 1006", 1002 },
    { "bad UTF-8", { { 0x81, 1, "a\xff", 2 } }, "closed 1006", 1007 },
    { "UTF-8 cut at the end", { { 0x81, 1, "a\xc3", 2 } }, "closed 1006", 1007 },
    { "close with half a code", { { 0x88, 1, "\3", 1 } }, "closed 1005", 0 }, /* libwslay ignores it */
    { "close with a forbidden code", { { 0x88, 1, "\3\xed", 2 } }, "closed 1006", 1002 },
    { "close with bad UTF-8", { { 0x88, 1, "\3\xe8\xff", 3 } }, "closed 1006", 1007 },
    { "nothing counts after a close", { { 0x88, 1, "\3\xe8", 2 }, { 0x81, 1, "late", 4 } }, "closed 1000", 1000 },
};

/* The close frame is the last thing the server sends, and then it closes its side. */
static void expect_close_frame(const char *name, struct peer *p, int code)
{
    unsigned char got[512];
    const size_t n = peer_read(p, got, sizeof got, 5000);
    size_t at = 0;
    while (at + 2 <= n && (got[at] & 15) != 8) at += 2u + (got[at + 1] & 127);
    if (at + 2 > n) fail_msg("%s: no close frame", name);
    const int sent = got[at + 1] >= 2 ? got[at + 2] << 8 | got[at + 3] : 0;
    if (sent != code) fail_msg("%s: closed with %d, expected %d", name, sent, code);
    assert_int_equal(n, at + 2 + got[at + 1]);
}

static void frames_run(const struct frames_case *c, int by_bytes)
{
    unsigned char out[1024];
    size_t n = 0;
    struct peer *p = peer_open(NULL, 0, NULL);
    for (size_t i = 0; i < 4 && c->f[i].first; i++) n += frame(out + n, c->f[i].first, c->f[i].masked, c->f[i].data, (size_t)c->f[i].n);
    if (!by_bytes) peer_send(p, out, n);
    for (size_t i = 0; by_bytes && i < n; i++) peer_send(p, out + i, 1);
    expect_close_frame(c->name, p, c->code);
    expect_closed(p, c->log);
    peer_close(p);
}

static void test_frames(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++)
        if (i % 2 == 0 || strcmp(cases[i / 2].name, "close with bad UTF-8") != 0) /* libwslay skips two bytes of each piece */
            frames_run(&cases[i / 2], i % 2);
}

static void test_long_control_frame(void **state)
{
    (void)state;
    unsigned char out[256], data[126] = { 0 };
    struct peer *p = peer_open(NULL, 0, NULL);
    peer_send(p, out, frame(out, 0x89, 1, data, sizeof data));
    expect_close_frame("ping of 126 bytes", p, 1002);
    peer_close(p);
}

/* The limit holds for a frame, for fragments, and for announced lengths without bytes. */
static void test_size(void **state)
{
    (void)state;
    static const struct { size_t n, n_fragments; int ok; } size[] = {
        { BIG - 1, 1, 1 }, { BIG, 1, 1 }, { BIG + 1, 1, 0 }, { BIG / 4, 4, 1 }, { BIG / 4, 5, 0 },
    };
    unsigned char *data = calloc(1, BIG + 1), *out = malloc(BIG + 64);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        struct peer *p = peer_open(NULL, 0, NULL);
        char want[64];
        for (size_t k = 0; k < size[i].n_fragments; k++) {
            const unsigned first = (k ? 0u : 2u) | (k + 1 == size[i].n_fragments ? 0x80u : 0u);
            peer_send(p, out, frame(out, first, 1, data, size[i].n));
        }
        snprintf(want, sizeof want, "b:%zu;", size[i].n * size[i].n_fragments);
        if (size[i].ok) expect_logged(p, want);
        else expect_close_frame("too long", p, 1009);
        peer_close(p);
    }
    struct peer *p = peer_open(NULL, 0, NULL);
    peer_send(p, "\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff" "mask0", 15);
    expect_close_frame("2^63 - 1 bytes announced", p, 1009);
    peer_close(p);
    free(data);
    free(out);
}

static void test_bytes_that_came_with_the_request(void **state)
{
    (void)state;
    unsigned char out[64];
    size_t n = frame(out, 0x81, 1, "first", 5);
    const size_t cut = n + 3;
    n += frame(out + n, 0x81, 1, "second", 6);
    struct peer *p = peer_open((char *)out, cut, NULL);
    expect_logged(p, "t:first;");
    peer_send(p, out + cut, n - cut);
    expect_logged(p, "t:first;t:second;");
    peer_close(p);
}

static void test_broken(void **state)
{
    (void)state;
    unsigned char out[64];
    struct peer *p = peer_open(NULL, 0, NULL);
    peer_send(p, out, frame(out, 0x81, 1, "hello", 5) - 1);
    shutdown(p->fd, SHUT_RDWR);
    expect_closed(p, "closed 1006");
    peer_close(p);
}

/* ---- the server's side --------------------------------------------------------------------------------------------------------- */

/* Messages before the close frame are sent, in order, although the client is slow. */
static void test_close_comes_last(void **state)
{
    (void)state;
    enum { N = 300, SIZE = 2000 };
    struct peer *p = peer_open(NULL, 0, NULL);
    char text[SIZE];
    unsigned char *got = malloc(N * (SIZE + 4) + 64), out[16];
    for (int i = 0; i < N; i++) {
        memset(text, 'a' + i % 26, SIZE);
        assert_int_equal(ws_send(p->ws, text, SIZE), 0);
    }
    ws_close(p->ws, 1001, "the server stops");
    assert_int_equal(ws_send(p->ws, text, 1), -1);
    nap(30);
    peer_send(p, out, frame(out, 0x81, 1, "x", 1)); /* is dropped */
    assert_int_equal(peer_read(p, got, N * (SIZE + 4) + 20, 3000), N * (SIZE + 4) + 20);
    for (int i = 0; i < N; i++) {
        const unsigned char *f = got + i * (SIZE + 4);
        assert_int_equal(f[0], 0x81);
        assert_int_equal(f[2] << 8 | f[3], SIZE);
        assert_int_equal(f[4], 'a' + i % 26);
        assert_int_equal(f[SIZE + 3], 'a' + i % 26);
    }
    assert_memory_equal(got + N * (SIZE + 4), "\x88\x12\x03\xe9the server stops", 20);
    assert_int_equal(atomic_load(&p->closed), 0); /* it waits for the answer */
    peer_send(p, out, frame(out, 0x88, 1, "\3\xe9", 2));
    expect_closed(p, "closed 1001");
    assert_int_equal(peer_read(p, got, 1, 1000), 0); /* the end */
    peer_close(p);
    free(got);
}

static void test_close_without_answer(void **state)
{
    (void)state;
    const struct ws_times t = { 10000, 20000, 60 };
    struct peer *p = peer_open(NULL, 0, &t);
    ws_close(p->ws, 1000, NULL);
    expect_closed(p, "closed 1006");
    peer_close(p);
}

static void test_client_that_does_not_read(void **state)
{
    (void)state;
    const struct ws_times t = { 10000, 20000, 100 };
    struct peer *p = peer_open(NULL, 0, &t);
    char text[10000];
    int n = 0;
    memset(text, 'x', sizeof text);
    while (n < 1000 && ws_send(p->ws, text, sizeof text) == 0) n++, nap(n % 10 == 0);
    assert_in_range(n, WS_OUT_MAX / sizeof text - 1, WS_OUT_MAX / sizeof text + 100); /* what the socket takes is not counted */
    expect_closed(p, "closed 1006");
    peer_close(p);
}

static void test_ping_and_silence(void **state)
{
    (void)state;
    const struct ws_times t = { 40, 200, 50 };
    unsigned char got[64], out[16];
    struct peer *p = peer_open(NULL, 0, &t);
    for (int i = 0; i < 10; i++) { /* 400 ms: answers keep it open */
        assert_int_equal(peer_read(p, got, 2, 2000), 2);
        assert_memory_equal(got, "\x89\x00", 2);
        peer_send(p, out, frame(out, 0x8a, 1, "", 0));
    }
    assert_int_equal(atomic_load(&p->closed), 0);
    expect_closed(p, "closed 1006"); /* then silence */
    peer_close(p);
    p = peer_open(NULL, 0, NULL);
    peer_send(p, out, frame(out, 0x89, 1, "ping", 4));
    assert_int_equal(peer_read(p, got, 6, 2000), 6);
    assert_memory_equal(got, "\x8a\x04ping", 6);
    peer_close(p);
}

/* Answers to pings that the client does not read do not fill the memory. */
static void test_flood_of_pings(void **state)
{
    (void)state;
    unsigned char one[16];
    struct peer *p = peer_open(NULL, 0, NULL);
    const size_t n = frame(one, 0x89, 1, "ping", 4);
    unsigned char *many = malloc(n * 1000);
    for (int i = 0; i < 1000; i++) memcpy(many + (size_t)i * n, one, n);
    for (int i = 0; i < 2000 && !atomic_load(&p->closed); i++) peer_send(p, many, n * 1000);
    expect_closed(p, "closed 1006");
    free(many);
    peer_close(p);
}

static void test_pause(void **state)
{
    (void)state;
    enum { N = 4000, SIZE = 1000 };
    unsigned char *out = malloc(SIZE + 16), data[SIZE];
    struct peer *p = peer_open(NULL, 0, NULL);
    memset(data, 'P', SIZE); /* the first one pauses */
    size_t n = frame(out, 0x82, 1, data, SIZE), sent = 0;
    peer_send(p, out, n);
    expect_logged(p, "b:1000;");
    nap(20);
    memset(data, 'd', SIZE);
    n = frame(out, 0x82, 1, data, SIZE);
    while (sent < (size_t)N * n) { /* the socket fills, because nothing is read */
        const ssize_t put = send(p->fd, out, n, MSG_DONTWAIT);
        if (put < 0) break;
        sent += (size_t)put;
    }
    assert_true(sent < (size_t)N * n);
    assert_int_equal(sent % n, 0);
    nap(20);
    assert_int_equal(atomic_load(&p->n_bytes), SIZE);
    ws_pause(p->ws, 0);
    for (int i = 0; i < 5000 && atomic_load(&p->n_bytes) < (long long)(SIZE * (1 + sent / n)); i++) nap(1);
    peer_send(p, out, frame(out, 0x88, 1, "\3\xe8", 2));
    for (int i = 0; i < 5000 && !atomic_load(&p->closed); i++) nap(1);
    assert_int_equal(atomic_load(&p->n_bytes), SIZE * (1 + sent / n));
    peer_close(p);
    free(out);
}

static void *send_many(void *user)
{
    struct peer *p = user;
    while (ws_send(p->ws, "message", 7) == 0) {}
    return NULL;
}

static void test_other_threads(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct peer *p = peer_open(NULL, 0, NULL);
        unsigned char got[4096], out[16];
        pthread_t t[2];
        for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&t[i], NULL, send_many, p), 0);
        for (int i = 0; i < round && peer_read(p, got, sizeof got, 20) == sizeof got; i++) {}
        if (round % 3 == 0) peer_send(p, out, frame(out, 0x88, 1, "\3\xe8", 2));
        else if (round % 3 == 1) ws_close(p->ws, 1000, "end");
        else shutdown(p->fd, SHUT_RDWR);
        while (!atomic_load(&p->closed)) if (!peer_read(p, got, sizeof got, 10)) break;
        shutdown(p->fd, SHUT_RDWR);
        for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
        peer_close(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_long_control_frame),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_bytes_that_came_with_the_request),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_close_comes_last),
        cmocka_unit_test(test_close_without_answer),
        cmocka_unit_test(test_client_that_does_not_read),
        cmocka_unit_test(test_ping_and_silence),
        cmocka_unit_test(test_flood_of_pings),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_other_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* steno: fuzzing of WebSocket frames. SPDX-License-Identifier: MIT
 *
 * The input is what a client sends: its first byte is the number of bytes that came with the request. Each connection ends, and reports its
 * end once. */
#include "api_error.h"
#include "ws.h"
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct loop *loop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_closed;
static struct ws *ws;

static void on_any(void *user, const char *bytes, size_t n)
{
    (void)user;
    if (n > WS_MESSAGE_MAX || !bytes) abort();
    ws_send(ws, "{}", 2);
}

static void on_closed(void *user)
{
    (void)user;
    const int code = ws_close_code(ws);
    if (code < 1000 || code > 4999) abort();
    pthread_mutex_lock(&lock);
    n_closed++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void on_opened(void *user, struct ws *w)
{
    (void)user;
    if (!w) abort();
    ws = w;
    ws_events(w, &(struct ws_events){ on_any, on_any, on_closed, NULL });
}

static void fields(const uint8_t *data, size_t n)
{
    char text[64], accept[WS_ACCEPT_SZ];
    struct api_error e = { 0 };
    const char *list = text;
    size_t k;
    if (n >= sizeof text) n = sizeof text - 1;
    memcpy(text, data, n);
    text[n] = '\0';
    while (ws_protocol_next(&list, &k)) if (k == 0 || list > text + n) abort();
    if (ws_accept_value(accept, text) == 0 && strlen(accept) != WS_ACCEPT_SZ - 1) abort();
    if (ws_check(1, text, text, text, text, &e) == API_OK) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct ws_times times = { 5, 20, 20 };
    int fd[2];
    char drop[4096];
    fields(data, n);
    if (!n || (!loop && loop_open(&loop)) || socketpair(AF_UNIX, SOCK_STREAM, 0, fd)) return 0;
    const size_t first = data[0] < n - 1 ? data[0] : n - 1;
    n_closed = 0;
    if (ws_take(loop, fd[1], (const char *)data + 1, first, &times, on_opened, NULL)) abort();
    for (size_t at = 1 + first; at < n;) {
        const ssize_t put = send(fd[0], data + at, n - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put > 0) at += (size_t)put;
        else if (poll(&(struct pollfd){ fd[0], POLLOUT, 0 }, 1, 100) <= 0) break;
        else if (send(fd[0], data + at, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
        else at++;
    }
    shutdown(fd[0], SHUT_WR);
    while (recv(fd[0], drop, sizeof drop, 0) > 0) {}
    close(fd[0]);
    pthread_mutex_lock(&lock);
    while (!n_closed) pthread_cond_wait(&changed, &lock);
    if (n_closed != 1) abort();
    pthread_mutex_unlock(&lock);
    return 0;
}

/* steno-serve: WebSocket frames on a socket of the loop. SPDX-License-Identifier: MIT
 *
 * libwslay and its state belong to the loop's thread. Other threads add to a list of messages, and wake it. */
#include "ws.h"
#include "api_error.h"
#include "ws_lib.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_AT_ONCE = 1 << 16, MESSAGE_COSTS = 64, REASON_MAX = 123 };
enum phase { WS_NEW, WS_OPEN, WS_LINGERS, WS_OVER };

struct out { struct out *next; size_t n; char text[]; };

struct ws {
    atomic_int n_refs;
    struct loop *loop;
    struct wslay lib;
    struct upgraded *upgraded; /* NULL: the descriptor is closed by close */
    int fd;
    struct ws_times times;
    void (*opened)(void *user, struct ws *w);
    void *opened_user;
    atomic_int is_paused;

    pthread_mutex_t lock;
    struct out *first, **last;   /* messages that libwslay does not have yet */
    size_t n_waiting, n_queued;  /* bytes of them, and of those that it has, with MESSAGE_COSTS for each */
    int closes, close_code;      /* ws_close was called, or the queue is full */
    int is_posted;               /* the loop is to serve this connection */
    char reason[REASON_MAX + 1];

    /* on the loop's thread only */
    enum phase phase;
    struct ws_events ev;
    struct loop_fd *f;
    struct loop_timer *timer;
    wslay_event_context_ptr ctx;
    char *in;                    /* [n_in] bytes that were read before */
    size_t n_in, in_at, n_read;  /* n_read: in this turn */
    int is_refused;              /* a frame could not be read; 2: the close frame is sent */
    int is_broken, is_readable, close_queued, code, events;
    int64_t received_ms, pinged_ms, closing_ms;
};

/* ---- memory ------------------------------------------------------------------------------------------------------------------- */

static void drop_waiting(struct ws *w)
{
    for (struct out *o = w->first, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    w->first = NULL;
    w->last = &w->first;
    w->n_waiting = 0;
}

void ws_keep(struct ws *w)
{
    atomic_fetch_add(&w->n_refs, 1);
}

void ws_drop(struct ws *w)
{
    if (atomic_fetch_sub(&w->n_refs, 1) > 1) return;
    drop_waiting(w);
    if (w->ctx) w->lib.wslay_event_context_free(w->ctx);
    pthread_mutex_destroy(&w->lock);
    free(w->in);
    free(w);
}

static struct ws *ws_new(struct loop *l, const struct ws_times *t, void (*opened)(void *user, struct ws *w), void *user)
{
    struct ws *w = calloc(1, sizeof *w);
    if (!w || wslay_load(&w->lib)) {
        free(w);
        return NULL;
    }
    atomic_init(&w->n_refs, 1);
    pthread_mutex_init(&w->lock, NULL);
    w->loop = l;
    w->fd = -1;
    w->times = t ? *t : (struct ws_times){ 1000 * WS_PING_S, 1000 * WS_SILENCE_S, 1000 * WS_LINGER_S };
    w->opened = opened;
    w->opened_user = user;
    w->last = &w->first;
    w->code = 1006;
    return w;
}

/* ---- libwslay's callbacks ------------------------------------------------------------------------------------------------------ */

static ssize_t give_bytes(wslay_event_context_ptr ctx, uint8_t *to, size_t n, int flags, void *user)
{
    struct ws *w = user;
    ssize_t got;
    (void)flags;
    if (w->in_at < w->n_in) {
        got = (ssize_t)(n < w->n_in - w->in_at ? n : w->n_in - w->in_at);
        memcpy(to, w->in + w->in_at, (size_t)got);
        w->in_at += (size_t)got;
        return got;
    }
    if (atomic_load(&w->is_paused) || w->n_read >= READ_AT_ONCE || !w->is_readable) got = -1, errno = EAGAIN;
    else while ((got = recv(w->fd, to, n, MSG_DONTWAIT)) < 0 && errno == EINTR) {}
    if (got > 0) {
        w->received_ms = loop_now_ms();
        w->n_read += (size_t)got;
        return got;
    }
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) w->is_broken = 1;
    w->is_readable = 0;
    w->lib.wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK); /* ends this turn, also at the end of the stream */
    return -1;
}

static ssize_t take_bytes(wslay_event_context_ptr ctx, const uint8_t *from, size_t n, int flags, void *user)
{
    struct ws *w = user;
    ssize_t put;
    while ((put = send(w->fd, from, n, MSG_DONTWAIT | MSG_NOSIGNAL | (flags & WSLAY_MSG_MORE ? MSG_MORE : 0))) < 0 && errno == EINTR) {}
    if (put >= 0) return put;
    if (errno != EAGAIN && errno != EWOULDBLOCK) w->is_broken = 1;
    w->lib.wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
    return -1;
}

static int is_closing(struct ws *w)
{
    pthread_mutex_lock(&w->lock);
    const int closes = w->closes;
    pthread_mutex_unlock(&w->lock);
    return closes;
}

static void take_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *m, void *user)
{
    struct ws *w = user;
    (void)ctx;
    if (w->is_broken || is_closing(w)) return;
    const char *bytes = m->msg ? (const char *)m->msg : "";
    if (m->opcode == WSLAY_TEXT_FRAME && w->ev.text) w->ev.text(w->ev.user, bytes, m->msg_length);
    if (m->opcode == WSLAY_BINARY_FRAME && w->ev.binary) w->ev.binary(w->ev.user, bytes, m->msg_length);
}

/* ---- a turn on the loop's thread ----------------------------------------------------------------------------------------------- */

/* Gives the waiting messages to libwslay. */
static void take_waiting(struct ws *w)
{
    pthread_mutex_lock(&w->lock);
    struct out *o = w->first;
    w->n_queued += w->n_waiting;
    w->first = NULL;
    w->last = &w->first;
    w->n_waiting = 0;
    pthread_mutex_unlock(&w->lock);
    for (struct out *next; o; o = next) {
        const struct wslay_event_msg m = { .opcode = WSLAY_TEXT_FRAME, .msg = (const uint8_t *)o->text, .msg_length = o->n };
        next = o->next;
        if (w->lib.wslay_event_queue_msg(w->ctx, &m) == WSLAY_ERR_NOMEM) w->is_broken = 1;
        free(o);
    }
}

static void send_queued(struct ws *w)
{
    if (w->lib.wslay_event_send(w->ctx)) w->is_broken = 1;
    pthread_mutex_lock(&w->lock);
    w->n_queued = w->lib.wslay_event_get_queued_msg_length(w->ctx) + MESSAGE_COSTS * w->lib.wslay_event_get_queued_msg_count(w->ctx);
    if (w->n_queued > 2 * WS_OUT_MAX) w->is_broken = 1; /* answers to pings that are not read */
    pthread_mutex_unlock(&w->lock);
}

static void tick(void *user);

static void arm(struct ws *w)
{
    int64_t at = w->pinged_ms + w->times.ping_ms;
    if (w->closing_ms) at = w->closing_ms + w->times.linger_ms;
    else if (at > w->received_ms + w->times.silence_ms) at = w->received_ms + w->times.silence_ms;
    if (w->timer) loop_timer_cancel(w->timer);
    w->timer = loop_at(w->loop, at, tick, w);
    if (!w->timer) w->is_broken = 1;
}

static void begin_closing(struct ws *w)
{
    if (w->closing_ms) return;
    w->closing_ms = loop_now_ms();
    arm(w);
}

/* Sends the close frame when all messages before it are sent; libwslay would send it first. A client that does not read gets no more. */
static void send_close(struct ws *w)
{
    pthread_mutex_lock(&w->lock);
    const int closes = w->closes, code = w->close_code;
    const int is_due = closes && !w->first && (code == 1008 || !w->lib.wslay_event_get_queued_msg_count(w->ctx));
    pthread_mutex_unlock(&w->lock);
    if (closes) begin_closing(w);
    if (!is_due || w->close_queued || w->is_refused) return;
    w->close_queued = 1;
    w->lib.wslay_event_queue_close(w->ctx, (uint16_t)code, (const uint8_t *)w->reason, strlen(w->reason));
    send_queued(w);
}

/* The descriptor is closed, and the loop's reference is given up. */
static void end(struct ws *w)
{
    w->phase = WS_OVER;
    if (w->f) loop_remove(w->f, NULL);
    if (w->timer) loop_timer_cancel(w->timer);
    w->f = NULL;
    w->timer = NULL;
    if (w->upgraded) upgraded_close(w->upgraded);
    else if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    ws_drop(w);
}

/* Reads frames. libwslay answers a frame that cannot be read by a close frame without a code; unless more waits, the code is sent here. */
static void receive(struct ws *w)
{
    static const uint8_t protocol_error[4] = { 0x88, 2, 1002 >> 8, 1002 & 255 };
    const int was_broken = w->is_broken, rc = w->lib.wslay_event_recv(w->ctx);
    if (rc == WSLAY_ERR_NOMEM) w->is_broken = 1;
    if (!rc || w->is_broken || was_broken) return;
    w->is_refused = 1;
    if (w->lib.wslay_event_get_queued_msg_count(w->ctx) != 1) return;
    if (take_bytes(w->ctx, protocol_error, sizeof protocol_error, 0, w) == sizeof protocol_error) w->is_refused = 2;
}

/* No more messages. A close frame was sent: what the client still sends is read, because a reset would destroy the frame. */
static void finish(struct ws *w)
{
    const int lingers = !w->is_broken && (w->is_refused == 2 || w->lib.wslay_event_get_close_sent(w->ctx));
    if (w->lib.wslay_event_get_close_received(w->ctx)) {
        w->code = w->lib.wslay_event_get_status_code_received(w->ctx);
        if (!w->code) w->code = 1005;
    }
    pthread_mutex_lock(&w->lock);
    w->closes = 1;
    drop_waiting(w);
    pthread_mutex_unlock(&w->lock);
    w->phase = lingers ? WS_LINGERS : WS_OVER;
    if (w->ev.closed) w->ev.closed(w->ev.user);
    if (!lingers) {
        end(w);
        return;
    }
    shutdown(w->fd, SHUT_WR);
    loop_change(w->f, LOOP_READ);
    w->closing_ms = 0;
    begin_closing(w);
    if (w->is_broken) end(w);
}

static void linger(struct ws *w)
{
    char bytes[4096];
    ssize_t n = 1;
    for (int i = 0; i < 64 && n > 0; i++)
        while ((n = recv(w->fd, bytes, sizeof bytes, MSG_DONTWAIT)) < 0 && errno == EINTR) {}
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) end(w);
}

static void serve(struct ws *w)
{
    if (w->phase == WS_LINGERS) {
        linger(w);
        return;
    }
    if (w->phase != WS_OPEN) return;
    ws_keep(w);
    w->n_read = 0;
    take_waiting(w);
    receive(w);
    take_waiting(w);
    if (w->is_refused < 2) send_queued(w);
    send_close(w);
    const int reads = w->lib.wslay_event_get_read_enabled(w->ctx), writes = w->is_refused < 2 && w->lib.wslay_event_want_write(w->ctx);
    if (!reads) begin_closing(w); /* a close frame or an error came: the answer goes out */
    if (w->is_broken || (!reads && !writes)) finish(w);
    else {
        const int events = (reads && !atomic_load(&w->is_paused) ? LOOP_READ : 0) | (writes ? LOOP_WRITE : 0);
        if (events != w->events) loop_change(w->f, events);
        w->events = events;
    }
    ws_drop(w);
}

static void ready(void *user, int events)
{
    struct ws *w = user;
    if (events & LOOP_READ) w->is_readable = 1;
    else if (events & LOOP_HANGUP) w->is_broken = 1;
    serve(w);
}

static void tick(void *user)
{
    struct ws *w = user;
    const int64_t now = loop_now_ms();
    w->timer = NULL;
    if (w->closing_ms && now - w->closing_ms >= w->times.linger_ms) w->is_broken = 1;
    if (w->phase == WS_LINGERS && w->is_broken) {
        end(w);
        return;
    }
    if (atomic_load(&w->is_paused)) w->received_ms = now; /* nothing is read */
    if (now - w->received_ms >= w->times.silence_ms) w->is_broken = 1;
    if (now - w->pinged_ms >= w->times.ping_ms) {
        const struct wslay_event_msg ping = { .opcode = WSLAY_PING };
        w->pinged_ms = now;
        if (w->phase == WS_OPEN) w->lib.wslay_event_queue_msg(w->ctx, &ping);
    }
    arm(w);
    serve(w);
}

static void serve_posted(void *user)
{
    struct ws *w = user;
    pthread_mutex_lock(&w->lock);
    w->is_posted = 0;
    pthread_mutex_unlock(&w->lock);
    serve(w);
    ws_drop(w);
}

/* Under the lock. */
static void post(struct ws *w)
{
    if (w->is_posted) return;
    w->is_posted = 1;
    ws_keep(w);
    loop_call(w->loop, serve_posted, w);
}

/* ---- for other threads --------------------------------------------------------------------------------------------------------- */

static void close_locked(struct ws *w, int code, const char *reason)
{
    if (w->closes) return;
    w->closes = 1;
    w->close_code = code;
    size_t n = strlen(reason);
    if (n > REASON_MAX) n = REASON_MAX;
    while (n && n == REASON_MAX && ((unsigned char)reason[n] & 0xc0) == 0x80) n--; /* whole characters */
    memcpy(w->reason, reason, n);
    post(w);
}

int ws_send(struct ws *w, const char *text, size_t n)
{
    struct out *o = n <= WS_OUT_MAX ? malloc(sizeof *o + n) : NULL;
    int rc = -1;
    if (o) {
        o->next = NULL;
        o->n = n;
        if (n) memcpy(o->text, text, n);
    }
    pthread_mutex_lock(&w->lock);
    if (!w->closes && (!o || w->n_waiting + w->n_queued + n + MESSAGE_COSTS > WS_OUT_MAX)) {
        drop_waiting(w);
        close_locked(w, 1008, "messages were not read fast enough");
    } else if (!w->closes) {
        *w->last = o;
        w->last = &o->next;
        w->n_waiting += n + MESSAGE_COSTS;
        o = NULL;
        rc = 0;
        post(w);
    }
    pthread_mutex_unlock(&w->lock);
    free(o);
    return rc;
}

void ws_close(struct ws *w, int code, const char *reason)
{
    pthread_mutex_lock(&w->lock);
    close_locked(w, code, reason ? reason : "");
    pthread_mutex_unlock(&w->lock);
}

int ws_close_code(const struct ws *w)
{
    return w->code;
}

void ws_pause(struct ws *w, int on)
{
    atomic_store(&w->is_paused, on);
    pthread_mutex_lock(&w->lock);
    post(w);
    pthread_mutex_unlock(&w->lock);
}

void ws_events(struct ws *w, const struct ws_events *ev)
{
    w->ev = *ev;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------- */

static void begin(void *user)
{
    struct ws *w = user;
    const struct wslay_event_callbacks calls = { .recv_callback = give_bytes, .send_callback = take_bytes,
                                                 .on_msg_recv_callback = take_message };
    w->received_ms = w->pinged_ms = loop_now_ms();
    w->events = LOOP_READ;
    if (w->lib.wslay_event_context_server_init(&w->ctx, &calls, w) == 0) {
        w->lib.wslay_event_config_set_max_recv_msg_length(w->ctx, WS_MESSAGE_MAX);
        w->f = loop_add(w->loop, w->fd, LOOP_READ, ready, w);
        arm(w);
    } else w->ctx = NULL;
    if (!w->f || w->is_broken) {
        w->opened(w->opened_user, NULL);
        end(w);
        return;
    }
    w->phase = WS_OPEN;
    w->opened(w->opened_user, w);
    serve(w);
}

/* @return 0, or -1: out of memory */
static int start(struct ws *w, int fd, const char *bytes, size_t n)
{
    w->in = n ? malloc(n) : NULL;
    if (n && !w->in) return -1;
    if (n) memcpy(w->in, bytes, n);
    w->n_in = n;
    w->fd = fd;
    loop_call(w->loop, begin, w);
    return 0;
}

int ws_take(struct loop *l, int fd, const char *bytes, size_t n, const struct ws_times *t, void (*opened)(void *user, struct ws *w),
            void *user)
{
    struct ws *w = ws_new(l, t, opened, user);
    if (w && start(w, fd, bytes, n) == 0) return 0;
    if (w) ws_drop(w);
    close(fd);
    return -1;
}

static void taken(void *user, struct upgraded *u, int fd, const char *bytes, size_t n)
{
    struct ws *w = user;
    w->upgraded = u;
    if (u && start(w, fd, bytes, n) == 0) return;
    w->opened(w->opened_user, NULL);
    if (u) upgraded_close(u);
    ws_drop(w);
}

int ws_accept(struct exchange *x, struct loop *l, const char *protocol, void (*opened)(void *user, struct ws *w), void *user,
              struct api_error *e)
{
    char accept[WS_ACCEPT_SZ];
    const char *key = exchange_header(x, "Sec-WebSocket-Key");
    const int rc = ws_check(exchange_method(x) == HTTP_GET, exchange_header(x, "Upgrade"), exchange_header(x, "Connection"),
                            exchange_header(x, "Sec-WebSocket-Version"), key, e);
    if (rc != API_OK) return rc;
    const char *length = exchange_header(x, "Content-Length");
    if ((length && strspn(length, "0") != strlen(length)) || exchange_header(x, "Transfer-Encoding")) /* it would be read as frames */
        return api_fail(e, API_bad_request, NULL, "The request that begins a WebSocket must have no body.");
    struct ws *w = ws_new(l, NULL, opened, user);
    if (!w) return api_fail(e, API_internal_error, NULL, "The server cannot open a WebSocket: install libwslay (Debian: libwslay1).");
    ws_accept_value(accept, key);
    const struct http_header header[ANSWER_HEADERS_MAX] = {
        { "Upgrade", "websocket" }, { "Sec-WebSocket-Accept", accept }, { protocol ? "Sec-WebSocket-Protocol" : NULL, protocol },
    };
    exchange_upgrade(x, header, taken, w);
    return API_OK;
}

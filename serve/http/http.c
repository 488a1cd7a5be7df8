/* steno-serve: the HTTP server. SPDX-License-Identifier: MIT
 *
 * libmicrohttpd's callbacks, on the thread that runs it (http_drive.c). It calls on_request for the head, for each piece of the body, at
 * the body's end, and after each resumption. Connections come from the watching thread (http_watch.c). */
#include "api_error.h"
#include "http_gate.h"
#include "http_state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* HEAD_MEMORY: a longer head is refused by libmicrohttpd, in HTML and without a line in the log; a shorter one by the gate. Each
 * connection has this memory. */
enum { HEAD_MEMORY = 48 << 10, HEAD_STEP = 4 << 10, PEM_MAX = 1 << 20 };

/* ---- callbacks of connections ------------------------------------------------------------------------------------------------- */

static void exchange_end(struct exchange *x, int is_sent)
{
    struct httpd *h = x->h;
    pthread_mutex_lock(&h->lock);
    while (x->is_leaving) pthread_cond_wait(&h->changed, &h->lock);
    struct conn *c = x->conn;
    x->is_over = 1;
    x->conn = NULL;
    if (c) c->x = NULL;
    if (c && c->phase != CONN_NEW) conn_phase_set(c, CONN_IDLE, loop_now_us() + (int64_t)(1e6 * h->p.idle_timeout_s));
    const int complete = is_sent && x->is_queued && !x->is_broken;
    pthread_mutex_unlock(&h->lock);
    exchange_withdraw(x);
    if (x->handler && x->handler->closed) x->handler->closed(x->request, complete);
    if (h->p.over && x->has_head) h->p.over(h->p.user, x, complete);
    if (x->is_counted) atomic_fetch_sub(&h->n_exchanges, 1);
    exchange_drop(x);
}

/* Upgraded exchanges end with their connection: libmicrohttpd makes this call for them with its own lock held. */
static void on_completed(void *cls, struct MHD_Connection *mc, void **req, enum MHD_RequestTerminationCode why)
{
    struct exchange *x = *req;
    (void)cls, (void)mc;
    *req = NULL;
    if (x && !x->was_upgraded) exchange_end(x, why == MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

static void conn_begin(struct httpd *h, struct MHD_Connection *mc, void **socket_context)
{
    const union MHD_ConnectionInfo *info = h->mhd.MHD_get_connection_info(mc, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct arrival *a = info ? arrival_given(h, info->connect_fd) : NULL;
    pthread_mutex_lock(&h->lock);
    struct conn *c = a ? arrival_leave(a) : NULL; /* NULL: it was cut */
    if (c) conn_phase_set(c, CONN_HEAD, c->deadline_us);
    *socket_context = c;
    pthread_mutex_unlock(&h->lock);
    free(a);
}

static void conn_end(struct httpd *h, struct conn *c)
{
    pthread_mutex_lock(&h->lock);
    struct exchange *x = c->x;
    pthread_mutex_unlock(&h->lock);
    if (x) exchange_end(x, 1);
    pthread_mutex_lock(&h->lock);
    conn_retire(c);
    pthread_mutex_unlock(&h->lock);
}

static void on_connection(void *cls, struct MHD_Connection *mc, void **socket_context, enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED) conn_begin(cls, mc, socket_context);
    else if (*socket_context) conn_end(cls, *socket_context);
}

/* The request line has arrived. */
static void *on_target(void *cls, const char *target, struct MHD_Connection *mc)
{
    struct httpd *h = cls;
    const union MHD_ConnectionInfo *info = h->mhd.MHD_get_connection_info(mc, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct conn *c = info ? info->socket_context : NULL;
    struct exchange *x = c ? exchange_new(h, target) : NULL;
    if (!x) return NULL;
    pthread_mutex_lock(&h->lock);
    x->mc = mc;
    x->conn = c;
    c->x = x;
    if (c->phase == CONN_IDLE) conn_phase_set(c, CONN_HEAD, loop_now_us() + (int64_t)(1e6 * h->p.head_timeout_s));
    pthread_mutex_unlock(&h->lock);
    return x;
}

/* ---- callbacks of requests ---------------------------------------------------------------------------------------------------- */

/* Gives the answer to libmicrohttpd, or waits for it. */
static enum MHD_Result answer_or_wait(struct exchange *x)
{
    struct httpd *h = x->h;
    pthread_mutex_lock(&h->lock);
    struct MHD_Response *r = x->response;
    const int is_lost = x->is_gone || !x->conn;
    if (!is_lost && r) {
        const double seconds = h->p.body_timeout_s + (double)x->bytes_out / UPLOAD_RATE;
        x->response = NULL;
        x->is_queued = 1;
        conn_phase_set(x->conn, CONN_WRITE, loop_now_us() + (int64_t)(1e6 * seconds));
    } else if (!is_lost) {
        x->is_suspended = 1;
        h->mhd.MHD_suspend_connection(x->mc);
        conn_phase_set(x->conn, CONN_WORK, x->conn->half_closed ? 0 : NEVER);
    }
    pthread_mutex_unlock(&h->lock);
    if (is_lost) return MHD_NO;
    if (!r) return MHD_YES;
    const enum MHD_Result rc = h->mhd.MHD_queue_response(x->mc, (unsigned)x->status, r);
    h->mhd.MHD_destroy_response(r);
    return rc;
}

struct field_walk { struct exchange *x; struct gate *g; int is_short; };

static enum MHD_Result on_field(void *cls, enum MHD_ValueKind kind, const char *name, size_t n_name, const char *value, size_t n_value)
{
    struct field_walk *w = cls;
    (void)kind;
    gate_field(w->g, name, n_name, value ? value : "", value ? n_value : 0);
    if (exchange_add_field(w->x, name, n_name, value ? value : "", value ? n_value : 0)) w->is_short = 1;
    return w->is_short ? MHD_NO : MHD_YES;
}

static enum http_method method_of(const char *name)
{
    static const struct { const char *name; enum http_method method; } list[] = {
        { "GET", HTTP_GET }, { "HEAD", HTTP_HEAD }, { "POST", HTTP_POST }, { "OPTIONS", HTTP_OPTIONS },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(name, list[i].name) == 0) return list[i].method;
    return HTTP_OTHER;
}

/* The address of the client. Behind trusted proxies it is that of X-Forwarded-For, whose last field counts first: the field before is
 * believed, if all addresses of this one are those of proxies. */
static void client_find(const struct exchange *x, struct address *a)
{
    const struct httpd *h = x->h;
    struct address of;
    *a = x->conn->address;
    for (int i = x->n_fields - 1; i >= 0 && x->conn->is_trusted; i--) {
        if (strcasecmp(x->field[i].name, "X-Forwarded-For") != 0) continue;
        if (forwarded_client(&of, x->field[i].value, h->trusted, h->p.n_trusted)) return;
        *a = of;
        if (!ranges_have(h->trusted, h->p.n_trusted, &of)) return;
    }
}

/* What of the head this server's own fields depend on. */
static void head_read(struct exchange *x)
{
    const struct httpd *h = x->h;
    static const char id_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *id = exchange_header(x, "X-Request-Id"), *origin = exchange_header(x, "Origin");
    if (id && *id && strlen(id) <= 64 && strspn(id, id_chars) == strlen(id)) snprintf(x->id, sizeof x->id, "%s", id);
    for (int i = 0; origin && i < h->p.n_origins; i++)
        if (strcmp(h->p.origins[i], origin) == 0 || strcmp(h->p.origins[i], "*") == 0) x->origin = origin;
    struct address a;
    char client[ADDRESS_TEXT];
    client_find(x, &a);
    address_write(client, &a);
    pthread_mutex_lock(&x->h->lock); /* is_crowded compares clients */
    memcpy(x->client, client, sizeof client);
    conn_phase_set(x->conn, CONN_BODY, x->begun_us + (int64_t)(1e6 * h->p.body_timeout_s));
    pthread_mutex_unlock(&x->h->lock);
}

/* Behind a proxy the requests of an address are counted, not its connections. */
static int is_crowded(const struct exchange *x)
{
    struct httpd *h = x->h;
    int n = 0;
    if (!x->conn->is_trusted || h->p.max_per_ip <= 0 || strcmp(x->client, "unix") == 0) return 0;
    pthread_mutex_lock(&h->lock);
    for (const struct conn *c = h->conns; c; c = c->next) n += c->x && strcmp(c->x->client, x->client) == 0;
    pthread_mutex_unlock(&h->lock);
    return n > h->p.max_per_ip;
}

/* What is refused before `route` sees it. @return API_OK or a code, in *e */
static int head_check(const struct exchange *x, const struct gate *g, struct api_error *e)
{
    const enum api_code code = g->status == 414 ? API_target_too_long : g->status == 431 ? API_headers_too_large : API_bad_request;
    if (g->why) return api_fail(e, code, NULL, "%s", g->why);
    if (!is_crowded(x)) return API_OK;
    e->retry_after_s = 5;
    return api_fail(e, API_too_many_connections, NULL, "%s has %d requests on this server, as many as it allows. Wait for one to end.",
                    x->client, x->h->p.max_per_ip);
}

static enum MHD_Result head_arrived(struct exchange *x, const char *method, const char *version)
{
    struct httpd *h = x->h;
    struct gate g;
    struct field_walk w = { x, &g, 0 };
    struct api_error e = { 0 };
    x->begun_us = loop_now_us();
    x->method = method_of(method);
    snprintf(x->method_name, sizeof x->method_name, "%s", method);
    gate_begin(&g, x->target, version);
    h->mhd.MHD_get_connection_values_n(x->mc, MHD_HEADER_KIND, on_field, &w);
    gate_end(&g, version);
    if (w.is_short || x->is_broken) return MHD_NO;
    x->content_length = g.n_encodings ? -1 : g.length > 0 ? g.length : 0;
    atomic_fetch_add(&h->n_exchanges, 1);
    x->is_counted = 1;
    head_read(x);
    if (head_check(x, &g, &e)) {
        x->is_closing = 1;
        api_answer_error(x, &e);
        return answer_or_wait(x);
    }
    void *request = NULL;
    const struct http_handler *handler = h->p.route(h->p.user, x, &request);
    pthread_mutex_lock(&h->lock);
    x->handler = handler;
    x->request = request;
    const int is_early = x->response && x->content_length; /* answered before the body: libmicrohttpd closes the connection after it */
    pthread_mutex_unlock(&h->lock);
    return is_early ? answer_or_wait(x) : MHD_YES;
}

static void busy_end(struct exchange *x)
{
    pthread_mutex_lock(&x->h->lock);
    x->is_busy = 0;
    if (x->is_leaving) pthread_cond_broadcast(&x->h->changed);
    pthread_mutex_unlock(&x->h->lock);
}

/* After an answer the rest of the body is dropped, since libmicrohttpd cannot answer before its end. @return most bytes of it; then the
 * connection is dropped */
static size_t swallow_max(const struct exchange *x)
{
    const size_t before = (size_t)x->bytes_in - x->swallowed, known = x->content_length > 0 && before ? (size_t)x->content_length : 0;
    const size_t rest = known < SWALLOW_MAX ? known : SWALLOW_MAX, most = rest > before ? rest : before;
    return most > SWALLOW_MIN ? most : SWALLOW_MIN;
}

static enum MHD_Result body_arrived(struct exchange *x, const char *bytes, size_t n)
{
    struct httpd *h = x->h;
    pthread_mutex_lock(&h->lock);
    const int is_dropped = x->is_answered || x->is_dropping || !x->handler || !x->handler->body;
    const int is_gone = x->is_gone || !x->conn;
    x->bytes_in += (int64_t)n;
    if (is_dropped) x->swallowed += n;
    if (!is_gone) {
        const double seconds = h->p.body_timeout_s + (double)x->bytes_in / UPLOAD_RATE;
        int64_t end_us = x->begun_us + (int64_t)(1e6 * seconds);
        const int64_t last_us = loop_now_us() + HANGUP_S * 1000000;
        if (x->conn->half_closed && end_us > last_us) end_us = last_us;
        conn_phase_set(x->conn, CONN_BODY, end_us);
    }
    const int is_over = is_gone || x->swallowed > swallow_max(x);
    x->is_busy = !is_over && !is_dropped;
    pthread_mutex_unlock(&h->lock);
    if (is_over) return MHD_NO;
    if (is_dropped) return MHD_YES;
    if (x->handler->body(x->request, bytes, n)) x->is_dropping = 1;
    busy_end(x);
    return MHD_YES;
}

static enum MHD_Result body_complete(struct exchange *x)
{
    struct httpd *h = x->h;
    pthread_mutex_lock(&h->lock);
    const int is_first = !x->has_ended && !x->is_answered && !x->is_gone && x->handler && x->handler->end;
    x->has_ended = 1;
    x->is_busy = is_first;
    pthread_mutex_unlock(&h->lock);
    if (is_first) x->handler->end(x->request);
    if (is_first) busy_end(x);
    return answer_or_wait(x);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mc, const char *url, const char *method, const char *version,
                                  const char *bytes, size_t *n, void **req)
{
    struct exchange *x = *req;
    (void)cls, (void)mc, (void)url;
    if (!x) return MHD_NO;
    if (!x->has_head) {
        x->has_head = 1;
        return head_arrived(x, method, version);
    }
    if (*n == 0) return body_complete(x);
    const size_t k = *n;
    *n = 0;
    return body_arrived(x, bytes, k);
}

static size_t on_unescape(void *cls, struct MHD_Connection *mc, char *s)
{
    (void)cls, (void)mc;
    return strlen(s); /* exchange_new decodes, once */
}

/* Its lines are about single connections, which have their answers. */
static void on_log(void *cls, const char *fmt, va_list ap)
{
    (void)cls, (void)fmt, (void)ap;
}

/* ---- the server --------------------------------------------------------------------------------------------------------------- */

static char *file_read(const char *path, steno_error *e)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = fopen(path, "rbe");
    if (f) text = malloc(PEM_MAX);
    if (text) n = fread(text, 1, PEM_MAX, f);
    const int is_bad = !f || ferror(f), error = errno;
    if (f) fclose(f);
    if (is_bad) http_fail(e, STENO_EIO, "%s cannot be read: %s", path, strerror(error));
    else if (!text) http_fail(e, STENO_ENOMEM, "out of memory");
    else if (n == PEM_MAX || n == 0) http_fail(e, STENO_EARG, "%s is %s: it must be a PEM file", path, n ? "too large" : "empty");
    else {
        text[n] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static int copy_lists(struct httpd *h, const struct http_params *p, steno_error *e)
{
    h->trusted = calloc((size_t)p->n_trusted + 1, sizeof *h->trusted);
    if (!h->trusted) return http_fail(e, STENO_ENOMEM, "out of memory");
    h->p.n_trusted = 0;
    for (int i = 0; i < p->n_trusted; i++) {
        if (strcmp(p->trusted[i], "unix") == 0) h->trusts_unix = 1;
        else if (range_read(&h->trusted[h->p.n_trusted++], p->trusted[i]))
            return http_fail(e, STENO_EARG, "the proxy \"%s\" is not an address, a range (ADDRESS/BITS) or \"unix\"", p->trusted[i]);
    }
    if (!p->tls_cert && !p->tls_key) return STENO_OK;
    if (!p->tls_cert || !p->tls_key) return http_fail(e, STENO_EARG, "TLS needs both a certificate and a key");
    if (!(h->tls_cert = file_read(p->tls_cert, e)) || !(h->tls_key = file_read(p->tls_key, e))) return e ? e->status : STENO_EIO;
    if (h->mhd.MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return http_fail(e, STENO_EUNSUPPORTED, "the installed libmicrohttpd has no TLS: use a proxy in front of the server");
    return STENO_OK;
}

static int daemon_open(struct httpd *h, steno_error *e)
{
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG |
                           (h->tls_cert ? MHD_USE_TLS : 0);
    const unsigned room = h->p.max_connections > 0 ? (unsigned)h->p.max_connections + 1024 : 65536; /* the watching thread counts them */
#define CALLBACK(f) (intptr_t)(f), h
    struct MHD_OptionItem o[] = {
        { MHD_OPTION_EXTERNAL_LOGGER, CALLBACK(on_log) },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEAD_MEMORY, NULL },
        { MHD_OPTION_CONNECTION_MEMORY_INCREMENT, HEAD_STEP, NULL },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)room, NULL },
        { MHD_OPTION_NOTIFY_CONNECTION, CALLBACK(on_connection) },
        { MHD_OPTION_NOTIFY_COMPLETED, CALLBACK(on_completed) },
        { MHD_OPTION_URI_LOG_CALLBACK, CALLBACK(on_target) },
        { MHD_OPTION_UNESCAPE_CALLBACK, CALLBACK(on_unescape) },
        { h->tls_cert ? MHD_OPTION_HTTPS_MEM_CERT : MHD_OPTION_END, 0, h->tls_cert },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, h->tls_key },
        { MHD_OPTION_END, 0, NULL },
    };
#undef CALLBACK
    h->daemon = h->mhd.MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_ARRAY, o, MHD_OPTION_END);
    if (h->daemon) return STENO_OK;
    return h->tls_cert ? http_fail(e, STENO_EARG, "%s and %s are not a certificate and its key", h->p.tls_cert, h->p.tls_key)
                       : http_fail(e, STENO_ENOMEM, "libmicrohttpd cannot start: %s", strerror(errno));
}

int httpd_open(struct httpd **out, const struct http_params *p, steno_error *e)
{
    struct httpd *h = *out = calloc(1, sizeof *h);
    if (!h) return http_fail(e, STENO_ENOMEM, "out of memory");
    h->p = *p;
    h->refs = 1;
    h->epoll = h->wake = h->drive.wake = -1;
    h->drive.last = &h->drive.first;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    int rc = mhd_load(&h->mhd, e);
    if (rc == STENO_OK) rc = copy_lists(h, p, e);
    if (rc == STENO_OK) rc = httpd_listen(h, e);
    if (rc == STENO_OK) rc = daemon_open(h, e);
    if (rc == STENO_OK) rc = drive_open(h, e);
    if (rc == STENO_OK) rc = watch_open(h, e);
    if (rc == STENO_OK) return rc;
    httpd_close(h);
    *out = NULL;
    return rc;
}

void httpd_close(struct httpd *h)
{
    if (!h) return;
    watch_close(h);
    pthread_mutex_lock(&h->lock);
    for (struct conn *c = h->conns; c; c = c->next) { /* what is left after that time */
        if (c->upgraded) upgraded_force(c->upgraded);
        if (c->x) c->x->is_gone = 1;
        if (c->x) exchange_wake(c->x);
    }
    pthread_mutex_unlock(&h->lock);
    drive_close(h);
    if (h->daemon) h->mhd.MHD_stop_daemon(h->daemon);
    while (h->dead) {
        struct conn *c = h->dead;
        h->dead = c->next;
        free(c);
    }
    if (h->wake >= 0) close(h->wake);
    if (h->epoll >= 0) close(h->epoll);
    httpd_drop(h);
}

int httpd_port(const struct httpd *h)
{
    return h->port;
}

void httpd_quiesce(struct httpd *h)
{
    atomic_store(&h->quiet, 1);
    watch_wake(h);
    pthread_mutex_lock(&h->lock);
    while (h->n_listeners) pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

int httpd_exchanges(const struct httpd *h)
{
    return atomic_load(&h->n_exchanges);
}

int httpd_connections(const struct httpd *h)
{
    return atomic_load(&h->n_connections);
}

int httpd_upgraded(const struct httpd *h)
{
    return atomic_load(&h->n_upgraded);
}

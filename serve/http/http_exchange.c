/* steno-serve: a request and its response. SPDX-License-Identifier: MIT
 *
 * An exchange outlives libmicrohttpd's connection as long as a reference to it exists, so an answer may come after the client left: it is
 * dropped. While a request waits for its answer, its connection is suspended; the answer resumes it. */
#include "http_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <fcntl.h>

/* ---- making and freeing ------------------------------------------------------------------------------------------------------- */

static void id_make(struct httpd *h, char out[72])
{
    uint64_t r = 0;
    const unsigned long long n = atomic_fetch_add(&h->last_id, 1);
    if (getrandom(&r, sizeof r, GRND_NONBLOCK) != (ssize_t)sizeof r) r = (uint64_t)loop_now_us() * 0x9e3779b97f4a7c15u;
    snprintf(out, 72, "req_%016llx%04llx", (unsigned long long)r, n & 0xffff);
}

static int add_pair(struct http_header **list, int *n, const char *name, size_t n_name, const char *value, size_t n_value)
{
    struct http_header *more = realloc(*list, (size_t)(*n + 1) * sizeof *more);
    if (more) *list = more;
    char *text = more ? malloc(n_name + n_value + 2) : NULL;
    if (!text) return -1;
    memcpy(text, name, n_name);
    text[n_name] = '\0';
    memcpy(text + n_name + 1, value, n_value);
    text[n_name + 1 + n_value] = '\0';
    (*list)[(*n)++] = (struct http_header){ text, text + n_name + 1 };
    return 0;
}

static void free_pairs(struct http_header *list, int n)
{
    for (int i = 0; i < n; i++) free((void *)(uintptr_t)list[i].name);
    free(list);
}

static void add_query(void *user, const char *name, const char *value)
{
    struct exchange *x = user;
    if (add_pair(&x->query, &x->n_query, name, strlen(name), value, strlen(value))) x->is_broken = 1;
}

struct exchange *exchange_new(struct httpd *h, const char *target)
{
    struct exchange *x = calloc(1, sizeof *x);
    char *text = strdup(target), *path = strdup(target), *question = path ? strchr(path, '?') : NULL;
    if (!x || !text || !path) {
        free(x);
        free(text);
        free(path);
        return NULL;
    }
    if (question) *question = '\0';
    percent_decode(path, 0);
    x->h = h;
    x->refs = 1;
    x->target = text;
    x->path = path;
    id_make(h, x->id);
    atomic_fetch_add(&h->refs, 1);
    if (query_each(question ? strchr(text, '?') + 1 : NULL, add_query, x)) x->is_broken = 1;
    return x;
}

int exchange_add_field(struct exchange *x, const char *name, size_t n_name, const char *value, size_t n_value)
{
    return add_pair(&x->field, &x->n_fields, name, n_name, value, n_value);
}

void exchange_keep(struct exchange *x)
{
    atomic_fetch_add(&x->refs, 1);
}

void exchange_drop(struct exchange *x)
{
    if (atomic_fetch_sub(&x->refs, 1) != 1) return;
    struct httpd *h = x->h;
    free_pairs(x->field, x->n_fields);
    free_pairs(x->query, x->n_query);
    free(x->target);
    free(x->path);
    free(x->out);
    free(x);
    httpd_drop(h);
}

void httpd_drop(struct httpd *h)
{
    if (atomic_fetch_sub(&h->refs, 1) != 1) return;
    free(h->trusted);
    free(h->tls_cert);
    free(h->tls_key);
    free(h->unix_path);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* ---- the request -------------------------------------------------------------------------------------------------------------- */

enum http_method exchange_method(const struct exchange *x)
{
    return x->method;
}

const char *exchange_method_name(const struct exchange *x)
{
    return x->method_name;
}

const char *exchange_path(const struct exchange *x)
{
    return x->path;
}

const char *exchange_header(const struct exchange *x, const char *name)
{
    for (int i = 0; i < x->n_fields; i++)
        if (strcasecmp(x->field[i].name, name) == 0) return x->field[i].value;
    return NULL;
}

const char *exchange_query(const struct exchange *x, const char *name)
{
    for (int i = 0; i < x->n_query; i++)
        if (strcmp(x->query[i].name, name) == 0) return x->query[i].value;
    return NULL;
}

void exchange_queries(const struct exchange *x, void (*each)(void *user, const char *name, const char *value), void *user)
{
    for (int i = 0; i < x->n_query; i++) each(user, x->query[i].name, x->query[i].value);
}

int64_t exchange_content_length(const struct exchange *x)
{
    return x->content_length;
}

const char *exchange_client(const struct exchange *x)
{
    return x->client;
}

const char *exchange_id(const struct exchange *x)
{
    return x->id;
}

int64_t exchange_begun_us(const struct exchange *x)
{
    return x->begun_us;
}

int exchange_is_gone(const struct exchange *x)
{
    pthread_mutex_lock(&x->h->lock);
    const int is_gone = x->is_gone || x->is_over;
    pthread_mutex_unlock(&x->h->lock);
    return is_gone;
}

int exchange_status(const struct exchange *x)
{
    return x->status;
}

const char *exchange_reason(const struct exchange *x)
{
    return x->reason;
}

int exchange_is_handled(const struct exchange *x)
{
    return x->handler != NULL;
}

int64_t exchange_bytes_in(const struct exchange *x)
{
    return x->bytes_in;
}

int64_t exchange_bytes_out(const struct exchange *x)
{
    return x->bytes_out;
}

/* ---- the response ------------------------------------------------------------------------------------------------------------- */

static void add_headers(const struct exchange *x, struct MHD_Response *r, const char *type, const struct http_header *header, int n)
{
    const struct mhd *m = &x->h->mhd;
    char ms[24];
    int has_cache = 0;
    for (int i = 0; i < n && header && header[i].name; i++) {
        m->MHD_add_response_header(r, header[i].name, header[i].value);
        has_cache |= strcasecmp(header[i].name, "Cache-Control") == 0;
    }
    snprintf(ms, sizeof ms, "%lld", (long long)((loop_now_us() - x->begun_us) / 1000));
    if (type) m->MHD_add_response_header(r, "Content-Type", type);
    m->MHD_add_response_header(r, "X-Request-Id", x->id);
    if (!has_cache) m->MHD_add_response_header(r, "Cache-Control", "no-store");
    m->MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    m->MHD_add_response_header(r, "steno-processing-ms", ms);
    if (x->h->p.n_origins) m->MHD_add_response_header(r, "Vary", "Origin");
    if (x->origin) m->MHD_add_response_header(r, "Access-Control-Allow-Origin", x->origin);
    if (x->origin) m->MHD_add_response_header(r, "Access-Control-Expose-Headers", "X-Request-Id, Retry-After, steno-processing-ms");
    if (x->is_closing || atomic_load(&x->h->quiet)) m->MHD_add_response_header(r, "Connection", "close");
}

void exchange_wake(struct exchange *x)
{
    if (!x->is_suspended) return;
    x->is_suspended = 0;
    x->h->mhd.MHD_resume_connection(x->mc);
    drive_wake(x->h);
}

/* Claims the one response of the exchange. @return 0, or -1: it has one, or the client is gone */
static int claim(struct exchange *x)
{
    pthread_mutex_lock(&x->h->lock);
    const int is_late = x->is_answered || x->is_gone || x->is_over;
    if (!is_late) x->is_answered = 1;
    pthread_mutex_unlock(&x->h->lock);
    return is_late ? -1 : 0;
}

/* Gives the response to the HTTP thread. NULL: out of memory, so the connection is closed */
static int respond(struct exchange *x, struct MHD_Response *r)
{
    pthread_mutex_lock(&x->h->lock);
    const int is_late = x->is_gone || x->is_over;
    if (!is_late) x->response = r;
    if (!is_late && !r) x->is_gone = 1;
    if (!is_late) exchange_wake(x);
    pthread_mutex_unlock(&x->h->lock);
    if (is_late && r) x->h->mhd.MHD_destroy_response(r);
    return is_late || !r ? -1 : 0;
}

void exchange_answer(struct exchange *x, struct http_answer *a)
{
    char *body = a->body;
    static char nothing[] = "";
    a->body = NULL;
    if (claim(x)) {
        free(body);
        return;
    }
    x->status = a->status;
    x->reason = a->reason;
    x->is_closing |= a->closes != 0;
    if (x->method != HTTP_HEAD) x->bytes_out = body ? (int64_t)a->n : 0;
    struct MHD_Response *r = x->h->mhd.MHD_create_response_from_buffer(body ? a->n : 0, body ? body : nothing,
                                                                       body ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (r) add_headers(x, r, a->type, a->header, ANSWER_HEADERS_MAX);
    else free(body);
    respond(x, r);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------------ */

/* Ends a stream so that its client sees a failure. libmicrohttpd keeps a resumed connection whose reader reports an error until another
 * event on it, so the socket is shut down, and the byte cannot be sent. */
static ssize_t stream_break(struct exchange *x, char *buf)
{
    x->is_broken = 1;
    if (x->conn && x->conn->watched >= 0) shutdown(x->conn->watched, SHUT_RDWR);
    buf[0] = '\0';
    return 1;
}

/* libmicrohttpd asks for more bytes of a stream. Without any it waits, and the watching thread looks at the socket. */
static ssize_t stream_read(void *cls, uint64_t at, char *buf, size_t max)
{
    struct exchange *x = cls;
    ssize_t n = 0;
    (void)at;
    pthread_mutex_lock(&x->h->lock);
    const size_t waiting = x->out_n - x->out_at;
    if (x->is_gone || !x->conn) {
        n = stream_break(x, buf);
    } else if (waiting) {
        n = (ssize_t)(waiting < max ? waiting : max);
        memcpy(buf, x->out + x->out_at, (size_t)n);
        x->out_at += (size_t)n;
        x->bytes_out += n;
        if (x->out_at == x->out_n) x->out_at = x->out_n = 0;
        const double seconds = x->h->p.body_timeout_s;
        conn_phase_set(x->conn, CONN_WRITE, loop_now_us() + (int64_t)(1e6 * seconds));
    } else if (x->is_finished) {
        n = x->is_broken ? stream_break(x, buf) : MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        x->is_suspended = 1;
        x->h->mhd.MHD_suspend_connection(x->mc);
        conn_phase_set(x->conn, CONN_WORK, x->conn->half_closed ? 0 : NEVER);
    }
    pthread_mutex_unlock(&x->h->lock);
    return n;
}

static void stream_free(void *cls)
{
    exchange_drop(cls);
}

int exchange_stream(struct exchange *x, int status, const char *type, const struct http_header *header)
{
    if (claim(x)) return -1;
    x->status = status;
    exchange_keep(x);
    struct MHD_Response *r = x->h->mhd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, stream_read, x, stream_free);
    if (r) add_headers(x, r, type, header, ANSWER_HEADERS_MAX);
    else exchange_drop(x);
    pthread_mutex_lock(&x->h->lock);
    x->is_stream = 1;
    pthread_mutex_unlock(&x->h->lock);
    return respond(x, r);
}

/* Room for n more bytes. @return 0, or -1: they would be too many, or out of memory */
static int stream_room(struct exchange *x, size_t n)
{
    const size_t waiting = x->out_n - x->out_at;
    if (n > STREAM_MAX || waiting + n > STREAM_MAX) return -1;
    if (n <= x->out_cap - x->out_n) return 0;
    if (x->out_at) memmove(x->out, x->out + x->out_at, waiting);
    x->out_at = 0;
    x->out_n = waiting;
    if (waiting + n <= x->out_cap) return 0;
    size_t cap = x->out_cap ? x->out_cap : 4096;
    while (cap < waiting + n) cap *= 2;
    char *more = realloc(x->out, cap);
    if (!more) return -1;
    x->out = more;
    x->out_cap = cap;
    return 0;
}

int exchange_send(struct exchange *x, const char *bytes, size_t n)
{
    pthread_mutex_lock(&x->h->lock);
    int rc = x->is_stream && !x->is_finished && !x->is_gone && !x->is_over ? 0 : -1;
    if (rc == 0 && x->method != HTTP_HEAD && n) {
        rc = stream_room(x, n);
        if (rc == 0) memcpy(x->out + x->out_n, bytes, n);
        if (rc == 0) x->out_n += n;
        if (rc == 0 && x->is_queued) exchange_wake(x);
        if (rc) x->is_gone = 1; /* too slow: the watching thread cuts it */
        if (rc && x->conn) conn_phase_set(x->conn, x->conn->phase, 0);
    }
    pthread_mutex_unlock(&x->h->lock);
    return rc;
}

void exchange_finish(struct exchange *x, int properly)
{
    pthread_mutex_lock(&x->h->lock);
    if (x->is_stream && !x->is_finished) {
        x->is_finished = 1;
        if (!properly) x->is_broken = 1;
        if (x->is_queued && !x->is_over) exchange_wake(x);
    }
    pthread_mutex_unlock(&x->h->lock);
}

/* ---- other protocols ---------------------------------------------------------------------------------------------------------- */

struct upgraded {
    struct exchange *x;
    struct MHD_UpgradeResponseHandle *urh; /* NULL: closed by force */
};

static void on_upgraded(void *cls, struct MHD_Connection *mc, void *req, const char *bytes, size_t n, MHD_socket fd,
                        struct MHD_UpgradeResponseHandle *urh)
{
    struct exchange *x = cls;
    struct upgraded *u = malloc(sizeof *u);
    (void)mc, (void)req;
    x->was_upgraded = 1;
    if (!u) { /* exchange_withdraw calls `taken` */
        x->h->mhd.MHD_upgrade_action(urh, MHD_UPGRADE_ACTION_CLOSE);
        drive_wake(x->h);
        return;
    }
    *u = (struct upgraded){ x, urh };
    atomic_fetch_add(&x->h->n_upgraded, 1);
    exchange_keep(x);
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0) fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    pthread_mutex_lock(&x->h->lock);
    x->is_upgrade = 0; /* taken */
    if (x->conn) x->conn->upgraded = u;
    if (x->conn) conn_phase_set(x->conn, CONN_UPGRADED, NEVER);
    pthread_mutex_unlock(&x->h->lock);
    x->taken(x->taken_user, u, fd, bytes, n);
}

void exchange_upgrade(struct exchange *x, const struct http_header *header,
                      void (*taken)(void *user, struct upgraded *u, int fd, const char *bytes, size_t n), void *user)
{
    if (claim(x)) {
        taken(user, NULL, -1, NULL, 0);
        return;
    }
    x->status = 101;
    x->taken = taken;
    x->taken_user = user;
    struct MHD_Response *r = x->h->mhd.MHD_create_response_for_upgrade(on_upgraded, x);
    for (int i = 0; r && header && i < ANSWER_HEADERS_MAX && header[i].name; i++)
        x->h->mhd.MHD_add_response_header(r, header[i].name, header[i].value);
    if (r) x->h->mhd.MHD_add_response_header(r, "X-Request-Id", x->id);
    pthread_mutex_lock(&x->h->lock);
    x->is_upgrade = 1;
    pthread_mutex_unlock(&x->h->lock);
    if (respond(x, r) == 0) return;
    pthread_mutex_lock(&x->h->lock);
    const int is_ours = x->is_upgrade;
    x->is_upgrade = 0;
    pthread_mutex_unlock(&x->h->lock);
    if (is_ours) taken(user, NULL, -1, NULL, 0);
}

void upgraded_force(struct upgraded *u)
{
    if (!u->urh) return;
    u->x->h->mhd.MHD_upgrade_action(u->urh, MHD_UPGRADE_ACTION_CLOSE);
    u->urh = NULL;
    drive_wake(u->x->h);
}

void upgraded_close(struct upgraded *u)
{
    if (!u) return;
    struct exchange *x = u->x;
    atomic_fetch_sub(&x->h->n_upgraded, 1);
    pthread_mutex_lock(&x->h->lock);
    if (x->conn) x->conn->upgraded = NULL;
    upgraded_force(u);
    pthread_mutex_unlock(&x->h->lock);
    free(u);
    exchange_drop(x);
}

void exchange_withdraw(struct exchange *x)
{
    pthread_mutex_lock(&x->h->lock);
    struct MHD_Response *r = x->response;
    const int is_untaken = x->is_upgrade;
    x->response = NULL;
    x->is_upgrade = 0;
    pthread_mutex_unlock(&x->h->lock);
    if (r) x->h->mhd.MHD_destroy_response(r);
    if (is_untaken) x->taken(x->taken_user, NULL, -1, NULL, 0);
}

/* steno-serve: from opening to the end. SPDX-License-Identifier: MIT */
#include "api_listen.h"
#include "api_realtime.h"
#include "call.h"
#include "routes.h"
#include "stream.h"
#include "wyoming.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TICK_MS = 50, AFTER_CANCEL_MS = 5000 };

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

static int fail(steno_error *e, int rc, const char *what)
{
    if (e && !e->text[0]) {
        e->status = rc;
        snprintf(e->text, sizeof e->text, "%s", what);
    }
    return rc;
}

static int http_start(struct serve *s, steno_error *e)
{
    const struct serve_params *p = &s->p;
    const struct http_params hp = {
        .host = p->host, .port = p->port, .unix_path = p->unix_path, .tls_cert = p->tls_cert, .tls_key = p->tls_key,
        .fds = p->systemd ? p->systemd->http_fd : NULL, .n_fds = p->systemd ? p->systemd->n_http : 0,
        .max_connections = p->connections, .max_per_ip = p->per_ip, .trusted = p->trusted, .n_trusted = p->n_trusted,
        .origins = p->origins, .n_origins = p->n_origins, .head_timeout_s = p->head_timeout_s, .body_timeout_s = p->body_timeout_s,
        .idle_timeout_s = p->idle_timeout_s, .user = s, .route = routes_begin, .over = routes_over, .refused = call_refused,
    };
    return httpd_open(&s->http, &hp, e);
}

/* The address that decides whether keys are needed: that of received sockets, or the host. */
static const char *host_of(const struct serve_params *p)
{
    if (!p->systemd || !p->systemd->n_http) return p->host;
    return systemd_is_public(p->systemd) ? "the received socket" : "127.0.0.1";
}

/* Received from the service manager; -1: none. */
static int wyoming_fd(const struct serve_params *p)
{
    return p->systemd ? p->systemd->wyoming_fd : -1;
}

/* Wyoming has no keys: where keys are set, only this machine may reach it, and without them --no-auth is needed. */
static int wyoming_check(const struct serve_params *p, steno_error *e)
{
    const int is_received = wyoming_fd(p) >= 0;
    const int is_public = is_received ? systemd_fd_is_public(wyoming_fd(p)) : p->wyoming_port >= 0 && !access_is_local(p->host);
    if (!is_public || (p->no_auth && !p->key_file)) return STENO_OK;
    e->status = STENO_EARG;
    snprintf(e->text, sizeof e->text,
             p->key_file ? "--wyoming: other machines reach %.200s, and Wyoming has no keys: with --api-key-file it needs a loopback "
                           "address, or a server of its own" :
                           "--wyoming: other machines reach %.200s, and Wyoming has no keys: it needs --no-auth",
             is_received ? "the received socket" : p->host);
    return STENO_EARG;
}

static int wyoming_start(struct serve *s, steno_error *e)
{
    const struct serve_params *p = &s->p;
    const int fd = wyoming_fd(p);
    if (p->wyoming_port < 0 && fd < 0) return STENO_OK;
    const struct wyoming_params wp = {
        .loop = s->loop, .engines = s->engines, .spool = s->spool, .host = p->host, .port = p->wyoming_port,
        .fds = &fd, .n_fds = fd >= 0, .upload_max = p->upload_max, .live_ms_max = (int64_t)(p->live_seconds_max * 1000),
        .metrics = s->metrics, .version = p->version, .over = call_utterance, .user = s,
    };
    return wyoming_open(&s->wyoming, &wp, e);
}

/* What answers live audio. */
static int live_start(struct serve *s, steno_error *e)
{
    s->realtime = api_realtime_open(&(struct api_realtime_params){ s->engines, s->loop, &s->p, s->metrics });
    s->listen = api_listen_open(&(struct api_listen_params){ s->engines, s->loop, &s->p, s->metrics });
    return s->realtime && s->listen ? wyoming_start(s, e) : fail(e, STENO_ENOMEM, "out of memory");
}

static int parts_open(struct serve *s, steno_error *e)
{
    const struct serve_params *p = &s->p;
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake < 0) return fail(e, STENO_EIO, "no more files can be opened");
    if (loop_open(&s->loop)) return fail(e, STENO_ENOMEM, "a thread cannot be started");
    s->metrics = metrics_open(p->version);
    if (!s->metrics) return fail(e, STENO_ENOMEM, "out of memory");
    int rc = access_open(&s->access, &(struct access_params){ .key_file = p->key_file, .no_auth = p->no_auth, .host = host_of(p),
                                                             .origins = p->origins, .n_origins = p->n_origins,
                                                             .hosts = p->hosts, .n_hosts = p->n_hosts }, e);
    if (rc == STENO_OK) rc = wyoming_check(p, e);
    if (rc != STENO_OK) return rc;
    rc = spool_open(&s->spool, p->spool_dir, p->spool_max, e);
    if (rc == STENO_EIO) rc = STENO_ESOURCE;
    if (rc == STENO_OK) rc = engines_open(&s->engines, p, s->spool, e);
    if (rc == STENO_OK) rc = live_start(s, e);
    return rc == STENO_OK ? http_start(s, e) : rc;
}

static void models_name(struct serve *s)
{
    struct engine *g;
    for (int i = 0; (g = engines_at(s->engines, i)) != NULL; i++) {
        steno_model_info info = { .size = sizeof info };
        if (engine_info(g, &info) == 0) metrics_model(s->metrics, engine_id(g), info.cpu_level, info.compute);
    }
}

int serve_open(struct serve **out, const struct serve_params *p, steno_error *e)
{
    struct serve *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s) return fail(e, STENO_ENOMEM, "out of memory");
    s->p = *p;
    s->wake = -1;
    sessions_open(&s->streams, stream_end);
    const int rc = parts_open(s, e);
    if (rc == STENO_OK) {
        models_name(s);
        *out = s;
    } else {
        serve_close(s);
    }
    return rc;
}

int serve_lacks_turns(const struct serve *s)
{
    struct engine *g;
    for (int i = 0; (g = engines_at(s->engines, i)) != NULL; i++)
        if (engine_calls(g) & ENGINE_TRANSCRIBES && !engine_finds_turns(g)) return 1;
    return 0;
}

void serve_close(struct serve *s)
{
    if (!s) return;
    if (s->engines) engines_cancel(s->engines);
    if (s->http) httpd_close(s->http);
    api_realtime_close(s->realtime);
    api_listen_close(s->listen);
    sessions_close(&s->streams);
    wyoming_close(s->wyoming);
    if (s->engines) engines_close(s->engines);
    if (s->loop) loop_close(s->loop);
    access_close(s->access);
    metrics_close(s->metrics);
    if (s->spool) spool_close(s->spool);
    if (s->wake >= 0) close(s->wake);
    free(s);
}

int serve_is_local(const char *host) { return access_is_local(host); }

int serve_port(const struct serve *s) { return httpd_port(s->http); }

int serve_wyoming_port(const struct serve *s)
{
    return s->wyoming ? wyoming_port(s->wyoming) : -1;
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static void wake(struct serve *s)
{
    const uint64_t one = 1;
    if (write(s->wake, &one, sizeof one) < 0) return; /* the counter is full: it is awake */
}

void serve_stop(struct serve *s)
{
    atomic_fetch_add(&s->n_stops, 1);
    wake(s);
}

void serve_reload(struct serve *s)
{
    atomic_store(&s->reload, 1);
    wake(s);
}

#define LOG_MARK "steno: " /* begins the lines of the log that are no JSON */

static void reload(struct serve *s)
{
    steno_error e = { 0 };
    char line[sizeof e.text + 64];
    const int reports = s->p.systemd && !atomic_load(&s->n_stops); /* a server that stops is ready no more */
    if (reports) systemd_reloading(s->p.systemd);
    const int rc = access_reload(s->access, &e);
    if (rc == STENO_OK) snprintf(line, sizeof line, LOG_MARK "the keys were read again");
    else snprintf(line, sizeof line, LOG_MARK "the keys stay as they were: %s", e.text);
    serve_log(s, line);
    if (reports) systemd_ready(s->p.systemd, rc == STENO_OK ? "ready" : line + strlen(LOG_MARK));
}

/* Waits for a signal, at most `ms`; sends systemd its signs of life. */
static void rest(struct serve *s, int64_t ms)
{
    struct pollfd p = { .fd = s->wake, .events = POLLIN };
    const int64_t beat = s->p.systemd ? s->p.systemd->watchdog_ms : 0;
    if (beat && (ms < 0 || beat < ms)) ms = beat;
    uint64_t n;
    if (poll(&p, 1, (int)ms) > 0 && read(s->wake, &n, sizeof n) < 0 && errno != EAGAIN) return;
    if (beat) systemd_alive(s->p.systemd);
    if (atomic_exchange(&s->reload, 0)) reload(s);
}

static int is_idle(const struct serve *s)
{
    return !engines_running(s->engines) && !httpd_exchanges(s->http) && !api_realtime_sessions(s->realtime) &&
           !api_listen_sessions(s->listen) && !sessions_now(&s->streams) && !engines_now(s->engines).live;
}

/* Lets what runs end. The second stop, or the end of the time, cancels it. */
static void drain(struct serve *s)
{
    const int64_t end = loop_now_ms() + (int64_t)(s->p.grace_s * 1000);
    if (s->p.systemd) systemd_stopping(s->p.systemd, s->p.grace_s + 10);
    httpd_quiesce(s->http);
    engines_drain(s->engines);
    api_realtime_drain(s->realtime);
    api_listen_drain(s->listen);
    sessions_drain(&s->streams);
    if (s->wyoming) wyoming_drain(s->wyoming);
    while (!is_idle(s) && atomic_load(&s->n_stops) < 2 && loop_now_ms() < end) rest(s, TICK_MS);
    engines_cancel(s->engines);
    const int64_t last = loop_now_ms() + (atomic_load(&s->n_stops) < 2 ? AFTER_CANCEL_MS : 0);
    while (!is_idle(s) && loop_now_ms() < last) rest(s, TICK_MS);
}

void serve_run(struct serve *s)
{
    if (s->p.systemd && !atomic_load(&s->n_stops)) systemd_ready(s->p.systemd, "ready");
    while (!atomic_load(&s->n_stops)) rest(s, -1);
    drain(s);
}
